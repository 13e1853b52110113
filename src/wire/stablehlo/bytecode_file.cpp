#include "wire/stablehlo/bytecode_file.h"

#include <array>

namespace hilo::mlir {
namespace {

enum Section : uint8_t {
  Strings,
  Dialects,
  Entries,
  EntryOffsets,
  Operations,
  Resources,
  ResourceOffsets,
  DialectVersions,
  Properties,
  Count,
};
constexpr std::array<std::string_view, Section::Count> section_names = {
    "strings",    "dialects",  "attributes and types", "attribute and type offsets",
    "operations", "resources", "resource offsets",     "dialect versions",
    "properties"};

struct Sections {
  std::array<std::optional<BytecodeEntry>, Section::Count> found;

  ByteCursor open(Section section, Fault& fault) const {
    if (const auto& entry = found[section]) return {entry->bytes, entry->offset, fault};
    return {"", 0, fault};
  }
};

Sections collect(ByteCursor& in) {
  Sections out;
  while (!in.failed() && in.left() > 0) {
    uint8_t id = 0;
    const BytecodeEntry entry = next_section(in, id);
    if (in.failed()) break;
    if (id >= Section::Count) {
      in.fail("section {}, expected one of 0 to {}", id, Section::Count - 1);
      break;
    }
    if (out.found[id]) {
      in.fail("a second section of {}", section_names[id]);
      break;
    }
    out.found[id] = entry;
  }
  for (const Section needed : {Strings, Dialects, Entries, EntryOffsets, Operations})
    if (!out.found[needed]) in.fail("no section of {}", section_names[needed]);
  return out;
}

// Lengths stand in reverse order and include a final 0.
void read_strings(ByteCursor in, std::vector<std::string_view>& strings) {
  const size_t count = in.count("strings");
  std::vector<uint64_t> sizes(count);
  for (size_t i = count; i-- > 0 && !in.failed();) sizes[i] = in.varint();
  for (const uint64_t size : sizes) {
    const std::string_view text = in.bytes(size);
    if (size == 0) in.fail("a string of no bytes");
    if (in.failed()) return;
    strings.push_back(text.substr(0, size - 1));
  }
}

void read_dialects(ByteCursor in, BytecodeFile& file) {
  const size_t count = in.count("dialects");
  const auto string_at = [&](uint64_t index) {
    if (index < file.strings.size()) return file.strings[index];
    return in.fail("string {} of {}", index, file.strings.size()), std::string_view();
  };
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t head = in.varint();
    const bool is_flagged = file.version >= BytecodeFile::has_dialect_versions;
    file.dialects.push_back(string_at(is_flagged ? head >> 1 : head));
    uint8_t id = DialectVersions;
    if (is_flagged && (head & 1)) next_section(in, id);
    if (id != DialectVersions) in.fail("section {} within the dialects", id);
  }
  if (file.version >= BytecodeFile::has_op_counts) in.varint();
  while (!in.failed() && in.left() > 0) {
    const auto dialect = static_cast<uint32_t>(in.index(file.dialects.size(), "dialect"));
    const size_t names = in.count("names of ops");
    for (size_t i = 0; i < names && !in.failed(); ++i) {
      const uint64_t head = in.varint();
      const bool is_flagged = file.version >= BytecodeFile::has_properties;
      file.op_names.push_back({dialect, string_at(is_flagged ? head >> 1 : head)});
    }
  }
}

// Entries lie one behind the other, attributes first.
void read_entries(ByteCursor in, BytecodeEntry data, BytecodeFile& file, Fault& fault) {
  const size_t attributes = in.count("attributes"), types = in.count("types");
  ByteCursor from(data.bytes, data.offset, fault);
  const auto read = [&](std::vector<BytecodeEntry>& entries, size_t wanted) {
    while (entries.size() < wanted && !in.failed()) {
      const auto dialect = static_cast<uint32_t>(in.index(file.dialects.size(), "dialect"));
      const size_t count = in.count("attributes or types");
      if (count > wanted - entries.size()) in.fail("more entries than were counted");
      for (size_t i = 0; i < count && !in.failed(); ++i) {
        const uint64_t head = in.varint();
        BytecodeEntry entry{.offset = from.offset(), .dialect = dialect};
        entry.is_custom = head & 1;
        entry.bytes = from.bytes(head >> 1);
        if (entry.bytes.empty()) in.fail("an attribute or type of no bytes");
        entries.push_back(entry);
      }
    }
  };
  read(file.attributes, attributes);
  read(file.types, types);
}

void read_properties(ByteCursor in, BytecodeFile& file) {
  const size_t count = in.count("properties");
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t size = in.varint();
    BytecodeEntry entry{.offset = in.offset()};
    entry.bytes = in.bytes(size);
    file.properties.push_back(entry);
  }
}

// External groups (of tools) come first; attributes count through those of dialects.
void read_resources(ByteCursor offsets, ByteCursor data, BytecodeFile& file) {
  const uint64_t external = offsets.varint();
  for (uint64_t group = 0; offsets.left() > 0 && !offsets.failed(); ++group) {
    if (group < external) file.string(offsets);
    else offsets.index(file.dialects.size(), "dialect");
    const size_t count = offsets.count("resources");
    for (size_t i = 0; i < count && !offsets.failed(); ++i) {
      const std::string_view key = file.string(offsets);
      ByteCursor entry = data.part(offsets.varint());
      constexpr uint8_t blob = 0;
      std::string_view bytes;
      if (offsets.byte() == blob && entry.left() > 0) {
        const uint64_t alignment = entry.varint(), size = entry.varint();
        entry.align(alignment);
        bytes = entry.bytes(size);
      }
      if (group >= external) file.resources.emplace_back(key, bytes);
    }
  }
}

}  // namespace

BytecodeEntry next_section(ByteCursor& in, uint8_t& id) {
  const uint8_t head = in.byte();
  id = head & 0x7f;
  const uint64_t size = in.varint();
  if (head & 0x80) in.align(in.varint());
  BytecodeEntry out{.offset = in.offset()};
  out.bytes = in.bytes(size);
  return out;
}

void read_sections(std::string_view bytes, BytecodeFile& file, Fault& fault) {
  ByteCursor in(bytes, 0, fault);
  constexpr std::string_view magic = "ML\xefR";
  if (!bytes.starts_with(magic)) return in.fail("no MLIR bytecode: it starts with other bytes");
  in.bytes(magic.size());
  file.version = in.varint();
  if (file.version > BytecodeFile::newest)
    return fault.set(ErrorKind::Unsupported, in.offset(),
                     "version {} of MLIR bytecode, expected at most {}", file.version,
                     BytecodeFile::newest);
  file.producer = in.terminated();
  const Sections sections = collect(in);
  if (in.failed()) return;
  read_strings(sections.open(Strings, fault), file.strings);
  read_dialects(sections.open(Dialects, fault), file);
  read_entries(sections.open(EntryOffsets, fault), *sections.found[Entries], file, fault);
  if (sections.found[Properties]) read_properties(sections.open(Properties, fault), file);
  if (sections.found[ResourceOffsets])
    read_resources(sections.open(ResourceOffsets, fault), sections.open(Resources, fault), file);
  file.operations = *sections.found[Operations];
}

}  // namespace hilo::mlir
