// Puts the instructions of called computations where the calls stood.
//   call(x), to_apply=f => the body of f with x for its parameter
// Assumes nothing. Later passes may assume that calls are left only where a module would grow too
// much, where control dependences hold them, on other threads, or where the frontend attribute
// inlineable="false" asks for it. First, so that other passes see through calls.
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
    return changed;
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
