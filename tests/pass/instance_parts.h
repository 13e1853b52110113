// What modules made from patterns are put together of: dimensions, constants, parameters, small
// computations, and arrays of a given shape that come from anywhere.
#pragma once

#include <algorithm>
#include <numeric>

#include "judge.h"

namespace hilo::test {

inline const std::vector<ElementType>& all_types() {
  static const std::vector<ElementType> types = {
#define ELEMENT_TYPE(name, text, number, bits, storage, kind) ElementType::name,
#define SPECIAL_TYPE(name, text, number)
#include "shape/element_types.def"
#undef ELEMENT_TYPE
#undef SPECIAL_TYPE
  };
  return types;
}

class InstanceParts {
 public:
  explicit InstanceParts(uint64_t seed) : dice_(seed) {
    module.header.name = "instance";
    module.entry = module.add_computation("entry");
    has_layouts_ = dice_.below(8) == 0;
    has_dynamic_ = dice_.below(12) == 0;
  }
  Module module;

 protected:
  bool one_in(int64_t n) { return dice_.below(n) == 0; }
  ElementType any_type() { return dice_.pick(all_types()); }
  Shape shape(InstructionId id) const { return module.shape(id); }
  bool is(InstructionId id, ElementType type, const Dims& dims) const {
    return id && module.shape(id).type == type && module.shape(id).dims == dims;
  }

  Dims random_dims() {
    Dims dims(static_cast<size_t>(dice_.below(4)));
    for (int64_t& dim : dims) dim = one_in(14) ? 0 : 1 + dice_.below(4);
    return dims;
  }

  // None when an operand is missing or the op's rules say no.
  template <class A = NoneAttributes>
  InstructionId add(Op op, const Shape& stated, std::vector<InstructionId> operands,
                    A attributes = {}) {
    for (InstructionId operand : operands)
      if (!operand) return {};
    const InstructionId id = module.add_instruction(module.entry, op, stated, operands);
    if constexpr (!std::is_same_v<A, NoneAttributes>)
      module.mutable_attributes<A>(id) = std::move(attributes);
    Result<Shape> inferred = infer_shape(module, module[id]);
    if (!inferred || !same_dims_but_dynamic(*inferred, stated)) return {};
    if (has_layouts_ && inferred->rank() > 1 && op != Op::Bitcast && !one_in(3)) {
      inferred->has_layout = true;
      std::ranges::reverse(inferred->layout.minor_to_major);
    }
    module[id].shape = module.shapes.intern(*inferred);
    return id;
  }

  InstructionId parameter(ElementType type, const Dims& dims) {
    for (InstructionId known : module[module.entry].parameters)
      if (is(known, type, dims) && one_in(4)) return known;
    Shape of = Shape::array(type, dims);
    if (has_dynamic_ && !dims.empty() && one_in(2)) {
      of.dynamic.assign(dims.size(), false);
      of.dynamic[static_cast<size_t>(dice_.below(of.rank()))] = true;
    }
    return module.add_instruction(module.entry, Op::Parameter, of, {});
  }

  InstructionId constant(Literal literal) {
    const Shape of = literal.shape();
    return module.add_instruction(
        module.entry, Op::Constant, of, {},
        ConstantAttributes{{std::make_shared<const Literal>(std::move(literal)), false}});
  }
  // One number everywhere: a broadcast, or the whole array written out.
  InstructionId splat(const Literal& scalar, const Dims& dims) {
    const ElementType type = scalar.type();
    if (dims.empty()) return constant(Literal(scalar));
    if (one_in(2))
      return add(Op::Broadcast, Shape::array(type, dims), {constant(Literal(scalar))},
                 DimensionsAttributes{});
    Literal whole = Literal::uninitialized(Shape::array(type, dims));
    const auto from = scalar.raw();
    const auto to = whole.mutable_raw();
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[i % from.size()];
    return constant(std::move(whole));
  }
  InstructionId number(ElementType type, const Dims& dims, double number) {
    return splat(scalar_of(type, number), dims);
  }

  // The least or greatest value of a type; infinities of floats. Only of real types.
  Literal extreme(ElementType type, bool lowest) {
    const int bits = bits_of(type);
    if (is_floating(type)) return scalar_of(type, lowest ? -INFINITY : INFINITY);
    if (type == ElementType::Pred) return scalar_of(type, lowest ? 0 : 1);
    if (type == ElementType::S64) return Literal::scalar(lowest ? INT64_MIN : INT64_MAX);
    if (type == ElementType::U64) return Literal::scalar(lowest ? uint64_t{0} : UINT64_MAX);
    if (is_unsigned(type)) return scalar_of(type, lowest ? 0 : std::ldexp(1.0, bits) - 1);
    return scalar_of(type, lowest ? -std::ldexp(1.0, bits - 1) : std::ldexp(1.0, bits - 1) - 1);
  }
  Literal ones(ElementType type) {
    return is_signed(type) || is_floating(type) || is_complex(type) ? scalar_of(type, -1)
                                                                    : extreme(type, false);
  }

