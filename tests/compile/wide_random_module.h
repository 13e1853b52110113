// Random programs with vectors of many lengths, all types, and the ops that RandomModule leaves
// out: products, gathers, scatters, sorts, windows, functions of reals. The same seed makes the
// same program.
#pragma once

#include "../pass/random_module.h"

namespace hilo::test {

class WideRandomModule final : public RandomModule {
 public:
  explicit WideRandomModule(uint64_t seed) : RandomModule(seed) {
    static const std::vector<int64_t> lengths = {1,  2,  3,  4,  5,  7,  8,  9,  15,  16,
                                                 17, 24, 31, 32, 33, 48, 64, 70, 100, 130};
    for (int64_t& length : lengths_) length = dice_.pick(lengths);
    for (ElementType& type : types_) type = drawn_type();
    max_elements_ = 20'000;
    // Sums and products of extremes overflow or not by their order.
    tame_constants_ = true;
  }

 private:
  // A few types a program, so that values meet.
  ElementType drawn_type() {
    using enum ElementType;
    static const std::vector<ElementType> drawn = {F32, F32, F32,  F32, S32, S32, BF16, F16, F64,
                                                   S64, U32, Pred, U8,  S8,  S16, U16,  U64, C64};
    return dice_.pick(drawn);
  }
  // Products of many reals overflow or not by their order.
  std::vector<Op> combiners(ElementType type) const override {
    using enum Op;
    if (is_floating(type) || is_complex(type)) return {Add, Maximum, Minimum};
    return {Add, Maximum, Minimum, Multiply, And, Xor};
  }
  bool is_defined(Op op, ElementType type) const override {
    using enum Op;
    return !is_complex(type) || (op != Remainder && op != Clamp && op != Maximum && op != Minimum);
  }
  ElementType some_type() override { return types_[dice_.below(4)]; }
  int64_t length() { return lengths_[dice_.below(3)]; }
  Shape some_shape() override {
    const auto [a, b, c] = lengths_;
    const std::vector<Dims> dims = {
        {}, {a}, {b}, {b, a}, {a, b}, {c, a}, {1, a}, {b, c}, {std::min<int64_t>(c, 5), b, a}};
    const ElementType type = some_type();
    const Shape out = Shape::array(type, dice_.pick(dims));
    return element_count(out) <= max_elements_ ? out : Shape::array(type, {a});
  }

  void step(Pool& pool, int depth) override {
    if (dice_.below(2)) return RandomModule::step(pool, depth);
    switch (dice_.below(depth == 0 ? 15 : 9)) {
      case 0:
      case 1: return function_of_real(pool);
      case 2:
      case 3: return other_binary(pool);
      case 4: return clamp(pool);
      case 5: return iota(pool);
      case 6: return gather(pool);
      case 7: return dot(pool);
      case 8: return with_itself_moved(pool);
      case 9: return scatter(pool);
      case 10: return sort(pool);
      case 11: return window(pool);
      case 12: return largest_with_place(pool);
      case 13: return mean_and_back(pool);
      default: return convolution(pool);
    }
  }

  void function_of_real(Pool& pool) {
    using enum Op;
    static const std::vector<Op> ops = {Log,
                                        LogPlusOne,
                                        ExponentialMinusOne,
                                        Sqrt,
                                        Rsqrt,
                                        Cbrt,
                                        Sine,
                                        Cosine,
                                        Logistic,
                                        Erf,
                                        Tanh,
                                        Ceil,
                                        Atan2,
                                        IsFinite,
                                        RoundNearestEven,
                                        Real,
                                        PopulationCount,
                                        CountLeadingZeros,
                                        Imag,
                                        Abs,
                                        RoundNearestAfz};
    const Op op = dice_.pick(ops);
    const InstructionId a = any(pool);
    if (op == Atan2) add(pool, op, std::array{a, partner(pool, Shape(shape(a)))});
    else add(pool, op, std::array{a});
  }
  void other_binary(Pool& pool) {
    using enum Op;
    static const std::vector<Op> ops = {
        ShiftRightArithmetic, ShiftRightLogical, Add, Subtract, Multiply, Maximum, Minimum, Power,
        MultiplyHigh};
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    add(pool, dice_.pick(ops), std::array{a, b});
  }
  void clamp(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a), scalar = Shape::scalar(of.type);
    add(pool, Op::Clamp, std::array{partner(pool, scalar), a, partner(pool, scalar)});
  }
  void iota(Pool& pool) {
    const Shape of = some_shape();
    if (of.is_scalar()) return;
    add(pool, Op::Iota, of, {}, IotaAttributes{dice_.below(of.rank())});
  }

