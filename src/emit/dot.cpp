#include <numeric>

#include "emit/dot_blocks.h"
#include "emit/dot_element.h"
#include "emit/dot_producer_batches.h"
#include "emit/dot_side.h"
#include "emit/kernel_builder.h"
#include "emit/lanes.h"
#include "emit/op_functions.h"

namespace hilo {
namespace {

#define LIMIT(name, value) [[maybe_unused]] constexpr int64_t name = value;
#include "pass/loop_limits.def"
#undef LIMIT
// Complex results side by side.
constexpr int64_t shortest_line = 8;

// The product of a fusion that makes the left operand row by row, or why there is none.
Result<void> write_with_producer(KernelBuilder& w, InstructionId id, const Side& lhs,
                                 const Side& rhs) {
  const Module& module = w.elements.module;
  const Shape& result = module.shape(id);
  const bool is_in_lines = rhs.own.count == 1 ? rhs.depth.stride == 1 : rhs.own.stride == 1;
  if (!is_in_lines || !has_lanes(result.type) || lhs.type != result.type || rhs.type != result.type)
    return fail(ErrorKind::Unsupported, "of operands in these orders");
  write_blocks_of_producer(w, module.operand(id, 0), lhs, rhs, result.type);
  return {};
}

// Blocks of registers, or why there are none.
Result<void> write_in_blocks(KernelBuilder& w, InstructionId id) {
  const Module& module = w.elements.module;
  const auto& a = module.attributes<DotAttributes>(id);
  auto lhs = side_of(w, module.operand(id, 0), a.lhs_batch_dims, a.lhs_contracting_dims);
  auto rhs = side_of(w, module.operand(id, 1), a.rhs_batch_dims, a.rhs_contracting_dims);
  const bool are_apart = !lhs && a.lhs_batch_dims.empty() && !a.lhs_contracting_dims.empty();
  if (are_apart && rhs && (rhs->own.count == 1 || rhs->own.count >= few)) {
    // Rows on both sides of the summed dimensions: a product for each of those before them.
    Dims before(static_cast<size_t>(std::ranges::min(a.lhs_contracting_dims)));
    std::iota(before.begin(), before.end(), 0);
    lhs = side_of(w, module.operand(id, 0), before, a.lhs_contracting_dims);
    if (lhs) rhs->batch = {lhs->batch.count, 0};
  }
  const ElementType result = module.shape(id).type;
  if (!lhs || !rhs) return fail(ErrorKind::Unsupported, "of operands in these orders");
  if (!are_summed_in_lanes(lhs->type, result) || !are_summed_in_lanes(rhs->type, result))
    return fail(ErrorKind::Unsupported, "of these types");
  if (!rhs->array || (!lhs->array && !is_in_rows(module.shape(module.operand(id, 0)), *lhs)))
    return write_producer_batches(w, id, *lhs, *rhs, [&](const Side& left, const Side& right) {
      return write_blocks(w, left, right, result, true);
    });
  if (!lhs->array) return write_with_producer(w, id, *lhs, *rhs);
  const bool takes_slices = std::ranges::any_of(
      module.operands(id), [&](InstructionId operand) { return !w.elements.array(operand); });
  HILO_DO(write_blocks(w, *lhs, *rhs, result, takes_slices));
  if (stores_lanes(result)) w.set_loop_kind(LoopsOver::Vectors);
  return {};
}

// Whether lines are worth vectors along them; of shorter ones of complex numbers LLVM would make
// vectors across, whose shuffles take longer to compile than they save.
bool has_long_lines(const Dims& dims) { return !dims.empty() && dims.back() % shortest_line == 0; }

}  // namespace

Result<void> write_Dot(KernelBuilder& w, InstructionId id) {
  Result<void> written = write_in_blocks(w, id);
  if (written || !is_of_tiny_products(w.elements.module, id)) return written;
  const Shape& result = w.elements.module.shape(id);
  if (is_complex(result.type) && !has_long_lines(result.dims)) w.set_loop_kind(LoopsOver::Vectors);
  write_elements(w, id);
  return {};
}

}  // namespace hilo
