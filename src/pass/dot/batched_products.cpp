// A product of a matrix with an array whose summed dimensions stand between others, as of channels
// of images, is one product for each place before them, whose results stand in the order that is
// asked for:
//
//   transpose(dot(x[b, c, s], w[o, c]))  =>  dot(broadcast(w)[b, o, c], x[b, c, s])
//
// The repeated matrix takes half the memory of the result that would be moved, or less. Assumes
// plain layouts. Stands behind expand-small-dots, whose sums are faster still.
#include "pass/pass.h"

#include <algorithm>
#include <numeric>

#include "pass/replace_each.h"

namespace hilo {
namespace {

// Elements of a matrix of more rows than a product has places: packing it for each would cost more
// than the results' moving.
constexpr int64_t small_matrix = 1 << 13;

// Dimensions of the array before and behind the summed ones, which stand side by side.
struct Around {
  int64_t before, summed, behind;  // how many
  int64_t batches, depth, places;  // of how many elements
};

std::optional<Around> around(const Dims& dims, const Dims& contracting) {
  if (contracting.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(contracting);
  const auto count = static_cast<int64_t>(contracting.size());
  if (last - first + 1 != count) return std::nullopt;
  Around out{first, count, std::ssize(dims) - last - 1, 1, 1, 1};
  for (int64_t d = 0; d < std::ssize(dims); ++d)
    (d < first ? out.batches : d <= last ? out.depth : out.places) *= dims[static_cast<size_t>(d)];
  return out;
}

bool is_fitting(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::BF16 ||
         type == ElementType::F16 || is_complex(type);
}

// The order in which the result is asked for, of that of a product with the array as this operand.
Dims wanted_order(const Around& array, int64_t own, bool is_right) {
  const int64_t before = is_right ? own : 0, matrix = is_right ? 0 : array.before + array.behind;
  Dims out(static_cast<size_t>(array.before + own + array.behind));
  auto next = out.begin();
  const auto add = [&](int64_t first, int64_t count) {
    std::iota(next, next + count, first);
    next += count;
  };
  add(before, array.before), add(matrix, own), add(before + array.before, array.behind);
  return out;
}

// A value to stand for the transpose, or none.
InstructionId batched(Editor& editor, InstructionId transpose) {
  const Module& module = editor.module();
  const InstructionId dot = module.operand(transpose, 0);
  if (module[dot].op != Op::Dot || module.users(dot).size() != 1 || editor.is_pinned(dot))
    return {};
  const DotAttributes a = module.attributes<DotAttributes>(dot);
  const Shape shape = module.shape(transpose);
  if (!a.lhs_batch_dims.empty() || !a.sparsity.text.empty() || !is_fitting(shape.type) ||
      shape.has_dynamic_dims())
    return {};
  for (const bool is_right : {false, true}) {
    const InstructionId array = module.operand(dot, is_right),
                        matrix = module.operand(dot, !is_right);
    const Dims &summed = is_right ? a.rhs_contracting_dims : a.lhs_contracting_dims,
               &of_matrix = is_right ? a.lhs_contracting_dims : a.rhs_contracting_dims;
    const Shape from = module.shape(matrix);
    const auto size = around(module.shape(array).dims, summed);
    if (!size || size->batches < 2 || size->places < 2 || 2 * size->depth > size->places ||
        element_count(from) > std::max(small_matrix, size->depth * size->places) ||
        from.has_dynamic_dims() || module.shape(array).has_dynamic_dims() || !is_fitting(from.type))
      continue;
    const int64_t own = from.rank() - size->summed;
    if (module.attributes<DimensionsAttributes>(transpose).dimensions !=
        wanted_order(*size, own, is_right))
      continue;
    DotAttributes product = a;
    const Dims& dims = module.shape(array).dims;
    Dims repeated(dims.begin(), dims.begin() + size->before), to(from.dims.size());
    repeated.insert(repeated.end(), from.dims.begin(), from.dims.end());
    std::iota(to.begin(), to.end(), size->before);
    product.lhs_contracting_dims = of_matrix, product.rhs_contracting_dims = summed;
    for (int64_t& d : product.lhs_contracting_dims) d += size->before;
    product.lhs_batch_dims.resize(static_cast<size_t>(size->before));
    std::iota(product.lhs_batch_dims.begin(), product.lhs_batch_dims.end(), 0);
    product.rhs_batch_dims = product.lhs_batch_dims;
    if (!is_right) std::ranges::reverse(product.operand_precision);
    const InstructionId broadcast =
        editor.add(dot, Op::Broadcast, Shape::array(from.type, repeated), {&matrix, 1},
                   DimensionsAttributes{to});
    const InstructionId operands[] = {broadcast, array};
    return editor.add(dot, Op::Dot, Shape::array(shape.type, shape.dims), operands, product);
  }
  return {};
}

}  // namespace

Result<bool> make_products_batched(Module& module, const PassOptions&) {
  return replace_each(module, Op::Transpose, batched);
}

}  // namespace hilo
