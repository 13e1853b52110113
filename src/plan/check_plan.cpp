#include <algorithm>

#include "plan/check.h"

namespace hilo {
namespace {

class PlanChecker {
 public:
  PlanChecker(const Module& module, const Machine& machine, const Plan& plan,
              const Aliases& aliases)
      : module_(module), machine_(machine), plan_(plan), aliases_(aliases) {}

  std::vector<Error> run() {
    check_schedule();
    if (!errors_.empty()) return std::move(errors_);
    const Result<Walk> walked = walk(module_, plan_.schedule);
    if (!walked) return {walked.error()};
    wanted_ = find_wanted(module_, aliases_, *walked);
    if (plan_.where.size() != aliases_.values.size()) {
      error(module_[module_.entry].root, "the plan is for {} values, the module has {}",
            plan_.where.size(), aliases_.values.size());
      return std::move(errors_);
    }
    for (uint32_t i = 0; i < aliases_.values.size(); ++i) check_slot({i});
    if (!errors_.empty()) return std::move(errors_);
    for (const Buffer& buffer : aliases_.buffers) check_buffer(buffer);
    for (uint32_t i = 0; i < aliases_.values.size(); ++i) check_role({i});
    check_overlaps(module_, aliases_, plan_, *walked, wanted_, errors_);
    check_sums();
    return std::move(errors_);
  }

 private:
  template <class... Args>
  void error(InstructionId id, fmt::format_string<Args...> text, Args&&... args) {
    errors_.push_back(
        {ErrorKind::Structure, fmt::format(text, std::forward<Args>(args)...), module_.place(id)});
  }
  std::string name(ValueId value) const { return name_of(module_, aliases_[value]); }
  InstructionId maker(ValueId value) const { return aliases_[value].definition().instruction; }
  bool is_wanted(ValueId value) const {
    return wanted_[value.value].start <= wanted_[value.value].end;
  }
  const Allocation& allocation(ValueId value) const {
    return plan_.allocations[plan_.where[value.value].first];
  }
  const Slot& slot(ValueId value) const {
    return allocation(value).slots[plan_.where[value.value].second];
  }

  // Each instruction once, after its operands and control predecessors.
  void check_schedule() {
    std::vector<bool> seen(module_.instructions.size());
    for (ComputationId computation : module_.post_order()) {
      size_t count = 0;
      if (computation.value >= plan_.schedule.orders.size())
        return error(module_[computation].root, "the computation is not scheduled");
      for (InstructionId id : plan_.schedule.orders[computation.value]) {
        const Instruction& instruction = module_[id];
        const auto is_late = [&](InstructionId other) { return !seen[other.value]; };
        if (instruction.computation != computation || seen[id.value])
          error(id, "the instruction is scheduled twice or in another computation");
        if (std::ranges::any_of(module_.operands(instruction), is_late))
          error(id, "the instruction is scheduled before one of its operands");
        if (std::ranges::any_of(module_.extra(instruction).control_predecessors, is_late))
          error(id, "the instruction is scheduled before a control predecessor");
        seen[id.value] = true;
        ++count;
      }
      if (count != module_[computation].instructions.size())
        error(module_[computation].root, "{} of {} instructions are scheduled", count,
              module_[computation].instructions.size());
    }
  }

  void check_slot(ValueId value) {
    const auto [number, index] = plan_.where[value.value];
    if (number >= plan_.allocations.size() || index >= plan_.allocations[number].slots.size()) {
      if (is_wanted(value)) error(maker(value), "{} has no place", name(value));
      return;
    }
    const Slot& place = slot(value);
    const int64_t bytes = buffer_bytes(machine_, shape_of(module_, aliases_[value]));
    if (place.value != value)
      error(maker(value), "the slot of {} holds another value", name(value));
    if (place.bytes != bytes)
      error(maker(value), "{} takes {} bytes, its slot has {}", name(value), bytes, place.bytes);
    if (place.offset < 0 || place.offset > allocation(value).bytes - place.bytes)
      error(maker(value), "{} ends outside its allocation", name(value));
    if (place.offset % memory_space(machine_, allocation(value).space).alignment != 0)
      error(maker(value), "{} is not aligned", name(value));
  }

