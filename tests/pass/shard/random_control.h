// Random programs whose calls, branches and loops take and give tuples of tuples, with tokens and
// numbers drawn from a state.
#pragma once

#include "random_moves.h"

namespace hilo::test {

class RandomControl : public RandomMoves {
 public:
  using RandomMoves::RandomMoves;

 protected:
  void control(Pool& pool) override {
    switch (dice_.below(10)) {
      case 8: return nested([&] { choose_of_three(pool); });
      case 9: return nested([&] { loop_until_found(pool); });
      case 0: return nested([&] { call_with_many(pool); });
      case 1: return nested([&] { choose_of_two(pool); });
      case 2: return nested([&] { loop_over_tuples(pool); });
      case 3: return behind_token(pool);
      default: return RandomMoves::control(pool);
    }
  }

  // (a, (b, c), d) of arrays.
  InstructionId tree(Pool& pool, const std::vector<InstructionId>& values) {
    std::vector<InstructionId> out(values.begin(), values.begin() + 1);
    if (values.size() > 2) out.push_back(tuple(pool.computation, {values[1], values[2]}));
    else if (values.size() > 1) out.push_back(values[1]);
    out.insert(out.end(), values.begin() + std::min<ptrdiff_t>(3, std::ssize(values)),
               values.end());
    return tuple(pool.computation, out);
  }
  std::vector<InstructionId> leaves(Pool& pool, InstructionId id) {
    if (!shape(id).is_tuple()) return {id};
    std::vector<InstructionId> out;
    for (int64_t i = 0; i < std::ssize(shape(id).elements); ++i)
      for (InstructionId leaf : leaves(pool, element(pool.computation, id, i))) out.push_back(leaf);
    return out;
  }
  void take_leaves(Pool& pool, InstructionId id) {
    for (InstructionId leaf : leaves(pool, id)) pool.values.push_back(leaf);
  }

  // Arrays and a tuple go in, a tuple of whatever was computed comes out.
  void call_with_many(Pool& pool) {
    std::vector<InstructionId> operands = {any(pool), tree(pool, some_values(pool))};
    if (dice_.below(2)) operands.push_back(any(pool));
    Pool inner{module_.add_computation("function"), {}};
    for (InstructionId operand : operands)
      take_leaves(inner, parameter(inner.computation, Shape(shape(operand))));
    for (int64_t i = 1 + dice_.below(4); i > 0; --i) step(inner, 1);
    finish(inner.computation, tree(inner, some_values(inner)));
    const Shape result = shape(module_[inner.computation].root);
    for (int64_t i = 1 + dice_.below(2); i > 0; --i)
      take_leaves(pool, module_.add_instruction(pool.computation, Op::Call, result, operands,
                                                CallAttributes{inner.computation}));
  }

  // Branches of a pred, each with operands of its own; both give what the first one's has.
  void choose_of_two(Pool& pool) {
    const InstructionId number = decider(pool);
    const InstructionId zero = literal(pool, Literal::scalar<int32_t>(0));
    const InstructionId which = module_.add_instruction(
        pool.computation, Op::Compare, Shape::scalar(ElementType::Pred), std::array{number, zero},
        CompareAttributes{ComparisonDirection::Gt});
    const InstructionId first = tree(pool, some_values(pool));
    const InstructionId second = dice_.below(2) ? first : tree(pool, some_values(pool));
    Pool yes{module_.add_computation("function"), {}}, no{module_.add_computation("function"), {}};
    take_leaves(yes, parameter(yes.computation, Shape(shape(first))));
    take_leaves(no, parameter(no.computation, Shape(shape(second))));
    for (int64_t i = 1 + dice_.below(3); i > 0; --i) step(yes, 1);
    for (int64_t i = 1 + dice_.below(3); i > 0; --i) step(no, 1);
    std::vector<InstructionId> results = some_values(yes), others;
    for (InstructionId one : results) others.push_back(partner(no, Shape(shape(one))));
    finish(yes.computation, tree(yes, results));
    finish(no.computation, tree(no, others));
    ConditionalAttributes branches;
    branches.true_computation = yes.computation;
    branches.false_computation = no.computation;
    const Shape result = shape(module_[yes.computation].root);
    take_leaves(pool, module_.add_instruction(pool.computation, Op::Conditional, result,
                                              std::array{which, first, second}, branches));
  }

