// Format: https://github.com/huggingface/safetensors, "Format".
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "wire/literal_bytes.h"
#include "wire/new_file.h"

namespace hilo {
namespace {

using nlohmann::json;

constexpr int64_t max_header_bytes = 100'000'000;  // of the format's own reader

struct TypeName {
  std::string_view text;
  ElementType type;
};
constexpr TypeName type_names[] = {
    {"BOOL", ElementType::Pred},
    {"U8", ElementType::U8},
    {"I8", ElementType::S8},
    {"U16", ElementType::U16},
    {"I16", ElementType::S16},
    {"U32", ElementType::U32},
    {"I32", ElementType::S32},
    {"U64", ElementType::U64},
    {"I64", ElementType::S64},
    {"F8_E5M2", ElementType::F8E5M2},
    {"F8_E4M3", ElementType::F8E4M3FN},
    {"F8_E8M0", ElementType::F8E8M0FNU},
    {"F8_E4M3FNUZ", ElementType::F8E4M3FNUZ},
    {"F8_E5M2FNUZ", ElementType::F8E5M2FNUZ},
    {"F16", ElementType::F16},
    {"BF16", ElementType::BF16},
    {"F32", ElementType::F32},
    {"F64", ElementType::F64},
    {"C64", ElementType::C64},
    {"F4", ElementType::F4E2M1FN},
};

struct Entry {
  std::string name;
  ElementType type = ElementType::Invalid;
  Dims dims;
  int64_t begin = 0, end = 0;  // in the file
};

std::string_view name_of(ElementType type) {
  if (type == ElementType::F4E2M1FN) return "U8";  // there packed, here one to a byte
  for (const TypeName& known : type_names)
    if (known.type == type) return known.text;
  if (kind_of(type) == TypeKind::Signed) return "I8";
  return "U8";
}

std::unexpected<Error> damaged(std::string_view name, std::string_view what) {
  return fail(ErrorKind::Format, "safetensors: {}: {}", name, what);
}

Result<int64_t> entry_bytes(const Entry& entry) {
  if (entry.type != ElementType::F4E2M1FN)
    return dense_bytes(entry.dims, storage_bytes(entry.type));
  HILO_TRY(const int64_t count, dense_bytes(entry.dims, 1));
  if (count % 2 != 0) return damaged(entry.name, "an odd number of 4-bit elements");
  return count / 2;
}

Result<Entry> read_entry(const std::string& name, const json& value, int64_t data_offset,
                         int64_t data_bytes) {
  Entry entry{.name = name};
  const auto type = value.find("dtype"), shape = value.find("shape"),
             offsets = value.find("data_offsets");
  if (!value.is_object() || type == value.end() || shape == value.end() || offsets == value.end())
    return damaged(name, "expected dtype, shape and data_offsets");
  if (!type->is_string() || !shape->is_array() || !offsets->is_array() || offsets->size() != 2)
    return damaged(name, "dtype, shape or data_offsets of the wrong kind");
  for (const json& dim : *shape) {
    if (!dim.is_number_unsigned() || *dim.get_ptr<const uint64_t*>() > INT64_MAX)
      return damaged(name, "a dimension that is no size");
    entry.dims.push_back(static_cast<int64_t>(*dim.get_ptr<const uint64_t*>()));
  }
  for (const TypeName& known : type_names)
    if (known.text == *type->get_ptr<const std::string*>()) entry.type = known.type;
  if (entry.type == ElementType::Invalid)
    return fail(ErrorKind::Unsupported, "safetensors: {}: element type {}", name, type->dump());
  const uint64_t* begin = (*offsets)[0].get_ptr<const uint64_t*>();
  const uint64_t* end = (*offsets)[1].get_ptr<const uint64_t*>();
  if (!begin || !end || *begin > *end || *end > static_cast<uint64_t>(data_bytes))
    return damaged(name, "data_offsets outside the data");
  entry.begin = data_offset + static_cast<int64_t>(*begin);
  entry.end = data_offset + static_cast<int64_t>(*end);
  HILO_TRY(const int64_t bytes, entry_bytes(entry));
  if (bytes != entry.end - entry.begin) return damaged(name, "data_offsets do not fit the shape");
  return entry;
}

// Two to a byte at the start of `bytes`, the low half first, become one to a byte.
void unpack_halves(std::span<std::byte> bytes) {
  for (size_t i = bytes.size() / 2; i-- > 0;) {
    const std::byte both = bytes[i];
    bytes[2 * i + 1] = both >> 4;
    bytes[2 * i] = both & std::byte{15};
  }
}

}  // namespace

struct SafetensorsIndex {
  std::shared_ptr<const ByteSource> source;
  std::vector<Entry> entries;
  std::unordered_map<std::string, size_t> by_name;
};

Result<SafetensorsReader> SafetensorsReader::from(std::shared_ptr<const ByteSource> source) {
  return within_memory([&] -> Result<SafetensorsReader> {
    std::byte start[8];
    HILO_DO(source->read_at(0, start));
    const uint64_t length = little_endian(start);
    if (length > max_header_bytes || static_cast<int64_t>(length) > source->size() - 8)
      return fail(ErrorKind::Format, "safetensors: a header of {} bytes", length);
    std::string text(length, '\0');
    HILO_DO(source->read_at(8, std::as_writable_bytes(std::span(text))));
    const json header = json::parse(text, nullptr, false);
    if (!header.is_object()) return fail(ErrorKind::Format, "safetensors: the header is not JSON");
    auto index = std::make_shared<SafetensorsIndex>();
    const int64_t data_offset = 8 + static_cast<int64_t>(length);
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") continue;
      HILO_TRY(Entry entry, read_entry(name, value, data_offset, source->size() - data_offset));
      index->entries.push_back(std::move(entry));
    }
    std::stable_sort(index->entries.begin(), index->entries.end(),
                     [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
    SafetensorsReader out;
    for (const Entry& entry : index->entries) {
      index->by_name[entry.name] = out.names_.size();
      out.names_.push_back(entry.name);
    }
    index->source = std::move(source);
    out.index_ = std::move(index);
    return out;
  });
}

Result<SafetensorsReader> SafetensorsReader::open(const std::string& path) {
  HILO_TRY(auto source, ByteSource::open(path));
  Result<SafetensorsReader> out = from(std::move(source));
  if (!out) out.error().place.file = path;
  return out;
}

bool SafetensorsReader::contains(std::string_view name) const {
  return index_->by_name.contains(std::string(name));
}

Result<Literal> SafetensorsReader::read(std::string_view name) const {
  return within_memory([&] -> Result<Literal> {
    const auto found = index_->by_name.find(std::string(name));
    if (found == index_->by_name.end())
      return fail(ErrorKind::Input, "the file has no array '{}'", name);
    const Entry& entry = index_->entries[found->second];
    HILO_TRY(Literal out, allocate_array(entry.type, entry.dims));
    const std::span<std::byte> to = out.mutable_raw();
    HILO_DO(index_->source->read_at(entry.begin, to.first(entry.end - entry.begin)));
    if (entry.type == ElementType::F4E2M1FN) unpack_halves(to);
    HILO_DO(make_valid(to, entry.type));
    return out;
  });
}

Result<std::vector<NamedLiteral>> read_safetensors(const std::string& path) {
  HILO_TRY(const SafetensorsReader reader, SafetensorsReader::open(path));
  std::vector<NamedLiteral> out;
  for (const std::string& name : reader.names()) {
    HILO_TRY(Literal literal, reader.read(name));
    out.push_back({name, std::move(literal)});
  }
  return out;
}

Result<void> write_safetensors(const std::string& path, std::span<const NamedLiteral> arrays) {
  json header = json::object();
  int64_t offset = 0;
  for (const auto& [name, literal] : arrays) {
    const Shape& shape = literal.shape();
    if (!shape.is_array() || shape.type == ElementType::C128)
      return fail(ErrorKind::Unsupported, "safetensors: an array of {}", to_string(shape));
    if (header.contains(name) || name == "__metadata__")
      return fail(ErrorKind::Name, "safetensors: the name {} twice", name);
    const auto bytes = static_cast<int64_t>(literal.raw().size());
    header[name] = {{"dtype", name_of(shape.type)},
                    {"shape", shape.dims},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  HILO_TRY(NewFile file, NewFile::create(path));
  std::string length;
  append_little_endian(length, text.size(), 8);
  HILO_DO(file.write(length));
  HILO_DO(file.write(text));
  for (const NamedLiteral& array : arrays) HILO_DO(file.write(array.literal.raw()));
  return file.commit();
}

}  // namespace hilo
