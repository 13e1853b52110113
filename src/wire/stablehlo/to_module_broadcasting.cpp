// CHLO's ops on operands of several shapes: these are made alike, as NumPy does it; then the op
// that the name has behind "broadcast_" takes them.
#include <algorithm>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {
namespace {

// Where the dimensions of an operand stand in the result: last ones with last ones, or as
// broadcast_dimensions says it of an operand with fewer.
Result<Dims> positions(const Step& step, size_t operand, size_t rank) {
  const size_t own = step.shape(operand).dims.size();
  HILO_TRY(Dims given, step.dims("broadcast_dimensions", {}));
  if (own < rank && step.find("broadcast_dimensions") && step.count() == 2) {
    if (given.size() != own)
      return step.misfit("expected {} broadcast_dimensions, found {}", own, given.size());
    for (const int64_t dim : given)
      if (dim < 0 || dim >= static_cast<int64_t>(rank))
        return step.misfit("broadcast dimension {} is not in [0, {})", dim, rank);
    return given;
  }
  Dims out;
  for (size_t i = 0; i < own; ++i) out.push_back(static_cast<int64_t>(rank - own + i));
  return out;
}

Result<Dims> common_dims(const Step& step, std::span<const Dims> of_operands, size_t rank) {
  Dims out(rank, 1);
  for (size_t i = 0; i < step.count(); ++i) {
    const Shape& shape = step.shape(i);
    for (size_t d = 0; d < shape.dims.size(); ++d) {
      int64_t& size = out[static_cast<size_t>(of_operands[i][d])];
      if (size == 1) size = shape.dims[d];
      else if (shape.dims[d] != 1 && shape.dims[d] != size)
        return step.misfit("{} does not fit {}", to_string_without_layout(shape),
                           to_string_without_layout(step.shape(0)));
    }
  }
  return out;
}

}  // namespace

Result<void> convert_broadcasting(Step& step) {
  size_t rank = 0;
  for (size_t i = 0; i < step.count(); ++i) {
    HILO_DO(step.need_array(i));
    rank = std::max(rank, step.shape(i).dims.size());
  }
  std::vector<Dims> dims;
  for (size_t i = 0; i < step.count(); ++i) {
    HILO_TRY(dims.emplace_back(), positions(step, i, rank));
  }
  HILO_TRY(const Dims to, common_dims(step, dims, rank));
  for (size_t i = 0; i < step.count(); ++i) {
    HILO_TRY(step.operands[i], broadcast_in(step, step.operands[i], dims[i], to));
  }
  constexpr std::string_view prefix = "chlo.broadcast_";
  const std::string_view base = step.row.name.substr(prefix.size());
  const Row* row = find_row(fmt::format("stablehlo.{}", base));
  if (!row) row = find_row(fmt::format("chlo.{}", base));
  Step as{step.converter, step.scope,    step.operation,  *row,
          step.origin,    step.operands, step.attributes, step.asked};
  return row->handler(as);
}

// The value everywhere, in the operand's shape.
Result<void> convert_constant_like(Step& step) {
  HILO_DO(step.need_array(0));
  const Attribute* value = step.find("value");
  const bool is_integer = value && value->kind == AttributeKind::Integer;
  if (!is_integer && (!value || value->kind != AttributeKind::Float))
    return step.misfit("the attribute value is no number");
  HILO_TRY(const Shape stated, step.stated());
  if (value->type && step.program()[value->type].element != stated.type)
    return step.misfit("a value of {} for {}", text_of(step.program()[value->type].element),
                       to_string_without_layout(stated));
  HILO_TRY(const InstructionId wide, step.constant(is_integer ? Literal::scalar(value->integer)
                                                              : Literal::scalar(value->number)));
  HILO_TRY(const InstructionId scalar, step.convert(wide, stated.type));
  HILO_TRY(const InstructionId out, step.like(scalar, step.shape(0)));
  return step.give(out);
}

}  // namespace hilo::mlir
