// Random programs whose sums are exact in any order: floats are small multiples of 1/8, brought
// back to that after each product. The same seed makes the same program.
#pragma once

#include <algorithm>

#include "../random_module.h"
#include "small_numbers.h"

namespace hilo::test {

// What a program may have beside elementwise ops, parameters and tuples.
enum class OpGroup : uint8_t {
  Movement,
  Window,
  Reduction,
  Product,
  Data,
  Sort,
  Control,
  Region,
  CustomCall
};
struct OpGroups {
  uint32_t bits = ~0u;
  bool has(OpGroup group) const { return (bits >> static_cast<int>(group) & 1) != 0; }
  void leave_out(OpGroup group) { bits &= ~(1u << static_cast<int>(group)); }
};

class RandomProgram : public RandomModule {
 public:
  RandomProgram(uint64_t seed, OpGroups groups) : RandomModule(seed), groups_(groups) {
    static const std::vector<int64_t> lengths = {1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 12, 16};
    for (int64_t& length : lengths_) length = dice_.pick(lengths);
    if (dice_.below(16) == 0) lengths_[0] = 0;
    using enum ElementType;
    static const std::vector<ElementType> drawn = {F32, F32, F32,  F64,  F64, S32, S32, S64,
                                                   U8,  U32, Pred, BF16, F16, S8,  U16, C128};
    for (ElementType& type : types_) type = dice_.pick(drawn);
    max_elements_ = 600;
  }

  Module make(int ops) {
    module_.header.name = "random";
    const ComputationId entry = module_.entry = module_.add_computation("main");
    Pool pool{entry, {}};
    for (int64_t i = 1 + dice_.below(4); i > 0; --i) take(pool);
    if (dice_.below(3) == 0) {
      const InstructionId scalar = parameter(entry, Shape::scalar(ElementType::S32));
      pool.values.push_back(scalar);
    }
    for (int i = 0; i < ops; ++i) step(pool, 0);
    finish(entry, result(pool));
    EntryLayout layout{{}, shape(module_[entry].root)};
    for (InstructionId id : module_[entry].parameters) layout.parameters.push_back(shape(id));
    module_.header.entry_computation_layout = std::move(layout);
    annotate();
    restore_order(module_, 0);
    return std::move(module_);
  }

 protected:
  virtual void annotate() {}
  int64_t length() { return lengths_[dice_.below(3)]; }
  ElementType some_type() override { return types_[dice_.below(3)]; }
  Shape some_shape() override {
    Dims dims;
    for (int64_t rank = dice_.below(5); rank > 0; --rank) dims.push_back(length());
    while (element_count(std::span<const int64_t>(dims)) > max_elements_ / 2) dims.pop_back();
    return Shape::array(some_type(), dims);
  }
  // Of complex numbers only what stays exact and has an order of its own.
  bool is_defined(Op op, ElementType type) const override {
    using enum Op;
    static const std::vector<Op> apart = {
        Abs,   Sign, Multiply,    Maximum, Minimum, Compare,          Convert,
        Clamp, Dot,  Convolution, Sort,    TopK,    SelectAndScatter, Power};
    if (is_complex(type) && std::ranges::count(apart, op) > 0) return false;
    return !(is_floating(type) || is_complex(type)) || (op != Divide && op != Remainder);
  }
  // Sums of floats of few bits are exact in no order.
  std::vector<Op> combiners(ElementType type) const override {
    using enum Op;
    if (is_complex(type)) return {Add};
    if (is_floating(type) && bits_of(type) < 32) return {Maximum, Minimum};
    if (is_floating(type)) return {Add, Add, Maximum, Minimum};
    if (type == ElementType::Pred) return {And, Or, Xor, Maximum, Minimum, Add, Multiply};
    return {Add, Add, Maximum, Minimum, Multiply, And, Or, Xor};
  }

  // An array, alone or in a tuple.
  void take(Pool& pool) {
    if (dice_.below(8)) return pool.values.push_back(parameter(pool.computation, some_shape()));
    const Shape first = some_shape(), second = some_shape();
    const InstructionId both = parameter(pool.computation, Shape::tuple({first, second}));
    pool.values.push_back(element(pool.computation, both, 0));
    pool.values.push_back(element(pool.computation, both, 1));
  }
  InstructionId result(Pool& pool) {
    if (dice_.below(4) == 0) return pool.values.back();
    std::vector<InstructionId> results;
    const auto last = std::ssize(pool.values) - 1;
    for (int64_t i = 0; i <= std::min<int64_t>(last, 3); ++i)
      results.push_back(pool.values[last - i]);
    if (dice_.below(8) == 0) results[0] = tuple(pool.computation, {results[0], any(pool)});
    return tuple(pool.computation, results);
  }

