// Loops that read tables of the code. Private to `emit`.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Target/TargetMachine.h>

namespace hilo {

// Says that the load reads a table of 16 bits at a place of 16 bits that is computed, and whether
// the table is a whole number of pairs.
void mark_lookup(llvm::LoadInst& load, bool has_pairs);
inline constexpr const char* lookup_mark = "hilo.lookup";
// A table, which is read at places that are computed: one of the code itself, or marked.
bool is_table(const llvm::LoadInst& load);

// Has gathers taken for cheap in a function that reads tables, where the chip has slow ones. Else
// LoopVectorize makes single elements of all that makes the place in a table, and so of most of a
// loop of sines, which seldom read theirs. So in one that reads at places which it reads, too, if
// it computes much of each element, which may be all that takes time.
void let_tables_be_gathered(llvm::Function& function, const llvm::TargetMachine& machine);

// KernelHints::has_quick_gathers: not of AMD's up to Zen 5, nor Intel's whose microcode fences
// gathers (Downfall, 2023), which all are older than AVX-VNNI.
void note_quick_gathers(llvm::Function& function, const llvm::TargetMachine& machine);

// After loops have become vector code: tables of 16 f32 are vectors, of which one instruction of
// AVX-512 takes a lane for each lane, where a gather reads memory as often. The values are the
// same.
bool is_looked_up_in_one_step(const llvm::LoadInst& load);
void permute_tables(llvm::Function& function, const llvm::TargetMachine& machine);

}  // namespace hilo
