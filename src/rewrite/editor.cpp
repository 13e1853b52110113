#include "rewrite/editor.h"

#include <algorithm>

#include "rewrite/order.h"

namespace hilo {
namespace {

// "add.12" -> "add"; the number, or 0.
std::string_view without_number(std::string_view name, uint64_t* number = nullptr) {
  size_t end = name.size();
  uint64_t value = 0, unit = 1;
  for (; end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9'; --end, unit *= 10)
    value += unit * static_cast<uint64_t>(name[end - 1] - '0');
  if (end == name.size() || end < 2 || name[end - 1] != '.' || name.size() - end > 9) return name;
  if (number) *number = value;
  return name.substr(0, end - 1);
}

}  // namespace

Editor::Editor(Module& module)
    : module_(module),
      effects_(module),
      first_new_(static_cast<uint32_t>(module.instructions.size())),
      pinned_(module.instructions.size()),
      uses_(module.instructions.size()) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const Instruction& instruction = module.instructions[i];
    uint64_t number = 0;
    without_number(instruction.name, &number);
    next_number_ = std::max(next_number_, number + 1);
    for (InstructionId operand : module.operands(instruction)) ++uses_[operand.value];
    if (instruction.removed || !instruction.extra) continue;
    for (InstructionId before : module.extra(instruction).control_predecessors)
      pinned_[i] = pinned_[before.value] = true;
  }
}

std::string_view Editor::fresh_name(std::string_view like) {
  std::string name(without_number(like));
  name += '.';
  name += std::to_string(next_number_++);
  return module_.strings.copy(name);
}

InstructionId Editor::append(Instruction instruction, std::span<const InstructionId> operands) {
  const std::vector<InstructionId> kept(operands.begin(), operands.end());
  const InstructionId id = module_.append_raw(instruction, kept);
  module_[instruction.computation].instructions.push_back(id);
  uses_.resize(module_.instructions.size());
  for (InstructionId operand : kept) ++uses_[operand.value];
  touched_.push_back(id);
  return id;
}

InstructionId Editor::add(InstructionId like, Op op, const Shape& shape,
                          std::span<const InstructionId> operands) {
  Instruction instruction;
  instruction.name = fresh_name(text_of(op));
  instruction.op = op;
  instruction.shape = module_.shapes.intern(shape);
  instruction.computation = module_[like].computation;
  instruction.metadata = module_[like].metadata;
  instruction.attributes = module_.default_attributes(op);
  return append(instruction, operands);
}

void Editor::infer(InstructionId id) {
  Instruction unstated = module_[id];
  unstated.shape = {};
  Result<Shape> shape = infer_shape(module_, unstated);
  check(shape.has_value(), "Editor: operands that do not fit");
  module_[id].shape = module_.shapes.intern(*std::move(shape));
}

InstructionId Editor::add_constant(InstructionId like, Literal literal) {
  const Shape shape = literal.shape();
  return add(like, Op::Constant, shape, {},
             ConstantAttributes{{std::make_shared<const Literal>(std::move(literal)), false}});
}

InstructionId Editor::add_splat(InstructionId like, Shape shape, double number) {
  return add_splat(like, shape, scalar_of(shape.type, number));
}

InstructionId Editor::add_splat(InstructionId like, Shape shape, const Literal& scalar) {
  const InstructionId constant = add_constant(like, scalar);
  if (shape.is_scalar()) return constant;
  return add(like, Op::Broadcast, shape, std::array{constant}, DimensionsAttributes{});
}

InstructionId Editor::add_element(InstructionId like, InstructionId tuple, int64_t index) {
  const Shape shape = module_.shape(tuple).elements[index];
  return add(like, Op::GetTupleElement, shape, std::array{tuple}, GetTupleElementAttributes{index});
}

InstructionId Editor::add_tuple(InstructionId like, std::span<const InstructionId> elements) {
  std::vector<Shape> shapes;
  for (InstructionId element : elements) shapes.push_back(module_.shape(element));
  return add(like, Op::Tuple, Shape::tuple(std::move(shapes)), elements);
}

