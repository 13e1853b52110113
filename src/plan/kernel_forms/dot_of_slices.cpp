#include <algorithm>

#include "analysis/analysis.h"
#include "plan/kernel_forms.h"

namespace hilo {
namespace {

size_t number_of(const Module& module, InstructionId parameter) {
  return static_cast<size_t>(module.attributes<ParameterAttributes>(parameter).number);
}

// Of a dynamic piece. False where a start is not known to the fusion.
bool add_starts(const Module& module, InstructionId slice, OperandSlice& out) {
  const Dims &part = module.shape(slice).dims, &whole = module.shape(module.operand(slice, 0)).dims;
  const auto operands = module.operands(slice);
  int64_t stride = 1;
  for (size_t d = whole.size(); d-- > 0; stride *= whole[d]) {
    const InstructionId start = operands[d + 1];
    const int64_t most = whole[d] - part[d];
    if (most == 0) continue;
    if (module[start].op == Op::Parameter) {
      out.starts.push_back({number_of(module, start), most, stride});
    } else {
      if (module[start].op != Op::Constant) return false;
      const auto& literal = module.attributes<ConstantAttributes>(start).literal.literal;
      if (!literal) return false;
      const double number = literal->number_at(0);
      out.first_element +=
          static_cast<int64_t>(std::clamp(number, 0.0, static_cast<double>(most))) * stride;
    }
  }
  return true;
}

std::optional<OperandSlice> slice_of(const Module& module, InstructionId id) {
  OperandSlice out;
  for (; module[id].op != Op::Parameter; id = module.operand(id, 0)) {
    const Op op = module[id].op;
    if (is_contiguous_dynamic_slice(module, id)) {
      if (!add_starts(module, id, out)) return std::nullopt;
    } else if (op == Op::Slice) {
      const int64_t start = contiguous_slice_start(module, id);
      if (start < 0) return std::nullopt;
      out.first_element += start;
    } else if (op != Op::Reshape) {
      return std::nullopt;
    }
  }
  out.operand = number_of(module, id);
  return out;
}

}  // namespace

std::optional<DotOfSlices> dot_of_slices(const Module& module, InstructionId step) {
  if (module[step].op != Op::Fusion) return std::nullopt;
  DotOfSlices out{module[module.attributes<FusionAttributes>(step).calls].root, {}};
  if (module[out.product].op != Op::Dot) return std::nullopt;
  for (InstructionId operand : module.operands(out.product)) {
    std::optional<OperandSlice> piece = slice_of(module, operand);
    if (!piece) return std::nullopt;
    out.operands.push_back(std::move(*piece));
  }
  return out;
}

}  // namespace hilo
