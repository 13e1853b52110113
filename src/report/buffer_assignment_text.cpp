// XLA's BufferAssignment text; facts of the format in docs/memory.md.
#include "report/picture.h"

namespace hilo {
namespace {

void append_marks(std::string& out, const PictureAllocation& allocation) {
  const auto add = [&]<class... Args>(fmt::format_string<Args...> text, Args&&... args) {
    out += fmt::format(text, std::forward<Args>(args)...);
  };
  if (allocation.space != 0) add(", color {}", allocation.space);
  if (allocation.page) add(", page {}", *allocation.page);
  if (allocation.parameter)
    add(", parameter {}, shape |{}| at ShapeIndex {}", *allocation.parameter,
        allocation.parameter_shape, text_of_index(allocation.parameter_index));
  if (!allocation.output_shape.empty()) add(", output shape is |{}|", allocation.output_shape);
  if (allocation.is_constant) out += ", constant";
  if (allocation.is_thread_local) out += ", thread-local";
  if (allocation.is_live_out) out += ", maybe-live-out";
  if (allocation.is_temp) out += ", preallocated-temp";
}

}  // namespace

std::string buffer_assignment_text(const MemoryPicture& picture) {
  std::string out = "BufferAssignment:\n";
  for (const PictureAllocation& allocation : picture.allocations) {
    out += fmt::format("allocation {}: size {}", allocation.number, allocation.bytes);
    append_marks(out, allocation);
    out += ":\n";
    for (const size_t i : allocation.values) {
      const PictureValue& value = picture.values[i];
      out += fmt::format(" value: {} (size={},offset={}): {}\n", label_of(picture, value),
                         value.bytes, value.offset, value.shape);
    }
  }
  return out;
}

}  // namespace hilo
