// A fusion that works row by row, as softmax does, may write over an operand of which each row
// needs no other row than its own, and one that works element by element over an operand that it
// reads in other dimensions: it is declared in the backend config, where the plan looks.
#include "pass/pass.h"

#include <algorithm>

namespace hilo {
namespace {

// Shorter rows are lanes of a vector: whole blocks of them are read before any is written.
bool has_long_rows(const Shape& shape) {
  return shape.rank() > 0 && shape.dims.back() >= LoopLimits::short_row;
}

bool may_lie_over_row(const Module& module, InstructionId fusion, size_t operand) {
  return module.shape(fusion).is_array() && has_long_rows(module.shape(fusion)) &&
         module.shape(module.operand(fusion, operand)) == module.shape(fusion) &&
         reads_only_its_rows(module, fusion, operand);
}

// Of results of the same shape the plan knows without being told.
bool may_lie_over(const Module& module, InstructionId fusion, size_t operand, const Shape& result) {
  const Shape& read = module.shape(module.operand(fusion, operand));
  return read.is_array() && result.is_array() && read.type == result.type &&
         read.dims != result.dims && is_plain(read) && is_plain(result) &&
         element_count(read) == element_count(result) &&
         reads_only_same_offsets(module, fusion, operand);
}

// The results, by number, that may be written where an operand lies.
std::vector<size_t> results_over(const Module& module, InstructionId fusion, size_t operand) {
  if (may_lie_over_row(module, fusion, operand)) return {0};
  std::vector<size_t> out;
  size_t number = 0;
  for_each_leaf(module.shape(fusion), [&](const Shape& shape, std::span<const int64_t>) {
    if (may_lie_over(module, fusion, operand, shape)) out.push_back(number);
    ++number;
  });
  return out;
}

}  // namespace

Result<bool> declare_in_place(Module& module, const PassOptions&) {
  bool changed = false;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id = {static_cast<uint32_t>(i)};
    if (module[id].removed || module[id].op != Op::Fusion ||
        module.attributes<FusionAttributes>(id).kind == FusionKind::Output ||
        !module.extra(module[id]).backend_config.empty())
      continue;
    const auto operands = module.operands(id);
    std::string lists;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (std::ranges::count(operands, operands[k]) != 1) continue;
      for (size_t result : results_over(module, id, k))
        lists += fmt::format(R"({}{{"indices":["{}","{}"]}})", lists.empty() ? "" : ",", k,
                             operands.size() + result);
    }
    if (lists.empty()) continue;
    const std::string config = fmt::format(R"({{"aliasing_operands":{{"lists":[{}]}}}})", lists);
    module.mutable_extra(id).backend_config = module.strings.copy(config);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
