#include "pass/layout/custom_call_bytes.h"

#include <algorithm>

#include "pass/layout/memory_bytes.h"

namespace hilo {
namespace {

struct Expansion {
  std::string_view target;
  ExpandCall expand;
};
#define HILO_EXPAND_Values(function) nullptr
#define HILO_EXPAND_Bytes(function) expand_##function
#define CUSTOM_CALL(target, family, function, sees, meaning) \
  Expansion{target, HILO_EXPAND_##sees(function)},
constexpr Expansion expansions[] = {
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
};
#undef CUSTOM_CALL
#undef HILO_EXPAND_Bytes
#undef HILO_EXPAND_Values

std::unexpected<Error> fault(const Module& module, InstructionId id, ErrorKind kind,
                             std::string message) {
  return std::unexpected(
      Error{kind, fmt::format("{} on device cpu: {}", text_of(module[id].op), std::move(message)),
            module.place(id)});
}

Result<void> need_arrays(const Module& module, InstructionId id) {
  const auto operands = module.operands(id);
  if (operands.empty()) return fault(module, id, ErrorKind::Shape, "has no operand");
  for (size_t i = 0; i < operands.size(); ++i)
    if (!module.shape(operands[i]).is_array())
      return fault(module, id, ErrorKind::Shape, fmt::format("expected an array as operand {}", i));
  if (!module.shape(id).is_array())
    return fault(module, id, ErrorKind::Shape, "expected an array as result");
  return {};
}

Result<void> need_bytes(const Module& module, InstructionId id, int64_t bytes) {
  const Shape& to = module.shape(id);
  if (const int64_t stated = padded_bytes(to); bytes != stated)
    return fault(module, id, ErrorKind::Shape,
                 fmt::format("{} bytes of operands in memory for a result {} of {} bytes", bytes,
                             to_string(to), stated));
  return {};
}

bool same_elements(const Shape& a, const Shape& b) {
  return a.type == b.type && memory_bits(a) == memory_bits(b);
}

Result<void> need_retyping(const Module& module, InstructionId id, const Shape& from,
                           const Shape& to) {
  for (const Shape* shape : {&from, &to})
    if (!can_retype(shape->type, memory_bits(*shape)))
      return fault(
          module, id, ErrorKind::Unsupported,
          fmt::format("{} as {}: elements of {} bits that take {} in memory", to_string(from),
                      to_string(to), bits_of(shape->type), memory_bits(*shape)));
  return {};
}

}  // namespace

ExpandCall find_expansion(std::string_view target) {
  const auto* found = std::ranges::find(expansions, target, &Expansion::target);
  return found == std::end(expansions) ? nullptr : found->expand;
}

Result<InstructionId> expand_to_shape(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  const InstructionId operand = module.operand(id, 0);
  const Shape to = module.shape(id), from = module.shape(operand);
  if (same_elements(from, to)) return add_reordered(editor, id, operand, to);
  HILO_DO(need_retyping(module, id, from, to));
  const MemoryRow row = add_row(editor, id, operand);
  return add_array(editor, id, add_retyped(editor, id, row, moved_type(to.type), memory_bits(to)),
                   to);
}

Result<InstructionId> expand_zero_crop(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  HILO_DO(need_arrays(module, id));
  if (module.operands(id).size() != 1)
    return fault(module, id, ErrorKind::Shape, "expected one operand");
  HILO_DO(need_bytes(module, id, padded_bytes(module.shape(module.operand(id, 0)))));
  return expand_to_shape(editor, id);
}

// The rows of the operands' memory side by side: of their elements, or of bytes where these differ
// or do not fill whole ones.
Result<InstructionId> expand_concat_bitcast(Editor& editor, InstructionId id) {
  const Module& module = editor.module();
  HILO_DO(need_arrays(module, id));
  const Shape to = module.shape(id);
  const auto stated = module.operands(id);
  const std::vector<InstructionId> operands(stated.begin(), stated.end());
  Shape unit = module.shape(operands[0]);
  bool as_bytes = false;
  int64_t total = 0;
  for (InstructionId operand : operands) {
    const Shape& from = module.shape(operand);
    const int64_t bits = memory_bits(from);
    total += padded_bytes(from);
    as_bytes = as_bytes || !same_elements(from, unit) || bits * physical_count(from) % 8 != 0;
  }
  HILO_DO(need_bytes(module, id, total));
  if (as_bytes) unit = Shape::scalar(ElementType::U8);
  std::vector<InstructionId> rows;
  int64_t count = 0;
  for (InstructionId operand : operands) {
    MemoryRow row = add_row(editor, id, operand);
    if (as_bytes) {
      HILO_DO(need_retyping(module, id, module.shape(operand), unit));
      row = add_retyped(editor, id, row, unit.type, 8);
    }
    rows.push_back(row.value);
    count += module.shape(row.value).dims[0];
  }
  const Shape whole = Shape::array(moved_type(unit.type), {count});
  MemoryRow joined{editor.add(id, Op::Concatenate, whole, rows, DimensionsAttributes{Dims{0}}),
                   memory_bits(unit)};
  if (!same_elements(unit, to)) {
    HILO_DO(need_retyping(module, id, unit, to));
    joined = add_retyped(editor, id, joined, moved_type(to.type), memory_bits(to));
  }
  return add_array(editor, id, joined, to);
}

}  // namespace hilo
