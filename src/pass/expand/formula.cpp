#include "pass/expand/formula.h"

#include <algorithm>

namespace hilo {

Shape Term::shape() const { return formula->module().shape(value); }

Term operator+(Term a, Term b) { return a.formula->apply(Op::Add, a, b); }
Term operator-(Term a, Term b) { return a.formula->apply(Op::Subtract, a, b); }
Term operator*(Term a, Term b) { return a.formula->apply(Op::Multiply, a, b); }
Term operator/(Term a, Term b) { return a.formula->apply(Op::Divide, a, b); }
Term operator&(Term a, Term b) { return a.formula->apply(Op::And, a, b); }
Term operator|(Term a, Term b) { return a.formula->apply(Op::Or, a, b); }
Term operator^(Term a, Term b) { return a.formula->apply(Op::Xor, a, b); }
Term operator+(Term a, double b) { return a + a.formula->number(a.shape(), b); }
Term operator-(Term a, double b) { return a - a.formula->number(a.shape(), b); }
Term operator*(Term a, double b) { return a * a.formula->number(a.shape(), b); }
Term operator/(Term a, double b) { return a / a.formula->number(a.shape(), b); }
Term operator/(double a, Term b) { return b.formula->number(b.shape(), a) / b; }
Term operator-(Term a) { return a.formula->apply(Op::Negate, a); }

Term Formula::elementwise(Op op, std::span<const Term> operands) {
  std::vector<InstructionId> values;
  for (Term operand : operands) values.push_back(operand.value);
  return term(editor_.add_inferred(root_, op, values));
}

Term Formula::compare(Term x, ComparisonDirection direction, Term y) {
  return term(editor_.add_inferred(root_, Op::Compare, std::array{x.value, y.value},
                                   CompareAttributes{direction}));
}

Term Formula::select(Term which, Term x, Term y) {
  return elementwise(Op::Select, std::array{which, x, y});
}

Term Formula::bits(const Shape& shape, uint64_t bits) {
  Literal scalar = Literal::uninitialized(Shape::scalar(shape.type));
  const auto raw = scalar.mutable_raw();
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(bits >> (8 * i));
  return term(editor_.add_splat(root_, shape, scalar));
}

Term Formula::convert(Term x, ElementType type) {
  if (x.shape().type == type) return x;
  const Shape shape = Shape::array(type, x.shape().dims);
  return term(editor_.add(root_, Op::Convert, shape, std::array{x.value}));
}

Term Formula::bitcast_convert(Term x, ElementType type) {
  const Shape shape = Shape::array(type, x.shape().dims);
  return term(editor_.add(root_, Op::BitcastConvert, shape, std::array{x.value}));
}

Term Formula::reshape(Term x, Dims dims) {
  if (x.shape().dims == dims) return x;
  const Shape shape = Shape::array(x.shape().type, std::move(dims));
  return term(editor_.add(root_, Op::Reshape, shape, std::array{x.value}));
}

Term Formula::transpose(Term x, Dims permutation) {
  if (std::ranges::is_sorted(permutation)) return x;
  Dims dims;
  for (int64_t dim : permutation) dims.push_back(x.shape().dims[dim]);
  return term(editor_.add(root_, Op::Transpose, Shape::array(x.shape().type, std::move(dims)),
                          std::array{x.value}, DimensionsAttributes{std::move(permutation)}));
}

Term Formula::broadcast(Term x, Dims dims, Dims dimensions) {
  return term(editor_.add(root_, Op::Broadcast, Shape::array(x.shape().type, std::move(dims)),
                          std::array{x.value}, DimensionsAttributes{std::move(dimensions)}));
}

Term Formula::iota(ElementType type, Dims dims, int64_t dim) {
  return term(
      editor_.add(root_, Op::Iota, Shape::array(type, std::move(dims)), {}, IotaAttributes{dim}));
}

Term Formula::sum(Term x, Dims dims) {
  const Shape scalar = Shape::scalar(x.shape().type);
  const Term zero = number(scalar, 0);
  Module& module = editor_.module();
  const ComputationId add = module.add_computation("add");
  const InstructionId a = module.add_instruction(add, Op::Parameter, scalar, {}, "a");
  const InstructionId b = module.add_instruction(add, Op::Parameter, scalar, {}, "b");
  module.add_instruction(add, Op::Add, scalar, std::array{a, b}, "sum");
  return term(editor_.add_inferred(root_, Op::Reduce, std::array{x.value, zero.value},
                                   ReduceAttributes{std::move(dims), add}));
}

Term Formula::slice(Term x, std::vector<SliceDim> slice) {
  return term(editor_.add_inferred(root_, Op::Slice, std::array{x.value},
                                   SliceAttributes{{std::move(slice)}}));
}

namespace {

std::vector<InstructionId> starts_of(Formula& f, Term x, int64_t dim, Term place) {
  std::vector<InstructionId> out(x.shape().dims.size(), f.number(place.shape(), 0).value);
  out[dim] = place.value;
  return out;
}

}  // namespace

Term Formula::row(Term x, int64_t dim, Term place) {
  Dims sizes = x.shape().dims;
  sizes[dim] = 1;
  std::vector<InstructionId> operands = starts_of(*this, x, dim, place);
  operands.insert(operands.begin(), x.value);
  return term(editor_.add_inferred(root_, Op::DynamicSlice, operands,
                                   DynamicSliceAttributes{std::move(sizes)}));
}

Term Formula::with_row(Term x, Term row, int64_t dim, Term place) {
  std::vector<InstructionId> operands = starts_of(*this, x, dim, place);
  operands.insert(operands.begin(), {x.value, row.value});
  return term(editor_.add_inferred(root_, Op::DynamicUpdateSlice, operands));
}

Term Formula::dot(Term x, Term y, DotAttributes attributes, ElementType type) {
  const Term out = term(
      editor_.add_inferred(root_, Op::Dot, std::array{x.value, y.value}, std::move(attributes)));
  editor_.set_shape(out.value, Shape::array(type, Dims(out.shape().dims)));
  return out;
}

Term Formula::tuple(std::span<const Term> elements) {
  std::vector<InstructionId> values;
  for (Term element : elements) values.push_back(element.value);
  return term(editor_.add_tuple(root_, values));
}

std::vector<Term> repeat(Formula& formula, int64_t rounds, std::vector<Term> arrays,
                         const Round& round) {
  Editor& editor = formula.editor();
  Module& module = editor.module();
  const Shape counter = Shape::scalar(ElementType::S32);
  arrays.insert(arrays.begin(), formula.number(counter, 0));
  const Term initial = formula.tuple(arrays);
  const Shape state = initial.shape();
  const InstructionId root = formula.root();

  const ComputationId body = module.add_computation("body");
  Formula inside(editor, editor.add_parameter(body, root, state));
  const Term given = inside.term(inside.root());
  const Term number = inside.element(given, 0);
  std::vector<Term> now;
  for (size_t i = 1; i < arrays.size(); ++i)
    now.push_back(inside.element(given, static_cast<int64_t>(i)));
  std::vector<Term> next = round(inside, number, std::move(now));
  next.insert(next.begin(), number + 1.0);
  module[body].root = inside.tuple(next).value;

  const ComputationId condition = module.add_computation("condition");
  Formula asked(editor, editor.add_parameter(condition, root, state));
  const Term reached = asked.element(asked.term(asked.root()), 0);
  module[condition].root = asked
                               .compare(reached, ComparisonDirection::Lt,
                                        asked.number(counter, static_cast<double>(rounds)))
                               .value;

  const Term done = formula.term(editor.add(root, Op::While, state, std::array{initial.value},
                                            WhileAttributes{condition, body}));
  std::vector<Term> out;
  for (size_t i = 1; i < arrays.size(); ++i)
    out.push_back(formula.element(done, static_cast<int64_t>(i)));
  return out;
}

bool expand(Editor& editor, Op op, Expansion expansion) {
  const Module& module = editor.module();
  const auto is_dense_static = [&](InstructionId id) {
    return is_plain(module.shape(id)) && is_static(module.shape(id));
  };
  bool changed = false;
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : operands_first(module, computation)) {
      if (module[id].op != op || module[id].removed || editor.is_pinned(id) ||
          !is_dense_static(id) || !std::ranges::all_of(module.operands(id), is_dense_static))
        continue;
      Formula formula(editor, id);
      const InstructionId result = expansion(formula).value;
      if (!result || !editor.can_replace(id, result)) continue;
      editor.replace(id, result);
      changed = true;
    }
  return changed;
}

}  // namespace hilo
