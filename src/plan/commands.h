// The commands of a plan: what a program consists of, decided before there is code. Each
// computation that is run is a list of commands in their order; a loop, branch or call runs those
// of the computations that its instruction calls. Part of the front door of `plan`.
//
//   Kernel      loops over arrays, compiled
//   Copy        a kernel that moves one array
//   Routine     a function of the library, called with addresses
//   Collective  done by devices together
//   Evaluated   the evaluator does it, for a reason of a closed list (no_kernel.def)
//   Loop, Branch, Call
//
// Instructions whose results lie where their operands do (tuples, bitcasts, ...) are no commands.
#pragma once

#include "analysis/analysis.h"
#include "machine/machine.h"
#include "plan/kernel_forms.h"

namespace hilo {

struct Plan;         // plan.h
struct EvalOptions;  // eval/eval.h

enum class CommandKind : uint8_t {
  Kernel,
  Routine,
  Copy,
  Collective,
  Loop,
  Branch,
  Call,
  Evaluated
};
std::string_view text_of(CommandKind kind);

// Why a step is no kernel, and which instruction of it says so.
struct Refusal {
  NoKernel reason;
  InstructionId at;
};

// Where an array lies: bytes of an allocation of the plan.
struct ArraySlot {
  uint32_t allocation = UINT32_MAX;  // UINT32_MAX: a token, which has no bytes
  int64_t offset = 0, bytes = 0;
  bool overlaps(const ArraySlot& other) const {
    return allocation == other.allocation && offset < other.offset + other.bytes &&
           other.offset < offset + bytes;
  }
  bool operator==(const ArraySlot&) const = default;
};

struct Command {
  CommandKind kind = CommandKind::Kernel;
  InstructionId instruction;
  std::vector<ArraySlot> reads, writes;  // leaves of the operands in their order; of the result
  std::optional<Refusal> refusal;        // of Routine, Collective and Evaluated
  Estimate cost = {};                    // of one run, as estimate_commands() has it
};
struct Commands {
  std::vector<std::vector<Command>> orders;  // by computation; empty for those that are not run
};

struct CommandOptions {
  KernelChip chip;
  const Machine& machine;             // whose costs the commands have
  const EvalOptions* eval = nullptr;  // what routines there are depends on; null: the usual
};
// Unsupported, with the instruction's place, for what can be neither a kernel nor evaluated alone:
// asynchronous forms, values that are neither arrays nor tokens or have no slot of their own.
Result<Commands> find_commands(const Module& module, const Plan& plan,
                               const CommandOptions& options);

// "of few columns", "convolution of f32[8,4]: of many products".
std::string describe(const Module& module, const Command& command);
// Whether a routine may be called where its arrays lie: results over operands only where it takes
// that. Both by leaf.
bool suits_routine(const Module& module, InstructionId instruction,
                   std::span<const ArraySlot> reads, std::span<const ArraySlot> writes);

// By instruction: how long one run of its command takes on the machine, and what bounds it, where
// the program runs again and again. Unknown for what runs others, for collectives and for what the
// evaluator does.
std::vector<Estimate> estimate_commands(const Module& module, const Plan& plan,
                                        const Machine& machine);

}  // namespace hilo
