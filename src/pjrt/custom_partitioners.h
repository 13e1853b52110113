// Functions of a client's that cut custom calls over devices, and those that ask how an array is
// cut. Private to `pjrt`.
#pragma once

#include "ir/ir.h"

namespace hilo::pjrt {

// Clients register for the process; a name's last function counts.
bool has_partitioner(std::string_view target);

// What a custom call is on one device's tiles: of its operands cut so, a program, whose result is
// cut so. The target is the call's, the program is MLIR's.
struct CallOnTiles {
  std::vector<Sharding> operands;
  Sharding result;
  std::string target, program;
};
// What the function of the call's target says, where the arrays are cut as they state.
Result<CallOnTiles> ask_partitioner(const Module& module, InstructionId call);
// As bytes, for executables that another process loads, where nobody can be asked.
std::string write_answer(const CallOnTiles& answer);
Result<CallOnTiles> read_answer(std::string_view bytes);

// Tells the function in the backend config of an InspectSharding call.
Result<void> show_sharding(const Module& module, InstructionId call, const Sharding& sharding);

}  // namespace hilo::pjrt
