// Scalar functions that an op applies: reducers, comparators, selectors, maps.
#include "verify/report.h"

namespace hilo {
namespace {

Shape scalar_of(const Shape& shape) { return Shape::scalar(shape.type); }

// Computation `called` takes `parameters` and gives `result` (null: anything).
void need_function(const Subject& subject, std::string_view attribute, ComputationId called,
                   std::span<const Shape> parameters, const Shape* result) {
  if (!called) return subject.fault(fmt::format("{} names no computation", attribute));
  const Computation& computation = subject.module[called];
  if (computation.parameters.size() != parameters.size())
    return subject.misfit(fmt::format("expected {}={} to take {} parameters, found {}", attribute,
                                      computation.name, parameters.size(),
                                      computation.parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i)
    if (const Shape& found = subject.module.shape(computation.parameters[i]);
        !fits_but_precision(found, parameters[i]))
      return subject.misfit(fmt::format("expected parameter {} of {}={} to be {}, found {}", i,
                                        attribute, computation.name, shown(parameters[i]),
                                        shown(found)));
  const Shape& found = subject.module.shape(computation.root);
  if (result && !fits_but_precision(found, *result))
    subject.misfit(fmt::format("expected {}={} to give {}, found {}", attribute, computation.name,
                               shown(*result), shown(found)));
}

// A reducer of n values: takes n accumulators and n elements, gives n accumulators.
void need_reducer(const Subject& subject, ComputationId to_apply, std::span<const Shape> values) {
  std::vector<Shape> parameters(values.begin(), values.end());
  parameters.insert(parameters.end(), values.begin(), values.end());
  const Shape result = values.size() == 1
                           ? values[0]
                           : Shape::tuple(std::vector<Shape>(values.begin(), values.end()));
  need_function(subject, "to_apply", to_apply, parameters, &result);
}

std::vector<Shape> operand_scalars(const Subject& subject, size_t first, size_t count) {
  std::vector<Shape> out;
  for (size_t i = 0; i < count; ++i) out.push_back(scalar_of(subject.operand(first + i)));
  return out;
}

void verify_map(const Subject& subject) {
  need_function(subject, "to_apply", subject.attributes<MapAttributes>().to_apply,
                operand_scalars(subject, 0, subject.count()), nullptr);
}

void verify_reduce(const Subject& subject) {
  need_reducer(subject, subject.attributes<ReduceAttributes>().to_apply,
               operand_scalars(subject, subject.count() / 2, subject.count() / 2));
}

void verify_reduce_window(const Subject& subject) {
  need_reducer(subject, subject.attributes<ReduceWindowAttributes>().to_apply,
               operand_scalars(subject, subject.count() / 2, subject.count() / 2));
}

void verify_scatter(const Subject& subject) {
  need_reducer(subject, subject.attributes<ScatterAttributes>().to_apply,
               operand_scalars(subject, 0, subject.count() / 2));
}

void verify_select_and_scatter(const Subject& subject) {
  const auto& a = subject.attributes<SelectAndScatterAttributes>();
  const Shape element = scalar_of(subject.operand(0)), source = scalar_of(subject.operand(1));
  const Shape choice = Shape::scalar(ElementType::Pred);
  need_function(subject, "select", a.select, std::array{element, element}, &choice);
  need_function(subject, "scatter", a.scatter, std::array{source, source}, &source);
}

// The comparator takes the two candidates of operand 0, those of operand 1, and so on.
void verify_sort(const Subject& subject) {
  std::vector<Shape> parameters;
  for (const Shape& scalar : operand_scalars(subject, 0, subject.count()))
    parameters.insert(parameters.end(), 2, scalar);
  const Shape choice = Shape::scalar(ElementType::Pred);
  need_function(subject, "to_apply", subject.attributes<SortAttributes>().to_apply, parameters,
                &choice);
}

// The body takes a slice of each input and the carries; what it gives are slices of the outputs,
// whose shapes are free, and the carries again.
void verify_scan(const Subject& subject) {
  const auto& a = subject.attributes<ScanAttributes>();
  const size_t carries = static_cast<size_t>(a.num_carries), inputs = subject.count() - carries;
  std::vector<Shape> parameters;
  for (size_t i = 0; i < subject.count(); ++i) {
    Dims dims = subject.operand(i).dims;
    if (i < inputs) dims.erase(dims.begin() + a.dimensions[0]);
    parameters.push_back(Shape::array(subject.operand(i).type, std::move(dims)));
  }
  Shape result = subject.module.shape(subject.module[a.to_apply].root);
  if (!result.is_tuple() && carries == 1) result = parameters.back();
  for (size_t i = 0; result.is_tuple() && i < carries; ++i)
    result.elements[result.elements.size() - carries + i] = parameters[inputs + i];
  need_function(subject, "to_apply", a.to_apply, parameters, &result);
}

// One reducer serves all operands, whose types may differ.
template <class A>
void verify_collective_reducer(const Subject& subject) {
  const ComputationId to_apply = subject.attributes<A>().to_apply;
  if (!to_apply) return subject.fault("to_apply names no computation");
  const Computation& computation = subject.module[to_apply];
  if (computation.parameters.size() != 2)
    return subject.misfit(fmt::format("expected to_apply={} to take 2 parameters, found {}",
                                      computation.name, computation.parameters.size()));
  const Shape& result = subject.module.shape(computation.root);
  for (InstructionId parameter : computation.parameters)
    if (!fits_but_precision(subject.module.shape(parameter), result) || !result.is_scalar())
      return subject.misfit(
          fmt::format("expected to_apply={} to take two scalars and give one, found {} and {}",
                      computation.name, shown(subject.module.shape(parameter)), shown(result)));
}

constexpr OpRule rules[] = {
    {Op::Map, verify_map},
    {Op::Reduce, verify_reduce},
    {Op::ReduceWindow, verify_reduce_window},
    {Op::Scatter, verify_scatter},
    {Op::SelectAndScatter, verify_select_and_scatter},
    {Op::Sort, verify_sort},
    {Op::Scan, verify_scan},
    {Op::AllReduce, verify_collective_reducer<AllReduceAttributes>},
    {Op::AllReduceStart, verify_collective_reducer<AllReduceAttributes>},
    {Op::ReduceScatter, verify_collective_reducer<ReduceScatterAttributes>}};

}  // namespace

std::span<const OpRule> reducer_rules() { return rules; }

}  // namespace hilo
