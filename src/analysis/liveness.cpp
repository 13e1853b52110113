// Live ranges over the flattened schedule: the rules of XLA's HloLiveRange.
#include <algorithm>
#include <tuple>

#include "analysis/analysis.h"

namespace hilo {
namespace {

struct Span {
  int64_t start = -1, end = -1;  // moments of a computation's first instruction and after its last
  bool is_set() const { return start >= 0; }
};

class RangeFinder {
 public:
  RangeFinder(const Module& module, const Aliases& aliases, const Schedule& schedule)
      : module_(module), aliases_(aliases), schedule_(schedule) {}
  Liveness find();

 private:
  void flatten();
  std::vector<ComputationId> called_before(InstructionId id) const;
  bool is_bound(InstructionId id) const;
  LiveRange defined(const Value& value) const;
  int64_t last_position(const Value& value) const;
  int64_t last_use(const Value& value) const;
  bool outlives_entry(const Value& value) const;
  void trim_buffers();
  int64_t moment(InstructionId id) const { return out_.moments[id.value]; }
  const Span& span_of(InstructionId id) const { return spans_[module_[id].computation.value]; }
  bool is_root(InstructionId id) const { return module_[module_[id].computation].root == id; }

  const Module& module_;
  const Aliases& aliases_;
  const Schedule& schedule_;
  Liveness out_;
  std::vector<Span> spans_;           // by computation
  std::vector<InstructionId> async_;  // by computation: the async step that it runs under
};

bool is_async(Op op) {
  return op == Op::AsyncStart || op == Op::AsyncUpdate || op == Op::AsyncDone;
}

// Whether an async step has all operands of its computation, and a place for the result.
bool RangeFinder::is_bound(InstructionId id) const {
  const Shape& shape = module_.shape(id);
  const ComputationId callee = module_.attributes<AsyncAttributes>(id).calls;
  if (module_[id].op == Op::AsyncDone) return true;
  return shape.elements.size() > 1 &&
         shape.elements[0].elements.size() == module_[callee].parameters.size() &&
         same_dims(shape.elements[1], module_.shape(module_[callee].root));
}

// What runs before an instruction and is flattened there, the first one last.
std::vector<ComputationId> RangeFinder::called_before(InstructionId id) const {
  const Op op = module_[id].op;
  std::vector<ComputationId> out;
  if (op == Op::Call || op == Op::Conditional || op == Op::While)
    out = module_.called(module_[id]);  // of a while the condition, then the body
  else if (is_async(op) && module_.attributes<AsyncAttributes>(id).calls && is_bound(id))
    out.push_back(module_.attributes<AsyncAttributes>(id).calls);
  std::reverse(out.begin(), out.end());
  return out;
}

// Each computation stands once, before its first caller.
void RangeFinder::flatten() {
  struct Level {
    ComputationId computation;
    size_t next = 0;
    bool called = false;
    std::vector<ComputationId> callees;
  };
  std::vector<Level> stack;
  const auto enter = [&](ComputationId computation, InstructionId async) {
    Span& span = spans_[computation.value];
    if (span.is_set()) return;
    span.start = static_cast<int64_t>(out_.sequence.size());
    async_[computation.value] = async;
    stack.push_back({computation, 0, false, {}});
  };
  enter(module_.entry, {});
  while (!stack.empty()) {
    Level& level = stack.back();
    const auto& order = schedule_.orders[level.computation.value];
    if (!level.callees.empty()) {
      const ComputationId callee = level.callees.back();
      const InstructionId caller = order[level.next];
      level.callees.pop_back();
      enter(callee, is_async(module_[caller].op) ? caller : async_[level.computation.value]);
    } else if (level.next == order.size()) {
      spans_[level.computation.value].end = static_cast<int64_t>(out_.sequence.size());
      stack.pop_back();
    } else if (!level.called) {
      level.called = true;
      level.callees = called_before(order[level.next]);
    } else {
      const InstructionId id = order[level.next++];
      level.called = false;
      out_.moments[id.value] = static_cast<int64_t>(out_.sequence.size());
      out_.sequence.push_back(id);
    }
  }
}

// The async-done that ends the chain of a step; the step itself when there is none.
InstructionId chain_end(const Module& module, InstructionId step) {
  for (InstructionId next = step; next;) {
    step = next;
    next = {};
    if (module[step].op == Op::AsyncDone) break;
    for (InstructionId user : module.users(step))
      if (is_async(module[user].op) && module.operand(user, 0) == step) next = user;
  }
  return step;
}

// From the definition, of a parameter from the beginning of its computation, to the definition, of
// a root to the end; in what runs asynchronously to the end of the chain. A slice that is moved
// asynchronously, and nothing else with it (TPUs' sliced prefetch), begins when it is started.
LiveRange RangeFinder::defined(const Value& value) const {
  const InstructionId id = value.definition().instruction;
  const Span& span = span_of(id);
  LiveRange out{moment(id), moment(id)};
  if (module_[id].op == Op::Parameter) out.start = span.start;
  if (is_root(id)) out.end = span.end;
  InstructionId async = async_[module_[id].computation.value];
  if (async && module_[id].op == Op::Slice && moment(async) >= 0 && span.end - span.start == 2)
    out.start = moment(async);
  for (; async; async = async_[module_[async].computation.value]) {
    const InstructionId done = chain_end(module_, async);
    const bool ends = module_[done].op == Op::AsyncDone && moment(done) >= 0;
    out.end = std::max(out.end, ends ? moment(done) : span_of(async).end);
  }
  return out;
}

int64_t RangeFinder::last_position(const Value& value) const {
  int64_t last = -1;
  for (const Position& position : std::span(value.positions).subspan(1))
    last = std::max(last, is_root(position.instruction) ? span_of(position.instruction).end
                                                        : moment(position.instruction));
  return last;
}

// Calls read their operands inside; a while does when its body begins.
int64_t RangeFinder::last_use(const Value& value) const {
  int64_t last = -1;
  for (const ValueUse& use : value.uses) {
    InstructionId user = use.instruction;
    const Op op = module_[user].op;
    if (op == Op::Call && spans_[module_.attributes<CallAttributes>(user).to_apply.value].is_set())
      continue;
    if (op == Op::While)
      if (const ComputationId body = module_.attributes<WhileAttributes>(user).body;
          spans_[body.value].is_set())
        user = module_[body].parameters[0];
    last = std::max(last, moment(user));
  }
  return last;
}

// Parameters that nothing may be written over live all the time.
bool RangeFinder::outlives_entry(const Value& value) const {
  const auto& [id, index] = value.definition();
  if (module_[id].op != Op::Parameter || module_[id].computation != module_.entry) return false;
  const int64_t number = module_.attributes<ParameterAttributes>(id).number;
  const auto& aliases = module_.header.input_output_alias;
  return std::none_of(aliases.begin(), aliases.end(), [&](const BufferAlias& alias) {
    return alias.parameter == number && alias.parameter_index == index;
  });
}

// Of the values in one buffer, in the order of their starts, each ends where the next one starts.
void RangeFinder::trim_buffers() {
  std::vector<uint32_t> values;
  for (const Buffer& buffer : aliases_.buffers) {
    values.clear();
    for (ValueId value : buffer.values)
      if (out_.has_range(value)) values.push_back(value.value);
    if (values.size() < 2) continue;
    const auto key = [&](uint32_t value) {
      return std::tuple(out_.ranges[value].start, out_.ranges[value].end, value);
    };
    std::sort(values.begin(), values.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      LiveRange &first = out_.ranges[values[i]], &second = out_.ranges[values[i + 1]];
      second.end = std::max(first.end, second.end);
      first.end = std::min(first.end, second.start);
    }
  }
}

Liveness RangeFinder::find() {
  spans_.resize(module_.computations.size());
  async_.resize(module_.computations.size());
  out_.moments.assign(module_.instructions.size(), -1);
  flatten();
  const int64_t end = static_cast<int64_t>(out_.sequence.size());
  out_.ranges.assign(aliases_.values.size(), {0, -1});
  for (size_t i = 0; i < aliases_.values.size(); ++i) {
    const Value& value = aliases_.values[i];
    if (moment(value.definition().instruction) < 0) continue;
    LiveRange& range = out_.ranges[i] = defined(value);
    range.end = std::max(range.end, last_position(value));
    range.end = outlives_entry(value) ? end : std::max(range.end, last_use(value));
  }
  trim_buffers();
  return std::move(out_);
}

}  // namespace

Schedule schedule_of(const Module& module) {
  Schedule out;
  out.orders.reserve(module.computations.size());
  for (const Computation& computation : module.computations)
    out.orders.push_back(computation.instructions);
  return out;
}

Liveness find_liveness(const Module& module, const Aliases& aliases, const Schedule& schedule) {
  return RangeFinder(module, aliases, schedule).find();
}

}  // namespace hilo
