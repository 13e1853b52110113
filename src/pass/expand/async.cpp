// Asynchronous forms as what they do at their start.
//   async-start(x), calls=f         => ((x), call(x), contexts), to_apply=f
//   all-reduce-start(x)             => all-reduce(x)
//   all-gather-start(x)             => (x, all-gather(x)), collective-permute-start alike
//   copy-start(x)                   => (copy(x), x, context)
//   done(start)                     => the element of that tuple
//   AsyncCollectiveStart(c)         => (x, c, contexts) for the collective c of x, in TPU fusions
//   AsyncCollectiveDone(x, buffer, c, ...) => c
// A start keeps its shape, so that what it gives may go through tuples and loops; contexts are
// zeros. Assumes nothing. Later passes may assume that of asynchronous forms only transfers (send
// and recv) are left, and one thread of execution. For back ends whose devices do one thing at a
// time.
#include "pass/pass.h"

namespace hilo {
namespace {

class Synchronizer {
 public:
  explicit Synchronizer(Module& module) : module_(module), editor_(module) {}

  Result<bool> run() {
    for (size_t i = 0; i < module_.computations.size(); ++i)
      for (InstructionId id : operands_first(module_, {static_cast<uint32_t>(i)}))
        if (!module_[id].removed) HILO_DO(visit(id));
    if (work_.empty() && pending_.empty()) return false;
    HILO_DO(remove_pending());
    move_control();
    const std::string_view thread = module_[module_.entry].execution_thread;
    for (Computation& computation : module_.computations) computation.execution_thread = thread;
    return true;
  }

 private:
  Result<void> visit(InstructionId id) {
    const Op op = module_[id].op;
    if (op == Op::AsyncStart) return start(id, operands_of(id));
    if (op == Op::AsyncUpdate) return update(id);
    if (op == Op::AllReduceStart)
      replace(id, add_work(id, Op::AllReduce, module_.shape(id), operands_of(id),
                           AllReduceAttributes(module_.attributes<AllReduceAttributes>(id))));
    if (op == Op::AllReduceDone)
      replace(id, in_width_of(id, module_.operand(id, 0), module_.shape(id)));
    if (op == Op::AllGatherStart)
      collective(id, Op::AllGather,
                 AllGatherAttributes(module_.attributes<AllGatherAttributes>(id)));
    if (op == Op::CollectivePermuteStart)
      collective(id, Op::CollectivePermute,
                 CollectivePermuteAttributes(module_.attributes<CollectivePermuteAttributes>(id)));
    if (op == Op::CopyStart) copy(id);
    if (op == Op::AsyncDone || op == Op::AllGatherDone || op == Op::CollectivePermuteDone)
      HILO_DO(take(id, 1));
    if (op == Op::CopyDone) HILO_DO(take(id, 0));
    if (op == Op::CustomCall) fused_collective(id);
    return {};
  }

  std::vector<InstructionId> operands_of(InstructionId id) const {
    const auto operands = module_.operands(id);
    return {operands.begin(), operands.end()};
  }

  template <class A>
  InstructionId add_work(InstructionId start, Op op, Shape shape,
                         std::span<const InstructionId> operands, A attributes) {
    const InstructionId out = editor_.add(start, op, shape, operands, std::move(attributes));
    begin(start, out);
    return out;
  }

  void begin(InstructionId start, InstructionId work) {
    work_[start.value] = work;
    const std::vector<InstructionId> before = module_.extra(module_[start]).control_predecessors;
    if (!before.empty()) module_.mutable_extra(work).control_predecessors = before;
  }

  // The computation runs when its last operand is there: at the start or at an update.
  Result<void> start(InstructionId id, std::vector<InstructionId> operands) {
    const ComputationId callee = module_.attributes<AsyncAttributes>(id).calls;
    if (operands.size() != module_[callee].parameters.size()) {
      waiting_[id.value] = std::move(operands);
      pending_.push_back(id);
      return {};
    }
    const Shape result = module_.shape(id).elements[1];
    const InstructionId value =
        add_work(id, Op::Call, result, operands, CallAttributes{.to_apply = callee});
    replace(id, state_of(id, editor_.add_tuple(id, operands), value));
    return {};
  }

  Result<void> update(InstructionId id) {
    const std::vector<InstructionId> operands = operands_of(id);
    const auto begun = waiting_.find(operands[0].value);
    if (begun == waiting_.end()) {
      replace(id, module_.shape(id) == module_.shape(operands[0])
                      ? operands[0]
                      : state_of(id, element(id, operands[0], 0), element(id, operands[0], 1)));
      return {};
    }
    std::vector<InstructionId> all = begun->second;
    all.insert(all.end(), operands.begin() + 1, operands.end());
    HILO_DO(start(id, std::move(all)));
    if (!work_.contains(id.value)) return {};
    for (InstructionId earlier = operands[0]; waiting_.contains(earlier.value);
         earlier = module_.operand(earlier, 0)) {
      completed_[earlier.value] = work_.at(id.value);
      if (module_[earlier].op == Op::AsyncStart) break;
    }
    return {};
  }

