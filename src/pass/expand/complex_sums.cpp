// Sums of complex numbers along rows are those of their real and of their imaginary parts, which
// are added in lanes side by side:
//
//   reduce(x, z), add  =>  complex(reduce(real(x), real(z)), reduce(imag(x), imag(z)))
//
// and so are products of rows with rows, x = a + ib and y = c + id of one shape:
//
//   dot(x, y)  =>  complex(reduce(a c - b d, 0), reduce(a d + b c, 0))
//
// whose products are made in the same loop; rows of a small matrix and a vector are multiplied so
// too. Assumes plain layouts. Stands before simplification, which leaves out the parts of what is
// made of parts. Short rows are in the lanes of vectors already, and so are columns that lie in
// memory; those that are computed become lanes by their parts alone.
#include "pass/pass.h"

#include <algorithm>

#include "ir/ir.h"
#include "pass/layout/permutation.h"

namespace hilo {
namespace {

constexpr int64_t min_row_elements = 64;  // elements
constexpr int64_t min_lines = 8;
// Terms of a row and elements of a matrix that is multiplied by a vector.
constexpr int64_t min_terms = 8, largest_matrix = 1 << 15;

class ComplexSums {
 public:
  explicit ComplexSums(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || editor_.is_pinned(id)) continue;
      const bool is_sum = is_long_sum(id);
      if (!is_sum && module_[id].op != Op::Dot) continue;
      const InstructionId sum = is_sum                   ? sum_of_parts(id)
                                : is_product_of_rows(id) ? sum_of_products(id)
                                                         : sum_of_rows_and_vector(id);
      if (!sum || !editor_.can_replace(id, sum)) continue;
      editor_.replace(id, sum);
      changed = true;
    }
    return changed;
  }

 private:
  // Whether the elements that are added stand side by side.
  bool is_long_sum(InstructionId id) const {
    if (module_[id].op != Op::Reduce || module_[id].operand_count != 2) return false;
    const Shape &from = module_.shape(module_.operand(id, 0)), &to = module_.shape(id);
    if (!is_complex(from.type) || from.has_dynamic_dims()) return false;
    const auto& a = module_.attributes<ReduceAttributes>(id);
    const auto combiner = find_combiner(module_, a.to_apply);
    if (!combiner || module_[combiner->instruction].op != Op::Add ||
        combiner->element != from.type || to.type != from.type)
      return false;
    return are_long_rows(from, a.dimensions, to) ||
           (is_computed(module_.operand(id, 0)) && are_columns(from, a.dimensions, to));
  }

  static bool sums_innermost(const Shape& from, const Dims& summed) {
    int64_t innermost = from.rank() - 1;
    while (innermost > 0 && from.dims[static_cast<size_t>(innermost)] == 1) --innermost;
    return std::ranges::count(summed, innermost) > 0;
  }
  static bool are_long_rows(const Shape& from, const Dims& summed, const Shape& to) {
    return sums_innermost(from, summed) &&
           element_count(from) >= min_row_elements * element_count(to);
  }
  static bool are_columns(const Shape& from, const Dims& summed, const Shape& to) {
    return from.rank() > 0 && !sums_innermost(from, summed) &&
           from.dims.back() >= LoopLimits::min_lanes &&
           element_count(from) >= min_lines * element_count(to);
  }
  // For this sum alone, by more than a move.
  bool is_computed(InstructionId id) const {
    return is_elementwise(module_[id].op) && module_[id].op != Op::Copy &&
           module_.users(id).size() == 1;
  }

  // Whether all dimensions are summed or of batches, and stand in both operands alike.
  bool is_product_of_rows(InstructionId id) const {
    const Shape &left = module_.shape(module_.operand(id, 0)),
                &right = module_.shape(module_.operand(id, 1)), &to = module_.shape(id);
    const auto& a = module_.attributes<DotAttributes>(id);
    if (!is_complex(left.type) || right.type != left.type || to.type != left.type ||
        left.has_dynamic_dims() || right.has_dynamic_dims() || left.dims != right.dims ||
        !a.sparsity.text.empty() || a.lhs_batch_dims != a.rhs_batch_dims ||
        a.lhs_contracting_dims != a.rhs_contracting_dims)
      return false;
    return std::ranges::is_sorted(a.lhs_batch_dims) &&
           std::ssize(a.lhs_batch_dims) + std::ssize(a.lhs_contracting_dims) == left.rank() &&
           are_long_rows(left, a.lhs_contracting_dims, to);
  }

  InstructionId sum_of_parts(InstructionId id) {
    const ReduceAttributes a = module_.attributes<ReduceAttributes>(id);
    const InstructionId x = module_.operand(id, 0), z = module_.operand(id, 1);
    return sum_of(id, parts_of(id, x), parts_of(id, z), a.dimensions);
  }

  InstructionId sum_of_products(InstructionId id) {
    const Dims dimensions = module_.attributes<DotAttributes>(id).lhs_contracting_dims;
    const InstructionId x = module_.operand(id, 0), y = module_.operand(id, 1);
    return sum_of_products(id, parts_of(id, x), parts_of(id, y), dimensions);
  }

