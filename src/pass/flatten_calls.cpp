// Gives every computation that control flow reaches a caller of its own: others get copies of it.
//
// Buffers belong to the instructions of a computation, so a computation run from two places would
// leave its second result where its first still lies. Assumes a module that verifies. Afterwards
// each computation that a call, while, conditional or asynchronous start runs stands in one place
// of one instruction, and none of them is also fused or applied to elements. Runs before copy
// insertion and planning, which both look at computations in the place where they are called.
#include "pass/insertion.h"
#include "pass/pass.h"

namespace hilo {
namespace {

constexpr size_t max_instructions = 8'000'000;

bool runs_steps(Op op) {
  return op == Op::While || op == Op::Conditional || op == Op::Call || op == Op::AsyncStart;
}

class Flattener {
 public:
  explicit Flattener(Module& module) : module_(module), taken_(module.computations.size(), false) {}

  Result<bool> run() {
    // What is applied keeps its computation.
    for (const Instruction& instruction : module_.instructions) {
      const Op op = instruction.op;
      if (instruction.removed || runs_steps(op) || op == Op::AsyncUpdate || op == Op::AsyncDone)
        continue;
      for (ComputationId callee : module_.called(instruction)) taken_[callee.value] = true;
    }
    if (count_all() > max_instructions)
      return std::unexpected(
          Error{ErrorKind::Limit,
                fmt::format("with every call by itself there are more than {} instructions",
                            max_instructions),
                module_.place(module_[module_.entry].root)});
    waiting_ = {module_.entry};
    taken_[module_.entry.value] = true;
    bool changed = false;
    while (!waiting_.empty()) {
      const ComputationId computation = waiting_.back();
      waiting_.pop_back();
      for (size_t i = 0; i < module_[computation].instructions.size(); ++i) {
        changed |= visit(module_[computation].instructions[i]);
      }
    }
    return changed;
  }

 private:
  bool visit(InstructionId id) {
    if (!runs_steps(module_[id].op)) return false;
    bool changed = false;
    for_each_callee(module_, id, [&](ComputationId& callee) {
      if (taken_[callee.value]) {
        callee = clone(callee);
        changed = true;
      }
      taken_[callee.value] = true;
      waiting_.push_back(callee);
    });
    if (changed && module_[id].op == Op::AsyncStart) rename_chain(id);
    return changed;
  }

  // Instructions of the entry and of all that it runs, each call's by themselves; one more than
  // max_instructions where they are more than that.
  size_t count_all() const {
    std::vector<size_t> counts(module_.computations.size());
    for (ComputationId computation : module_.post_order()) {
      size_t& count = counts[computation.value];
      for (InstructionId id : module_[computation].instructions) {
        ++count;
        if (runs_steps(module_[id].op))
          for (ComputationId callee : module_.called(module_[id])) count += counts[callee.value];
        count = std::min(count, max_instructions + 1);
      }
    }
    return counts[module_.entry.value];
  }

  void rename_chain(InstructionId start) {
    const ComputationId callee = module_.attributes<AsyncAttributes>(start).calls;
    for (InstructionId step = start; step;) {
      InstructionId next;
      for (InstructionId user : module_.users(step))
        if (module_[user].op == Op::AsyncUpdate || module_[user].op == Op::AsyncDone) next = user;
      if (next && module_.attributes<AsyncAttributes>(next).calls)
        module_.mutable_attributes<AsyncAttributes>(next).calls = callee;
      step = next;
    }
  }

  ComputationId clone(ComputationId old) {
    const ComputationId id = {static_cast<uint32_t>(module_.computations.size())};
    Computation empty;
    if (!insertion_) insertion_.emplace(module_);
    empty.name = insertion_->unique_name(module_[old].name);
    empty.execution_thread = module_[old].execution_thread;
    module_.computations.push_back(std::move(empty));
    taken_.push_back(false);
    std::unordered_map<uint32_t, InstructionId> copies;
    // Operands may stand after their users, and come in a second step.
    for (InstructionId from : std::vector(module_[old].instructions)) {
      Instruction instruction = module_[from];
      instruction.name = insertion_->unique_name(instruction.name);
      instruction.computation = id;
      instruction.first_use = {};
      if (instruction.attributes)
        instruction.attributes = module_.copy_attributes(instruction.op, instruction.attributes);
      if (instruction.extra) {
        module_.extras.push_back(Extra(module_.extras[instruction.extra.value]));
        instruction.extra = {static_cast<uint32_t>(module_.extras.size() - 1)};
      }
      const std::vector<InstructionId> operands(module_.operands(from).begin(),
                                                module_.operands(from).end());
      copies[from.value] = module_.append_raw(instruction, operands);
      module_[id].instructions.push_back(copies[from.value]);
    }
    for (InstructionId copy : module_[id].instructions) {
      for (size_t i = 0; i < module_.operands(copy).size(); ++i)
        module_.set_operand(copy, i, copies.at(module_.operand(copy, i).value));
      if (module_[copy].extra)
        for (InstructionId& other : module_.mutable_extra(copy).control_predecessors)
          other = copies.at(other.value);
    }
    for (InstructionId parameter : module_[old].parameters)
      module_[id].parameters.push_back(copies.at(parameter.value));
    module_[id].root = copies.at(module_[old].root.value);
    return id;
  }

  Module& module_;
  std::optional<Insertion> insertion_;  // for its names, once one is needed
  std::vector<bool> taken_;             // by computation: has a caller
  std::vector<ComputationId> waiting_;
};

}  // namespace

Result<bool> flatten_calls(Module& module, const PassOptions&) { return Flattener(module).run(); }

}  // namespace hilo
