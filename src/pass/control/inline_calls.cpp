// Puts the instructions of called computations where the calls stood.
//   call(x), to_apply=f => the body of f with x for its parameter
//   get-tuple-element(tuple(x, y)), of what is passed or returned => its element
// Loops that stand in several places then, or did before, get conditions and bodies of their own.
// Assumes nothing. Later passes may assume that calls are left only where a module would grow too
// much, where control dependences hold them, on other threads, or where the frontend attribute
// inlineable="false" asks for it, and that each loop may be changed by what it begins with, but
// where a module would grow too much. First, so that other passes see through calls.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

class Inliner {
 public:
  Inliner(Module& module, const PassOptions& options)
      : module_(module),
        editor_(module),
        callers_(count_callers(module)),
        largest_(std::max(options.grow_instructions,
                          options.grow_times * static_cast<int64_t>(module.instructions.size()))),
        size_(static_cast<int64_t>(module.instructions.size())) {}

  bool run() {
    bool changed = false;
    for (ComputationId id : open_computations(module_))
      for (InstructionId instruction : operands_first(module_, id))
        if (module_[instruction].op == Op::Call && !module_[instruction].removed &&
            may_inline(instruction)) {
          inline_call(instruction);
          changed = true;
        }
    return part_loops() || changed;
  }

 private:
  bool may_inline(InstructionId id) const {
    const ComputationId callee = module_.attributes<CallAttributes>(id).to_apply;
    const auto& frontend = module_.extra(module_[id]).frontend_attributes;
    if (const auto found = frontend.find("inlineable");
        found != frontend.end() && found->second.text == "false")
      return false;
    return !editor_.is_pinned(id) &&
           module_[callee].execution_thread == module_[module_[id].computation].execution_thread &&
           same_with_layout(module_.shape(id), module_.shape(module_[callee].root)) &&
           !has_controlled_parameter(callee) &&
           (callers_[callee.value] == 1 || size_ + size_of(callee) <= largest_);
  }

  // Parameters become operands, and cannot keep what holds them.
  bool has_controlled_parameter(ComputationId callee) const {
    for (InstructionId parameter : module_[callee].parameters)
      if (editor_.is_pinned(parameter)) return true;
    return false;
  }

  int64_t size_of(ComputationId id) const {
    return static_cast<int64_t>(module_[id].instructions.size());
  }

  void inline_call(InstructionId call) {
    const ComputationId callee = module_.attributes<CallAttributes>(call).to_apply;
    const auto operands = module_.operands(call);
    const std::vector<InstructionId> arguments(operands.begin(), operands.end());
    const InstructionId root = editor_.clone_body(callee, module_[call].computation, arguments);
    size_ += size_of(callee);
    editor_.replace_moved(call, root);
    read_elements(root);
    for (InstructionId argument : arguments) read_elements(argument);
  }

  // Who reads an element need not wait for the whole tuple.
  void read_elements(InstructionId tuple) {
    if (module_[tuple].removed || module_[tuple].op != Op::Tuple) return;
    for (InstructionId user : module_.users(tuple)) {
      if (module_[user].op != Op::GetTupleElement) continue;
      const int64_t index = module_.attributes<GetTupleElementAttributes>(user).index;
      const InstructionId element = module_.operand(tuple, static_cast<size_t>(index));
      if (editor_.can_replace(user, element)) editor_.replace(user, element);
      if (module_[tuple].removed) return;
    }
  }

  // Of open computations, callers first, and so the copies before what they call.
  bool part_loops() {
    callers_ = count_callers(module_);
    bool changed = false;
    std::vector<ComputationId> waiting = open_computations(module_);
    while (!waiting.empty()) {
      const ComputationId computation = waiting.back();
      waiting.pop_back();
      for (InstructionId id : std::vector(module_[computation].instructions)) {
        if (module_[id].removed || module_[id].op != Op::While) continue;
        for_each_callee(module_, id, [&](ComputationId& callee) {
          if (callers_[callee.value] == 1 || size_ + size_of(callee) > largest_) return;
          callee = copy_of(callee);
          waiting.push_back(callee);
          changed = true;
        });
      }
    }
    return changed;
  }

  // For one of its callers.
  ComputationId copy_of(ComputationId shared) {
    const ComputationId copy = editor_.clone_computation(shared);
    --callers_[shared.value];
    callers_.push_back(1);
    for (InstructionId id : module_[copy].instructions)
      for (ComputationId callee : module_.called(module_[id])) ++callers_[callee.value];
    size_ += size_of(shared);
    return copy;
  }

  Module& module_;
  Editor editor_;
  std::vector<int> callers_;
  int64_t largest_, size_;
};

}  // namespace

Result<bool> inline_calls(Module& module, const PassOptions& options) {
  return Inliner(module, options).run();
}

}  // namespace hilo
