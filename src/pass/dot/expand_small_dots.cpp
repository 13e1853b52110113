// A product of an array with a small matrix, as of the state of a quantum computer with a gate or
// of points with a rotation, is a sum of few elementwise products, which one loop computes together
// with what moves the array before and after.
//
//   dot(x, w)  =>  x[.., 0, ..] * w[0, ..] + x[.., 1, ..] * w[1, ..] + ...
//
// They are summed in the larger operand's order of dimensions, and the sum is transposed: one
// array, not each of the terms. Sums have the order of a product's. Complex numbers are multiplied
// by their parts, as there: operands of floats narrower than 32 bits are widened, and the sum is
// rounded once. Stands before simplify, which joins the reshapes.
#include "pass/pass.h"

#include <algorithm>
#include <numeric>

#include "pass/layout/permutation.h"

namespace hilo {
namespace {

// Terms of a sum; elements of the result.
constexpr int64_t max_terms = 16, min_result_elements = 1024;
// Places of the long side, and by how many multiplications for each sums are faster than a library
// and do not take long to compile: real and complex ones, where the small side's places stand side
// by side in the result, and where the long side's do.
constexpr int64_t min_long_side = 64, max_across = 256, max_along = 128;
constexpr int64_t max_complex_across = 16, max_complex_along = 32;

class SmallDots {
 public:
  explicit SmallDots(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (size_t i = 0, count = module_.instructions.size(); i < count; ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || module_[id].op != Op::Dot || editor_.is_pinned(id) ||
          !is_short(id))
        continue;
      const InstructionId value = sum_of(id);
      if (!editor_.can_replace(id, value)) continue;
      editor_.replace(id, value);
      changed = true;
    }
    return changed;
  }

 private:
  struct Size {
    int64_t batches, rows, columns, depth;
  };
  struct Side {
    InstructionId value;
    const Dims &batch, &contracting;
    Dims own;
    int64_t first_own;  // its dimension in the result
  };

  static Dims own_dims(const Shape& shape, const Dims& batch, const Dims& contracting) {
    Dims out;
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (std::ranges::count(batch, d) + std::ranges::count(contracting, d) == 0) out.push_back(d);
    return out;
  }
  int64_t count_of(InstructionId value, const Dims& dims) const {
    int64_t out = 1;
    for (int64_t d : dims) out *= module_.shape(value).dims[static_cast<size_t>(d)];
    return out;
  }

  // Whether own dimensions stand beside each other, so that they are walked as one.
  bool is_one_walk(InstructionId value, const Dims& own) const {
    const Dims& dims = module_.shape(value).dims;
    int64_t last = -1;
    for (int64_t d : own) {
      if (dims[static_cast<size_t>(d)] == 1) continue;
      for (int64_t between = last + 1; last >= 0 && between < d; ++between)
        if (dims[static_cast<size_t>(between)] != 1) return false;
      last = d;
    }
    return true;
  }

  // Whether elements along the last of these stand side by side.
  bool ends_with(InstructionId value, const Dims& own) const {
    const Dims& dims = module_.shape(value).dims;
    int64_t last = std::ssize(dims) - 1;
    while (last > 0 && dims[static_cast<size_t>(last)] == 1) --last;
    return std::ranges::count(own, last) > 0;
  }

  bool has_fitting_types(InstructionId id) const {
    const Shape &lhs = module_.shape(module_.operand(id, 0)),
                &rhs = module_.shape(module_.operand(id, 1)), &result = module_.shape(id);
    for (const Shape* shape : {&lhs, &rhs, &result})
      if (!shape->is_array() || shape->has_dynamic_dims()) return false;
    if (lhs.type != rhs.type) return false;
    if (is_complex(result.type)) return lhs.type == result.type;
    return is_real(lhs.type) && is_real(result.type) &&
           (lhs.type != ElementType::F64 || result.type == ElementType::F64);
  }

