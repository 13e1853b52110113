#include "target/rows_in_place.h"

#include <algorithm>

namespace hilo {
namespace {

// Shorter rows are lanes of a vector: whole blocks of them are read before any is written.
constexpr int64_t shortest_row = 16;

bool has_long_rows(const Shape& shape) {
  return shape.rank() > 0 && shape.dims.back() >= shortest_row;
}

}  // namespace

Result<bool> put_rows_in_place(Module& module, const PassOptions&) {
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != Op::Fusion || !module.shape(id).is_array() ||
        !has_long_rows(module.shape(id)) || !module.extra(module[id]).backend_config.empty())
      continue;
    const auto operands = module.operands(id);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (std::ranges::count(operands, operands[k]) != 1 ||
          module.shape(operands[k]) != module.shape(id) || !reads_only_its_rows(module, id, k))
        continue;
      const std::string config = fmt::format(
          R"({{"aliasing_operands":{{"lists":[{{"indices":["{}","{}"]}}]}}}})", k, operands.size());
      module.mutable_extra(id).backend_config = module.strings.copy(config);
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace hilo
