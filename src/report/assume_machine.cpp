// Which chip a module or a dump was made for: neither says it.
#include <algorithm>

#include "report/dump_reading.h"
#include "text/text.h"

namespace hilo {
namespace {

bool is_tiled(const Shape& shape) {
  if (!shape.elements.empty())
    return std::any_of(shape.elements.begin(), shape.elements.end(), is_tiled);
  return shape.has_layout && !shape.layout.tiles.empty();
}

bool names_gpu(const Module& module, const Instruction& instruction) {
  const std::string_view config = module.extra(instruction).backend_config;
  static constexpr std::string_view config_words[] = {"operation_queue_id", "gemm_backend_config",
                                                      "fusion_backend_config", "__triton"};
  for (const std::string_view word : config_words)
    if (config.find(word) != std::string_view::npos) return true;
  if (instruction.op != Op::CustomCall) return false;
  const std::string& target =
      module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  return target.starts_with("__cublas") || target.starts_with("__cudnn") ||
         target.starts_with("__gpu") || target.starts_with("__triton");
}

}  // namespace

AssumedMachine assume_machine(const Module& module) {
  for (uint32_t i = 0; i < module.shapes.size(); ++i)
    if (is_tiled(module.shapes[ShapeId{i}]))
      return {find_machine("v5e"), "layouts have tiles, as on a TPU; which one is not said"};
  for (const Instruction& instruction : module.instructions)
    if (names_gpu(module, instruction))
      return {find_machine("h100_sxm"),
              "GPU custom calls or backend configs; which GPU is not said"};
  return {find_machine("cpu"), "nothing names a TPU or a GPU"};
}

// Bytes of a tuple's table beyond 8 for each element: only TPUs round them up.
static int64_t rounded_up_in_table(const PictureValue& value) {
  if (!value.shape.starts_with('(') || value.bytes == 0) return 0;
  const auto shape = parse_shape(value.shape);
  return shape && shape->is_tuple() ? value.bytes - unpadded_bytes(*shape, 8) : 0;
}

// Tables of 32 bytes for small tuples are those of v5p and v6e, of 512 those of v5e.
AssumedMachine assume_machine(const MemoryPicture& picture) {
  bool tiles = false;
  for (const PictureValue& value : picture.values) {
    if (rounded_up_in_table(value) != 0 && value.bytes % 512 == 0)
      return {find_machine("v5e"), "its tuple tables take multiples of 512 bytes"};
    if (rounded_up_in_table(value) != 0 && value.bytes % 32 == 0)
      return {find_machine("v5p"),
              "its tuple tables take multiples of 32 bytes, as on v5p and v6e"};
    tiles = tiles || value.shape.contains(":T(");
  }
  if (tiles) return {find_machine("v5e"), "layouts have tiles, as on a TPU; which one is not said"};
  for (const PictureInstruction& instruction : picture.instructions)
    for (const std::string_view word : {"cudnn", "cublas", "__triton"})
      if (instruction.name.find(word) != std::string::npos ||
          instruction.text.find(word) != std::string::npos)
        return {find_machine("h100_sxm"), "it calls GPU libraries; which GPU is not said"};
  return {};
}

}  // namespace hilo