  // Later ones first: they use the earlier ones.
  Result<void> remove_pending() {
    for (size_t i = pending_.size(); i-- > 0;) {
      const InstructionId id = pending_[i];
      if (!completed_.contains(id.value)) return unbound(id);
      work_[id.value] = completed_.at(id.value);
      editor_.replace_moved(id, completed_.at(id.value));
    }
    return {};
  }

  std::unexpected<Error> unbound(InstructionId id) const {
    return std::unexpected(Error{ErrorKind::Unsupported,
                                 "not all operands of the asynchronous computation are bound in "
                                 "the computation of its start",
                                 module_.place(id)});
  }

  template <class A>
  void collective(InstructionId id, Op op, A attributes) {
    const Shape stated = module_.shape(id);
    const std::vector<InstructionId> operands = operands_of(id);
    const InstructionId value =
        add_work(id, op, stated.elements[1], operands, std::move(attributes));
    const bool is_list = stated.elements[0].is_tuple() && !module_.shape(operands[0]).is_tuple();
    replace(id, state_of(id, is_list ? editor_.add_tuple(id, operands) : operands[0], value));
  }

  void copy(InstructionId id) {
    const InstructionId source = module_.operand(id, 0);
    const Shape to = module_.shape(id).elements[0];
    const InstructionId value = editor_.add(id, Op::Copy, to, {&source, 1});
    begin(id, value);
    replace(id, state_of(id, value, source));
  }

  // A collective that stands in each fusion that overlaps with it.
  void fused_collective(InstructionId id) {
    const auto& target = module_.attributes<CustomCallAttributes>(id).custom_call_target;
    const std::vector<InstructionId> operands = operands_of(id);
    if (target == "AsyncCollectiveDone" && operands.size() >= 3) return replace(id, operands[2]);
    if (target != "AsyncCollectiveStart" || operands.size() != 1) return;
    const std::vector<InstructionId> sent = operands_of(operands[0]);
    const Shape& stated = module_.shape(id);
    if (!is_communication(module_[operands[0]].op) || sent.size() != 1 || !stated.is_tuple() ||
        stated.elements.size() < 2)
      return;
    replace(id, state_of(id, sent[0], operands[0]));
  }

  // What the start gave: two parts, and contexts that nobody reads.
  InstructionId state_of(InstructionId id, InstructionId first, InstructionId second) {
    const Shape stated = module_.shape(id);
    std::vector<InstructionId> parts = {first, second};
    for (size_t i = 2; i < stated.elements.size(); ++i)
      parts.push_back(zeros(id, stated.elements[i]));
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i] = in_width_of(id, parts[i], stated.elements[i]);
    return editor_.add(id, Op::Tuple, stated, parts);
  }

  // A start or done may state another floating type than that of what it gives.
  InstructionId in_width_of(InstructionId like, InstructionId value, const Shape& stated) {
    Shape shape = module_.shape(value);
    if (!shape.is_array() || shape.type == stated.type) return value;
    shape.type = stated.type;
    return editor_.add(like, Op::Convert, shape, {&value, 1});
  }

  InstructionId zeros(InstructionId like, const Shape& shape) {
    if (shape.is_tuple()) {
      std::vector<InstructionId> parts;
      for (const Shape& element : shape.elements) parts.push_back(zeros(like, element));
      return editor_.add(like, Op::Tuple, shape, parts);
    }
    if (!shape.is_array()) return editor_.add(like, Op::AfterAll, shape, {});
    return editor_.add_splat(like, shape, 0);
  }

  Result<void> take(InstructionId done, int64_t index) {
    const InstructionId state = module_.operand(done, 0);
    if (waiting_.contains(state.value)) return unbound(done);
    replace(done, in_width_of(done, element(done, state, index), module_.shape(done)));
    return {};
  }

  InstructionId element(InstructionId like, InstructionId state, int64_t index) {
    const Shape shape = module_.shape(state).elements[static_cast<size_t>(index)];
    return editor_.add(like, Op::GetTupleElement, shape, {&state, 1},
                       GetTupleElementAttributes{.index = index});
  }

  void replace(InstructionId old_value, InstructionId new_value) {
    if (!work_.contains(old_value.value)) work_[old_value.value] = new_value;
    editor_.replace_moved(old_value, new_value);
  }

  // What had to run after a start or done runs after what does its work.
  void move_control() {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstructionId id = {static_cast<uint32_t>(i)};
      if (module_[id].removed || module_.extra(module_[id]).control_predecessors.empty()) continue;
      for (InstructionId& before : module_.mutable_extra(id).control_predecessors)
        while (work_.contains(before.value)) before = work_.at(before.value);
    }
  }

  Module& module_;
  Editor editor_;
  std::unordered_map<uint32_t, InstructionId> work_;                  // by start or done
  std::unordered_map<uint32_t, std::vector<InstructionId>> waiting_;  // by start or update
  std::unordered_map<uint32_t, InstructionId> completed_;
  std::vector<InstructionId> pending_;
};

}  // namespace

Result<bool> make_synchronous(Module& module, const PassOptions&) {
  return Synchronizer(module).run();
}

}  // namespace hilo
