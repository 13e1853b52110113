// topk as a stable sort with places, of which the first k are taken.
//   topk(x, k) => slice(sort(x, iota), [0:k])
// in total order for floats. Assumes nothing. Later passes may assume that no topk is left. Where a
// back end has no function of that name.
#include "pass/expand/formula.h"

namespace hilo {
namespace {

ComputationId comparator(Module& module, ElementType type, bool largest) {
  const ComputationId out = module.add_computation("comes_first");
  const Shape value = Shape::scalar(type), place = Shape::scalar(ElementType::S32);
  const InstructionId a = module.add_instruction(out, Op::Parameter, value, {}, "a");
  const InstructionId b = module.add_instruction(out, Op::Parameter, value, {}, "b");
  module.add_instruction(out, Op::Parameter, place, {}, "place_of_a");
  module.add_instruction(out, Op::Parameter, place, {}, "place_of_b");
  CompareAttributes compare{largest ? ComparisonDirection::Gt : ComparisonDirection::Lt};
  if (is_floating(type)) compare.type = ComparisonType::TotalOrder;
  module.add_instruction(out, Op::Compare, Shape::scalar(ElementType::Pred), std::array{a, b},
                         compare, "first");
  return out;
}

Term expand_topk(Formula& f) {
  const TopKAttributes a = f.module().attributes<TopKAttributes>(f.root());
  const Term x = f.operand(0);
  const Shape shape = x.shape();
  const int64_t last = shape.rank() - 1;
  const Term places = f.iota(ElementType::S32, shape.dims, last);
  const ComputationId compare = comparator(f.editor().module(), shape.type, a.largest);
  const Term sorted = f.term(f.editor().add(
      f.root(), Op::Sort, Shape::tuple({shape, Shape::array(ElementType::S32, shape.dims)}),
      std::array{x.value, places.value}, SortAttributes{{last}, true, compare}));
  std::vector<SliceDim> first;
  for (int64_t dim : shape.dims) first.push_back({0, dim, 1});
  first[last].limit = a.k;
  const Term values = f.slice(f.element(sorted, 0), first);
  return f.tuple(std::array{values, f.slice(f.element(sorted, 1), first)});
}

}  // namespace

Result<bool> expand_topks(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::TopK, expand_topk);
}

}  // namespace hilo