  // Of the rows of a small matrix, or of each of a batch, with a vector: a library would take
  // longer to put both in its order than to multiply. Nothing for other products.
  InstructionId sum_of_rows_and_vector(InstructionId id) {
    const DotAttributes a = module_.attributes<DotAttributes>(id);
    const InstructionId left = module_.operand(id, 0), right = module_.operand(id, 1);
    if (!a.sparsity.text.empty()) return {};
    const Dims* const batch[] = {&a.lhs_batch_dims, &a.rhs_batch_dims};
    const Dims* const summed[] = {&a.lhs_contracting_dims, &a.rhs_contracting_dims};
    for (const size_t m : {0, 1}) {
      const InstructionId matrix = m == 0 ? left : right, vector = m == 0 ? right : left;
      const Shape whole = module_.shape(matrix), of_vector = module_.shape(vector);
      Dims places(of_vector.dims.size(), -1);  // of the vector's dimensions in the matrix
      if (std::ssize(*batch[m]) + std::ssize(*summed[m]) != std::ssize(places)) continue;
      for (size_t i = 0; i < batch[m]->size(); ++i)
        places[static_cast<size_t>((*batch[1 - m])[i])] = (*batch[m])[i];
      for (size_t i = 0; i < summed[m]->size(); ++i)
        places[static_cast<size_t>((*summed[1 - m])[i])] = (*summed[m])[i];
      if (!is_small_matrix(id, whole, *batch[m], *summed[m]) || of_vector.type != whole.type ||
          of_vector.has_dynamic_dims() || !std::ranges::is_sorted(places))
        continue;
      std::array<InstructionId, 2> y = parts_of(id, vector);
      for (InstructionId& part : y)
        part = editor_.add(id, Op::Broadcast, Shape::array(real_type_of(whole.type), whole.dims),
                           {&part, 1}, DimensionsAttributes{places});
      return sum_of_products(id, parts_of(id, matrix), y, *summed[m]);
    }
    return {};
  }
  bool is_small_matrix(InstructionId id, const Shape& matrix, const Dims& batch,
                       const Dims& summed) const {
    if (!is_complex(matrix.type) || module_.shape(id).type != matrix.type ||
        matrix.has_dynamic_dims() || !leads(batch) || element_count(matrix) == 0)
      return false;
    int64_t batches = 1;
    for (int64_t d : batch) batches *= matrix.dims[static_cast<size_t>(d)];
    return sums_innermost(matrix, summed) && element_count(matrix) <= batches * largest_matrix &&
           element_count(matrix) >= min_terms * element_count(module_.shape(id));
  }

  InstructionId sum_of_products(InstructionId id, std::array<InstructionId, 2> x,
                                std::array<InstructionId, 2> y, const Dims& dimensions) {
    const auto [a, b] = x;
    const auto [c, d] = y;
    const auto of = [&](Op op, InstructionId first, InstructionId second) {
      return editor_.add_inferred(id, op, std::array{first, second});
    };
    const auto product = [&](InstructionId first, InstructionId second) {
      return of(Op::Multiply, first, second);
    };
    const InstructionId zero =
        editor_.add_constant(id, scalar_of(real_type_of(module_.shape(id).type), 0));
    return sum_of(
        id,
        {of(Op::Subtract, product(a, c), product(b, d)), of(Op::Add, product(a, d), product(b, c))},
        {zero, zero}, dimensions);
  }

  std::array<InstructionId, 2> parts_of(InstructionId like, InstructionId value) {
    return {part(like, Op::Real, value), part(like, Op::Imag, value)};
  }
  InstructionId part(InstructionId like, Op op, InstructionId value) {
    return editor_.add_inferred(like, op, {&value, 1});
  }

  // Of both parts, and from where they start.
  InstructionId sum_of(InstructionId id, std::array<InstructionId, 2> x,
                       std::array<InstructionId, 2> z, const Dims& dimensions) {
    const Shape shape = module_.shape(id);
    const ComputationId add = adder(real_type_of(shape.type));
    std::vector<InstructionId> parts;
    for (size_t i = 0; i < 2; ++i)
      parts.push_back(editor_.add_inferred(id, Op::Reduce, std::array{x[i], z[i]},
                                           ReduceAttributes{dimensions, add}));
    return editor_.add(id, Op::Complex, shape, parts);
  }

  ComputationId adder(ElementType type) {
    const Shape scalar = Shape::scalar(type);
    const ComputationId add = module_.add_computation("add");
    const std::array parameters = {module_.add_instruction(add, Op::Parameter, scalar, {}, "a"),
                                   module_.add_instruction(add, Op::Parameter, scalar, {}, "b")};
    module_.add_instruction(add, Op::Add, scalar, parameters, "sum");
    return add;
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> sum_complex_parts(Module& module, const PassOptions&) {
  return ComplexSums(module).run();
}

}  // namespace hilo
