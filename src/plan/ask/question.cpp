#include <algorithm>
#include <array>

#include "plan/ask/ask.h"

namespace hilo {
namespace {

#define LIMIT(name, value) [[maybe_unused]] constexpr int name = value;
#include "pass/fuse/group_limits.def"
#undef LIMIT

bool has_dynamic_sizes(const Shape& shape) {
  bool found = false;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    found |= leaf.has_dynamic_dims();
  });
  return found;
}

// In operands, the result, and what is computed in a fusion.
bool has_dynamic_sizes(const Module& module, InstructionId id) {
  if (has_dynamic_sizes(module.shape(id))) return true;
  for (InstructionId operand : module.operands(id))
    if (has_dynamic_sizes(module.shape(operand))) return true;
  if (module[id].op != Op::Fusion) return false;
  return std::ranges::any_of(
      module[module.attributes<FusionAttributes>(id).calls].instructions,
      [&](InstructionId inside) { return has_dynamic_sizes(module, inside); });
}

bool holds_arrays_alone(const Shape& shape) {
  bool out = true;
  for_each_leaf(shape,
                [&](const Shape& leaf, std::span<const int64_t>) { out &= leaf.is_array(); });
  return out;
}

const Shape& leaf_shape(const Shape& shape, size_t leaf) {
  const Shape* found = nullptr;
  size_t number = 0;
  for_each_leaf(shape, [&](const Shape& one, std::span<const int64_t>) {
    if (number++ == leaf) found = &one;
  });
  check(found, "KernelQuestion: no such leaf");
  return *found;
}

InstructionId root_of(const Module& module, InstructionId fusion) {
  return module[module.attributes<FusionAttributes>(fusion).calls].root;
}

}  // namespace

const OpCommands& commands_of(Op op) {
  static constexpr OpCommands of_elementwise = {};
  static constexpr std::array<const OpCommands*, op_count> all = {
#define HILO_COMMANDS_Elementwise(name) &of_elementwise
#define HILO_COMMANDS_Structural(name) &commands_of_##name
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_COMMANDS_##op_class(name),
#include "ir/ops.def"
#undef OP
#undef HILO_COMMANDS_Elementwise
#undef HILO_COMMANDS_Structural
  };
  return *all[static_cast<size_t>(op)];
}

Answer KernelQuestion::step() {
  if (Answer refused = border()) return refused;
  for (InstructionId operand : module.operands(step_))
    if (!stands_in_code(module, operand)) arrays_.insert(operand);
  for (InstructionId id = step_; module[id].op == Op::Fusion; id = root_of(module, id))
    if (Answer refused = bind(id)) return refused;
  return targets();
}

// What the step reads and writes.
Answer KernelQuestion::border() {
  bool are_arrays = holds_arrays_alone(module.shape(step_));
  for (InstructionId operand : module.operands(step_))
    are_arrays &= holds_arrays_alone(module.shape(operand));
  if (!are_arrays) return no(NoKernel::NoArray, step_);
  if (leaf_count(module.shape(step_)) == 0) return no(NoKernel::NoResult, step_);
  if (has_dynamic_sizes(module, step_)) return no(NoKernel::DynamicSizes, step_);
  return {};
}

// Each array that is written.
Answer KernelQuestion::targets() {
  InstructionId root = step_;
  while (module[root].op == Op::Fusion) root = root_of(module, root);
  const auto each = [&](InstructionId value) -> Answer {
    const auto leaves = static_cast<size_t>(leaf_count(module.shape(value)));
    for (size_t leaf = 0; leaf < leaves; ++leaf)
      if (Answer refused = target(value, leaf)) return refused;
    return {};
  };
  if (module[root].op != Op::Tuple || root == step_) return each(root);
  for (InstructionId value : module.operands(root))
    if (Answer refused = each(value)) return refused;
  return {};
}

Answer KernelQuestion::target(InstructionId value, size_t leaf) {
  while (value != step_ && module[value].op == Op::GetTupleElement) {
    const InstructionId tuple = module.operand(value, 0);
    if (!commands_of(module[tuple].op).loops) break;
    const int64_t index = module.attributes<GetTupleElementAttributes>(value).index;
    leaf += first_leaf(module.shape(tuple), static_cast<size_t>(index));
    value = tuple;
  }
  if (const auto loops = commands_of(module[value].op).loops) return loops(*this, value);
  return element(value, leaf);
}

