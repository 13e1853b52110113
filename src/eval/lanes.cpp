#include "eval/lanes.h"

#include <algorithm>

#include "eval/block_builder.h"
#include "eval/convert.h"
#include "eval/evaluation.h"

namespace hilo {

struct LaneProgram::State {
  Device& device;
  const Module& module;
  ComputationId computation;
  int depth;
  bool blocks = false;  // else one call for each lane
  BlockProgram program;
  std::vector<ElementType> inputs, outputs;      // of the arrays
  std::vector<ElementType> parameters, results;  // held types of the computation
  std::optional<Op> binary;
};

namespace {

int64_t at_lane(ElementType type, int64_t lane) { return lane * storage_bytes(type); }

// One call of the computation with scalars.
Result<void> run_lane(const LaneProgram::State& state, std::span<const void* const> inputs,
                      std::span<void* const> outputs, int64_t lane) {
  std::vector<Literal> arguments;
  for (size_t p = 0; p < inputs.size(); ++p) {
    Literal scalar = Literal::uninitialized(Shape::scalar(state.parameters[p]));
    convert_lanes(state.inputs[p],
                  static_cast<const std::byte*>(inputs[p]) + at_lane(state.inputs[p], lane),
                  state.parameters[p], scalar.mutable_raw().data(), 1);
    arguments.push_back(std::move(scalar));
  }
  HILO_TRY(const Literal out,
           state.device.evaluation->run(state.device, state.module, state.computation,
                                        std::move(arguments), state.depth + 1));
  size_t leaf = 0;
  for_each_leaf(out, [&](const Literal& value) {
    const ElementType type = state.outputs[leaf];
    convert_lanes(value.type(), value.raw().data(), type,
                  static_cast<std::byte*>(outputs[leaf]) + at_lane(type, lane), 1);
    ++leaf;
  });
  return {};
}

// The held types of the leaves of a shape; false: not all are scalars.
bool scalar_types(const Call& call, const Shape& shape, std::vector<ElementType>& types) {
  bool scalars = true;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    scalars = scalars && leaf.is_array() && element_count(leaf) == 1;
    types.push_back(call.held(leaf.type));
  });
  return scalars;
}

// The computation's own types; as many as those of the arrays.
Result<void> find_types(const Call& call, LaneProgram::State& state) {
  bool scalars = true;
  for (InstructionId parameter : call.module[state.computation].parameters)
    scalars = scalars && call.module.shape(parameter).is_array() &&
              scalar_types(call, call.module.shape(parameter), state.parameters);
  const InstructionId root = call.module[state.computation].root;
  if (!root) return call.error(ErrorKind::Structure, "the called computation has no root");
  scalars = scalars && scalar_types(call, call.module.shape(root), state.results);
  if (!scalars)
    return call.error(ErrorKind::Shape, "the called computation must take and give scalars");
  if (state.parameters.size() == state.inputs.size() &&
      state.results.size() == state.outputs.size())
    return {};
  return call.error(ErrorKind::Shape,
                    fmt::format("the called computation takes {} and gives {} scalars; expected {} "
                                "and {}",
                                state.parameters.size(), state.results.size(), state.inputs.size(),
                                state.outputs.size()));
}

Result<void> add_instructions(const Call& call, LaneProgram::State& state) {
  std::vector<int> arguments, results;
  for (size_t p = 0; p < state.inputs.size(); ++p)
    arguments.push_back(
        state.program.add_convert(state.program.add_source(state.inputs[p]), state.parameters[p]));
  auto added = add_small_computation(state.program, call.module, state.computation, call.ideal(),
                                     arguments, results);
  if (!added) return call.error(added.error().kind, added.error().message);
  state.blocks = *added && results.size() == state.outputs.size();
  for (size_t r = 0; r < results.size() && state.blocks; ++r)
    state.program.add_output(state.program.add_convert(results[r], state.outputs[r]));
  state.program.finish();
  return {};
}

}  // namespace

Result<LaneProgram> LaneProgram::make(const Call& call, ComputationId computation,
                                      std::span<const ElementType> inputs,
                                      std::span<const ElementType> outputs) {
  if (!computation || computation.value >= call.module.computations.size())
    return call.error(ErrorKind::Structure, "a called computation is missing");
  auto state = std::make_shared<State>(State{call.device, call.module, computation, call.depth});
  state->inputs.assign(inputs.begin(), inputs.end());
  state->outputs.assign(outputs.begin(), outputs.end());
  HILO_DO(find_types(call, *state));
  HILO_DO(add_instructions(call, *state));
  const bool same_types = state->inputs == state->parameters && state->outputs == state->results;
  const std::optional<Combiner> combiner = find_combiner(call.module, computation);
  if (same_types && combiner && combiner->instruction == call.module[computation].root)
    state->binary = call.module[combiner->instruction].op;
  LaneProgram out;
  out.state_ = std::move(state);
  return out;
}

Result<LaneProgram> LaneProgram::make(const Call& call, const Combiner& combiner,
                                      ElementType other) {
  const ElementType wide = call.held(combiner.wide);
  auto state = std::make_shared<State>(State{call.device, call.module, {}, call.depth, true});
  BlockProgram& program = state->program;
  const std::array inputs = {program.add_source(wide), program.add_source(other)};
  const Op op = call.module[combiner.instruction].op;
  const ElementwiseKernel kernel = elementwise_kernel(op, wide);
  if (!kernel.kernel)
    return call.error(ErrorKind::Unsupported, fmt::format("{} of {}", text_of(op), text_of(wide)));
  program.add_output(program.add(kernel, inputs));
  program.finish();
  LaneProgram out;
  out.state_ = std::move(state);
  return out;
}

Result<void> LaneProgram::run(std::span<const void* const> inputs, std::span<void* const> outputs,
                              int64_t n) const {
  if (state_->device.evaluation->is_interrupted())
    return fail(ErrorKind::Interrupted, "interrupted");
  if (state_->blocks) {
    state_->program.run(inputs, outputs, 0, n);
    return {};
  }
  for (int64_t lane = 0; lane < n; ++lane) HILO_DO(run_lane(*state_, inputs, outputs, lane));
  return {};
}

std::vector<ElementType> element_types(std::span<const Literal> arrays) {
  return element_types(arrays, {});
}

std::vector<ElementType> element_types(std::span<const Literal> arrays,
                                       std::span<const Literal> more) {
  std::vector<ElementType> out;
  for (const Literal& array : arrays) out.push_back(array.type());
  for (const Literal& array : more) out.push_back(array.type());
  return out;
}

std::optional<Op> LaneProgram::binary_op() const { return state_->binary; }

std::optional<ElementType> wide_type(const Call& call, const std::optional<Combiner>& combiner,
                                     ElementType result) {
  if (!combiner || !is_floating(combiner->wide) || !is_floating(result)) return std::nullopt;
  const ElementType wide = call.held(combiner->wide);
  const int narrowest = std::min(bits_of(call.held(combiner->element)), bits_of(result));
  return bits_of(wide) > narrowest ? std::optional(wide) : std::nullopt;
}

}  // namespace hilo
