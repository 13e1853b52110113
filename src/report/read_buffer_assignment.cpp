#include "report/dump_reading.h"
#include "text/text.h"

namespace hilo {
namespace {

// The marks between "size N" and the ':' at the end; false for one that nobody knows.
bool read_mark(DumpCursor& cursor, PictureAllocation& allocation) {
  const auto number_after = [&](std::string_view word) -> std::optional<int64_t> {
    return cursor.eat(word) ? cursor.number() : std::nullopt;
  };
  if (cursor.eat("constant")) return allocation.is_constant = true;
  if (cursor.eat("thread-local")) return allocation.is_thread_local = true;
  if (cursor.eat("maybe-live-out")) return allocation.is_live_out = true;
  if (cursor.eat("preallocated-temp")) return allocation.is_temp = true;
  if (const auto color = number_after("color ")) return allocation.space = *color, true;
  if (const auto page = number_after("page ")) return allocation.page = *page, true;
  if (cursor.eat("output shape is |")) {
    const auto shape = cursor.until("|");
    return shape ? allocation.output_shape = *shape, true : false;
  }
  if (const auto parameter = number_after("parameter ")) {
    allocation.parameter = *parameter;
    if (!cursor.eat(", shape |")) return false;
    const auto shape = cursor.until("|");
    if (!shape || !cursor.eat(" at ShapeIndex ")) return false;
    allocation.parameter_shape = *shape;
    const auto index = cursor.index();
    return index ? allocation.parameter_index = *index, true : false;
  }
  return false;
}

std::optional<PictureAllocation> read_allocation(DumpCursor cursor) {
  PictureAllocation out;
  const auto number = cursor.number();
  if (!number || !cursor.eat(": size ")) return std::nullopt;
  const auto bytes = cursor.number();
  if (!bytes || *bytes > max_bytes) return std::nullopt;
  out.number = *number;
  out.bytes = *bytes;
  while (cursor.eat(", "))
    if (!read_mark(cursor, out)) return std::nullopt;
  if (cursor.rest != ":") return std::nullopt;
  return out;
}

struct ReadValue {
  DumpLabel label;
  int64_t bytes = 0, offset = 0;
  std::string_view shape;
};

std::optional<ReadValue> read_value(DumpCursor cursor) {
  ReadValue out;
  auto label = read_label(cursor);
  if (!label || !cursor.eat(" (size=")) return std::nullopt;
  out.label = std::move(*label);
  const auto bytes = cursor.number();
  if (!bytes || *bytes > max_bytes || !cursor.eat(",offset=")) return std::nullopt;
  const auto offset = cursor.number();
  if (!offset || *offset > max_bytes || !cursor.eat("): ")) return std::nullopt;
  out.bytes = *bytes;
  out.offset = *offset;
  out.shape = cursor.rest;
  return out;
}

void add_value(const ReadValue& read, const DumpLines& lines, DumpContents& contents) {
  MemoryPicture& picture = contents.picture;
  const auto shape = parse_shape(read.shape);
  if (!shape)
    return contents.fault(lines.error(fmt::format("value {} is left out: its shape is not one: {}",
                                                  read.label.name.key(), shape.error().message)));
  const size_t id = picture.values.size();
  const std::string key = read.label.name.key();
  const auto again = [&](auto&& what) {
    contents.fault(
        lines.error(fmt::format("value {} stands here a second time; the first one counts", what)));
  };
  if (contents.value_of_number.contains(read.label.number)) return again(read.label.number);
  if (contents.value_of_key.contains(key)) return again(key);
  contents.value_of_number.emplace(read.label.number, id);
  contents.value_of_key.emplace(key, id);
  PictureValue value;
  value.number = read.label.number;
  value.defined = {contents.instruction(read.label.name.instruction), -1, read.label.name.has_index,
                   read.label.name.index};
  value.is_phi = read.label.is_phi;
  value.shape = read.shape;
  value.bytes = read.bytes;
  value.offset = read.offset;
  value.unpadded_bytes = unpadded_bytes(*shape, 8);
  value.allocation = picture.allocations.size() - 1;
  value.space = picture.allocations.back().space;
  const bool is_tiled = shape->is_array() && shape->has_layout && !shape->layout.tiles.empty();
  if (is_tiled && layout_fault(*shape).empty() && padded_bytes(*shape) != value.bytes)
    contents.fault(lines.error(fmt::format("value {} states {} bytes; its shape {} takes {}", key,
                                           value.bytes, value.shape, padded_bytes(*shape))));
  picture.allocations.back().values.push_back(id);
  picture.values.push_back(std::move(value));
}

}  // namespace

void read_buffer_assignment(DumpLines& lines, DumpContents& contents) {
  bool in_allocation = false;
  for (lines.advance(); !lines.done(); lines.advance()) {
    DumpCursor cursor{lines.line()};
    if (cursor.eat("allocation ")) {
      auto allocation = read_allocation(cursor);
      in_allocation = allocation.has_value();
      if (!allocation) {
        contents.fault(
            lines.error("this allocation is left out with its values: expected "
                        "\"allocation NUMBER: size BYTES, MARKS:\""));
        continue;
      }
      contents.picture.allocations.push_back(std::move(*allocation));
      contents.allocation_locations.push_back(lines.place());
    } else if (cursor.eat(" value: ")) {
      const auto value = read_value(cursor);
      if (!value)
        contents.fault(
            lines.error("this value is left out: expected "
                        "\"value: <NUMBER NAME @COLOR> (size=N,offset=N): SHAPE\""));
      else if (in_allocation) add_value(*value, lines, contents);
    } else if (cursor.eat(" reused by buffers of a different color:") || cursor.eat("  value: ")) {
      continue;  // their own allocations list them
    } else {
      break;
    }
  }
}

}  // namespace hilo
