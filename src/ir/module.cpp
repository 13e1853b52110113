#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "ir/calling_ops.h"

namespace hilo {

namespace {

size_t slot_of(size_t hash, size_t slots) { return (hash ^ hash >> 32) & (slots - 1); }

}  // namespace

ShapeId ShapeTable::find(const Shape& shape, size_t hash) const {
  if (slots_.empty()) return {};
  for (size_t i = slot_of(hash, slots_.size()); slots_[i] != 0; i = (i + 1) & (slots_.size() - 1)) {
    const uint32_t id = slots_[i] - 1;
    if (hashes_[id] == hash && shapes_[id] == shape) return {id};
  }
  return {};
}

ShapeId ShapeTable::append(Shape shape, size_t hash) {
  const uint32_t id = static_cast<uint32_t>(shapes_.size());
  shapes_.push_back(std::move(shape));
  hashes_.push_back(hash);
  if (shapes_.size() * 2 > slots_.size()) grow();
  else place(id);
  return {id};
}

void ShapeTable::place(uint32_t id) {
  size_t i = slot_of(hashes_[id], slots_.size());
  while (slots_[i] != 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = id + 1;
}

void ShapeTable::grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 4), 0);
  for (uint32_t id = 0; id < shapes_.size(); ++id) place(id);
}

ShapeId ShapeTable::intern(const Shape& shape) {
  const size_t hash = hash_of(shape);
  const ShapeId known = find(shape, hash);
  return known ? known : append(shape, hash);
}

ShapeId ShapeTable::intern(Shape&& shape) {
  const size_t hash = hash_of(shape);
  const ShapeId known = find(shape, hash);
  return known ? known : append(std::move(shape), hash);
}

Place Module::place(InstructionId id) const {
  const Instruction& instruction = (*this)[id];
  Place place{file, 0, 0, "", std::string(instruction.name), std::string(text_of(instruction.op))};
  if (instruction.computation) place.computation = (*this)[instruction.computation].name;
  const char* at = instruction.name.data();
  if (at < source.data() || at >= source.data() + source.size()) return place;
  const std::string_view before(source.data(), at - source.data());
  place.line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  place.column = static_cast<int64_t>(before.size() - line_start) + 1;
  return place;
}

const Extra& Module::extra(const Instruction& instruction) const {
  static const Extra empty;
  return instruction.extra ? extras[instruction.extra.value] : empty;
}

Extra& Module::mutable_extra(InstructionId id) {
  Instruction& instruction = (*this)[id];
  if (!instruction.extra) {
    instruction.extra = {static_cast<uint32_t>(extras.size())};
    extras.emplace_back();
  }
  return extras[instruction.extra.value];
}

const Metadata& Module::metadata_of(const Instruction& instruction) const {
  static const Metadata empty;
  return instruction.metadata ? metadata[instruction.metadata.value] : empty;
}

namespace {

// The least one from 1 on with which NAME.NUMBER names no computation.
size_t free_number(std::span<const Computation> computations, std::string_view name) {
  std::vector<bool> taken(computations.size() + 2);  // so many cannot all be
  for (const Computation& computation : computations) {
    std::string_view rest = computation.name;
    if (!rest.starts_with(name) || rest.substr(name.size(), 1) != ".") continue;
    rest.remove_prefix(name.size() + 1);
    size_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc() && end == rest.data() + rest.size() && number < taken.size() &&
        rest[0] != '0')
      taken[number] = true;
  }
  return static_cast<size_t>(std::find(taken.begin() + 1, taken.end(), false) - taken.begin());
}

}  // namespace

ComputationId Module::add_computation(std::string_view name) {
  std::string unique(name.empty() ? "computation" : name);
  if (find_computation(unique))
    unique = fmt::format("{}.{}", name, free_number(computations, name));
  Computation& computation = computations.emplace_back();
  computation.name = strings.copy(unique);
  return {static_cast<uint32_t>(computations.size() - 1)};
}

InstructionId Module::add_instruction(ComputationId computation, Op op, const Shape& shape,
                                      std::span<const InstructionId> operands,
                                      std::string_view name) {
  check(computation && computation.value < computations.size(),
        "add_instruction: the computation is not of this module");
  for (InstructionId operand : operands)
    check(operand && operand.value < instructions.size(),
          "add_instruction: an operand is not of this module");
  Instruction instruction;
  const std::string base(name.empty() ? text_of(op) : name);
  std::string unique = base;
  if (name.empty()) unique = fmt::format("{}.{}", base, instructions.size());
  for (int i = 1; !name.empty() && find(computation, unique); ++i)
    unique = fmt::format("{}.{}", base, i);
  instruction.name = strings.copy(unique);
  instruction.op = op;
  instruction.shape = shapes.intern(shape);
  instruction.computation = computation;
  instruction.attributes = default_attributes(op);
  const InstructionId id = append_raw(instruction, operands);
  computations[computation.value].instructions.push_back(id);
  if (op == Op::Parameter) {
    auto& parameters = computations[computation.value].parameters;
    mutable_attributes<ParameterAttributes>(id).number = static_cast<int64_t>(parameters.size());
    parameters.push_back(id);
  }
  computations[computation.value].root = id;
  return id;
}

void Module::reserve(size_t instruction_count, size_t operand_count) {
  instructions.reserve(instruction_count);
  operands_.reserve(operand_count);
  uses_.reserve(operand_count);
  shapes.reserve(std::min<size_t>(instruction_count / 8, 1024));
}

