// Puts two rounds of a loop into one, where each would copy what the next one reads.
//   while(s) { body }, 2 n rounds => while(s) { body(body) }, n rounds
//   2 n + 1 rounds => the same after one round
// What a round makes of an array that it still reads lies elsewhere, and is copied to where the
// next round finds it; with two rounds in one the second writes over what the first has read. Is
// done where copy-insertion puts clearly fewer bytes of copies into two such rounds: the code of
// small ones costs more than they do. Assumes nothing. Runs right before copy-insertion, since it
// decides by what that does.
#include <algorithm>
#include <ranges>

#include "pass/control/loop.h"

namespace hilo {
namespace {

constexpr int64_t fewest_rounds = 4;
constexpr int64_t min_saved_bytes = 2048;  // bytes, by two rounds
constexpr double min_saved_share = 0.1;    // of what a round takes
constexpr size_t max_steps = 200;          // of a body
constexpr size_t max_instructions = 4000;  // of a module, in which copies are tried out

struct Candidate {
  Loop loop;
  int64_t rounds = 0;
  double work = 0;  // of a round
};

// What a round takes, in bytes that are moved meanwhile.
double work_of(const Module& module, const std::vector<Cost>& costs, ComputationId body) {
  constexpr double bytes_of_flop = 0.5, bytes_of_transcendental = 8;
  double out = 0;
  for (InstructionId id : module[body].instructions) {
    if (module[id].removed) continue;
    const Cost& cost = costs[id.value];
    out += cost.bytes_read + cost.bytes_written + bytes_of_flop * cost.flops +
           bytes_of_transcendental * cost.transcendentals;
  }
  return out;
}

// Whether it is worth it that two rounds copy so many bytes less.
bool is_worth(const Candidate& candidate, int64_t saved) {
  return saved >= min_saved_bytes && static_cast<double>(saved) >= min_saved_share * candidate.work;
}

// What a round changes of its state, which is the most that it copies.
int64_t changed_bytes(const Module& module, const Loop& loop) {
  int64_t out = 0;
  for (size_t i = 0; i < loop.size; ++i) {
    const Shape& shape = module.shape(loop.instruction).elements[i];
    if (shape.is_array() && !is_invariant(module, loop, i)) out += literal_bytes(shape);
  }
  return out;
}

std::vector<Candidate> find_candidates(Module& module) {
  const Editor editor(module);
  std::vector<Candidate> out;
  for (const Loop& loop : find_loops(editor)) {
    const auto rounds = trip_count(module, loop.instruction);
    if (rounds && *rounds >= fewest_rounds && 2 * changed_bytes(module, loop) >= min_saved_bytes &&
        module[loop.body].instructions.size() <= max_steps && can_duplicate_body(editor, loop))
      out.push_back({loop, *rounds});
  }
  if (out.empty()) return out;
  const std::vector<Cost> costs = count_cost(module);
  for (Candidate& candidate : out) candidate.work = work_of(module, costs, candidate.loop.body);
  std::erase_if(out, [&](const Candidate& candidate) {
    return !is_worth(candidate, 2 * changed_bytes(module, candidate.loop));
  });
  return out;
}

// By the loops' bodies, once copies stand in the module.
Result<std::vector<int64_t>> copied_bytes(Module module, std::span<const Candidate> candidates,
                                          const PassOptions& options) {
  HILO_DO(insert_copies(module, options));
  std::vector<int64_t> out;
  for (const Candidate& candidate : candidates) {
    int64_t bytes = 0;
    for (InstructionId id : module[candidate.loop.body].instructions)
      if (!module[id].removed && module[id].op == Op::Copy && module.shape(id).is_array())
        bytes += literal_bytes(module.shape(id));
    out.push_back(bytes);
  }
  return out;
}

// The elements of a tuple are taken as they are.
void forward_elements(Editor& editor, InstructionId tuple) {
  const Module& module = editor.module();
  for (InstructionId user : module.users(tuple))
    if (module[user].op == Op::GetTupleElement) {
      const int64_t i = module.attributes<GetTupleElementAttributes>(user).index;
      editor.replace_moved(user, module.operand(tuple, static_cast<size_t>(i)));
    }
}

void put_two_in_one(Module& module, const Candidate& candidate) {
  const Loop& loop = candidate.loop;
  Editor editor(module);
  if (candidate.rounds % 2 != 0) {
    const InstructionId begin = module.operand(loop.instruction, 0);
    const InstructionId first =
        editor.clone_body(loop.body, module[loop.instruction].computation, std::array{begin});
    editor.set_operand(loop.instruction, 0, first);
    if (module[begin].op == Op::Tuple) forward_elements(editor, begin);
  }
  const InstructionId between = module[loop.body].root;
  const InstructionId end = editor.clone_body(loop.body, loop.body, std::array{between});
  editor.set_root(loop.body, end);
  forward_elements(editor, between);
  editor.remove_unused(between);
  forget_but_rounds(module, loop.instruction, candidate.rounds / 2);
}

}  // namespace

Result<bool> double_buffer_loops(Module& module, const PassOptions& options) {
  if (module.header.is_scheduled || module.instructions.size() > max_instructions) return false;
  const std::vector<Candidate> candidates = find_candidates(module);
  if (candidates.empty()) return false;
  HILO_TRY(const std::vector<int64_t> single, copied_bytes(module, candidates, options));
  const auto may_pay = [&](size_t i) { return is_worth(candidates[i], 2 * single[i]); };
  if (std::ranges::none_of(std::views::iota(size_t{0}, candidates.size()), may_pay)) return false;
  Module trial = module;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (may_pay(i)) put_two_in_one(trial, candidates[i]);
  HILO_TRY(const std::vector<int64_t> twofold, copied_bytes(std::move(trial), candidates, options));
  bool changed = false;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!may_pay(i) || !is_worth(candidates[i], 2 * single[i] - twofold[i])) continue;
    put_two_in_one(module, candidates[i]);
    changed = true;
  }
  return changed;
}

}  // namespace hilo