  // Integers of one dimension or none, to look up with.
  InstructionId places(Pool& pool) {
    std::vector<InstructionId> fitting;
    for (InstructionId id : pool.values)
      if (is_integral(shape(id).type) && bits_of(shape(id).type) >= 8 && shape(id).rank() <= 1)
        fitting.push_back(id);
    if (!fitting.empty() && dice_.below(2)) return dice_.pick(fitting);
    const Shape of = Shape::array(ElementType::S32, {length()});
    Literal value = Literal::uninitialized(of);
    for (int32_t& place : value.mutable_data<int32_t>())
      place = static_cast<int32_t>(dice_.below(lengths_[0] + 4) - 2);
    return module_.add_instruction(
        pool.computation, Op::Constant, of, {},
        ConstantAttributes{{std::make_shared<const Literal>(std::move(value)), false}});
  }
  // Slices of `a` that are whole but in the dimension `at`, where they begin at places.
  void gather(Pool& pool) {
    const InstructionId a = any(pool), at_places = places(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const int64_t at = dice_.below(of.rank()), indices = shape(at_places).rank();
    const bool first = dice_.below(2);
    GatherAttributes g;
    g.slice_sizes = of.dims;
    g.slice_sizes[at] = std::min<int64_t>(1, of.dims[at]);
    g.collapsed_slice_dims = {at};
    g.start_index_map = {at};
    g.index_vector_dim = indices;
    for (int64_t i = 0; i + 1 < of.rank(); ++i) g.offset_dims.push_back(first ? i : i + indices);
    add(pool, Op::Gather, of, std::array{a, at_places}, g);
  }
  ComputationId combiner(ElementType type) {
    const Shape scalar = Shape::scalar(type);
    const ComputationId body = module_.add_computation("combine");
    Pool inner{body, {parameter(body, scalar), parameter(body, scalar)}};
    if (!add(inner, dice_.pick(combiners(type)), std::array{inner.values[0], inner.values[1]}))
      finish(body, inner.values[0]);
    else finish(body, inner.values.back());
    return body;
  }
  void scatter(Pool& pool) {
    const InstructionId a = any(pool), at_places = places(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    Dims updates = of.dims;
    updates.erase(updates.begin());
    ScatterAttributes s;
    const int64_t indices = shape(at_places).rank();
    for (int64_t i = 0; i + 1 < of.rank(); ++i) s.update_window_dims.push_back(i + indices);
    updates.insert(updates.begin(), shape(at_places).dims.begin(), shape(at_places).dims.end());
    s.inserted_window_dims = {0};
    s.scatter_dims_to_operand_dims = {0};
    s.index_vector_dim = indices;
    const Shape update = Shape::array(of.type, updates);
    if (element_count(update) > max_elements_) return;
    s.to_apply = combiner(of.type);
    add(pool, Op::Scatter, of, std::array{a, at_places, partner(pool, update)}, s);
  }

  void dot(Pool& pool) {
    const InstructionId a = any(pool), b = any(pool);
    const Shape x = shape(a), y = shape(b);
    if (x.type != y.type) return;
    for (int64_t i = 0; i < x.rank(); ++i)
      for (int64_t j = 0; j < y.rank(); ++j) {
        if (x.dims[i] != y.dims[j]) continue;
        DotAttributes d;
        d.lhs_contracting_dims = {i};
        d.rhs_contracting_dims = {j};
        if (i > 0 && j > 0 && x.dims[0] == y.dims[0]) d.lhs_batch_dims = d.rhs_batch_dims = {0};
        add(pool, Op::Dot, x, std::array{a, b}, d);
        return;
      }
  }
  void convolution(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.rank() != 2 || !(is_floating(of.type) || is_integral(of.type))) return;
    const int64_t taps = 1 + dice_.below(3);
    if (!add(pool, Op::Reshape, Shape::array(of.type, {1, of.dims[0], of.dims[1]}), std::array{a},
             ReshapeAttributes{}))
      return;
    const InstructionId image = pool.values.back();
    ConvolutionAttributes c;
    WindowDim window;
    window.size = taps;
    window.stride = 1 + dice_.below(2);
    window.padding_low = dice_.below(2);
    window.padding_high = dice_.below(2);
    window.window_dilation = 1 + dice_.below(2);
    c.window.dims = {window};
    // b0f_0io->b0f
    c.dim_labels = {.input_batch = 0,
                    .input_feature = 2,
                    .input_spatial = {1},
                    .kernel_input_feature = 1,
                    .kernel_output_feature = 2,
                    .kernel_spatial = {0},
                    .output_batch = 0,
                    .output_feature = 2,
                    .output_spatial = {1},
                    .input_unknown = {},
                    .kernel_unknown = {}};
    const Shape kernel = Shape::array(of.type, {taps, of.dims[1], length()});
    if (element_count(kernel) > max_elements_) return;
    add(pool, Op::Convolution, of, std::array{image, partner(pool, kernel)}, c);
  }

  // The sign of NaN is nobody's promise, but a total order sees it.
  InstructionId without_nan(Pool& pool, InstructionId a) {
    const Shape of = shape(a);
    const InstructionId is_number =
        add(pool, Op::Compare, Shape::scalar(ElementType::Pred), std::array{a, a},
            CompareAttributes{ComparisonDirection::Eq});
    const std::array operands{is_number, a, constant(pool, of)};
    return add(pool, Op::Select, of, operands, NoneAttributes{});
  }
  ComputationId before(const std::vector<Shape>& operands, ComparisonDirection direction) {
    const ComputationId body = module_.add_computation("before");
    std::vector<InstructionId> parameters;
    for (const Shape& operand : operands)
      for (int side = 0; side < 2; ++side)
        parameters.push_back(parameter(body, Shape::scalar(operand.type)));
    CompareAttributes compare{direction};
    if (is_floating(operands[0].type)) compare.type = ComparisonType::TotalOrder;
    const InstructionId root =
        module_.add_instruction(body, Op::Compare, Shape::scalar(ElementType::Pred),
                                std::array{parameters[0], parameters[1]});
    module_.mutable_attributes<CompareAttributes>(root) = compare;
    finish(body, root);
    return body;
  }
  void sort(Pool& pool) {
    const InstructionId given = any(pool);
    const Shape of = shape(given);
    if (of.is_scalar() || is_complex(of.type)) return;
    const InstructionId a = is_floating(of.type) ? without_nan(pool, given) : given;
    std::vector<InstructionId> operands = {a};
    std::vector<Shape> shapes = {of};
    for (int64_t i = dice_.below(3); i > 0; --i) {
      shapes.push_back(Shape::array(some_type(), of.dims));
      operands.push_back(partner(pool, shapes.back()));
    }
    const auto direction = dice_.below(2) ? ComparisonDirection::Lt : ComparisonDirection::Gt;
    SortAttributes s{{dice_.below(of.rank())}, true, before(shapes, direction)};
    add_many(pool, Op::Sort, shapes, operands, std::move(s));
  }
  void window(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    ReduceWindowAttributes w;
    const bool running = dice_.below(3) == 0;
    const int64_t along = dice_.below(of.rank());
    for (int64_t i = 0; i < of.rank(); ++i) {
      WindowDim dim;
      if (running && i == along) {
        dim.size = std::max<int64_t>(of.dims[i], 1);
        dim.padding_low = dim.size - 1;
      } else if (!running && dice_.below(2)) {
        dim.size = 1 + dice_.below(3);
        dim.stride = 1 + dice_.below(3);
        dim.padding_low = dice_.below(2);
        dim.padding_high = dice_.below(2);
        dim.window_dilation = 1 + dice_.below(2);
      }
      w.window.dims.push_back(dim);
    }
    w.to_apply = combiner(of.type);
    const InstructionId init = constant(pool, Shape::scalar(of.type));
    add(pool, Op::ReduceWindow, of, std::array{a, init}, w);
  }

  // The largest along a dimension with its place, as argmax is written.
  void largest_with_place(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar() || !(is_floating(of.type) || is_integral(of.type))) return;
    const int64_t along = dice_.below(of.rank());
    const Shape numbers = Shape::array(ElementType::S32, of.dims);
    if (!add(pool, Op::Iota, numbers, {}, IotaAttributes{along})) return;
    const InstructionId place = pool.values.back();
    const ComputationId body = module_.add_computation("larger");
    const Shape scalar = Shape::scalar(of.type), number = Shape::scalar(ElementType::S32);
    Pool inner{body,
               {parameter(body, scalar), parameter(body, number), parameter(body, scalar),
                parameter(body, number)}};
    const auto [x, i, y, j] =
        std::array{inner.values[0], inner.values[1], inner.values[2], inner.values[3]};
    const auto op = [&](Op what, const Shape& gives, std::vector<InstructionId> of_these) {
      return module_.add_instruction(body, what, gives, of_these);
    };
    const auto compare = [&](InstructionId p, InstructionId q, ComparisonDirection direction) {
      const InstructionId id = op(Op::Compare, Shape::scalar(ElementType::Pred), {p, q});
      module_.mutable_attributes<CompareAttributes>(id) = {direction};
      return id;
    };
    using enum ComparisonDirection;
    const Shape pred = Shape::scalar(ElementType::Pred);
    const InstructionId nan = compare(x, x, Ne), above = op(Op::Or, pred, {compare(x, y, Gt), nan});
    const InstructionId earlier = op(Op::And, pred, {compare(x, y, Eq), compare(i, j, Lt)});
    const InstructionId first = op(Op::Or, pred, {above, earlier});
    const InstructionId value = op(Op::Select, scalar, {above, x, y});
    finish(body, tuple(body, {value, op(Op::Select, number, {first, i, j})}));
    const std::vector operands = {a, place, constant(pool, scalar),
                                  this->number(pool.computation, 0)};
    Dims kept = of.dims;
    kept.erase(kept.begin() + along);
    add_many(pool, Op::Reduce, {Shape::array(of.type, kept), Shape::array(ElementType::S32, kept)},
             operands, ReduceAttributes{{along}, body});
  }
  // Sums broadcast back to what was summed, as normalisations do.
  void mean_and_back(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.is_scalar()) return;
    const int64_t along = dice_.below(of.rank());
    const InstructionId init = constant(pool, Shape::scalar(of.type));
    if (!add(pool, Op::Reduce, of, std::array{a, init},
             ReduceAttributes{{along}, combiner(of.type)}))
      return;
    Dims kept;
    for (int64_t i = 0; i < of.rank(); ++i)
      if (i != along) kept.push_back(i);
    const std::array sum{pool.values.back()};
    if (!add(pool, Op::Broadcast, of, sum, DimensionsAttributes{kept})) return;
    static const std::vector<Op> ops = {Op::Subtract, Op::Divide, Op::Multiply};
    add(pool, dice_.pick(ops), std::array{a, pool.values.back()});
  }

  InstructionId rolled(Pool& pool, InstructionId a, int64_t along, int64_t by) {
    const Shape of = shape(a);
    const auto part = [&](int64_t start, int64_t limit) {
      std::vector<SliceDim> slice;
      for (int64_t size : of.dims) slice.push_back({0, size, 1});
      slice[static_cast<size_t>(along)] = {start, limit, 1};
      return add(pool, Op::Slice, of, std::array{a}, SliceAttributes{{slice}});
    };
    const std::array parts{part(by, of.dims[along]), part(0, by)};
    if (!parts[0] || !parts[1]) return {};
    return add(pool, Op::Concatenate, of, parts, DimensionsAttributes{{along}});
  }
  // Fusions then read one value at two places.
  void with_itself_moved(Pool& pool) {
    InstructionId a = any(pool);
    if (shape(a).is_scalar() || is_complex(shape(a).type)) return;
    if (dice_.below(2)) {
      Dims order;
      for (int64_t i = shape(a).rank(); i > 0; --i) order.push_back(i - 1);
      a = add(pool, Op::Transpose, Shape(shape(a)), std::array{a}, DimensionsAttributes{order});
      if (!a) return;
    }
    const Shape of = shape(a);
    const int64_t along = dice_.below(of.rank()), size = of.dims[along];
    const InstructionId moved =
        size > 1 && dice_.below(2)
            ? rolled(pool, a, along, 1 + dice_.below(size - 1))
            : add(pool, Op::Reverse, of, std::array{a}, DimensionsAttributes{{along}});
    if (moved) add(pool, dice_.below(2) ? Op::Maximum : Op::Minimum, std::array{moved, a});
  }

  // An op of one or several results.
  template <class A>
  void add_many(Pool& pool, Op op, const std::vector<Shape>& shapes,
                const std::vector<InstructionId>& operands, A attributes) {
    const Shape result = shapes.size() == 1 ? shapes[0] : Shape::tuple(shapes);
    const InstructionId id = module_.add_instruction(pool.computation, op, result, operands);
    module_.mutable_attributes<A>(id) = std::move(attributes);
    if (shapes.size() == 1) pool.values.push_back(id);
    else
      for (size_t i = 0; i < shapes.size(); ++i)
        pool.values.push_back(element(pool.computation, id, static_cast<int64_t>(i)));
  }

  std::array<int64_t, 3> lengths_;
  std::array<ElementType, 4> types_;
};

}  // namespace hilo::test