  bool is_short(InstructionId id) const {
    const auto& a = module_.attributes<DotAttributes>(id);
    const InstructionId lhs = module_.operand(id, 0), rhs = module_.operand(id, 1);
    if (!has_fitting_types(id) || !a.sparsity.text.empty()) return false;
    const Dims left = own_dims(module_.shape(lhs), a.lhs_batch_dims, a.lhs_contracting_dims),
               right = own_dims(module_.shape(rhs), a.rhs_batch_dims, a.rhs_contracting_dims);
    const Size size{count_of(lhs, a.lhs_batch_dims), count_of(lhs, left), count_of(rhs, right),
                    count_of(lhs, a.lhs_contracting_dims)};
    if (size.depth < 2 || size.depth > max_terms ||
        std::max(size.rows, size.columns) < min_long_side ||
        element_count(module_.shape(id)) < min_result_elements)
      return false;
    const int64_t each = std::min(size.rows, size.columns) * size.depth;
    const bool is_across = size.rows > size.columns;
    if (is_complex(module_.shape(id).type))
      return each <= (is_across ? max_complex_across : max_complex_along);
    if (each > (is_across ? max_across : max_along)) return false;
    const bool ends_left = ends_with(lhs, a.lhs_contracting_dims),
               ends_right = ends_with(rhs, a.rhs_contracting_dims);
    const bool in_order = ends_with(rhs, right) || (ends_left && ends_right);
    if (!in_order || !is_one_walk(lhs, left) || !is_one_walk(rhs, right)) return true;
    return is_better_than_loops(size, module_.shape(id).type, is_across, !is_across && ends_right);
  }

  // is_transposed: the long side is the right operand, whose columns stand one after the other.
  static bool is_better_than_loops(const Size& size, ElementType type, bool is_across,
                                   bool is_transposed) {
    const int64_t small = std::min(size.rows, size.columns);
    const bool has_loops = small <= LoopLimits::few ||
                           size.rows * size.columns * size.depth <= LoopLimits::small_product;
    const bool is_tiny = small <= LoopLimits::few &&
                         size.depth <= (size.batches == 1 ? 2 * LoopLimits::few : LoopLimits::few);
    if (has_loops)
      return type != ElementType::F64 && is_tiny &&
             (is_across || (is_transposed && size.batches == 1));
    return size.batches == 1 && !is_across;
  }
  static bool is_real(ElementType type) {
    return type == ElementType::F32 || type == ElementType::F64 || type == ElementType::BF16 ||
           type == ElementType::F16;
  }

  InstructionId sum_of(InstructionId id) {
    const DotAttributes a = module_.attributes<DotAttributes>(id);
    const InstructionId lhs = module_.operand(id, 0), rhs = module_.operand(id, 1);
    const Shape result = module_.shape(id);
    const auto batches = std::ssize(a.lhs_batch_dims);
    Dims own = own_dims(module_.shape(lhs), a.lhs_batch_dims, a.lhs_contracting_dims);
    const int64_t rows = std::ssize(own);
    const Side left{lhs, a.lhs_batch_dims, a.lhs_contracting_dims, std::move(own), batches};
    const Side right{rhs, a.rhs_batch_dims, a.rhs_contracting_dims,
                     own_dims(module_.shape(rhs), a.rhs_batch_dims, a.rhs_contracting_dims),
                     batches + rows};
    const Dims order =
        order_of(count_of(lhs, left.own) > count_of(rhs, right.own) ? left : right, result.rank());
    const Dims places = inverse_order(order);
    const Shape summed = Shape::array(result.type, permuted(result.dims, order));
    Dims sizes;
    for (int64_t d : a.lhs_contracting_dims)
      sizes.push_back(module_.shape(lhs).dims[static_cast<size_t>(d)]);
    Dims k(sizes.size(), 0);
    InstructionId real, imaginary;
    do {
      const InstructionId l = term(id, left, k, places, summed),
                          r = term(id, right, k, places, summed);
      if (!is_complex(result.type)) {
        add(id, Op::Add, real, binary(id, Op::Multiply, l, r));
        continue;
      }
      const InstructionId lr = unary(id, Op::Real, l), li = unary(id, Op::Imag, l);
      const InstructionId rr = unary(id, Op::Real, r), ri = unary(id, Op::Imag, r);
      add(id, Op::Add, real, binary(id, Op::Multiply, lr, rr));
      add(id, Op::Subtract, real, binary(id, Op::Multiply, li, ri));
      add(id, Op::Add, imaginary, binary(id, Op::Multiply, lr, ri));
      add(id, Op::Add, imaginary, binary(id, Op::Multiply, li, rr));
    } while (next_index(k, sizes));
    if (is_complex(result.type)) real = binary(id, Op::Complex, real, imaginary);
    real = converted(id, real, result.type);
    if (leads(order)) return real;
    return editor_.add(id, Op::Transpose, result, {&real, 1}, DimensionsAttributes{places});
  }

