// A picture from a module and its plan.
#include <algorithm>

#include "report/dump_reading.h"
#include "text/text.h"

namespace hilo {
namespace {

class PictureMaker {
 public:
  PictureMaker(const Module& module, const Machine& machine, const Plan& plan,
               const PictureOptions& options)
      : module_(module),
        machine_(machine),
        plan_(plan),
        options_(options),
        instruction_of_(module.instructions.size(), unknown) {}

  MemoryPicture make() {
    picture_.module_name = module_.header.name;
    picture_.read_from = "planned by Hilo";
    picture_.machine = machine_.name;
    for (const InstructionId id : plan_.liveness.sequence) {
      const size_t instruction = index_of(id);
      picture_.instructions[instruction].moment = static_cast<int64_t>(picture_.sequence.size());
      picture_.sequence.push_back(instruction);
    }
    for (const Allocation& allocation : plan_.allocations) add_allocation(allocation);
    name_shapes();
    join_places(picture_);  // results may lie over their operands without being aliases
    fill_spaces(picture_, &machine_, false);
    for (PictureSpace& space : picture_.spaces) take_bound(space);
    fill_peak();
    if (options_.costs) add_costs();
    return std::move(picture_);
  }

 private:
  static constexpr size_t unknown = SIZE_MAX;

  size_t index_of(InstructionId id) {
    size_t& index = instruction_of_[id.value];
    if (index != unknown) return index;
    index = picture_.instructions.size();
    PictureInstruction& instruction = picture_.instructions.emplace_back();
    instruction.name = module_[id].name;
    describe_instruction(instruction, module_, id);
    return index;
  }

  PicturePosition position_of(InstructionId id, int64_t operand, const Dims& index) {
    const InstructionId shaped =
        operand < 0 ? id : module_.operand(id, static_cast<size_t>(operand));
    return {index_of(id), operand, module_.shape(shaped).is_tuple(), index};
  }

  void add_allocation(const Allocation& allocation) {
    PictureAllocation& out = picture_.allocations.emplace_back();
    out.number = static_cast<int64_t>(picture_.allocations.size()) - 1;
    out.bytes = allocation.bytes;
    out.space = allocation.space;
    out.parameter = allocation.parameter;
    out.parameter_index = allocation.parameter_index;
    out.is_constant = allocation.is_constant;
    out.is_thread_local = allocation.is_thread_local;
    out.is_live_out = allocation.is_live_out;
    out.is_temp = allocation.is_temp();
    if (machine_.family == MachineFamily::Tpu) out.page = 0;
    for (const Slot& slot : allocation.slots) {
      out.values.push_back(picture_.values.size());
      add_value(slot, allocation);
    }
  }

  void add_value(const Slot& slot, const Allocation& allocation) {
    const Value& from = plan_.aliases[slot.value];
    PictureValue value;
    value.number = from.number;
    value.is_phi = from.is_phi;
    value.defined = position_of(from.definition().instruction, -1, from.definition().index);
    const Shape& shape = shape_of(module_, from);
    value.shape = to_string(shape);
    value.bytes = slot.bytes;
    value.offset = slot.offset;
    value.unpadded_bytes = unpadded_bytes(shape, 8);
    value.allocation = picture_.allocations.size() - 1;
    value.space = allocation.space;
    value.buffer = plan_.aliases.buffer_of[slot.value.value].value;
    value.start = plan_.liveness.ranges[slot.value.value].start;
    value.end = plan_.liveness.ranges[slot.value.value].end;
    for (const Position& position : from.positions)
      value.positions.push_back(position_of(position.instruction, -1, position.index));
    for (const ValueUse& use : from.uses)
      value.uses.push_back(position_of(use.instruction, use.operand, use.index));
    if (options_.instruction_texts) keep_text(from.definition().instruction);
    picture_.values.push_back(std::move(value));
  }

  void keep_text(InstructionId id) {
    std::string& text = picture_.instructions[index_of(id)].text;
    if (text.empty())
      text =
          print(module_, id, options_.older_texts ? PrintStyle::xla2024() : PrintStyle::xla2026());
  }

  // Of parameters and of the result, as XLA prints them on allocations.
  void name_shapes() {
    const Computation& entry = module_[module_.entry];
    for (PictureAllocation& allocation : picture_.allocations) {
      if (allocation.parameter &&
          *allocation.parameter < static_cast<int64_t>(entry.parameters.size()))
        allocation.parameter_shape = to_string_without_layout(
            module_.shape(entry.parameters[static_cast<size_t>(*allocation.parameter)]));
      for (const size_t v : allocation.values)
        for (const PicturePosition& place : picture_.values[v].positions)
          if (place.instruction == index_of(entry.root) && place.index.empty())
            allocation.output_shape = to_string_without_layout(module_.shape(entry.root));
    }
  }

  // The plan knows the aligned sizes that its packing worked with.
  void take_bound(PictureSpace& space) {
    for (const SpacePlan& planned : plan_.spaces)
      if (planned.space == space.space) space.lower_bound_bytes = planned.lower_bound_bytes;
  }

  void fill_peak() {
    const Peak peak = find_peak(module_, plan_.aliases, plan_.liveness);
    picture_.unpadded_peak.moment = peak.moment;
    picture_.unpadded_peak.bytes = peak.bytes;
    for (const ValueId value : peak.values)
      if (const auto [allocation, slot] = plan_.where[value.value]; allocation != UINT32_MAX)
        picture_.unpadded_peak.values.push_back(picture_.allocations[allocation].values[slot]);
  }

  void add_costs() {
    const std::vector<Cost> costs = count_cost(module_);
    for (size_t i = 0; i < instruction_of_.size(); ++i)
      if (instruction_of_[i] != unknown) {
        picture_.instructions[instruction_of_[i]].cost = costs[i];
        picture_.instructions[instruction_of_[i]].has_cost = true;
      }
    std::optional<StepTimes> times;
    if (machine_.links.are_known()) times.emplace(module_, machine_, &plan_.schedule);
    picture_.collectives = find_collectives(module_, costs, times ? &*times : nullptr);
  }

  const Module& module_;
  const Machine& machine_;
  const Plan& plan_;
  const PictureOptions& options_;
  std::vector<size_t> instruction_of_;  // by instruction of the module
  MemoryPicture picture_;
};

}  // namespace

MemoryPicture picture_of(const Module& module, const Machine& machine, const Plan& plan,
                         const PictureOptions& options) {
  return PictureMaker(module, machine, plan, options).make();
}

}  // namespace hilo
