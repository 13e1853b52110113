#include "wire/stablehlo/origins.h"

#include "wire/legal_name.h"

namespace hilo::mlir {
namespace {

constexpr int deepest_location = 256;
constexpr int max_steps = 4096;
constexpr size_t longest_name = 64;

}  // namespace

std::string Origins::text_field(const Attribute& of, std::string_view name) const {
  const Attribute* found = field(of, name);
  return found ? found->text : std::string();
}

int64_t Origins::integer_field(const Attribute& of, std::string_view name) const {
  const Attribute* found = field(of, name);
  return found ? found->integer : 0;
}

int64_t Origins::text_id(std::map<std::string, int64_t>& ids, std::vector<std::string>& texts,
                         const std::string& text) {
  const auto [at, is_new] = ids.emplace(text, std::ssize(texts) + 1);
  if (is_new) texts.push_back(text);
  return at->second;
}

// The frame of a location that is called from `parent`, or 0.
int64_t Origins::frame_of(const Attribute& location, const std::string& function, int64_t parent,
                          Found& found, int depth) {
  if (depth > deepest_location || ++steps_ > max_steps) return parent;
  const auto inside = [&](std::string_view name, const std::string& of, int64_t from) {
    const Attribute* child = field(location, name);
    return child ? frame_of(*child, of, from, found, depth + 1) : from;
  };
  if (location.text == "loc.name") return inside("child", text_field(location, "name"), parent);
  if (location.text == "loc.callsite") {
    const int64_t caller = inside("caller", "", parent);
    return inside("callee", "", caller);
  }
  if (location.text != "loc.file") return parent;
  found.file = &location;
  StackFrameTables& tables = module_.header.stack_frames;
  StackFrameTables::Location place;
  place.file_name_id = text_id(files_, tables.file_names, text_field(location, "file"));
  if (!function.empty())
    place.function_name_id = text_id(functions_, tables.function_names, function);
  place.line = integer_field(location, "line"), place.column = integer_field(location, "column");
  place.end_line = integer_field(location, "end_line");
  place.end_column = integer_field(location, "end_column");
  const auto [known, is_new_location] =
      locations_.emplace(std::array{place.file_name_id, place.function_name_id, place.line,
                                    place.end_line, place.column, place.end_column},
                         std::ssize(tables.locations) + 1);
  if (is_new_location) tables.locations.push_back(place);
  const auto [frame, is_new] =
      frames_.emplace(std::pair(known->second, parent), std::ssize(tables.frames) + 1);
  if (is_new) tables.frames.push_back({known->second, parent + 1});
  return frame->second;
}

Origins::Found Origins::read(const Attribute& location, bool in_name, int depth) {
  Found out;
  if (depth > deepest_location || ++steps_ > max_steps) return out;
  if (location.text == "loc.name" && !in_name) {
    if (const Attribute* child = field(location, "child")) out = read(*child, true, depth + 1);
    out.name = text_field(location, "name");
    return out;
  }
  const Attribute* parts = location.text == "loc.fused" ? field(location, "locations") : nullptr;
  if (!parts) {
    out.frame = frame_of(location, "", 0, out, depth);
    return out;
  }
  for (AttributeId part : parts->items) {
    Found one = read(program_[part], in_name, depth + 1);
    if (!one.name.empty()) out.name += (out.name.empty() ? "" : ";") + one.name;
    if (out.frame == 0) out.frame = one.frame, out.file = one.file;
  }
  return out;
}

Origin Origins::make(AttributeId location) {
  Origin out;
  steps_ = 0;
  Found found = read(program_[location], false, 0);
  if (found.name.ends_with(':')) found.name.pop_back();
  const size_t slash = found.name.rfind('/');
  out.name = legal_name(std::string_view(found.name)
                            .substr(slash == std::string::npos ? 0 : slash + 1)
                            .substr(0, longest_name));
  Metadata metadata;
  metadata.op_name = module_.strings.copy(found.name);
  metadata.stack_frame_id = found.frame;
  if (found.file) {
    metadata.source_file = module_.strings.copy(text_field(*found.file, "file"));
    metadata.source_line = integer_field(*found.file, "line");
    metadata.source_column = integer_field(*found.file, "column");
    metadata.source_end_line = integer_field(*found.file, "end_line");
    metadata.source_end_column = integer_field(*found.file, "end_column");
  }
  if (metadata == Metadata()) return out;
  out.metadata = {static_cast<uint32_t>(module_.metadata.size())};
  module_.metadata.push_back(metadata);
  return out;
}

const Origin& Origins::of(AttributeId location) {
  static const Origin none;
  if (!location) return none;
  const auto found = known_.find(location);
  return found != known_.end() ? found->second
                               : known_.emplace(location, make(location)).first->second;
}

}  // namespace hilo::mlir
