// Random programs that verify: elementwise ops, data movement, reductions, products, loops,
// branches and calls over several types. The same seed makes the same program.
#pragma once

#include "judge.h"

namespace hilo::test {

class RandomModule {
 public:
  explicit RandomModule(uint64_t seed) : dice_(seed) {}
  virtual ~RandomModule() = default;

  Module make(int ops) {
    module_.header.name = "random";
    const ComputationId entry = module_.add_computation("main");
    module_.entry = entry;
    Pool pool{entry, {}};
    for (int i = 0; i < 4; ++i) pool.values.push_back(parameter(entry, some_shape()));
    pool.values.push_back(parameter(entry, Shape::scalar(ElementType::S32)));
    for (int i = 0; i < ops; ++i) step(pool, 0);
    std::vector<InstructionId> results;
    for (size_t i = 0; i < 3; ++i) results.push_back(pool.values[pool.values.size() - 1 - i]);
    finish(entry, tuple(entry, results));
    EntryLayout layout{{}, shape(module_[entry].root)};
    for (InstructionId id : module_[entry].parameters) layout.parameters.push_back(shape(id));
    module_.header.entry_computation_layout = std::move(layout);
    restore_order(module_, 0);
    return std::move(module_);
  }

 protected:
  struct Pool {
    ComputationId computation;
    std::vector<InstructionId> values;  // arrays
  };
  static constexpr ElementType types[] = {ElementType::F32, ElementType::S32, ElementType::Pred,
                                          ElementType::BF16, ElementType::U8};

  const Shape& shape(InstructionId id) const { return module_.shape(id); }
  virtual std::vector<Op> combiners(ElementType) const {
    return {Op::Add, Op::Maximum, Op::Multiply, Op::And};
  }
  virtual bool is_defined(Op, ElementType) const { return true; }
  virtual ElementType some_type() { return types[dice_.below(5)]; }
  virtual Shape some_shape() {
    static const std::vector<Dims> dims = {{}, {4}, {3, 4}, {2, 3, 4}, {1, 4}, {4, 3}};
    return Shape::array(some_type(), dice_.pick(dims));
  }
  InstructionId parameter(ComputationId in, const Shape& of) {
    return module_.add_instruction(in, Op::Parameter, of, {});
  }
  InstructionId tuple(ComputationId in, const std::vector<InstructionId>& elements) {
    std::vector<Shape> shapes;
    for (InstructionId element : elements) shapes.push_back(shape(element));
    return module_.add_instruction(in, Op::Tuple, Shape::tuple(shapes), elements);
  }
  InstructionId element(ComputationId in, InstructionId of, int64_t index) {
    return module_.add_instruction(in, Op::GetTupleElement, Shape(shape(of).elements[index]),
                                   std::array{of}, GetTupleElementAttributes{index});
  }
  void finish(ComputationId in, InstructionId root) { module_[in].root = root; }

  // Shapes are inferred; what does not fit is taken back.
  template <class A>
  InstructionId add(Pool& pool, Op op, const Shape& stated, std::span<const InstructionId> operands,
                    A attributes) {
    const std::vector<InstructionId> given(operands.begin(), operands.end());
    if (!given.empty() && !is_defined(op, shape(given[0]).type)) return {};
    const InstructionId id = module_.add_instruction(pool.computation, op, stated, given);
    if constexpr (!std::is_same_v<A, NoneAttributes>)
      module_.mutable_attributes<A>(id) = std::move(attributes);
    const Result<Shape> inferred = infer_shape(module_, module_[id]);
    if (!inferred || (!can_infer_shape(op) && !same_dims(*inferred, stated)) ||
        (inferred->is_array() && element_count(*inferred) > max_elements_)) {
      module_.remove(id);
      module_[pool.computation].instructions.pop_back();
      return {};
    }
    module_[id].shape = module_.shapes.intern(*inferred);
    pool.values.push_back(id);
    return id;
  }
  InstructionId add(Pool& pool, Op op, std::span<const InstructionId> operands) {
    return add(pool, op, Shape::scalar(ElementType::F32), operands, NoneAttributes{});
  }

  virtual InstructionId constant(Pool& pool, const Shape& of) {
    static const std::vector<double> numbers = {0, 1, 2, 3, 1, 0};
    const bool splat = dice_.below(3) > 0;
    Literal value = splat ? scalar_of(of.type, dice_.pick(numbers))
                          : random_literal(dice_, of, tame_constants_);
    const Shape stated = value.shape();
    const InstructionId id = module_.add_instruction(
        pool.computation, Op::Constant, stated, {},
        ConstantAttributes{{std::make_shared<const Literal>(std::move(value)), false}});
    if (!splat || of.is_scalar()) return id;
    return module_.add_instruction(pool.computation, Op::Broadcast, of, std::array{id},
                                   DimensionsAttributes{});
  }
  InstructionId any(const Pool& pool) { return dice_.pick(pool.values); }
  // A value of the same shape: one of the pool, or a constant.
  InstructionId partner(Pool& pool, const Shape& of) {
    std::vector<InstructionId> fitting;
    for (InstructionId id : pool.values)
      if (shape(id) == of) fitting.push_back(id);
    if (!fitting.empty() && dice_.below(3)) return dice_.pick(fitting);
    return constant(pool, of);
  }