  InstructionId constant(Pool& pool, const Shape& of) override {
    const bool splat = dice_.below(3) > 0;
    const InstructionId id =
        literal(pool, small_numbers(dice_, splat ? Shape::scalar(of.type) : of));
    if (!splat || of.is_scalar()) return id;
    return module_.add_instruction(pool.computation, Op::Broadcast, of, std::array{id},
                                   DimensionsAttributes{});
  }
  InstructionId literal(Pool& pool, Literal value) {
    const Shape stated = value.shape();
    return module_.add_instruction(
        pool.computation, Op::Constant, stated, {},
        ConstantAttributes{{std::make_shared<const Literal>(std::move(value)), false}});
  }

  // The value, if it is of floats, small again; with fractions no smaller than 1/8.
  void tame(Pool& pool, InstructionId id, bool whole) {
    if (!id || !is_floating(shape(id).type)) return;
    const ElementType type = shape(id).type;
    pool.values.pop_back();
    if (whole) {
      id = add(pool, Op::Floor, std::array{id});
      pool.values.pop_back();
    }
    const InstructionId low = literal(pool, scalar_of(type, -4));
    const InstructionId high = literal(pool, scalar_of(type, 4));
    add(pool, Op::Clamp, std::array{low, id, high});
  }

  void step(Pool& pool, int depth) override {
    const size_t before = pool.values.size();
    const bool may_nest = depth == 0 || (nesting_ < 2 && dice_.below(4) == 0);
    const int64_t drawn = dice_.below(may_nest ? 26 : 16);
    if (drawn < 6) elementwise(pool, drawn);
    else if (drawn < 10 && groups_.has(OpGroup::Movement)) rearrange(pool);
    else if (drawn < 12 && groups_.has(OpGroup::Reduction)) reduction(pool);
    else if (drawn < 13 && groups_.has(OpGroup::Product)) product(pool);
    else if (drawn < 15 && groups_.has(OpGroup::Window)) window(pool);
    else if (drawn < 16) data(pool);
    else if (drawn < 17 && groups_.has(OpGroup::Product)) product(pool);
    else if (drawn < 20 && groups_.has(OpGroup::Control)) control(pool);
    else if (drawn < 22) constrain(pool);
    else if (drawn < 24 && groups_.has(OpGroup::Region)) nested([&] { region(pool); });
    else if (groups_.has(OpGroup::CustomCall)) custom_call(pool);
    if (pool.values.size() == before) elementwise(pool, dice_.below(6));
  }
  template <class Body>
  void nested(const Body& body) {
    ++nesting_;
    body();
    --nesting_;
  }
  virtual void window(Pool&) {}
  virtual void data(Pool&) {}
  virtual void region(Pool&) {}
  virtual void custom_call(Pool&) {}