Answer KernelQuestion::element(InstructionId id, size_t leaf) {
  height_ = 0;
  if (!is_array(leaf_shape(module.shape(id), leaf).type)) return no(NoKernel::NoArray, id);
  if (is_bound(id)) return {};
  auto known = known_.find({id, leaf});
  if (known == known_.end()) {
    if (is_elementwise(module[id].op)) return elementwise(id);
    if (depth_ == max_nested) return no(NoKernel::NestedTooDeeply, id);
    ++depth_;
    Known found = {compute(id, leaf), 0};
    --depth_;
    found.height = height_ + 1;
    known = known_.emplace(std::pair(id, leaf), found).first;
  }
  height_ = known->second.height;
  if (known->second.answer) return known->second.answer;
  return depth_ + height_ > max_nested ? no(NoKernel::NestedTooDeeply, id) : Answer();
}

// Whether its elements are given; else leaves in `id` what it stands for as a parameter.
bool KernelQuestion::is_bound(InstructionId& id) const {
  while (true) {
    if (arrays_.contains(id) || scalars_.contains(id)) return true;
    const auto outer = parameters_.find(id);
    if (outer == parameters_.end()) return false;
    id = outer->second;
  }
}

// Leaves in height_ that of the highest value which it is computed from.
Answer KernelQuestion::compute(InstructionId id, size_t leaf) {
  const Op op = module[id].op;
  if (op == Op::Constant) return constant(id);
  const auto ask = commands_of(op).element;
  return ask ? ask(*this, id, leaf) : no(NoKernel::NoLoops, id);
}

Answer KernelQuestion::constant(InstructionId id) {
  height_ = 0;
  const auto& literal = module.attributes<ConstantAttributes>(id).literal.literal;
  return literal && literal->shape().is_array() ? Answer() : no(NoKernel::ConstantWithoutValue, id);
}

// Operands that are elementwise too are asked here and not by element(), as they are made
// (emit/element_emitter.cpp): a chain of them nests nothing, however long it is.
Answer KernelQuestion::elementwise(InstructionId root) {
  struct Begun {
    InstructionId id;
    size_t ready = 0;
    int height = 0;
  };
  std::vector<Begun> begun = {{root}};
  while (!begun.empty()) {
    Begun& top = begun.back();
    if (top.ready == 0)
      if (Answer refused = ask_elementwise(module, top.id)) return refused;
    const auto operands = module.operands(top.id);
    if (top.ready < operands.size()) {
      InstructionId operand = operands[top.ready++];
      if (!is_bound(operand) && is_elementwise(module[operand].op) &&
          !known_.contains({operand, 0})) {
        begun.push_back({operand});
        continue;
      }
      if (Answer refused = element(operand)) return refused;
      top.height = std::max(top.height, height_);
      continue;
    }
    height_ = top.height;
    known_.emplace(std::pair(top.id, size_t{0}), Known{{}, height_});
    begun.pop_back();
    if (!begun.empty()) begun.back().height = std::max(begun.back().height, height_);
  }
  return {};
}

Answer KernelQuestion::operands(InstructionId id) {
  int height = 0;
  for (InstructionId operand : module.operands(id)) {
    if (Answer refused = element(operand)) return refused;
    height = std::max(height, height_);
  }
  height_ = height;
  return {};
}

Answer KernelQuestion::applied(ComputationId computation) {
  const int before = height_;
  for (InstructionId parameter : module[computation].parameters) scalars_.insert(parameter);
  int height = before;
  const InstructionId root = module[computation].root;
  const auto leaves = static_cast<size_t>(leaf_count(module.shape(root)));
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    if (Answer refused = element(root, leaf)) return refused;
    height = std::max(height, height_);
  }
  height_ = height;
  return {};
}

Answer KernelQuestion::bind(InstructionId fusion) {
  const auto& parameters = module[module.attributes<FusionAttributes>(fusion).calls].parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InstructionId operand = module.operand(fusion, i);
    const auto [at, is_new] = parameters_.try_emplace(parameters[i], operand);
    if (!is_new && at->second != operand) return no(NoKernel::FusedTwice, fusion);
  }
  return {};
}

bool KernelQuestion::has_array(InstructionId id) const {
  while (!arrays_.contains(id)) {
    const Op op = module[id].op;
    if (const auto operand = parameters_.find(id); operand != parameters_.end())
      id = operand->second;
    else if ((op == Op::Bitcast || op == Op::Reshape) &&
             module.shape(module.operand(id, 0)).type == module.shape(id).type)
      id = module.operand(id, 0);
    else return false;
  }
  return leaf_count(module.shape(id)) == 1;
}

}  // namespace hilo