  // The dimension of the result that each of a side's has, in its order, less the summed ones.
  Dims result_dims(const Side& side) const {
    Dims out;
    for (int64_t d = 0; d < module_.shape(side.value).rank(); ++d) {
      const auto batch = std::ranges::find(side.batch, d), own = std::ranges::find(side.own, d);
      if (batch != side.batch.end()) out.push_back(batch - side.batch.begin());
      else if (own != side.own.end()) out.push_back(side.first_own + (own - side.own.begin()));
    }
    return out;
  }
  // Dimensions of the result as the side has them, behind those that it has not.
  Dims order_of(const Side& side, int64_t rank) const {
    const Dims last = result_dims(side);
    Dims out(static_cast<size_t>(rank));
    std::iota(out.begin(), out.end(), 0);
    if (std::ranges::is_sorted(last)) return out;
    std::erase_if(out, [&](int64_t d) { return std::ranges::count(last, d) > 0; });
    out.insert(out.end(), last.begin(), last.end());
    return out;
  }

  void add(InstructionId like, Op op, InstructionId& sum, InstructionId value) {
    sum = sum ? binary(like, op, sum, value) : value;
  }
  InstructionId unary(InstructionId like, Op op, InstructionId value) {
    return editor_.add_inferred(like, op, {&value, 1});
  }
  InstructionId binary(InstructionId like, Op op, InstructionId first, InstructionId second) {
    const InstructionId operands[] = {first, second};
    return editor_.add_inferred(like, op, operands);
  }
  InstructionId converted(InstructionId like, InstructionId value, ElementType type) {
    const Shape shape = module_.shape(value);
    if (shape.type == type) return value;
    return editor_.add(like, Op::Convert, Shape::array(type, shape.dims), {&value, 1});
  }

  // The elements of an operand at one place of the summed dimensions, each where the sum has it:
  // dimension d of the result is the sum's places[d].
  InstructionId term(InstructionId like, const Side& side, const Dims& k, const Dims& places,
                     const Shape& sum) {
    const Dims dims = module_.shape(side.value).dims;
    const ElementType type = module_.shape(side.value).type;
    SliceAttributes slice;
    for (int64_t size : dims) slice.slice.dims.push_back({0, size, 1});
    for (size_t i = 0; i < k.size(); ++i)
      slice.slice.dims[static_cast<size_t>(side.contracting[i])] = {k[i], k[i] + 1, 1};
    InstructionId value = editor_.add_inferred(like, Op::Slice, {&side.value, 1}, slice);
    Dims kept, to;  // dimensions of the operand, and where they are in the sum
    for (int64_t d = 0; d < std::ssize(dims); ++d)
      if (std::ranges::count(side.contracting, d) == 0)
        kept.push_back(dims[static_cast<size_t>(d)]);
    for (int64_t d : result_dims(side)) to.push_back(places[static_cast<size_t>(d)]);
    value = editor_.add(like, Op::Reshape, Shape::array(type, kept), {&value, 1});
    value = editor_.add(like, Op::Broadcast, Shape::array(type, sum.dims), {&value, 1},
                        DimensionsAttributes{to});
    return is_complex(type) ? value : converted(like, value, sum_type(sum.type));
  }
  static ElementType sum_type(ElementType result) {
    return result == ElementType::F64 ? result : ElementType::F32;
  }

  Module& module_;
  Editor editor_;
};

}  // namespace

Result<bool> expand_small_dots(Module& module, const PassOptions&) {
  return SmallDots(module).run();
}

}  // namespace hilo