  virtual void step(Pool& pool, int depth) {
    switch (dice_.below(depth == 0 ? 13 : 9)) {
      case 0: return unary(pool);
      case 1:
      case 2:
      case 3: return binary(pool);
      case 4: return choose(pool);
      case 5: return convert(pool);
      case 6:
      case 7: return move(pool);
      case 8: return combine(pool);
      case 9: return reduce(pool);
      case 10: return loop(pool);
      case 11: return branch(pool);
      default: return call(pool);
    }
  }

  void unary(Pool& pool) {
    static const std::vector<Op> ops = {Op::Negate, Op::Abs,         Op::Not,  Op::Sign,
                                        Op::Floor,  Op::Exponential, Op::Tanh, Op::Copy};
    const std::array operands{any(pool)};
    add(pool, dice_.pick(ops), operands);
  }
  void binary(Pool& pool) {
    static const std::vector<Op> ops = {Op::Add,     Op::Subtract,  Op::Multiply, Op::Divide,
                                        Op::Maximum, Op::Minimum,   Op::And,      Op::Or,
                                        Op::Xor,     Op::Remainder, Op::ShiftLeft};
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    const std::array operands = dice_.below(2) ? std::array{a, b} : std::array{b, a};
    add(pool, dice_.pick(ops), operands);
  }
  void choose(Pool& pool) {
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    const InstructionId which =
        add(pool, Op::Compare, Shape::scalar(ElementType::Pred), std::array{a, b},
            CompareAttributes{static_cast<ComparisonDirection>(dice_.below(6))});
    if (!which || dice_.below(2)) return;
    const InstructionId other = partner(pool, Shape(shape(a)));
    const std::array operands{which, a, other};
    add(pool, Op::Select, operands);
  }
  void convert(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape to = Shape::array(some_type(), shape(a).dims);
    add(pool, Op::Convert, to, std::array{a}, NoneAttributes{});
  }

  void move(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    const int64_t rank = of.rank();
    switch (dice_.below(7)) {
      case 0: {
        Dims dims = of.dims;
        if (dice_.below(2)) dims.insert(dims.begin() + dice_.below(rank + 1), 1);
        else dims = {element_count(of)};
        add(pool, Op::Reshape, Shape::array(of.type, dims), std::array{a}, ReshapeAttributes{});
        return;
      }
      case 1: {
        Dims order;
        for (int64_t i = 0; i < rank; ++i) order.insert(order.begin() + dice_.below(i + 1), i);
        add(pool, Op::Transpose, of, std::array{a}, DimensionsAttributes{order});
        return;
      }
      case 2: {
        if (rank >= 3) return;
        const int64_t at = dice_.below(rank + 1);
        Dims dims = of.dims, kept;
        dims.insert(dims.begin() + at, 1 + dice_.below(3));
        for (int64_t i = 0; i < rank; ++i) kept.push_back(i < at ? i : i + 1);
        add(pool, Op::Broadcast, Shape::array(of.type, dims), std::array{a},
            DimensionsAttributes{kept});
        return;
      }
      case 3: {
        std::vector<SliceDim> slice;
        for (int64_t dim : of.dims) {
          const int64_t start = dice_.below(2) ? 0 : dice_.below(dim + 1);
          slice.push_back({start, start + dice_.below(dim - start + 1), 1 + dice_.below(2)});
          if (dice_.below(2)) slice.back() = {0, dim, 1};
        }
        add(pool, Op::Slice, of, std::array{a}, SliceAttributes{{slice}});
        return;
      }
      case 4: {
        std::vector<PaddingDim> padding;
        for (int64_t i = 0; i < rank; ++i)
          padding.push_back({dice_.below(3) - 1, dice_.below(2), dice_.below(2)});
        const InstructionId with = constant(pool, Shape::scalar(of.type));
        add(pool, Op::Pad, of, std::array{a, with}, PadAttributes{{padding}});
        return;
      }
      case 5: {
        Dims dims;
        for (int64_t i = 0; i < rank; ++i)
          if (dice_.below(2)) dims.push_back(i);
        add(pool, Op::Reverse, of, std::array{a}, DimensionsAttributes{dims});
        return;
      }
      default: return dynamic_slice(pool, a);
    }
  }

  void dynamic_slice(Pool& pool, InstructionId a) {
    const Shape of = shape(a);
    std::vector<InstructionId> operands = {a};
    Dims sizes;
    for (int64_t dim : of.dims) {
      sizes.push_back(dim == 0 ? 0 : 1 + dice_.below(dim));
      operands.push_back(partner(pool, Shape::scalar(ElementType::S32)));
    }
    if (of.is_scalar()) return;
    const InstructionId part =
        add(pool, Op::DynamicSlice, of, operands, DynamicSliceAttributes{sizes});
    if (!part || dice_.below(2)) return;
    operands.insert(operands.begin() + 1,
                    dice_.below(3) ? part : constant(pool, Shape(shape(part))));
    add(pool, Op::DynamicUpdateSlice, operands);
  }

