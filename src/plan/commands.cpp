#include "plan/commands.h"

#include <algorithm>

#include "eval/eval.h"
#include "plan/ask/ask.h"
#include "plan/plan.h"

namespace hilo {
namespace {

std::unexpected<Error> unsupported(const Module& module, InstructionId id, std::string text) {
  return std::unexpected(Error{ErrorKind::Unsupported, std::move(text), module.place(id)});
}

std::string named(const Module& module, InstructionId id) {
  return fmt::format("{} of {}", text_of(module[id].op),
                     to_string_without_layout(module.shape(id)));
}

// Only arrays and tokens have a form in memory.
Result<void> check_form(const Module& module, InstructionId id) {
  bool has_others = false;
  for_each_leaf(module.shape(id), [&](const Shape& leaf, std::span<const int64_t>) {
    has_others |= !(leaf.is_array() || leaf.is_token());
  });
  if (!has_others) return {};
  return unsupported(module, id, named(module, id) + " on device cpu: neither array nor token");
}

class CommandFinder {
 public:
  CommandFinder(const Module& module, const Plan& plan, const CommandOptions& options)
      : module_(module), plan_(plan), options_(options) {
    out_.orders.resize(module.computations.size());
  }

  Result<Commands> find() {
    std::vector<ComputationId> waiting = {module_.entry};
    std::vector<bool> seen(module_.computations.size(), false);
    while (!waiting.empty()) {
      const ComputationId computation = waiting.back();
      waiting.pop_back();
      if (seen[computation.value]) continue;
      seen[computation.value] = true;
      HILO_DO(check_border(computation));
      for (InstructionId id : plan_.schedule.orders[computation.value]) {
        HILO_DO(check_form(module_, id));
        HILO_TRY(auto command, command_of(id));
        if (!command) continue;
        if (is_control(command->kind))
          for (ComputationId called : module_.called(module_[id])) waiting.push_back(called);
        out_.orders[computation.value].push_back(std::move(*command));
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_control(CommandKind kind) {
    return kind == CommandKind::Loop || kind == CommandKind::Branch || kind == CommandKind::Call;
  }

  // What a computation is given and gives has slots.
  Result<void> check_border(ComputationId computation) const {
    std::vector<InstructionId> border = module_[computation].parameters;
    border.push_back(module_[computation].root);
    for (InstructionId id : border) {
      const auto slots = slots_of(id);
      if (!slots) return std::unexpected(slots.error());
    }
    return {};
  }

  Result<std::optional<Command>> command_of(InstructionId id) {
    const StepForm form = commands_of(module_[id].op).form;
    if (form == StepForm::Asynchronous)
      return unsupported(module_, id, named(module_, id) + " on device cpu: an asynchronous form");
    if (form == StepForm::Nothing) return std::nullopt;
    Command out{.instruction = id};
    HILO_TRY(out.writes, slots_of(id));
    for (InstructionId operand : module_.operands(id)) {
      HILO_TRY(const auto slots, slots_of(operand));
      out.reads.insert(out.reads.end(), slots.begin(), slots.end());
    }
    decide(out, form);
    return out;
  }

  void decide(Command& command, StepForm form) const {
    using enum CommandKind;
    if (form == StepForm::Loop) command.kind = Loop;
    else if (form == StepForm::Branch) command.kind = Branch;
    else if (form == StepForm::Call) command.kind = Call;
    else command.refusal = KernelQuestion(module_, command.instruction, options_.chip).step();
    if (command.refusal)
      command.kind = form == StepForm::Collective ? Collective
                     : has_routine(command)       ? Routine
                                                  : Evaluated;
    else if (form == StepForm::Copy) command.kind = Copy;
  }

  bool has_routine(const Command& command) const {
    static const EvalOptions usual;
    const EvalOptions& eval = options_.eval ? *options_.eval : usual;
    InstructionId id = command.instruction;
    std::vector<ArraySlot> reads = command.reads;
    if (const auto product = dot_of_slices(module_, id)) {
      reads = slices_of(*product, command);
      id = product->product;
    }
    return suits_routine(module_, id, reads, command.writes) && find_routine(module_, id, eval);
  }

  // Where what a product reads lies; of slices whose start is known when the program runs, nowhere.
  std::vector<ArraySlot> slices_of(const DotOfSlices& product, const Command& command) const {
    std::vector<ArraySlot> out;
    for (size_t i = 0; i < product.operands.size(); ++i) {
      const OperandSlice& slice = product.operands[i];
      const Shape& shape = module_.shape(module_.operand(product.product, i));
      ArraySlot slot = command.reads[first_read(command.instruction, slice.operand)];
      slot.offset += slice.first_element * storage_bytes(shape.type);
      slot.bytes = literal_bytes(shape);
      if (!slice.starts.empty()) slot.allocation = UINT32_MAX;
      out.push_back(slot);
    }
    return out;
  }

  // The number among all leaves that are read of an operand's first one.
  size_t first_read(InstructionId id, size_t operand) const {
    size_t leaves = 0;
    for (InstructionId before : module_.operands(id).first(operand))
      leaves += static_cast<size_t>(leaf_count(module_.shape(before)));
    return leaves;
  }

  Result<std::vector<ArraySlot>> slots_of(InstructionId id) const {
    std::vector<ArraySlot> out;
    std::optional<Error> error;
    for_each_leaf(module_.shape(id), [&](const Shape& shape, std::span<const int64_t> index) {
      auto slot = slot_of(id, shape, Dims(index.begin(), index.end()));
      if (slot) out.push_back(*slot);
      else if (!error) error = slot.error();
    });
    if (error) return std::unexpected(std::move(*error));
    return out;
  }

  Result<ArraySlot> slot_of(InstructionId id, const Shape& shape, const Dims& index) const {
    ArraySlot out;
    if (!shape.is_array()) return out;
    const auto error = [&](std::string_view what) {
      return unsupported(module_, id,
                         fmt::format("{} has {}", to_string_without_layout(shape), what));
    };
    for (ValueId value : plan_.aliases.at(id, index)) {
      const auto [allocation, number] = plan_.where[value.value];
      if (allocation == UINT32_MAX) return error("no place in memory");
      const Slot& slot = plan_.allocations[allocation].slots[number];
      const ArraySlot one = {allocation, slot.offset, slot.bytes};
      if (out.allocation != UINT32_MAX &&
          (out.allocation != one.allocation || out.offset != one.offset))
        return error("several places in memory");
      out = one;
    }
    if (out.allocation == UINT32_MAX) return error("no value in the plan");
    return out;
  }

  const Module& module_;
  const Plan& plan_;
  const CommandOptions& options_;
  Commands out_;
};

std::vector<Estimate> estimates_of(const Module& module, const Schedule& schedule,
                                   const Commands& commands, const Machine& machine) {
  using enum CommandKind;
  std::vector<Work> works = count_work(module, &schedule);
  std::vector<Estimate> out(works.size());
  for (const std::vector<Command>& order : commands.orders)
    for (const Command& command : order) {
      const bool is_kernel = command.kind == Kernel || command.kind == Copy;
      if (!is_kernel && command.kind != Routine) continue;
      Work& work = works[command.instruction.value];
      (is_kernel ? work.kernels : work.routines) = 1;
      out[command.instruction.value] = estimate(work, machine);
    }
  return out;
}

}  // namespace

std::string_view text_of(CommandKind kind) {
  constexpr std::string_view texts[] = {"kernel", "routine", "copy", "collective",
                                        "loop",   "branch",  "call", "evaluated"};
  return texts[static_cast<size_t>(kind)];
}

Result<Commands> find_commands(const Module& module, const Plan& plan,
                               const CommandOptions& options) {
  HILO_TRY(Commands out, CommandFinder(module, plan, options).find());
  const std::vector<Estimate> costs = estimates_of(module, plan.schedule, out, options.machine);
  for (std::vector<Command>& order : out.orders)
    for (Command& command : order) command.cost = costs[command.instruction.value];
  return out;
}

std::vector<Estimate> estimate_commands(const Module& module, const Plan& plan,
                                        const Machine& machine) {
  return estimates_of(module, plan.schedule, plan.commands, machine);
}

}  // namespace hilo
