// Front door of `emit`: a planned module becomes machine code of this process, by LLVM. The room is
// a shared object of its own (libhilo_emit.so), which only `target` opens, so that who compiles
// nothing does not load LLVM. docs/compiler.md says how code and values are laid out.
#pragma once

#include <atomic>
#include <map>

#include "plan/plan.h"

namespace hilo {

// Iterations [begin, end) of a kernel; arguments[i] points to the kernel's i-th array.
using TileFunction = void (*)(void* const* arguments, int64_t begin, int64_t end);

// What running code sees. The emitted code knows the order of the fields.
struct RunContext {
  std::byte** memory;                  // by number in Code::memory
  const std::atomic<bool>* interrupt;  // asked before each round of a while; never null
  // Calls the function for [0, count) in chunks, on any threads; all takes one thread so many
  // seconds. Where max_chunk is not 0, a power of two, chunks are the faster the longer they are,
  // up to so many iterations. The code gives the same bits for any of them.
  void (*parallel)(RunContext*, TileFunction, void* const* arguments, int64_t count,
                   int64_t max_chunk, double serial_seconds);
  // Does Code::library_steps[number]; other than 0 ends the run with that status.
  int32_t (*library)(RunContext*, int64_t number);
  // Called after each step that is_large(), by its instruction's id, and after each other one where
  // EmitOptions::tell_steps asks for it.
  void (*after_step)(RunContext*, int64_t instruction);
  // As `library`; and calls the function for each part of the result, a matrix of `rows` rows, with
  // the part's rows and, behind the arguments, a pointer to the ends of its columns.
  int32_t (*library_in_parts)(RunContext*, int64_t number, TileFunction then,
                              void* const* arguments, int64_t count, int64_t rows, int64_t width);
};
enum class RunStatus : int32_t { Done = 0, Failed = 1, Interrupted = 2 };

// Where an array lies: bytes into an allocation. Arrays are dense, logical and row-major like those
// of a Literal, whatever their layouts say.
struct Address {
  uint32_t allocation = UINT32_MAX;  // UINT32_MAX: a token, which has no bytes
  int64_t offset = 0;
};

// An instruction that is not emitted: the run asks its context to evaluate it.
struct LibraryStep {
  InstructionId instruction;
  std::vector<std::vector<Address>> operands;  // of each operand, its leaves
  std::vector<Address> results;                // leaves
  std::string reason;                          // why no code was made
};

// Where an allocation's memory comes from in each run.
enum class MemorySource : uint8_t { Argument, Constant, Result, Temporary, None };
struct MemoryPiece {
  MemorySource source = MemorySource::None;
  int64_t bytes = 0;              // that the arrays in it take here
  int64_t parameter = 0;          // of an Argument
  Dims parameter_index;           // and the part of it
  bool is_written = false;        // of an Argument: other values lie there too
  std::byte* constant = nullptr;  // never written
};

// Where object files of earlier compilations are kept, by content: docs/compiler.md.
struct CacheOptions {
  std::string folder;                    // empty: nothing is kept
  int64_t max_bytes = int64_t{1} << 30;  // what was used longest ago makes room
};
struct CacheReport {
  std::string folder;                     // empty: no cache was asked
  int64_t hits = 0;                       // LLVM modules that were there
  std::map<std::string, int64_t> misses;  // why others were not -> how many
  std::vector<std::string> problems;      // of the folder; compiling goes on without it
};

struct Code {
  int32_t (*run)(RunContext*) = nullptr;  // a RunStatus
  std::vector<LibraryStep> library_steps;
  std::vector<Address> results;  // leaves of the entry's result
  // By allocation of the plan, then scratch memory, then pieces of others, where the code puts
  // them.
  std::vector<MemoryPiece> memory;
  std::string object;           // EmitOptions::object_name; then there is no `run`
  int64_t workspace_bytes = 0;  // that the object's function asks for
  int64_t kernels = 0;          // loops that were emitted
  int64_t joined = 0;           // steps that are done part by part with the one before
  // machine_seconds contain link_seconds; cache_seconds stand beside them.
  double lower_seconds = 0, optimise_seconds = 0, machine_seconds = 0, link_seconds = 0,
         cache_seconds = 0;
  CacheReport cache;
  std::shared_ptr<const void> keeper;  // owns the code
};

struct EmitOptions {
  // As LLVM names them. Usage, with near names, for a cpu that it does not know; Unsupported where
  // code of this process would need what this machine lacks.
  std::string cpu = "native", features;
  std::function<void(std::string_view text)> see_ir;  // given LLVM IR before it is optimised
  // Given of each LLVM module the IR after it was optimised, and the assembly; no cache is asked.
  std::function<void(std::string_view ir, std::string_view assembly)> see_code;
  CacheOptions cache;
  bool tell_steps = false;  // RunContext::after_step is called for small steps too
  int threads = 0;          // that make code; 0: usable_cores()
  bool verify_ir = false;   // LLVM's check of ours, for tests
  // Where it is not empty an object file is made instead of code of this process, with one C
  // function of this name: int32_t(const void* const* parameters, void* const* results,
  // void* workspace), over the leaves that are arrays, all aligned to 64 bytes.
  std::string object_name;
  // The text from which libhilo_run does an object's steps that have no code, and runs the others
  // on threads; an empty one: it is not needed. Without this function nothing is left to it,
  // and every command of the plan has code.
  std::function<Result<std::string>(std::span<const LibraryStep> steps)> text_of_steps;
  // Asked before each step and around each LLVM module: see may_go_on().
  const std::atomic<bool>* interrupt = nullptr;

  // An object that has no library beside it.
  bool is_alone() const { return !object_name.empty() && !text_of_steps; }
};

// Whether a step takes so long that telling of it costs nothing.
inline bool is_large(const Module& module, InstructionId step) {
  int64_t bytes = literal_bytes(module.shape(step));
  for (InstructionId operand : module.operands(step)) bytes += literal_bytes(module.shape(operand));
  return bytes >= int64_t{4} << 20;
}

// Interrupted where the flag is there and set.
inline Result<void> may_go_on(const std::atomic<bool>* interrupt) {
  if (!interrupt || !interrupt->load(std::memory_order_relaxed)) return {};
  return fail(ErrorKind::Interrupted, "stopped by the user");
}

// Code of the plan's commands, which find_commands() has found for the same chip. The module must
// be in the form that plan() took, and outlive the code: its constants are read where they lie.
// Unsupported where LLVM has no code for the chip.
Result<Code> emit(const Module& module, const Plan& plan, const EmitOptions& options = {});

}  // namespace hilo

// What libhilo_emit.so shows under names that the loader can look for.
extern "C" void hilo_emit(const hilo::Module& module, const hilo::Plan& plan,
                          const hilo::EmitOptions& options, hilo::Result<hilo::Code>& out);
// The vector registers of the chip that the options name. Fails as hilo_emit() does.
extern "C" void hilo_find_registers(const hilo::EmitOptions& options,
                                    hilo::Result<hilo::VectorRegisters>& out);
// Makes a code generator for this machine ready, which else the first hilo_emit() makes. Any thread
// may call it, before others call hilo_emit() or meanwhile.
extern "C" void hilo_open_emitter();
