// Products: in blocks of registers, or why a routine is better.
#include <algorithm>
#include <bit>
#include <numeric>

#include "analysis/analysis.h"
#include "base/base.h"
#include "pass/pass.h"
#include "plan/kernel_forms.h"
#include "plan/kernel_forms/product_costs.h"

namespace hilo {
namespace {

// Products of an element of complex numbers, and multiplications of a product of matrices, which
// all stand in the code.
constexpr int64_t max_complex_products = 12, max_multiplications = 1024;
// Of an operand's columns in the frame: stacks have room for it.
constexpr int64_t max_transposed_bytes = 1 << 16;
// How much of a right operand is read as one piece, by lines: so many of them, of so many bytes at
// the least.
constexpr int64_t lines_at_once = 8, min_strip_bytes = 512;

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

// The forms that blocks of registers can have where operands lie so.
class Forms {
 public:
  Forms(const ProductSides& sides, const KernelChip& chip)
      : lhs_(sides.lhs), rhs_(sides.rhs), registers_(chip.registers), sum_(sum_type(sides.result)) {
    if (has_columns()) add(columns());
    if (has_columns() && lhs_.has_array && lhs_.own.count <= LoopLimits::few) add(lines());
    if (has_terms()) add(terms());
    if (has_columns_to_transpose()) add(transposed_columns());
    if (has_strips_to_transpose()) add(transposed_strips());
  }
  std::vector<ProductForm> all() && { return std::move(all_); }

 private:
  int64_t depth() const { return lhs_.depth.count; }
  int64_t lanes() const { return registers_.lanes(storage_bytes(sum_)); }
  void add(const ProductForm& form) { all_.push_back(form); }

  bool has_columns() const { return rhs_.own.stride == 1 && rhs_.own.count > 1; }
  bool has_terms() const {
    return depth() <= 1 || (lhs_.depth.stride == 1 && rhs_.depth.stride == 1);
  }
  // As many as fill a register are better where they lie.
  bool has_columns_to_transpose() const {
    return has_columns() && lhs_.has_array && lhs_.depth.stride == 1 && depth() > 1 &&
           rhs_.own.count <= lanes() && rhs_.batch.count == 1 &&
           depth() * rhs_.own.count * storage_bytes(rhs_.type) <= max_transposed_bytes;
  }
  bool has_strips_to_transpose() const {
    return rhs_.depth.stride == 1 && rhs_.own.count > 1 && depth() > 1 && lhs_.has_array &&
           has_lanes(sum_) && has_lanes(rhs_.type) &&
           depth() * columns().columns * storage_bytes(sum_) <= max_transposed_bytes;
  }

  int64_t rows() const { return std::min<int64_t>(lhs_.own.count, LoopLimits::few); }
  ProductForm columns() const {
    // Beside the numbers that rows are made with, fewer sums have registers.
    const int64_t most = !lhs_.has_array && !registers_.are_many() ? 4 : 8;
    const auto filled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows())));
    const int64_t wide = std::max<int64_t>(most / filled, 1) * lanes();
    const int64_t columns = std::min(wide, rhs_.own.count);
    return {.sum = sum_, .in_columns = true, .rows = rows(), .columns = columns, .lanes = columns};
  }
  ProductForm lines() const {
    ProductForm out = columns();
    out.lines_at_once = lines_at_once;
    const int64_t fewest = min_strip_bytes / storage_bytes(rhs_.type) / out.lanes;
    out.columns *= std::max<int64_t>(fewest, 1);
    return out;
  }
  ProductForm terms() const {
    const int64_t columns = std::min<int64_t>(
        rhs_.own.count, registers_.are_many() ? LoopLimits::few : LoopLimits::few / 2);
    int64_t each = lanes() * (columns == 1 ? 2 : 1);
    while (each > std::max<int64_t>(depth(), 1)) each /= 2;
    return {.sum = sum_, .rows = rows(), .columns = columns, .lanes = each};
  }
  ProductForm transposed_columns() const {
    ProductForm out = terms();
    out.transposes = true;
    return out;
  }
  ProductForm transposed_strips() const {
    ProductForm out = columns();
    out.transposes_strips = true;
    return out;
  }

  const DotSide &lhs_, &rhs_;
  const VectorRegisters registers_;
  const ElementType sum_;
  std::vector<ProductForm> all_;
};

struct FormCost {
  ProductForm form;
  double seconds;
};
// The fastest of them, if there is one.
std::optional<FormCost> best_form(const ProductSides& sides, const KernelChip& chip) {
  std::optional<FormCost> out;
  for (const ProductForm& form : Forms(sides, chip).all()) {
    const double seconds = seconds_in_blocks(sides, form, chip);
    if (!out || seconds < out->seconds) out = {form, seconds};
  }
  return out;
}

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
    const auto way = way_of(*lhs, *rhs, result, chip_.has_routines,
                            !takes_slices && is_of_tiny_products(module_, id_));
    if (!way) return std::unexpected(way.error());
    if (*way == DotKernel::Way::Elements) return DotKernel{.way = *way, .lhs = {}, .rhs = {}};
    return DotKernel{*way, *lhs, *rhs, takes_slices};
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
    const auto way = way_of(of_batch(lhs), of_batch(rhs), result, false, false);
    if (!way) return std::unexpected(way.error());
    return DotKernel{DotKernel::Way::ProducerBatches, lhs, rhs, true};
  }

  // The soonest: in blocks, by elements, or not here but by a routine.
  std::expected<DotKernel::Way, NoKernel> way_of(DotSide lhs, DotSide rhs, ElementType result,
                                                 bool has_routine, bool has_elements) const {
    if (swaps_sides(lhs, rhs)) std::swap(lhs, rhs);
    if (lhs.batch.count * lhs.own.count * rhs.own.count == 0)
      return std::unexpected(NoKernel::Nothing);
    const ProductSides sides = {lhs, rhs, result};
    const auto blocks = best_form(sides, chip_);
    if (!blocks) return std::unexpected(NoKernel::OperandOrders);
    const double elements = has_elements ? seconds_by_elements(sides, chip_) : blocks->seconds;
    const double here = std::min(blocks->seconds, elements);
    if (has_routine && seconds_of_routine(sides, chip_) < here)
      return std::unexpected(NoKernel::FasterRoutine);
    return elements < blocks->seconds ? DotKernel::Way::Elements : DotKernel::Way::Blocks;
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
                         const KernelChip& chip) {
  const auto best = best_form({lhs, rhs, result}, chip);
  check(best.has_value(), "dot: a product in blocks has a form");
  return best->form;
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
  auto out = DotBlocks(module, dot, has_array, chip).find();
  const bool may_be_elements = !out && out.error() != NoKernel::FasterRoutine;
  if (!may_be_elements || !is_of_tiny_products(module, dot)) return out;
  return DotKernel{.way = DotKernel::Way::Elements, .lhs = {}, .rhs = {}};
}

}  // namespace hilo