  bool has_slot(ValueId value) const { return plan_.where[value.value].first != UINT32_MAX; }

  // Values of one buffer lie in one place, in the space that their layouts name.
  void check_buffer(const Buffer& buffer) {
    int64_t space = 0;
    for (ValueId value : buffer.values) {
      const Shape& shape = shape_of(module_, aliases_[value]);
      if (shape.has_layout && shape.layout.memory_space != 0) space = shape.layout.memory_space;
    }
    const ValueId first = buffer.values.front();
    for (ValueId value : buffer.values) {
      if (has_slot(value) != has_slot(first) ||
          (has_slot(value) && (plan_.where[value.value].first != plan_.where[first.value].first ||
                               slot(value).offset != slot(first).offset)))
        error(maker(value), "{} and {} must share a buffer and lie apart", name(value),
              name(first));
      if (has_slot(value) && allocation(value).space != space)
        error(maker(value), "{} belongs to memory space {} and lies in {}", name(value), space,
              allocation(value).space);
    }
  }

  // Parameters, constants and results outlive the program's temporaries.
  void check_role(ValueId value) {
    if (!is_wanted(value) || !has_slot(value)) return;
    const Allocation& place = allocation(value);
    const InstructionId id = maker(value);
    const Position& definition = aliases_[value].definition();
    if (aliases_[value].live_out && !place.is_live_out)
      error(id, "{} is part of the result and lies in an allocation that is not", name(value));
    if (module_[id].op == Op::Constant && !place.is_constant)
      error(id, "{} is a constant and lies where others are written", name(value));
    if (module_[id].op != Op::Constant && place.is_constant)
      error(id, "{} lies over a constant", name(value));
    const bool is_parameter =
        module_[id].op == Op::Parameter && module_[id].computation == module_.entry;
    if (is_parameter && (place.parameter != module_.attributes<ParameterAttributes>(id).number ||
                         place.parameter_index != definition.index))
      error(id, "{} lies in the allocation of something else", name(value));
    if (place.parameter && !is_parameter && !is_writable(place))
      error(id, "{} lies over a parameter that the caller keeps", name(value));
    if (place.is_thread_local)
      error(id, "{} is run, and lies in a thread's own memory", name(value));
  }

  bool is_writable(const Allocation& place) const {
    const auto names = [&](const auto& entry) {
      return entry.parameter == *place.parameter && entry.parameter_index == place.parameter_index;
    };
    return std::ranges::any_of(module_.header.input_output_alias, names) ||
           std::ranges::any_of(module_.header.buffer_donor, names);
  }

  void check_sums() {
    for (const Allocation& allocation : plan_.allocations)
      if (std::ranges::find(plan_.spaces, allocation.space, &SpacePlan::space) ==
          plan_.spaces.end())
        error(module_[module_.entry].root, "the plan has no sums of memory space {}",
              allocation.space);
    for (const SpacePlan& space : plan_.spaces) {
      int64_t total = 0, temporary = 0;
      for (const Allocation& allocation : plan_.allocations) {
        if (allocation.space != space.space || allocation.is_thread_local) continue;
        total += allocation.bytes;
        if (allocation.is_temp()) temporary += allocation.bytes;
      }
      if (total != space.total_bytes || temporary != space.temp_bytes)
        error(module_[module_.entry].root,
              "memory space {} has {} bytes, {} of them temporary; the plan says {} and {}",
              space.space, total, temporary, space.total_bytes, space.temp_bytes);
    }
  }

  const Module& module_;
  const Machine& machine_;
  const Plan& plan_;
  const Aliases& aliases_;
  std::vector<LiveRange> wanted_;  // by value
  std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> check_plan(const Module& module, const Machine& machine, const Plan& plan) {
  const Result<Aliases> aliases = find_aliases(module);
  if (!aliases) return {aliases.error()};
  return PlanChecker(module, machine, plan, *aliases).run();
}

}  // namespace hilo