InstructionId Module::append_raw(Instruction instruction, std::span<const InstructionId> operands) {
  const InstructionId id = {static_cast<uint32_t>(instructions.size())};
  instruction.first_operand = static_cast<uint32_t>(operands_.size());
  instruction.operand_count = static_cast<uint32_t>(operands.size());
  instructions.push_back(instruction);
  for (InstructionId operand : operands) {
    operands_.push_back(operand);
    uses_.push_back({id, {}, {}});
    link(static_cast<uint32_t>(operands_.size() - 1));
  }
  return id;
}

void Module::link(uint32_t slot) {
  Instruction& value = (*this)[operands_[slot]];
  uses_[slot].next = value.first_use;
  uses_[slot].previous = {};
  if (value.first_use) uses_[value.first_use.value].previous = {slot};
  value.first_use = {slot};
}

void Module::unlink(uint32_t slot) {
  const Use use = uses_[slot];
  if (use.previous) uses_[use.previous.value].next = use.next;
  else (*this)[operands_[slot]].first_use = use.next;
  if (use.next) uses_[use.next.value].previous = use.previous;
}

std::vector<InstructionId> Module::users(InstructionId id) const {
  std::vector<InstructionId> out;
  for (UseId use = (*this)[id].first_use; use; use = uses_[use.value].next)
    out.push_back(uses_[use.value].user);
  std::sort(out.begin(), out.end());
  return out;
}

void Module::set_operand(InstructionId user, size_t i, InstructionId value) {
  const uint32_t slot = (*this)[user].first_operand + static_cast<uint32_t>(i);
  unlink(slot);
  operands_[slot] = value;
  link(slot);
}

void Module::replace_all_uses(InstructionId old_value, InstructionId new_value) {
  check(old_value != new_value, "replace_all_uses: a value by itself");
  while (UseId use = (*this)[old_value].first_use) {
    const uint32_t slot = use.value;
    unlink(slot);
    operands_[slot] = new_value;
    link(slot);
  }
  Computation& computation = (*this)[(*this)[old_value].computation];
  if (computation.root == old_value) computation.root = new_value;
}

void Module::remove(InstructionId id) {
  Instruction& instruction = (*this)[id];
  check(!instruction.first_use, "remove: the value has users");
  check(!instruction.removed, "remove: removed before");
  for (uint32_t i = 0; i < instruction.operand_count; ++i) unlink(instruction.first_operand + i);
  instruction.operand_count = 0;
  instruction.removed = true;
}

void Module::compact() {
  std::vector<InstructionId> renamed(instructions.size());
  std::vector<Instruction> old_instructions = std::move(instructions);
  std::vector<InstructionId> old_operands = std::move(operands_);
  instructions.clear(), operands_.clear(), uses_.clear();
  for (size_t i = 0, kept = 0; i < old_instructions.size(); ++i)
    if (!old_instructions[i].removed) renamed[i] = {static_cast<uint32_t>(kept++)};
  // First the instructions alone, because operands may stand after their users.
  for (Instruction instruction : old_instructions)
    if (!instruction.removed) {
      instruction.first_use = {};
      instructions.push_back(instruction);
    }
  for (size_t i = 0; i < instructions.size(); ++i) {
    Instruction& instruction = instructions[i];
    const uint32_t first = instruction.first_operand;
    instruction.first_operand = static_cast<uint32_t>(operands_.size());
    for (uint32_t k = 0; k < instruction.operand_count; ++k) {
      operands_.push_back(renamed[old_operands[first + k].value]);
      uses_.push_back({{static_cast<uint32_t>(i)}, {}, {}});
      link(static_cast<uint32_t>(operands_.size() - 1));
    }
  }
  const auto rename = [&](std::vector<InstructionId>& ids) {
    std::erase_if(ids, [&](InstructionId id) { return old_instructions[id.value].removed; });
    for (InstructionId& id : ids) id = renamed[id.value];
  };
  for (Computation& computation : computations) {
    if (computation.root) computation.root = renamed[computation.root.value];
    rename(computation.instructions);
    rename(computation.parameters);
  }
  for (Extra& extra : extras) rename(extra.control_predecessors);
}

std::vector<ComputationId> Module::post_order() const {
  // A stack of (computation, callees still to visit); recursion would follow the depth of the file.
  std::vector<ComputationId> out;
  std::vector<bool> seen(computations.size());
  struct Level {
    ComputationId computation;
    std::vector<ComputationId> callees;
    size_t next = 0;
  };
  std::vector<Level> stack;
  const auto enter = [&](ComputationId id) {
    if (!id || seen[id.value]) return;
    seen[id.value] = true;
    Level level{id, {}};
    for (InstructionId instruction : (*this)[id].instructions)
      if (may_call((*this)[instruction].op))
        for (ComputationId callee : called((*this)[instruction])) level.callees.push_back(callee);
    stack.push_back(std::move(level));
  };
  enter(entry);
  while (!stack.empty()) {
    Level& top = stack.back();
    if (top.next < top.callees.size()) {
      enter(top.callees[top.next++]);
    } else {
      out.push_back(top.computation);
      stack.pop_back();
    }
  }
  return out;
}

InstructionId Module::find(ComputationId computation, std::string_view name) const {
  for (InstructionId id : (*this)[computation].instructions)
    if ((*this)[id].name == name) return id;
  return {};
}

ComputationId Module::find_computation(std::string_view name) const {
  for (size_t i = 0; i < computations.size(); ++i)
    if (computations[i].name == name) return {static_cast<uint32_t>(i)};
  return {};
}

}  // namespace hilo
