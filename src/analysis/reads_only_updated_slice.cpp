#include <algorithm>

#include "analysis/analysis.h"

namespace hilo {
namespace {

// Where a start index that is a constant puts a part, moved inside.
std::optional<int64_t> known_start(const Module& module, InstructionId index, int64_t last) {
  if (module[index].op != Op::Constant) return std::nullopt;
  const LiteralRef& constant = module.attributes<ConstantAttributes>(index).literal;
  if (constant.elided || !constant.literal->shape().is_scalar()) return std::nullopt;
  const int64_t start = constant.literal->integer_at(0);
  if (constant.literal->type() == ElementType::U64 && start < 0) return last;
  return std::clamp<int64_t>(start, 0, last);
}

bool is_that_slice(const Module& module, InstructionId part, InstructionId update) {
  const auto indices = module.operands(update).subspan(2);
  const auto& slice = module.attributes<SliceAttributes>(part).slice.dims;
  const Dims& whole = module.shape(update).dims;
  if (indices.size() != slice.size()) return false;
  for (size_t d = 0; d < slice.size(); ++d) {
    const int64_t last = whole[d] - module.shape(part).dims[d];
    if (slice[d].stride != 1 || known_start(module, indices[d], last) != slice[d].start)
      return false;
  }
  return true;
}

bool keeps_index(const Module& module, InstructionId user, InstructionId value) {
  const Op op = module[user].op;
  if (op == Op::Reshape) return module.shape(user).type == module.shape(value).type;
  return is_elementwise(op) && module.shape(user).dims == module.shape(value).dims;
}

}  // namespace

bool reads_only_updated_slice(const Module& module, InstructionId part, InstructionId update) {
  const Op op = module[part].op;
  if (op != Op::Slice && op != Op::DynamicSlice) return false;
  const auto written = module.operands(update);
  if (module.operand(part, 0) != written[0] ||
      module.shape(part).dims != module.shape(written[1]).dims)
    return false;
  if (op == Op::Slice ? !is_that_slice(module, part, update)
                      : !std::ranges::equal(module.operands(part).subspan(1), written.subspan(2)))
    return false;
  std::vector<InstructionId> seen = {part};
  for (size_t i = 0; i < seen.size(); ++i)
    for (InstructionId user : module.users(seen[i])) {
      if (user == update && std::ranges::count(module.operands(update), seen[i]) == 1 &&
          written[1] == seen[i])
        continue;
      if (user == update || !keeps_index(module, user, seen[i])) return false;
      if (std::ranges::count(seen, user) == 0) seen.push_back(user);
    }
  return true;
}

}  // namespace hilo