  void elementwise(Pool& pool, int64_t which) {
    switch (which) {
      case 0: {
        static const std::vector<Op> ops = {
            Op::Negate, Op::Abs, Op::Not, Op::Sign, Op::Floor, Op::Copy, Op::PopulationCount};
        add(pool, dice_.pick(ops), std::array{any(pool)});
        return;
      }
      case 1: return choose(pool);
      case 2:
        return dice_.below(3)   ? change_type(pool)
               : dice_.below(2) ? map(pool)
                                : reduce_precision(pool);
      case 3: {
        const InstructionId a = any(pool);
        const Shape of = shape(a), scalar = Shape::scalar(of.type);
        const std::array operands{partner(pool, dice_.below(2) ? scalar : of), a,
                                  partner(pool, dice_.below(2) ? scalar : of)};
        if (of.type == ElementType::Pred) return;
        add(pool, Op::Clamp, operands);
        return;
      }
      default: return arithmetic(pool);
    }
  }
  void arithmetic(Pool& pool) {
    static const std::vector<Op> ops = {
        Op::Add, Op::Add, Op::Subtract, Op::Multiply,  Op::Maximum,   Op::Minimum,          Op::And,
        Op::Or,  Op::Xor, Op::Divide,   Op::Remainder, Op::ShiftLeft, Op::ShiftRightLogical};
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    const std::array operands = dice_.below(2) ? std::array{a, b} : std::array{b, a};
    const Op op = dice_.pick(ops);
    const InstructionId out = add(pool, op, operands);
    if (op == Op::Add || op == Op::Subtract || op == Op::Multiply)
      tame(pool, out, op == Op::Multiply);
  }
  void change_type(Pool& pool) {
    const InstructionId a = any(pool);
    if (is_complex(shape(a).type)) return take_apart(pool, a);
    const Shape to = Shape::array(some_type(), shape(a).dims);
    const InstructionId out = add(pool, Op::Convert, to, std::array{a}, NoneAttributes{});
    if (!is_floating(shape(a).type)) tame(pool, out, false);
  }
  // The parts of a complex number, of other numbers than its own once more.
  void take_apart(Pool& pool, InstructionId a) {
    const InstructionId real = add(pool, Op::Real, std::array{a});
    const InstructionId imag = add(pool, Op::Imag, std::array{a});
    if (!real || !imag || dice_.below(2)) return;
    const InstructionId other = partner(pool, Shape(shape(real)));
    add(pool, Op::Complex, dice_.below(2) ? std::array{imag, other} : std::array{other, real});
  }
  void map(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    Dims dims;
    for (int64_t dim = 0; dim < of.rank(); ++dim) dims.push_back(dim);
    const std::array operands{a, partner(pool, of)};
    tame(pool, add(pool, Op::Map, of, operands, MapAttributes{dims, combiner(of.type)}), false);
  }
  void reduce_precision(Pool& pool) {
    const InstructionId a = any(pool);
    if (!is_floating(shape(a).type)) return;
    add(pool, Op::ReducePrecision, Shape(shape(a)), std::array{a},
        ReducePrecisionAttributes{5, 1 + dice_.below(3)});
  }
  // Bits of integers, whose sums have but one zero.
  void change_bits(Pool& pool) {
    using enum ElementType;
    const InstructionId a = any(pool);
    Shape to = shape(a);
    if (to.type == S32 && dice_.below(2)) to = Shape::array(U32, to.dims);
    else if (to.type == S32 || to.type == U32) to.type = U8, to.dims.push_back(4);
    else if (to.type == S64) to.type = S32, to.dims.push_back(2);
    else if (to.type == U8 && to.rank() > 0 && to.dims.back() == 4)
      to.type = U32, to.dims.pop_back();
    else return;
    add(pool, Op::BitcastConvert, Shape::array(to.type, to.dims), std::array{a}, NoneAttributes{});
  }
  virtual void constrain(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (dice_.below(2)) return void(add(pool, Op::Copy, std::array{a}));
    CustomCallAttributes call;
    call.custom_call_target = "Sharding";
    add(pool, Op::CustomCall, of, std::array{a}, call);
  }

  void rearrange(Pool& pool) {
    switch (dice_.below(7)) {
      case 6: return change_bits(pool);
      case 0: {
        const Shape of = some_shape();
        if (of.is_scalar() || of.type == ElementType::Pred || is_complex(of.type)) return;
        const InstructionId out =
            add(pool, Op::Iota, of, {}, IotaAttributes{dice_.below(of.rank())});
        return tame(pool, out, false);
      }
      case 1: {
        const InstructionId a = any(pool);
        Dims order;
        for (int64_t i = 0; i < shape(a).rank(); ++i)
          order.insert(order.begin() + dice_.below(i + 1), i);
        add(pool, Op::Transpose, Shape(shape(a)), std::array{a}, DimensionsAttributes{order});
        return;
      }
      case 2: return broadcast(pool);
      case 3: return void(pool.values.push_back(constant(pool, some_shape())));
      default: return reshape(pool);
    }
  }
  void broadcast(Pool& pool) {
    const InstructionId a = any(pool);
    Dims dims = shape(a).dims, kept;
    for (int64_t i = 0; i < std::ssize(dims); ++i) kept.push_back(i);
    for (int64_t n = 1 + dice_.below(2); n > 0 && dims.size() < 4; --n) {
      const int64_t at = dice_.below(std::ssize(dims) + 1);
      dims.insert(dims.begin() + at, length());
      for (int64_t& dim : kept) dim += dim >= at;
    }
    const Shape to = Shape::array(shape(a).type, dims);
    add(pool, Op::Broadcast, to, std::array{a}, DimensionsAttributes{kept});
  }

