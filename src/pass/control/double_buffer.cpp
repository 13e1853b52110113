// Puts two rounds of a loop into one, where each would copy what the next one reads.
//   while(s) { body }, 2 n rounds => while(s) { body(body) }, n rounds
//   2 n + 1 rounds => the same after one round
// What a round makes of an array that it still reads lies elsewhere, and is copied to where the
// next round finds it; with two rounds in one the second writes over what the first has read. Is
// done where copy-insertion puts clearly fewer bytes of copies into two such rounds: the code of
// small ones costs more than they do. Assumes nothing. Runs right before copy-insertion, since it
// decides by what that does.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "pass/control/loop.h"

namespace hilo {
namespace {

constexpr int64_t fewest_rounds = 4;
constexpr int64_t least_saved = 2048;       // bytes, by two rounds
constexpr double least_share = 0.1;         // of what a round takes
constexpr size_t most_steps = 200;          // of a body
constexpr size_t most_instructions = 4000;  // of a module, in which copies are tried out

// Whether rounds stand for themselves: nothing in them loops, branches, or may be done but once.
bool may_stand_twice(const Module& module, const Editor& editor, const Loop& loop) {
  const auto& body = module[loop.body].instructions;
  return body.size() <= most_steps && !editor.is_pinned(loop.instruction) &&
         std::ranges::all_of(body, [&](InstructionId id) {
           const Op op = module[id].op;
           return module[id].removed ||
                  (op != Op::While && op != Op::Conditional && op != Op::Call &&
                   !is_communication(op) && !editor.is_pinned(id) && !editor.effects().has(id));
         });
}

// Of the copies that the body ends with.
int64_t copied_bytes(const Module& module, ComputationId body) {
  int64_t out = 0;
  for (InstructionId id : module[body].instructions)
    if (!module[id].removed && module[id].op == Op::Copy && module.shape(id).is_array())
      out += literal_bytes(module.shape(id));
  return out;
}

Result<std::vector<int64_t>> copied_bytes(Module module, std::span<const Loop> loops,
                                          const PassOptions& options) {
  HILO_DO(insert_copies(module, options));
  std::vector<int64_t> out;
  for (const Loop& loop : loops) out.push_back(copied_bytes(module, loop.body));
  return out;
}

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

// The elements of a tuple are taken as they are.
void forward_elements(Editor& editor, InstructionId tuple) {
  const Module& module = editor.module();
  for (InstructionId user : module.users(tuple))
    if (module[user].op == Op::GetTupleElement) {
      const int64_t i = module.attributes<GetTupleElementAttributes>(user).index;
      editor.replace_moved(user, module.operand(tuple, static_cast<size_t>(i)));
    }
}

void state_rounds(Module& module, InstructionId loop, int64_t rounds) {
  Extra& extra = module.mutable_extra(loop);
  if (extra.backend_config.find("known_trip_count") == std::string_view::npos) return;
  extra.backend_config_is_json = true;
  extra.backend_config =
      module.strings.copy(fmt::format("{{\"known_trip_count\":{{\"n\":\"{}\"}}}}", rounds));
}

void put_two_in_one(Module& module, const Loop& loop, int64_t rounds) {
  Editor editor(module);
  if (rounds % 2 != 0) {
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
  state_rounds(module, loop.instruction, rounds / 2);
}

}  // namespace

Result<bool> double_buffer_loops(Module& module, const PassOptions& options) {
  if (module.header.is_scheduled || module.instructions.size() > most_instructions) return false;
  std::vector<Loop> loops;
  std::vector<int64_t> rounds;
  {
    const Editor editor(module);
    for (const Loop& loop : find_loops(editor)) {
      const auto count = trip_count(module, loop.instruction);
      if (!count || *count < fewest_rounds || !may_stand_twice(module, editor, loop)) continue;
      loops.push_back(loop);
      rounds.push_back(*count);
    }
  }
  if (loops.empty()) return false;
  HILO_TRY(const std::vector<int64_t> single, copied_bytes(module, loops, options));
  const std::vector<Cost> costs = count_cost(module);
  const auto is_worth = [&](size_t i, int64_t saved) {
    return saved >= least_saved &&
           static_cast<double>(saved) >= least_share * work_of(module, costs, loops[i].body);
  };
  const auto may_save = [&](size_t i) { return is_worth(i, 2 * single[i]); };
  if (std::ranges::none_of(std::views::iota(size_t{0}, loops.size()), may_save)) return false;
  Module trial = module;
  for (size_t i = 0; i < loops.size(); ++i)
    if (may_save(i)) put_two_in_one(trial, loops[i], rounds[i]);
  HILO_TRY(const std::vector<int64_t> twofold, copied_bytes(std::move(trial), loops, options));
  bool changed = false;
  for (size_t i = 0; i < loops.size(); ++i)
    if (may_save(i) && is_worth(i, 2 * single[i] - twofold[i])) {
      put_two_in_one(module, loops[i], rounds[i]);
      changed = true;
    }
  return changed;
}

}  // namespace hilo
