#include "eval/small_computation.h"

#include <cstring>

#include "eval/block_builder.h"
#include "eval/evaluation.h"

namespace hilo {
namespace {

constexpr int64_t max_values = 256;    // elements of arguments, or of the result
constexpr int64_t element_space = 16;  // bytes between elements of a loop's state

void add_types(const Shape& held, std::vector<ElementType>& out) {
  for_each_leaf(held, [&](const Shape& leaf, std::span<const int64_t>) {
    out.insert(out.end(), element_count(leaf), leaf.type);
  });
}

// Calls visit(pointer) for every element; false: the value is of another shape.
template <class Visit>
bool visit_elements(const Literal& value, const Shape& held, const Visit& visit) {
  if (held.is_tuple()) {
    if (value.elements().size() != held.elements.size()) return false;
    for (size_t i = 0; i < held.elements.size(); ++i)
      if (!visit_elements(value.elements()[i], held.elements[i], visit)) return false;
    return true;
  }
  if (!value.has_value() || value.type() != held.type || value.count() != element_count(held))
    return false;
  const int64_t bytes = storage_bytes(held.type), count = value.count();
  const std::byte* start = value.raw().data();
  for (int64_t i = 0; i < count; ++i) visit(start + i * bytes);
  return true;
}

// Calls visit(pointer) for every element of a value of our own.
template <class Visit>
void visit_own_elements(Literal& value, const Visit& visit) {
  for (Literal& element : value.mutable_elements()) visit_own_elements(element, visit);
  if (!value.shape().is_array()) return;
  const int64_t bytes = storage_bytes(value.type()), count = value.count();
  std::byte* start = value.mutable_raw().data();
  for (int64_t i = 0; i < count; ++i) visit(start + i * bytes);
}

}  // namespace

SmallComputation::Part SmallComputation::part_of(const Shape& held) {
  Part out{std::make_shared<const Shape>(held), {}};
  for (const Shape& element : held.elements) out.elements.push_back(part_of(element));
  return out;
}

Literal SmallComputation::make(const Part& part, const Allocate& allocate) {
  if (!part.shape->is_tuple()) return Literal::uninitialized(part.shape, allocate);
  std::vector<Literal> elements;
  elements.reserve(part.elements.size());
  for (const Part& element : part.elements) elements.push_back(make(element, allocate));
  return Literal::tuple(std::move(elements), part.shape);
}

std::shared_ptr<const SmallComputation> SmallComputation::find(const Module& module,
                                                               ComputationId computation,
                                                               bool ideal) {
  auto out = std::make_shared<SmallComputation>();
  if (!module[computation].root) return nullptr;
  for (InstructionId parameter : module[computation].parameters) {
    if (count_few(module.shape(parameter)) < 0) return nullptr;
    out->parameters_.push_back(
        std::make_shared<const Shape>(held_shape(module.shape(parameter), ideal)));
    add_types(*out->parameters_.back(), out->arguments_);
  }
  const Shape& root = module.shape(module[computation].root);
  if (count_few(root) < 1) return nullptr;
  out->result_ = part_of(held_shape(root, ideal));
  add_types(*out->result_.shape, out->results_);
  if (std::max(std::ssize(out->arguments_), std::ssize(out->results_)) > max_values) return nullptr;
  std::vector<int> arguments, results;
  for (ElementType type : out->arguments_) arguments.push_back(out->program_.add_uniform(type));
  const Result<bool> added =
      add_small_computation(out->program_, module, computation, ideal, arguments, results);
  if (!added || !*added || results.size() != out->results_.size()) return nullptr;
  for (size_t i = 0; i < results.size(); ++i)
    out->program_.add_output(out->program_.add_convert(results[i], out->results_[i]));
  out->program_.finish();
  return out;
}

std::optional<Literal> SmallComputation::run(const Allocate& allocate,
                                             std::span<const Literal> arguments) const {
  if (arguments.size() != parameters_.size()) return {};
  const void* inputs[max_values];
  size_t next = 0;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!visit_elements(arguments[i], *parameters_[i],
                        [&](const std::byte* at) { inputs[next++] = at; }))
      return {};
  Literal out = make(result_, allocate);
  void* outputs[max_values];
  next = 0;
  visit_own_elements(out, [&](std::byte* at) { outputs[next++] = at; });
  program_.run({inputs, arguments_.size()}, {outputs, results_.size()}, 0, 1);
  return out;
}

bool SmallLoop::fits(const SmallComputation& condition, const SmallComputation& body) {
  return body.parameters_.size() == 1 && condition.parameters_.size() == 1 &&
         body.arguments_ == body.results_ && condition.arguments_ == body.arguments_ &&
         condition.result_.shape->is_scalar() &&
         condition.results_ == std::vector{ElementType::Pred};
}

SmallLoop::SmallLoop(const SmallComputation& condition, const SmallComputation& body)
    : condition_(condition), body_(body) {
  for (int side = 0; side < 2; ++side) {
    state_[side].resize(body.arguments_.size() * element_space);
    for (size_t i = 0; i < body.arguments_.size(); ++i) {
      inputs_[side].push_back(state_[side].data() + i * element_space);
      outputs_[side].push_back(state_[side].data() + i * element_space);
    }
  }
}

bool SmallLoop::load(const Literal& state) {
  size_t next = 0;
  return visit_elements(state, *body_.parameters_[0], [&](const std::byte* at) {
    std::memcpy(outputs_[0][next], at, storage_bytes(body_.arguments_[next]));
    ++next;
  });
}

bool SmallLoop::goes_on() const {
  bool out = false;
  void* outputs[] = {&out};
  condition_.program_.run(inputs_[now_], outputs, 0, 1);
  return out;
}

void SmallLoop::step() {
  body_.program_.run(inputs_[now_], outputs_[1 - now_], 0, 1);
  now_ = 1 - now_;
}

Literal SmallLoop::state(const Allocate& allocate) const {
  Literal out = SmallComputation::make(body_.result_, allocate);
  size_t next = 0;
  visit_own_elements(out, [&](std::byte* at) {
    std::memcpy(at, inputs_[now_][next], storage_bytes(body_.results_[next]));
    ++next;
  });
  return out;
}

}  // namespace hilo
