// Front door of `verify`. A module without errors keeps these promises, on which every pass, the
// evaluator and the printers build:
//
// Structure
//  - There is an entry computation. Every computation has a root of its own; its parameters are
//    numbered 0, 1, ... without gaps.
//  - Operands and control predecessors belong to the computation of their user. There is no cycle
//    of operands and control predecessors; in a scheduled module they stand before their users.
//  - Computations do not call each other in circles.
// Shapes
//  - Every op has the operands, attributes in range, and element types that its rules ask for; the
//    stated result has the inferred types and dimensions (layouts and marks of dynamic dimensions
//    may differ). No array has 2^63-1 elements or more.
//  - Widths of floats may be mixed, as in modules of TPUs, but in ops that ops.def calls Exact:
//  such
//    an op computes in the widest and rounds once (widened_shapes of ir).
//  - Every layout orders each dimension once; tiles, alignments and splits are positive.
//  - A constant's literal has the stated shape.
// Called computations
//  - They take and give what their caller passes and expects: reducers and comparators scalars,
//    while, conditional, call, fusion and async-start their operands. Floating precision of
//    reducers may differ.
//  - Of a fusion, every instruction but the root is used.
// Module
//  - entry_computation_layout, input_output_alias, buffer_donor and output_to_operand_aliasing name
//    things that exist and fit; nothing is aliased or donated twice.
//  - -start and -done come in pairs, one done for each start.
//  - Collectives: replica groups name each device once and no unknown one, and have one size;
//    gathered and scattered dimensions agree with it; source-target pairs are distinct.
//  - Shardings have the rank of what they shard, and name distinct devices as many as their tiles.
//    (What is left of shardings in partitioned modules need not divide the local dimensions.)
#pragma once

#include "ir/ir.h"

namespace hilo {

struct VerifyOptions {
  int max_errors = 20;
  // Leaves out what neither the evaluator nor the compiler rests on: shardings, what a header says
  // of propagating them, and that all of a fusion is used. Without the others memory is not safe.
  bool only_to_run = false;
  // For each computation of a module that was read with errors: whether instructions of it are
  // missing. Then nothing is asked of the module as a whole, of these computations only the shapes
  // and shardings of single instructions, and nothing of what calls them.
  const std::vector<bool>* incomplete = nullptr;
};
// All mistakes in the order of the file, up to max_errors; empty: the module is sound. Mistakes of
// structure hide the others. 40,000 instructions take less
// than 100 ms.
std::vector<Error> verify(const Module& module, const VerifyOptions& options = {});
// The first of them.
Result<void> check_module(const Module& module, const VerifyOptions& options = {});

// The ops of a sound module that mix widths of floats, in the order of the file.
std::vector<InstructionId> find_mixed_widths(const Module& module);
// One of them as a mistake, for who wants a module without them: for chips other than TPUs.
Error mixed_width(const Module& module, InstructionId id);

}  // namespace hilo