  // Dimensions are split into divisors, and neighbours joined.
  void reshape(Pool& pool) {
    const InstructionId a = any(pool);
    Dims divisors, dims;
    for (int64_t dim : shape(a).dims) {
      for (int64_t d : {2, 3, 4, 5})
        if (dim > 0 && dim % d == 0 && dice_.below(2)) divisors.push_back(d), dim /= d;
      divisors.push_back(dim);
    }
    for (int64_t divisor : divisors) {
      if (dims.empty() || dice_.below(2)) dims.push_back(divisor);
      else dims.back() *= divisor;
    }
    if (dice_.below(4) == 0) dims.insert(dims.begin() + dice_.below(std::ssize(dims) + 1), 1);
    if (dims.size() > 5) return;
    const Shape to = Shape::array(shape(a).type, dims);
    add(pool, Op::Reshape, to, std::array{a}, ReshapeAttributes{});
  }

  ComputationId combiner(ElementType type) {
    const Shape scalar = Shape::scalar(type);
    const ComputationId body = module_.add_computation("combine");
    Pool inner{body, {parameter(body, scalar), parameter(body, scalar)}};
    std::array operands{inner.values[0], inner.values[1]};
    if (dice_.below(2)) std::swap(operands[0], operands[1]);
    const InstructionId root = add(inner, dice_.pick(combiners(type)), operands);
    finish(body, root ? root : add(inner, Op::Maximum, operands));
    return body;
  }
  Dims some_dims(int64_t rank) {
    Dims out;
    for (int64_t i = 0; i < rank; ++i)
      if (dice_.below(2)) out.push_back(i);
    return out;
  }
  void reduction(Pool& pool) {
    if (dice_.below(4) == 0) return reduce_pairs(pool);
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    const Dims dims = some_dims(of.rank());
    const InstructionId init = partner(pool, Shape::scalar(of.type));
    const InstructionId out =
        add(pool, Op::Reduce, of, std::array{a, init}, ReduceAttributes{dims, combiner(of.type)});
    tame(pool, out, false);
  }

  // The greatest and its number, or a sum beside it: both in any order.
  void reduce_pairs(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a), indices = Shape::array(ElementType::S32, of.dims);
    if (of.type == ElementType::Pred || is_complex(of.type)) return;
    const InstructionId b = partner(pool, indices);
    const ComputationId body = dice_.below(2) ? greatest(of.type) : great_and_sum(of.type);
    const std::array operands{a, b, partner(pool, Shape::scalar(of.type)),
                              partner(pool, Shape::scalar(ElementType::S32))};
    const Dims dims = some_dims(of.rank());
    const InstructionId both = add(pool, Op::Reduce, of, operands, ReduceAttributes{dims, body});
    if (!both) return;
    pool.values.pop_back();
    pool.values.push_back(element(pool.computation, both, 0));
    pool.values.push_back(element(pool.computation, both, 1));
  }
  struct PairBody {
    Pool pool;
    InstructionId a, i, b, j;  // of (a, i) and (b, j)
  };
  PairBody pair_body(ElementType type) {
    const ComputationId body = module_.add_computation("pairs");
    const Shape value = Shape::scalar(type), index = Shape::scalar(ElementType::S32);
    PairBody out{{body, {}}, {}, {}, {}, {}};
    out.a = parameter(body, value), out.i = parameter(body, index);
    out.b = parameter(body, value), out.j = parameter(body, index);
    return out;
  }
  ComputationId greatest(ElementType type) {
    auto [inner, a, i, b, j] = pair_body(type);
    const auto compare = [&](InstructionId x, InstructionId y, ComparisonDirection direction) {
      return add(inner, Op::Compare, Shape::scalar(ElementType::Pred), std::array{x, y},
                 CompareAttributes{direction});
    };
    const InstructionId ties = add(
        inner, Op::And,
        std::array{compare(a, b, ComparisonDirection::Eq), compare(i, j, ComparisonDirection::Lt)});
    const InstructionId first =
        add(inner, Op::Or, std::array{compare(a, b, ComparisonDirection::Gt), ties});
    const InstructionId value = add(inner, Op::Select, std::array{first, a, b});
    const InstructionId index = add(inner, Op::Select, std::array{first, i, j});
    finish(inner.computation, tuple(inner.computation, {value, index}));
    return inner.computation;
  }
  ComputationId great_and_sum(ElementType type) {
    auto [inner, a, i, b, j] = pair_body(type);
    const InstructionId value = add(inner, Op::Maximum, std::array{a, b});
    const InstructionId sum = add(inner, Op::Add, std::array{i, j});
    finish(inner.computation, tuple(inner.computation, {value, sum}));
    return inner.computation;
  }

