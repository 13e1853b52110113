// A computation made ready to be walked: an order in which operands come before users, a slot for
// each value, and where each value is used for the last time.
#include <algorithm>

#include "eval/evaluation.h"

namespace hilo {
namespace {

bool makes_result(Op op, const Shape& held) {
  if (!held.is_tuple()) return held.is_array();
  return !has_trait(op, TraitForwards);
}

bool has_unknown_size(const Shape& shape) {
  return std::ranges::count(shape.dims, Shape::unbounded) > 0 ||
         std::ranges::any_of(shape.elements, has_unknown_size);
}

class Preparer {
 public:
  Preparer(const Module& module, ComputationId id, bool ideal)
      : module_(module), id_(id), computation_(module[id]), ideal_(ideal) {}

  Result<PreparedComputation> run(bool with_regions) {
    HILO_DO(order());
    if (with_regions) {
      HILO_TRY(regions_, find_regions(module_, id_, order_, ideal_));
    }
    const auto has_step = [&](size_t i) { return !with_regions || !regions_.absorbed[i]; };
    for (size_t i = 0; i < order_.size(); ++i)
      if (has_step(i)) slots_[order_[i].value] = out_.slots++;
    for (size_t i = 0; i < order_.size(); ++i)
      if (has_step(i)) add_step(order_[i]);
    out_.root = slots_.at(computation_.root.value);
    out_.parameters = computation_.parameters.size();
    HILO_DO(number_parameters());
    mark_last_uses(with_regions);
    return std::move(out_);
  }

 private:
  std::unexpected<Error> error(InstructionId id, std::string message) const {
    return std::unexpected(Error{ErrorKind::Structure, std::move(message), module_.place(id)});
  }

  Result<void> number_parameters() {
    std::vector<bool> seen(out_.parameters);
    for (Step& step : out_.steps) {
      if (module_[step.id].op != Op::Parameter) continue;
      const int64_t number = module_.attributes<ParameterAttributes>(step.id).number;
      if (number < 0 || number >= static_cast<int64_t>(seen.size()) || seen[number])
        return error(step.id, "parameters of a computation must be numbered 0, 1, ... once each");
      seen[number] = true;
      step.parameter = number;
    }
    return {};
  }

  // The file's order where it is sound; a user that comes too early pulls its operands forward.
  Result<void> order() {
    for (InstructionId id : computation_.instructions) {
      if (module_[id].removed) continue;
      if (has_unknown_size(module_.shape(id)))
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "a dimension without a size or bound cannot be evaluated",
                                     module_.place(id)});
      HILO_DO(visit(id));
    }
    if (!computation_.root || !slots_.contains(computation_.root.value))
      return fail(ErrorKind::Structure, "computation {} has no root", computation_.name);
    return {};
  }

  Result<void> visit(InstructionId start) {
    struct Level {
      InstructionId id;
      size_t next = 0;
    };
    if (slots_.contains(start.value)) return {};
    std::vector<Level> stack = {{start}};
    open_[start.value] = true;
    while (!stack.empty()) {
      Level& top = stack.back();
      const auto operands = module_.operands(top.id);
      if (top.next == operands.size()) {
        slots_[top.id.value] = static_cast<uint32_t>(order_.size());
        order_.push_back(top.id);
        stack.pop_back();
        continue;
      }
      const InstructionId operand = operands[top.next++];
      if (slots_.contains(operand.value)) continue;
      if (open_[operand.value]) return error(operand, "the value depends on itself");
      if (module_[operand].computation != module_[start].computation)
        return error(top.id, "an operand stands in another computation");
      open_[operand.value] = true;
      stack.push_back({operand});
    }
    return {};
  }

  void add_step(InstructionId id) {
    const Instruction& instruction = module_[id];
    Step step{id, op_function(instruction.op)};
    step.held = std::make_shared<const Shape>(held_shape(module_.shape(id), ideal_));
    step.slot = slots_[id.value];
    step.first_operand = static_cast<uint32_t>(out_.operands.size());
    std::span<const InstructionId> operands = module_.operands(id);
    if (const auto region = regions_.by_root.find(id.value); region != regions_.by_root.end()) {
      step.function = evaluate_region;
      step.region = region->second;
      operands = region->second->inputs;
    } else if (auto widened = mixed(instruction)) {
      step.function = evaluate_widened;
      step.widened = std::make_shared<const WidenedShapes>(std::move(*widened));
    }
    step.operand_count = static_cast<uint32_t>(operands.size());
    for (InstructionId operand : operands) out_.operands.push_back({slots_[operand.value], false});
    if (makes_result(instruction.op, *step.held)) step.result_bytes = literal_bytes(*step.held);
    out_.steps.push_back(std::move(step));
  }

  // Kernels of elementwise ops see to it themselves.
  std::optional<WidenedShapes> mixed(const Instruction& instruction) const {
    if (is_elementwise(instruction.op)) return std::nullopt;
    return widened_shapes(module_, instruction);
  }

  // Parameters and elements of tuples that nobody reads need no step.
  bool does_nothing(const Step& step) const {
    const Op op = module_[step.id].op;
    return step.unused && (op == Op::Parameter || op == Op::GetTupleElement);
  }

  // Backwards: what is not needed later dies here. A tuple whose later users all take other
  // elements gives this one away.
  void mark_last_uses(bool without_idle) {
    std::vector<uint8_t> needed(out_.slots, 0);
    std::unordered_map<uint32_t, std::vector<int64_t>> taken_later;  // by slot of a tuple
    needed[out_.root] = 2;                                           // whole; 1: elements only
    for (size_t s = out_.steps.size(); s-- > 0;) {
      Step& step = out_.steps[s];
      step.unused = needed[step.slot] == 0;
      if (without_idle && does_nothing(step)) continue;
      const std::span operands =
          std::span(out_.operands).subspan(step.first_operand, step.operand_count);
      if (module_[step.id].op == Op::GetTupleElement) {
        const int64_t index = module_.attributes<GetTupleElementAttributes>(step.id).index;
        const uint32_t slot = operands[0].slot;
        operands[0].dies = needed[slot] == 0;
        std::vector<int64_t>& later = taken_later[slot];
        const Shape& tuple = module_.shape(module_.operand(step.id, 0));
        const bool sound = index >= 0 && index < static_cast<int64_t>(tuple.elements.size());
        const bool last = std::find(later.begin(), later.end(), index) == later.end();
        if (sound && last && needed[slot] != 2) step.take = index;
        later.push_back(index);
        needed[slot] = std::max<uint8_t>(needed[slot], 1);
        continue;
      }
      for (size_t i = operands.size(); i-- > 0;) {  // of several places the last one takes it
        operands[i].dies = needed[operands[i].slot] == 0;
        needed[operands[i].slot] = 2;
      }
    }
    if (without_idle) std::erase_if(out_.steps, [&](const Step& s) { return does_nothing(s); });
  }

  const Module& module_;
  ComputationId id_;
  const Computation& computation_;
  bool ideal_;
  PreparedComputation out_;
  std::vector<InstructionId> order_;
  BlockRegions regions_;
  std::unordered_map<uint32_t, uint32_t> slots_;  // by instruction
  std::unordered_map<uint32_t, bool> open_;
};

}  // namespace

Result<PreparedComputation> prepare(const Module& module, ComputationId computation, bool ideal,
                                    bool regions) {
  return Preparer(module, computation, ideal).run(regions);
}

}  // namespace hilo
