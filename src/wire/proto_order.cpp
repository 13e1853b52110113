#include <unordered_map>

#include "wire/proto_module.h"

namespace hilo {
namespace {

// Depth-first without recursion: a list of (node, next edge). Each node after all that it needs;
// false when it needs itself.
template <class Edges>
bool visit_after_needs(int start, const Edges& edges, std::vector<uint8_t>& state,
                       std::vector<int>& order) {
  enum : uint8_t { Unseen, Open, Done };
  if (state[start] == Done) return true;
  std::vector<std::pair<int, size_t>> stack = {{start, 0}};
  state[start] = Open;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    const auto& needs = edges[node];
    if (next == needs.size()) {
      state[node] = Done;
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const int need = needs[next++];
    if (state[need] == Open) return false;
    if (state[need] == Unseen) state[need] = Open, stack.emplace_back(need, 0);
  }
  return true;
}

using Index = std::unordered_map<int64_t, int>;

Result<Index> index_of(const proto::HloComputationProto& from) {
  Index index;
  for (int i = 0; i < from.instructions_size(); ++i)
    if (!index.emplace(from.instructions(i).id(), i).second)
      return fail(ErrorKind::Structure, "two instructions with the id {}",
                  from.instructions(i).id());
  return index;
}

Result<std::vector<int>> scheduled(const proto::HloComputationProto& from, const Index& index,
                                   const proto::HloScheduleProto::InstructionSequence& schedule) {
  std::vector<int> sequence;
  std::vector<bool> seen(from.instructions_size());
  for (int64_t id : schedule.instruction_ids()) {
    const auto found = index.find(id);
    if (found == index.end() || seen[found->second])
      return fail(ErrorKind::Structure, "the schedule names instruction {} {}", id,
                  found == index.end() ? "that is not there" : "twice");
    seen[found->second] = true;
    sequence.push_back(found->second);
  }
  if (static_cast<int>(sequence.size()) != from.instructions_size())
    return fail(ErrorKind::Structure, "the schedule has {} of {} instructions", sequence.size(),
                from.instructions_size());
  return sequence;
}

}  // namespace

Result<std::vector<int>> order_instructions(
    const proto::HloComputationProto& from,
    const proto::HloScheduleProto::InstructionSequence* schedule) {
  HILO_TRY(const Index index, index_of(from));
  std::vector<std::vector<int>> needs(from.instructions_size());
  for (int i = 0; i < from.instructions_size(); ++i) {
    for (int64_t id : from.instructions(i).operand_ids()) {
      const auto found = index.find(id);
      if (found == index.end())
        return fail(ErrorKind::Structure, "operand {} is not in the computation", id);
      needs[i].push_back(found->second);
    }
  }
  std::vector<int> sequence(from.instructions_size());
  for (int i = 0; i < from.instructions_size(); ++i) sequence[i] = i;
  if (schedule) {
    HILO_TRY(sequence, scheduled(from, index, *schedule));
  }
  std::vector<int> order;
  std::vector<uint8_t> state(from.instructions_size());
  for (int i : sequence)
    if (!visit_after_needs(i, needs, state, order))
      return fail(ErrorKind::Structure, "{} needs its own value", from.instructions(i).name());
  if (schedule && order != sequence)
    return fail(ErrorKind::Structure, "the schedule has a user before its operand");
  return order;
}

Result<void> check_calls(const Module& module) {
  std::vector<std::vector<int>> calls(module.computations.size());
  for (size_t i = 0; i < calls.size(); ++i)
    for (InstructionId id : module.computations[i].instructions)
      for (ComputationId callee : module.called(module[id]))
        calls[i].push_back(static_cast<int>(callee.value));
  std::vector<int> order;
  std::vector<uint8_t> state(calls.size());
  for (size_t i = 0; i < calls.size(); ++i)
    if (!visit_after_needs(static_cast<int>(i), calls, state, order))
      return fail(ErrorKind::Structure, "computation {} calls itself", module.computations[i].name);
  return {};
}

}  // namespace hilo
