// What an Executable keeps. Private to `compile`.
#pragma once

#include "compile/compile.h"
#include "compile/library_steps.h"

namespace hilo {

// Where an allocation's memory comes from in each run.
enum class MemorySource : uint8_t { Argument, Constant, Result, Temporary, None };
struct MemoryPiece {
  MemorySource source = MemorySource::None;
  int64_t bytes = 0;
  int64_t parameter = 0;          // of an Argument
  Dims parameter_index;           // and the part of it
  bool is_written = false;        // of an Argument: other values lie there too
  std::byte* constant = nullptr;  // never written
};

struct ExecutableState {
  Module module;
  Code code;
  std::vector<MemoryPiece> memory;  // by allocation
  std::unique_ptr<LibrarySteps> library;
  mutable HostDevice device;
  CompileReport report;

  ExecutableState(Module module, int threads) : module(std::move(module)), device(threads) {}
};

std::vector<MemoryPiece> find_memory(const Module& module, const Plan& plan, const Code& code);

}  // namespace hilo