  // What the loop counts stands behind what else it carries.
  void loop_over_tuples(Pool& pool) {
    std::vector<InstructionId> carried = some_values(pool);
    const InstructionId start = number(pool.computation, static_cast<int32_t>(dice_.below(3)));
    const InstructionId initial = tuple(pool.computation, {tree(pool, carried), start});
    const Shape state = shape(initial);
    const ComputationId condition = module_.add_computation("condition");
    const InstructionId asked = element(condition, parameter(condition, state), 1);
    finish(condition,
           module_.add_instruction(condition, Op::Compare, Shape::scalar(ElementType::Pred),
                                   std::array{asked, number(condition, 3)},
                                   CompareAttributes{ComparisonDirection::Lt}));
    Pool inner{module_.add_computation("body"), {}};
    const InstructionId given = parameter(inner.computation, state);
    take_leaves(inner, element(inner.computation, given, 0));
    std::vector<InstructionId> next = inner.values;
    const InstructionId count = module_.add_instruction(
        inner.computation, Op::Add, Shape::scalar(ElementType::S32),
        std::array{element(inner.computation, given, 1), number(inner.computation, 1)});
    for (int64_t i = 1 + dice_.below(4); i > 0; --i) step(inner, 1);
    for (InstructionId& one : next)
      if (dice_.below(2)) one = partner(inner, Shape(shape(one)));
    finish(inner.computation, tuple(inner.computation, {tree(inner, next), count}));
    const InstructionId result =
        module_.add_instruction(pool.computation, Op::While, state, std::array{initial},
                                WhileAttributes{condition, inner.computation});
    take_leaves(pool, element(pool.computation, result, 0));
  }

  void choose_of_three(Pool& pool) {
    const InstructionId a = any(pool), which = decider(pool);
    const Shape of = shape(a);
    const std::array operands{which, a, partner(pool, of), a};
    pool.values.push_back(module_.add_instruction(
        pool.computation, Op::Conditional, of, operands,
        ConditionalAttributes{{}, {}, {function(of), function(of), function(of)}}));
  }

  // Three rounds at most, and only as long as no element of what is carried is great enough.
  void loop_until_found(Pool& pool) {
    const InstructionId a = any(pool);
    const Shape of = shape(a), scalar = Shape::scalar(of.type);
    if (!may_look_at_arrays() || of.type == ElementType::Pred || is_complex(of.type)) return;
    const InstructionId initial =
        tuple(pool.computation, {a, number(pool.computation, 0), partner(pool, scalar)});
    const Shape state = shape(initial);
    Pool asked{module_.add_computation("condition"), {}};
    const InstructionId given = parameter(asked.computation, state);
    const auto compare = [&](InstructionId x, InstructionId y) {
      return module_.add_instruction(asked.computation, Op::Compare,
                                     Shape::scalar(ElementType::Pred), std::array{x, y},
                                     CompareAttributes{ComparisonDirection::Lt});
    };
    Dims dims;
    for (int64_t dim = 0; dim < of.rank(); ++dim) dims.push_back(dim);
    const InstructionId limit = element(asked.computation, given, 2);
    const InstructionId greatest =
        add(asked, Op::Reduce, of, std::array{element(asked.computation, given, 0), limit},
            ReduceAttributes{dims, combiner(of.type)});
    const InstructionId rounds =
        compare(element(asked.computation, given, 1), number(asked.computation, 3));
    const InstructionId small =
        compare(limit, dice_.below(2) ? greatest : literal(asked, scalar_of(of.type, 3)));
    finish(asked.computation, add(asked, Op::And, std::array{rounds, small}));
    Pool inner{module_.add_computation("body"), {}};
    const InstructionId carried = parameter(inner.computation, state);
    inner.values = {element(inner.computation, carried, 0), element(inner.computation, carried, 2)};
    const InstructionId before = inner.values[1];
    const InstructionId count = module_.add_instruction(
        inner.computation, Op::Add, Shape::scalar(ElementType::S32),
        std::array{element(inner.computation, carried, 1), number(inner.computation, 1)});
    for (int64_t i = 1 + dice_.below(3); i > 0; --i) step(inner, 1);
    const auto next = std::ranges::find_if(inner.values.rbegin(), inner.values.rend(),
                                           [&](InstructionId id) { return shape(id) == of; });
    finish(
        inner.computation,
        tuple(inner.computation, {*next, count, dice_.below(2) ? before : partner(inner, scalar)}));
    const InstructionId result =
        module_.add_instruction(pool.computation, Op::While, state, std::array{initial},
                                WhileAttributes{asked.computation, inner.computation});
    pool.values.push_back(element(pool.computation, result, 0));
    pool.values.push_back(element(pool.computation, result, 2));
  }
  // Whether devices that hold other arrays would not go other ways.
  virtual bool may_look_at_arrays() const { return true; }

  void behind_token(Pool& pool) {
    const InstructionId a = any(pool);
    const InstructionId token =
        module_.add_instruction(pool.computation, Op::AfterAll, Shape::token(), {});
    pool.values.push_back(module_.add_instruction(pool.computation, Op::AddDependency,
                                                  Shape(shape(a)), std::array{a, token}));
  }
};

}  // namespace hilo::test
