// One instruction, fusion or computation of a module, alone.
#pragma once

#include "eval/eval.h"

namespace hilo::tools {

// Takes out what a header says of an entry that is no longer the one.
void forget_entry(ModuleHeader& header);
// The module with that computation as its entry, or with an entry made of the one instruction and a
// parameter for each of its operands. An error lists near names when there is none of that name.
Result<Module> isolate(const Module& module, std::string_view name);
// The second of these; the same value twice among the operands is one parameter.
Module isolate(const Module& module, InstructionId id);

// What isolate(module, name) takes, on each device, in a run of the module: the operands of the
// instruction, or of the one that calls the computation. Usage where a computation is applied to
// single elements or not called at all. `inputs` are those of the module.
Result<Inputs> inputs_in_run(const Module& module, std::string_view name, Inputs inputs,
                             const EvalOptions& options);

}  // namespace hilo::tools