  InstructionId any_constant(ElementType type, const Dims& dims) {
    static const std::vector<double> numbers = {1, 2, 4, 3, 8, 0.5, 0, -1, -2};
    if (!is_complex(type) && one_in(8)) return splat(extreme(type, one_in(2)), dims);
    if (one_in(2)) return number(type, dims, dice_.pick(numbers));
    return constant(random_literal(dice_, Shape::array(type, dims), one_in(2)));
  }

  // A computation of two scalars.
  ComputationId combiner(ElementType type) {
    static const std::vector<Op> ops = {Op::Add, Op::Maximum, Op::Minimum, Op::Multiply,
                                        Op::And, Op::Or,      Op::Add,     Op::Divide};
    static const std::vector<Op> of_pred = {Op::And, Op::Or, Op::Maximum, Op::Xor};
    const bool pred = type == ElementType::Pred;
    Op op = dice_.pick(pred ? of_pred : ops);
    if ((is_floating(type) || is_complex(type)) && (op == Op::And || op == Op::Or)) op = Op::Add;
    return computation(op, type, Shape::scalar(type), NoneAttributes{});
  }
  ComputationId less(ElementType type) {
    CompareAttributes compare{ComparisonDirection::Lt};
    if (is_floating(type)) compare.type = ComparisonType::TotalOrder;
    return computation(Op::Compare, type, Shape::scalar(ElementType::Pred), compare);
  }

  Dims shuffled(int64_t rank) {
    Dims out;
    for (int64_t i = 0; i < rank; ++i) out.insert(out.begin() + dice_.below(i + 1), i);
    return out;
  }

  // Dimensions with as many elements: ones come and go, or the elements fall into other dimensions.
  Dims regrouped(Dims dims) {
    if (one_in(2)) {
      std::erase_if(dims, [&](int64_t dim) { return dim == 1 && one_in(2); });
      for (int64_t n = dice_.below(3); n > 0; --n)
        dims.insert(dims.begin() + dice_.below(static_cast<int64_t>(dims.size()) + 1), 1);
      return dims;
    }
    int64_t count = element_count(dims);
    if (count == 0) return {one_in(2) ? 3 : 1, 0};
    Dims out;
    for (int64_t factor = 2; count > 1;) {
      if (count % factor != 0) ++factor;
      else if (count /= factor; out.empty() || one_in(2))
        out.insert(out.begin() + dice_.below(static_cast<int64_t>(out.size()) + 1), factor);
      else out[static_cast<size_t>(dice_.below(static_cast<int64_t>(out.size())))] *= factor;
    }
    return out;
  }

  // An array from anywhere.
  InstructionId any_value(ElementType type, const Dims& dims) {
    const Shape of = Shape::array(type, dims);
    const int64_t rank = of.rank();
    switch (dice_.below(7)) {
      case 0: return any_constant(type, dims);
      case 1: {
        Dims from, kept;
        for (int64_t i = 0; i < rank; ++i)
          if (one_in(2)) from.push_back(dims[i]), kept.push_back(i);
        return add(Op::Broadcast, of, {parameter(type, from)}, DimensionsAttributes{kept});
      }
      case 2: return add(Op::Reshape, of, {parameter(type, regrouped(dims))}, ReshapeAttributes{});
      case 3: {
        const Dims order = shuffled(rank);
        Dims from(dims.size());
        for (size_t i = 0; i < dims.size(); ++i) from[order[i]] = dims[i];
        return add(Op::Transpose, of, {parameter(type, from)}, DimensionsAttributes{order});
      }
      default: return parameter(type, dims);
    }
  }
  // Another one that comes the same way, when it comes by an op that moves data.
  InstructionId value_like(InstructionId other, ElementType type) {
    const Shape of = shape(other);
    const Op op = module[other].op;
    if (op == Op::Broadcast || op == Op::Transpose)
      return add(op, Shape::array(type, of.dims),
                 {parameter(type, shape(module.operand(other, 0)).dims)},
                 DimensionsAttributes(module.attributes<DimensionsAttributes>(other)));
    if (op == Op::Reshape)
      return add(op, Shape::array(type, of.dims),
                 {parameter(type, shape(module.operand(other, 0)).dims)}, ReshapeAttributes{});
    return any_value(type, of.dims);
  }

  Dice dice_;

 private:
  template <class A>
  ComputationId computation(Op op, ElementType type, const Shape& result, A attributes) {
    const ComputationId out = module.add_computation("combine");
    const Shape scalar = Shape::scalar(type);
    std::array<InstructionId, 2> given;
    for (InstructionId& one : given) one = module.add_instruction(out, Op::Parameter, scalar, {});
    if (one_in(2) && op != Op::Compare) std::swap(given[0], given[1]);
    if constexpr (std::is_same_v<A, NoneAttributes>)
      module[out].root = module.add_instruction(out, op, result, given);
    else module[out].root = module.add_instruction(out, op, result, given, attributes);
    return out;
  }

  static bool same_dims_but_dynamic(const Shape& a, const Shape& b) {
    return a.is_tuple() || !b.is_array() || (a.type == b.type && a.dims == b.dims);
  }

  bool has_layouts_, has_dynamic_;
};

}  // namespace hilo::test
