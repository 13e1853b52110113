// Products: in blocks of registers, or why a routine is better.
#include <algorithm>
#include <numeric>

#include "analysis/analysis.h"
#include "base/base.h"
#include "pass/pass.h"
#include "plan/kernel_forms.h"

namespace hilo {
namespace {

// Products of an element, real and complex, and multiplications of a product of matrices.
constexpr int64_t max_complex_products = 12, max_multiplications = 1024;
// Elements of a right operand of columns for which blocks of rows are better than a library's,
// which packs both operands: of any sums those that stay in the first cache, of short sums more.
constexpr int64_t small_right = 1024, max_short_terms = 24, small_right_of_short = 20000,
                  more_terms = 40, small_right_of_more = 4096;
// Columns of integers that are transposed first: rows and terms that pay for it, and what the frame
// holds.
constexpr int64_t worth_transposing = 32, min_transposed_terms = 8, max_transposed_bytes = 1 << 16;
// Registers that long sums fill.
constexpr int64_t min_registers = 4;
// Strips of columns of floats are transposed for so many rows where sums are short, which fill few
// registers along themselves, for fewer rows where they are shorter, and for longer ones where
// there is more to gain.
constexpr int64_t enough_rows = 16, short_sum = 48;
constexpr int64_t min_rows = 5, terms_a_row = 5, shorter_sum = 45;
// Columns of all products with fewer rows: a single small one would wait for the frame.
constexpr int64_t min_total_columns = 64;
constexpr int64_t min_rows_of_long_sums = 20, min_columns_of_long_sums = 12, long_sum = 100;
// Rows for which a library would take longer to transpose strips of any matrix than to multiply.
constexpr int64_t max_rows_at_once = 128;

std::optional<DimWalk> walk_of(const Dims& dims, std::span<const int64_t> walked) {
  DimWalk out;
  for (size_t i = walked.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(walked[i]);
    if (dims[dim] == 1) continue;
    int64_t stride = 1;
    for (size_t d = dim + 1; d < dims.size(); ++d) stride *= dims[d];
    if (out.count == 1) out.stride = stride;
    else if (stride != out.stride * out.count) return std::nullopt;
    out.count *= dims[dim];
  }
  return out;
}

// Whether elements stand one after the other: in an array, or in a slice of one.
bool stands_in_array(const Module& module, InstructionId id, const HasArray& has_array) {
  while (!has_array(id)) {
    const Op op = module[id].op;
    const bool is_slice = is_contiguous_dynamic_slice(module, id) ||
                          (op == Op::Slice && contiguous_slice_start(module, id) >= 0);
    if (!is_slice && op != Op::Reshape && op != Op::Bitcast) return false;
    id = module.operand(id, 0);
  }
  return true;
}

ElementType sum_type(ElementType result) {
  if (is_integral(result)) return bits_of(result) < 16 ? ElementType::S16 : result;
  return result == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

// Two operands and what is decided of them.
class Product {
 public:
  Product(const DotSide& lhs, const DotSide& rhs, ElementType result,
          const VectorRegisters& registers)
      : lhs_(lhs), rhs_(rhs), result_(result), registers_(registers) {
    form_.sum = sum_type(result);
    form_.transposes = has_few_columns_to_transpose();
    form_.transposes_strips = !lies_in_columns() && has_rows_to_transpose();
    form_.in_columns = lies_in_columns() || form_.transposes_strips;
  }

  const ProductForm& form() const { return form_; }

  std::optional<NoKernel> refusal(bool takes_slices, bool has_routines) const {
    if (!form_.in_columns && !form_.transposes &&
        (lhs_.depth.stride != 1 || rhs_.depth.stride != 1) && depth() > 1)
      return NoKernel::OperandOrders;
    const int64_t own = lhs_.own.count * rhs_.own.count;
    if (lhs_.batch.count * own == 0) return NoKernel::Nothing;
    const bool has_library = has_routines && processor().has_avx512;
    if (has_short_lines() && !takes_slices && has_library &&
        own * depth() > LoopLimits::small_product)
      return NoKernel::FewColumns;
    const bool is_thin = lhs_.own.count <= LoopLimits::few || rhs_.own.count <= LoopLimits::few;
    if (is_thin) return std::nullopt;
    if (is_integral(result_) && std::min(bits_of(lhs_.type), bits_of(rhs_.type)) < 32)
      return NoKernel::NarrowIntegers;
    const bool is_transposed_at_once =
        form_.transposes_strips && depth() <= short_sum && lhs_.type == form_.sum &&
        (depth() <= max_short_terms || lhs_.own.count <= max_rows_at_once);
    if (is_transposed_at_once || has_small_right() || own * depth() <= LoopLimits::small_product)
      return std::nullopt;
    return NoKernel::LargeMatrices;
  }

 private:
  int64_t depth() const { return lhs_.depth.count; }
  int64_t lanes_of_register() const { return registers_.lanes(storage_bytes(form_.sum)); }
  bool lies_in_columns() const {
    return rhs_.own.stride == 1 && rhs_.own.count > 1 && !form_.transposes;
  }
  bool has_small_right() const {
    const int64_t limit = depth() <= max_short_terms ? small_right_of_short
                          : depth() <= more_terms    ? small_right_of_more
                                                     : small_right;
    return form_.in_columns && rhs_.own.count * depth() <= limit;
  }
  // Lines of few columns leave most lanes empty; where those of the left operand are long, it is
  // better to sum along them, as a library does.
  bool has_short_lines() const {
    return form_.in_columns && has_long_sums() && rhs_.own.count <= LoopLimits::few &&
           lhs_.own.count > LoopLimits::few && lhs_.depth.stride == 1 && lhs_.batch.count == 1 &&
           lhs_.type == result_ && has_lanes(result_);
  }
  bool has_long_sums() const { return depth() >= min_registers * lanes_of_register(); }
  // Of floats.
  bool has_long_sums_to_transpose() const {
    return has_lanes(rhs_.type) && has_lanes(lhs_.type) && lhs_.has_array &&
           rhs_.own.count < lanes_of_register() && has_long_sums();
  }
  // Lanes go along the terms: of integers, and of such floats.
  bool has_few_columns_to_transpose() const {
    return (is_integral(result_) || has_long_sums_to_transpose()) && rhs_.own.stride == 1 &&
           rhs_.own.count > 1 && rhs_.own.count <= LoopLimits::few &&
           lhs_.own.count >= worth_transposing && lhs_.depth.stride == 1 &&
           depth() >= min_transposed_terms && rhs_.batch.count == 1 &&
           depth() * rhs_.own.count * storage_bytes(rhs_.type) <= max_transposed_bytes;
  }
  // Columns of the right operand that stand one after the other, for many rows: transposed, they
  // are lanes.
  bool has_rows_to_transpose() const {
    const int64_t rows = lhs_.own.count, columns = rhs_.own.count;
    const int64_t max_depth = rows >= min_rows_of_long_sums && columns >= min_columns_of_long_sums
                                  ? long_sum
                              : rows >= enough_rows ? short_sum
                                                    : std::min(shorter_sum, terms_a_row * rows);
    const int64_t needed_rows =
        rhs_.batch.count * columns >= min_total_columns ? min_rows : enough_rows;
    return !is_integral(result_) && has_lanes(rhs_.type) && rhs_.depth.stride == 1 &&
           rows >= needed_rows && columns > 2 && depth() >= LoopLimits::few && depth() <= max_depth;
  }

  const DotSide &lhs_, &rhs_;
  const ElementType result_;
  const VectorRegisters registers_;
  ProductForm form_;
};

// In blocks of registers, or why not.
class DotBlocks {
 public:
  DotBlocks(const Module& module, InstructionId id, const HasArray& has_array,
            const KernelChip& chip)
      : module_(module), id_(id), has_array_(has_array), chip_(chip) {}

  std::expected<DotKernel, NoKernel> find() const {
    const auto& a = module_.attributes<DotAttributes>(id_);
    auto lhs = side_of(0, a.lhs_batch_dims, a.lhs_contracting_dims);
    auto rhs = side_of(1, a.rhs_batch_dims, a.rhs_contracting_dims);
    const bool are_apart = !lhs && a.lhs_batch_dims.empty() && !a.lhs_contracting_dims.empty();
    if (are_apart && rhs && (rhs->own.count == 1 || rhs->own.count >= LoopLimits::few)) {
      // Rows on both sides of the summed dimensions: a product for each of those before them.
      Dims before(static_cast<size_t>(std::ranges::min(a.lhs_contracting_dims)));
      std::iota(before.begin(), before.end(), 0);
      lhs = side_of(0, before, a.lhs_contracting_dims);
      if (lhs) rhs->batch = {lhs->batch.count, 0};
    }
    const ElementType result = module_.shape(id_).type;
    if (!lhs || !rhs) return std::unexpected(NoKernel::OperandOrders);
    if (!are_summed_in_lanes(lhs->type, result) || !are_summed_in_lanes(rhs->type, result))
      return std::unexpected(NoKernel::TheseTypes);
    if (!rhs->has_array || (!lhs->has_array && !is_in_rows(operand(0), *lhs)))
      return batches(*lhs, *rhs, result);
    if (!lhs->has_array) return with_producer(*lhs, *rhs, result);
    const bool takes_slices = std::ranges::any_of(
        module_.operands(id_), [&](InstructionId operand) { return !has_array_(operand); });
    if (const auto refusal = refusal_of(*lhs, *rhs, result, takes_slices))
      return std::unexpected(*refusal);
    return DotKernel{DotKernel::Way::Blocks, *lhs, *rhs, takes_slices};
  }

 private:
  const Shape& operand(size_t i) const { return module_.shape(module_.operand(id_, i)); }

  // Nothing where dimensions of one kind are not one walk.
  std::optional<DotSide> side_of(size_t i, const Dims& batch, const Dims& contracting) const {
    const Shape& shape = operand(i);
    const auto batches = walk_of(shape.dims, batch), depth = walk_of(shape.dims, contracting),
               own = walk_of(shape.dims, free_dims(shape.dims, batch, contracting));
    if (!batches || !depth || !own) return std::nullopt;
    return DotSide{shape.type, stands_in_array(module_, module_.operand(id_, i), has_array_),
                   *batches, *own, *depth};
  }

  // Of a fusion that makes the left operand row by row.
  static std::expected<DotKernel, NoKernel> with_producer(const DotSide& lhs, const DotSide& rhs,
                                                          ElementType result) {
    const bool is_in_lines = rhs.own.count == 1 ? rhs.depth.stride == 1 : rhs.own.stride == 1;
    if (!is_in_lines || !has_lanes(result) || lhs.type != result || rhs.type != result)
      return std::unexpected(NoKernel::OperandOrders);
    return DotKernel{DotKernel::Way::FusedProducer, lhs, rhs, true};
  }

  // Each batch is a product of arrays in the frame, which are matrices.
  std::expected<DotKernel, NoKernel> batches(const DotSide& lhs, const DotSide& rhs,
                                             ElementType result) const {
    const size_t rank = module_.attributes<DotAttributes>(id_).lhs_batch_dims.size() + 2;
    if ((!lhs.has_array && operand(0).dims.size() != rank) ||
        (!rhs.has_array && operand(1).dims.size() != rank))
      return std::unexpected(NoKernel::OperandOrders);
    const auto of_batch = [](const DotSide& side) {
      return DotSide{side.type, true, {}, side.own, side.depth};
    };
    if (const auto refusal = refusal_of(of_batch(lhs), of_batch(rhs), result, true))
      return std::unexpected(*refusal);
    return DotKernel{DotKernel::Way::ProducerBatches, lhs, rhs, true};
  }

  std::optional<NoKernel> refusal_of(DotSide lhs, DotSide rhs, ElementType result,
                                     bool takes_slices) const {
    if (swaps_sides(lhs, rhs)) std::swap(lhs, rhs);
    return Product(lhs, rhs, result, chip_.registers).refusal(takes_slices, chip_.has_routines);
  }

  const Module& module_;
  const InstructionId id_;
  const HasArray& has_array_;
  const KernelChip& chip_;
};

}  // namespace

Dims free_dims(const Dims& dims, const Dims& batch, const Dims& contracting) {
  Dims out;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
    if (std::ranges::count(batch, d) + std::ranges::count(contracting, d) == 0) out.push_back(d);
  return out;
}

bool is_in_rows(const Shape& shape, const DotSide& side) {
  return !shape.dims.empty() && shape.dims.back() == side.depth.count && side.depth.stride == 1 &&
         (side.batch.count == 1 || side.batch.stride == side.own.count * side.depth.count) &&
         (side.own.count == 1 || side.own.stride == side.depth.count);
}

bool are_summed_in_lanes(ElementType operand, ElementType result) {
  if (is_integral(result))
    return bits_of(result) >= 8 && is_integral(operand) && bits_of(operand) >= 8;
  return has_lanes(operand) && has_lanes(result) &&
         (operand != ElementType::F64 || result == ElementType::F64);
}

bool swaps_sides(const DotSide& lhs, const DotSide& rhs) {
  return rhs.own.count == 1 && lhs.own.count > 1 && lhs.own.stride == 1;
}

ProductForm product_form(const DotSide& lhs, const DotSide& rhs, ElementType result,
                         const VectorRegisters& registers) {
  return Product(lhs, rhs, result, registers).form();
}

bool is_of_tiny_products(const Module& module, InstructionId dot) {
  const auto& a = module.attributes<DotAttributes>(dot);
  const Shape& lhs = module.shape(module.operand(dot, 0));
  const Shape& result = module.shape(dot);
  double depth = 1, batches = 1;
  for (int64_t d : a.lhs_contracting_dims)
    depth *= static_cast<double>(lhs.dims[static_cast<size_t>(d)]);
  for (int64_t d : a.lhs_batch_dims)
    batches *= static_cast<double>(lhs.dims[static_cast<size_t>(d)]);
  const double elements = static_cast<double>(element_count(result.dims));
  const auto fits = [&](InstructionId operand) {
    const ElementType type = module.shape(operand).type;
    if (is_complex(result.type)) return type == result.type;
    return is_floating(type) && (type != ElementType::F64 || result.type == ElementType::F64);
  };
  const int64_t max_depth =
      is_complex(result.type) ? max_complex_products : LoopLimits::max_products;
  return (is_floating(result.type) || is_complex(result.type)) && elements > 0 && depth > 0 &&
         depth <= static_cast<double>(max_depth) &&
         elements / batches * depth <= max_multiplications &&
         std::ranges::all_of(module.operands(dot), fits);
}

std::expected<DotKernel, NoKernel> dot_kernel(const Module& module, InstructionId dot,
                                              const HasArray& has_array, const KernelChip& chip) {
  auto blocks = DotBlocks(module, dot, has_array, chip).find();
  if (blocks || !is_of_tiny_products(module, dot)) return blocks;
  return DotKernel{.way = DotKernel::Way::Elements, .lhs = {}, .rhs = {}};
}

}  // namespace hilo