InstructionId Editor::add_parameter(ComputationId computation, InstructionId like,
                                    const Shape& shape) {
  Instruction instruction;
  instruction.name = fresh_name(module_[like].name);
  instruction.op = Op::Parameter;
  instruction.shape = module_.shapes.intern(shape);
  instruction.computation = computation;
  instruction.metadata = module_[like].metadata;
  const int64_t number = static_cast<int64_t>(module_[computation].parameters.size());
  instruction.attributes = module_.add_attributes(ParameterAttributes{number});
  const InstructionId id = append(instruction, {});
  module_[computation].parameters.push_back(id);
  return id;
}

InstructionId Editor::clone(InstructionId original, ComputationId into,
                            std::span<const InstructionId> operands) {
  Instruction copy = module_[original];
  copy.name = fresh_name(copy.name);
  copy.computation = into;
  copy.first_use = {};
  copy.removed = false;
  copy.attributes = module_.copy_attributes(copy.op, copy.attributes);
  if (copy.extra) {
    Extra extra = module_.extra(copy);
    extra.control_predecessors.clear();
    copy.extra = {static_cast<uint32_t>(module_.extras.size())};
    module_.extras.push_back(std::move(extra));
  }
  return append(copy, operands);
}

InstructionId Editor::clone_body(ComputationId from, ComputationId into,
                                 std::span<const InstructionId> arguments) {
  std::unordered_map<uint32_t, InstructionId> copies;
  const std::vector<InstructionId> parameters = module_[from].parameters;
  for (size_t i = 0; i < parameters.size(); ++i) copies[parameters[i].value] = arguments[i];
  for (InstructionId id : operands_first(module_, from)) {
    if (module_[id].op == Op::Parameter) continue;
    std::vector<InstructionId> operands;
    for (InstructionId operand : module_.operands(id)) operands.push_back(copies[operand.value]);
    const InstructionId copy = clone(id, into, operands);
    copies[id.value] = copy;
    const std::vector<InstructionId> before = module_.extra(module_[id]).control_predecessors;
    for (InstructionId predecessor : before) {
      const InstructionId held = copies[predecessor.value];
      module_.mutable_extra(copy).control_predecessors.push_back(held);
      pinned_.resize(module_.instructions.size());
      pinned_[copy.value] = pinned_[held.value] = true;
    }
  }
  return copies[module_[from].root.value];
}

ComputationId Editor::clone_computation(ComputationId from) {
  const ComputationId into = module_.add_computation(module_[from].name);
  module_[into].execution_thread = module_[from].execution_thread;
  std::vector<InstructionId> parameters;
  for (InstructionId parameter : std::vector(module_[from].parameters)) {
    const InstructionId copy = clone(parameter, into, {});
    module_[into].parameters.push_back(copy);
    parameters.push_back(copy);
  }
  const InstructionId root = clone_body(from, into, parameters);
  module_[into].root = root;
  return into;
}

namespace {

// Whether what the old value says of its sharding would hold of the new one.
bool keeps_sharding(const Module& module, InstructionId old_value, InstructionId new_value) {
  const auto& old_sharding = module.extra(module[old_value]).sharding;
  const auto& new_sharding = module.extra(module[new_value]).sharding;
  if (!old_sharding || (new_sharding && *old_sharding == *new_sharding)) return true;
  return !new_sharding && module[new_value].op != Op::Parameter;
}

}  // namespace

bool Editor::can_replace(InstructionId old_value, InstructionId new_value) const {
  if (old_value == new_value || is_pinned(old_value)) return false;
  return same_with_layout(module_.shape(old_value), module_.shape(new_value)) &&
         keeps_sharding(module_, old_value, new_value);
}

void Editor::move_uses(InstructionId old_value, InstructionId new_value) {
  const Instruction& old = module_[old_value];
  if (old.extra && module_[new_value].op != Op::Parameter) {
    const Extra from = module_.extra(old);
    const Extra& now = module_.extra(module_[new_value]);
    if (from.sharding && !now.sharding) module_.mutable_extra(new_value).sharding = from.sharding;
    if (is_new(new_value) && now.frontend_attributes.empty() && !from.frontend_attributes.empty())
      module_.mutable_extra(new_value).frontend_attributes = from.frontend_attributes;
    if (is_new(new_value) && !from.origin.empty())
      module_.mutable_extra(new_value).origin = from.origin;
  }
  for (InstructionId user : module_.users(old_value)) touched_.push_back(user);
  module_.replace_all_uses(old_value, new_value);
  uses_[new_value.value] += std::exchange(uses_[old_value.value], 0);
  touched_.push_back(new_value);
}