  // Some dimensions of a value batch, some are contracted; the other operand has them in any order.
  void product(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    if (of.type == ElementType::Pred || is_complex(of.type) ||
        (is_floating(of.type) && bits_of(of.type) < 32))
      return;
    DotAttributes d;
    Dims dims;
    for (int64_t i = 0; i < of.rank(); ++i) {
      const int64_t role = dice_.below(4);
      if (role == 0) continue;
      (role == 1 ? d.lhs_batch_dims : d.lhs_contracting_dims).push_back(i);
      const int64_t at = dice_.below(std::ssize(dims) + 1);
      dims.insert(dims.begin() + at, of.dims[i]);
      for (Dims* rhs : {&d.rhs_batch_dims, &d.rhs_contracting_dims})
        for (int64_t& dim : *rhs) dim += dim >= at;
      (role == 1 ? d.rhs_batch_dims : d.rhs_contracting_dims).push_back(at);
    }
    for (int64_t n = dice_.below(3); n > 0; --n) {
      const int64_t at = dice_.below(std::ssize(dims) + 1);
      dims.insert(dims.begin() + at, length());
      for (Dims* rhs : {&d.rhs_batch_dims, &d.rhs_contracting_dims})
        for (int64_t& dim : *rhs) dim += dim >= at;
    }
    const Shape other = Shape::array(of.type, dims);
    if (element_count(other) > max_elements_) return;
    tame(pool, add(pool, Op::Dot, of, std::array{a, partner(pool, other)}, d), true);
  }

  virtual void control(Pool& pool) {
    switch (dice_.below(4)) {
      case 0: return nested([&] { loop(pool); });
      case 1: return nested([&] { branch(pool); });
      case 2: return nested([&] { call(pool); });
      default: return barrier(pool);
    }
  }
  // Of the given shape to the same, by its last value of that shape; or one that others call too.
  ComputationId function(const Shape& of) override {
    for (const auto& [shape, known] : functions_)
      if (shape == of && dice_.below(3) == 0) return known;
    const ComputationId out = module_.add_computation("function");
    Pool inner{out, {parameter(out, of)}};
    for (int64_t i = 1 + dice_.below(4); i > 0; --i) step(inner, 1);
    const auto last = std::ranges::find_if(inner.values.rbegin(), inner.values.rend(),
                                           [&](InstructionId id) { return shape(id) == of; });
    finish(out, *last);
    functions_.emplace_back(of, out);
    return out;
  }
  // What chooses a branch.
  virtual InstructionId decider(Pool& pool) {
    return partner(pool, Shape::scalar(ElementType::S32));
  }
  void branch(Pool& pool) {
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    const Shape of = shape(a);
    const InstructionId which = decider(pool);
    const ComputationId first = function(of), second = dice_.below(3) ? function(of) : first;
    pool.values.push_back(module_.add_instruction(pool.computation, Op::Conditional, of,
                                                  std::array{which, a, b},
                                                  ConditionalAttributes{{}, {}, {first, second}}));
  }
  void barrier(Pool& pool) {
    const std::vector<InstructionId> values = some_values(pool);
    const InstructionId all = tuple(pool.computation, values);
    const InstructionId out = module_.add_instruction(pool.computation, Op::OptimizationBarrier,
                                                      Shape(shape(all)), std::array{all});
    for (size_t i = 0; i < values.size(); ++i)
      pool.values.push_back(element(pool.computation, out, static_cast<int64_t>(i)));
  }

  OpGroups groups_;
  int nesting_ = 0;
  std::vector<std::pair<Shape, ComputationId>> functions_;
  int64_t lengths_[3];
  ElementType types_[3];
};

}  // namespace hilo::test
