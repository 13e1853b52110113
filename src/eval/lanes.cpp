#include "eval/lanes.h"

#include <algorithm>
#include <cstring>

#include "eval/block_builder.h"
#include "eval/evaluation.h"

namespace hilo {

struct LaneProgram::State {
  Device& device;
  const Module& module;
  ComputationId computation;
  int depth;
  bool blocks = false;  // else one call for each lane
  BlockProgram program;
  std::vector<ElementType> parameters;  // held types
  std::optional<Op> binary;
  bool associative = false;
  std::optional<Comparison> comparison;
};

namespace {

constexpr Op commutative[] = {Op::Add, Op::Multiply, Op::Maximum, Op::Minimum,
                              Op::And, Op::Or,       Op::Xor};

bool is_commutative(Op op) {
  return std::find(std::begin(commutative), std::end(commutative), op) != std::end(commutative);
}

// The parameter number that a value is, through ops that only pass on; -1: none.
int64_t parameter_of(const Module& module, InstructionId id, bool through_convert) {
  while (through_convert && module[id].op == Op::Convert) id = module.operand(id, 0);
  if (module[id].op != Op::Parameter) return -1;
  return module.attributes<ParameterAttributes>(id).number;
}

// op(p0, p1), or op(p1, p0) where that is the same.
std::optional<Op> find_binary(const Module& module, InstructionId root, bool through_convert) {
  while (through_convert && module[root].op == Op::Convert) root = module.operand(root, 0);
  const Op op = module[root].op;
  if (!is_elementwise(op) || module.operands(root).size() != 2) return {};
  const int64_t a = parameter_of(module, module.operand(root, 0), through_convert);
  const int64_t b = parameter_of(module, module.operand(root, 1), through_convert);
  if (a == 0 && b == 1) return op;
  if (a == 1 && b == 0 && is_commutative(op)) return op;
  return {};
}

ComparisonDirection turned(ComparisonDirection direction) {
  using D = ComparisonDirection;
  constexpr D other[] = {D::Eq, D::Ne, D::Le, D::Lt, D::Ge, D::Gt};
  return other[static_cast<size_t>(direction)];
}

std::optional<LaneProgram::Comparison> find_comparison(const Module& module, InstructionId root) {
  if (module[root].op != Op::Compare) return {};
  const auto& attributes = module.attributes<CompareAttributes>(root);
  const int64_t a = parameter_of(module, module.operand(root, 0), false);
  const int64_t b = parameter_of(module, module.operand(root, 1), false);
  if (a < 0 || b < 0 || a / 2 != b / 2 || a == b) return {};
  const ComparisonType type =
      attributes.order == ComparisonOrder::Total ? ComparisonType::TotalOrder : attributes.type;
  return LaneProgram::Comparison{a / 2, a < b ? attributes.direction : turned(attributes.direction),
                                 type};
}

// One call of the computation with scalars.
Result<void> run_lane(const LaneProgram::State& state, std::span<const void* const> inputs,
                      std::span<void* const> outputs, int64_t lane) {
  std::vector<Literal> arguments;
  for (size_t p = 0; p < inputs.size(); ++p) {
    Literal scalar = Literal::uninitialized(Shape::scalar(state.parameters[p]));
    const int64_t bytes = storage_bytes(state.parameters[p]);
    std::memcpy(scalar.mutable_raw().data(),
                static_cast<const std::byte*>(inputs[p]) + lane * bytes, bytes);
    arguments.push_back(std::move(scalar));
  }
  HILO_TRY(const Literal out,
           state.device.evaluation->run(state.device, state.module, state.computation,
                                        std::move(arguments), state.depth + 1));
  size_t leaf = 0;
  for_each_leaf(out, [&](const Literal& value) {
    const int64_t bytes = storage_bytes(value.type());
    if (leaf < outputs.size())
      std::memcpy(static_cast<std::byte*>(outputs[leaf]) + lane * bytes, value.raw().data(), bytes);
    ++leaf;
  });
  return {};
}

}  // namespace

Result<LaneProgram> LaneProgram::make(const Call& call, ComputationId computation) {
  if (!computation || computation.value >= call.module.computations.size())
    return call.error(ErrorKind::Structure, "a called computation is missing");
  auto state = std::make_shared<State>(State{call.device, call.module, computation, call.depth});
  std::vector<int> arguments, results;
  for (InstructionId parameter : call.module[computation].parameters) {
    const Shape& shape = call.module.shape(parameter);
    if (!shape.is_array() || element_count(shape) != 1)
      return call.error(ErrorKind::Shape, "the called computation must take scalars");
    state->parameters.push_back(call.held(shape.type));
    arguments.push_back(state->program.add_source(state->parameters.back()));
  }
  const InstructionId root = call.module[computation].root;
  if (!root) return call.error(ErrorKind::Structure, "the called computation has no root");
  auto added = add_scalar_computation(state->program, call.module, computation, call.ideal(),
                                      arguments, results);
  if (!added) return call.error(added.error().kind, added.error().message);
  state->blocks = *added;
  for (int result : results) state->program.add_output(result);
  state->program.finish();
  state->binary = find_binary(call.module, root, false);
  const std::optional<Op> through = find_binary(call.module, root, true);
  state->associative = through && is_commutative(*through);
  state->comparison = find_comparison(call.module, root);
  LaneProgram out;
  out.state_ = std::move(state);
  return out;
}

Result<void> LaneProgram::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                              int64_t n) const {
  if (state_->blocks) {
    state_->program.run(inputs, outputs, 0, n);
    return {};
  }
  for (int64_t lane = 0; lane < n; ++lane) HILO_DO(run_lane(*state_, inputs, outputs, lane));
  return {};
}

std::optional<Op> LaneProgram::binary_op() const { return state_->binary; }
bool LaneProgram::is_associative() const { return state_->associative; }
std::optional<LaneProgram::Comparison> LaneProgram::comparison() const {
  return state_->comparison;
}

}  // namespace hilo