void Editor::replace(InstructionId old_value, InstructionId new_value) {
  move_uses(old_value, new_value);
  remove_unused(old_value);
}

void Editor::replace_moved(InstructionId old_value, InstructionId new_value) {
  // The program's result says its own sharding, which others read.
  if (module_[module_.entry].root == old_value && !keeps_sharding(module_, old_value, new_value))
    new_value = add(old_value, Op::Copy, Shape(module_.shape(new_value)), std::array{new_value});
  move_uses(old_value, new_value);
  std::vector<InstructionId> freed;
  remove(old_value, freed);
  for (InstructionId value : freed) remove_unused(value);
}

void Editor::set_operand(InstructionId user, size_t i, InstructionId value) {
  const InstructionId old = module_.operand(user, i);
  if (old == value) return;
  module_.set_operand(user, i, value);
  ++uses_[value.value], --uses_[old.value];
  touched_.push_back(user);
  remove_unused(old);
}

void Editor::set_root(ComputationId computation, InstructionId value) {
  const InstructionId old = module_[computation].root;
  module_[computation].root = value;
  remove_unused(old);
}

bool Editor::is_unused(InstructionId id) const {
  const Instruction& instruction = module_[id];
  return !instruction.removed && !instruction.first_use && instruction.op != Op::Parameter &&
         module_[instruction.computation].root != id && !is_pinned(id) && !effects_.has(id);
}

// Appends the operands that the instruction no longer uses.
void Editor::remove(InstructionId id, std::vector<InstructionId>& freed) {
  const auto operands = module_.operands(id);
  const std::vector<InstructionId> used(operands.begin(), operands.end());
  module_.remove(id);
  for (InstructionId operand : used) --uses_[operand.value];
  for (InstructionId operand : used) {
    freed.push_back(operand);
    if (uses_[operand.value] == 1) touched_.push_back(module_.users(operand)[0]);
  }
}

void Editor::remove_unused(InstructionId id) {
  std::vector<InstructionId> stack = {id};
  while (!stack.empty()) {
    const InstructionId top = stack.back();
    stack.pop_back();
    if (is_unused(top)) remove(top, stack);
  }
}

bool same_with_layout(const Shape& a, const Shape& b) {
  if (!same_dims(a, b)) return false;
  if (a.is_tuple()) {
    for (size_t i = 0; i < a.elements.size(); ++i)
      if (!same_with_layout(a.elements[i], b.elements[i])) return false;
    return true;
  }
  if (a.has_layout && b.has_layout) return a.layout == b.layout;
  return a.has_layout == b.has_layout || is_plain(a.has_layout ? a : b);
}

bool is_plain(const Shape& shape) {
  if (shape.is_tuple()) return std::ranges::all_of(shape.elements, is_plain);
  if (!shape.has_layout) return true;
  const Layout& l = shape.layout;
  return l.minor_to_major.size() == shape.dims.size() && l.is_descending() && l.tiles.empty() &&
         l.tail_padding_alignment == 1 && l.element_size_bits == 0 && l.memory_space == 0 &&
         l.split_configs.empty() && l.dynamic_shape_metadata_prefix_bytes == 0 &&
         l.dim_level_types.empty();
}

const Literal* constant_of(const Module& module, InstructionId id) {
  if (module[id].op != Op::Constant) return nullptr;
  const LiteralRef& ref = module.attributes<ConstantAttributes>(id).literal;
  return ref.elided ? nullptr : ref.literal.get();
}

Literal scalar_of(ElementType type, double number) {
  return visit_storage(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (requires(T x) { x.real(); })
      return Literal::scalar(T(static_cast<typename T::value_type>(number)));
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return Literal::scalar(static_cast<T>(static_cast<int64_t>(number)));
    else return Literal::scalar(static_cast<T>(number));
  });
}

std::vector<int> count_callers(const Module& module) {
  std::vector<int> out(module.computations.size());
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions) {
      if (module[id].removed || is_elementwise(module[id].op)) continue;
      for (ComputationId callee : module.called(module[id])) ++out[callee.value];
    }
  return out;
}

void for_each_callee(Module& module, InstructionId id,
                     const std::function<void(ComputationId&)>& body) {
  std::vector<ComputationId> callees = module.called(module[id]);
  if (callees.empty()) return;
  for (ComputationId& callee : callees) body(callee);
  module.set_called(id, callees);
}

}  // namespace hilo
