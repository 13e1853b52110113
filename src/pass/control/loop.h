// While loops whose state is a tuple, as passes change them. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A loop that nothing else shares its computations with, of the usual form: the state is a tuple
// that condition and body take apart by get-tuple-element only, and the body ends in a tuple.
struct Loop {
  InstructionId instruction;
  ComputationId condition, body;
  InstructionId condition_state, body_state;  // their parameters
  size_t size = 0;                            // elements of the state
};
std::optional<Loop> find_loop(const Editor& editor, InstructionId id,
                              const std::vector<int>& callers);
// All such loops, those of callees first.
std::vector<Loop> find_loops(const Editor& editor);

// What the body makes of element i, and element i of what the loop begins with (none when the
// initial state is no tuple op).
InstructionId next_element(const Module& module, const Loop& loop, size_t i);
InstructionId initial_element(const Module& module, const Loop& loop, size_t i);
// Whether rounds stand for themselves, and may be written again: nothing in them loops, branches or
// may be done but once, nor is the condition for more than its value.
bool can_duplicate_body(const Editor& editor, const Loop& loop);
// Of what the back end wrote about a loop only the number of rounds stays, which is this.
void forget_but_rounds(Module& module, InstructionId loop, std::optional<int64_t> rounds);
// Element i goes through the body unchanged.
bool is_invariant(const Module& module, const Loop& loop, size_t i);
// Whether an array is made of numbers and iotas by a few cheap elementwise ops.
bool is_computed_from_scalars(const Module& module, InstructionId id);
// Whether loops over the user's elements, or over those of all users, make what they read as they
// go, so that it need not be stored.
bool reads_by_elements(const Module& module, InstructionId user);
bool is_read_by_elements(const Module& module, InstructionId id);
// get-tuple-elements of a value, by index; `whole`: somebody uses it otherwise, or it is a root.
struct Elements {
  std::vector<std::vector<InstructionId>> by_index;
  bool whole = false;
};
Elements elements_of(const Module& module, InstructionId tuple);

// Keeps the elements of the state for which `kept` is true and appends new invariant ones, with
// these initial values. Nobody may use the others. Returns the body's values of the new ones.
std::vector<InstructionId> change_state(Editor& editor, const Loop& loop,
                                        const std::vector<bool>& kept,
                                        std::span<const InstructionId> added);
// Whether change_state knows what to do with the loop's shardings.
bool can_change_state(const Module& module, const Loop& loop);

}  // namespace hilo