  void combine(Pool& pool) {
    const InstructionId a = any(pool);
    if (shape(a).is_scalar()) return;
    const int64_t dim = dice_.below(shape(a).rank());
    const InstructionId b = partner(pool, Shape(shape(a)));
    add(pool, Op::Concatenate, Shape(shape(a)), std::array{a, b, a}, DimensionsAttributes{{dim}});
  }

  void reduce(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a), scalar = Shape::scalar(of.type);
    const ComputationId body = module_.add_computation("combine");
    Pool inner{body, {parameter(body, scalar), parameter(body, scalar)}};
    const std::array operands{inner.values[0], inner.values[1]};
    const InstructionId root = add(inner, dice_.pick(combiners(of.type)), operands);
    if (!root) finish(body, inner.values[0]);
    Dims dims;
    for (int64_t i = 0; i < of.rank(); ++i)
      if (dice_.below(2)) dims.push_back(i);
    const InstructionId init = constant(pool, scalar);
    add(pool, Op::Reduce, of, std::array{a, init}, ReduceAttributes{dims, body});
  }

  // A few values of the pool as one tuple.
  std::vector<InstructionId> some_values(const Pool& pool) {
    std::vector<InstructionId> out;
    for (int64_t n = 1 + dice_.below(4); n > 0; --n) out.push_back(any(pool));
    return out;
  }

  void loop(Pool& pool) {
    std::vector<InstructionId> carried = some_values(pool);
    carried.insert(carried.begin(), number(pool.computation, static_cast<int32_t>(dice_.below(4))));
    const InstructionId initial = tuple(pool.computation, carried);
    const Shape state = shape(initial);
    const ComputationId condition = module_.add_computation("condition");
    const InstructionId asked = parameter(condition, state);
    const InstructionId bound = number(condition, 1 + dice_.below(5));
    const InstructionId goes_on =
        module_.add_instruction(condition, Op::Compare, Shape::scalar(ElementType::Pred),
                                std::array{element(condition, asked, 0), bound},
                                CompareAttributes{ComparisonDirection::Lt});
    finish(condition, goes_on);
    const ComputationId body = module_.add_computation("body");
    const InstructionId given = parameter(body, state);
    Pool inner{body, {}};
    for (size_t i = 0; i < carried.size(); ++i)
      inner.values.push_back(element(body, given, static_cast<int64_t>(i)));
    std::vector<InstructionId> next = inner.values;
    next[0] = module_.add_instruction(body, Op::Add, Shape::scalar(ElementType::S32),
                                      std::array{next[0], number(body, 1)});
    for (int i = 0; i < 4; ++i) step(inner, 1);
    for (size_t i = 1; i < next.size(); ++i)
      if (dice_.below(2)) next[i] = partner(inner, Shape(shape(next[i])));
    finish(body, tuple(body, next));
    const InstructionId result = module_.add_instruction(
        pool.computation, Op::While, state, std::array{initial}, WhileAttributes{condition, body});
    for (size_t i = 0; i < carried.size(); ++i)
      if (dice_.below(2))
        pool.values.push_back(element(pool.computation, result, static_cast<int64_t>(i)));
  }
  InstructionId number(ComputationId in, int32_t value) {
    return module_.add_instruction(
        in, Op::Constant, Shape::scalar(ElementType::S32), {},
        ConstantAttributes{{std::make_shared<const Literal>(Literal::scalar(value)), false}});
  }

  // A computation of one array parameter that gives an array of the same shape.
  virtual ComputationId function(const Shape& of) {
    const ComputationId out = module_.add_computation("function");
    Pool inner{out, {parameter(out, of)}};
    for (int i = 0; i < 3; ++i) step(inner, 1);
    finish(out, partner(inner, of));
    return out;
  }
  void branch(Pool& pool) {
    const InstructionId a = any(pool), b = partner(pool, Shape(shape(a)));
    const Shape of = shape(a);
    const InstructionId which = partner(pool, Shape::scalar(ElementType::S32));
    const ComputationId first = function(of), second = dice_.below(3) ? function(of) : first;
    pool.values.push_back(module_.add_instruction(pool.computation, Op::Conditional, of,
                                                  std::array{which, a, b},
                                                  ConditionalAttributes{{}, {}, {first, second}}));
  }
  void call(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    const ComputationId to_apply = function(of);
    for (int i = 0; i < 2; ++i)
      pool.values.push_back(module_.add_instruction(pool.computation, Op::Call, of, std::array{a},
                                                    CallAttributes{to_apply}));
  }

  bool tame_constants_ = false;              // see draw()
  int64_t max_elements_ = int64_t{1} << 40;  // of an array
  Module module_;
  Dice dice_;
};

}  // namespace hilo::test
