// LLVM's code generator, made ready for the chip. Private to `emit`.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

#include "emit/chip.h"

namespace llvm::legacy {
class PassManager;
}

namespace hilo {

// A target machine and the passes from IR to an object file, of which one thread makes objects.
// Making it takes about as long as the code of a small program.
class CodeGenerator {
 public:
  static Result<std::unique_ptr<CodeGenerator>> make(const Chip& chip);
  ~CodeGenerator();
  CodeGenerator(const CodeGenerator&) = delete;

  llvm::TargetMachine& machine() { return *machine_; }
  // Makes the passes of the next object where they are not there yet.
  Result<void> prepare();
  // The IR has functions with these attributes only.
  static void set_attributes(llvm::Function& function);
  Result<std::unique_ptr<llvm::MemoryBuffer>> object_of(llvm::Module& ir);

 private:
  CodeGenerator() = default;

  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::legacy::PassManager> passes_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
};

// Generators for one chip that nobody uses at the moment.
class CodeGenerators {
 public:
  explicit CodeGenerators(Chip chip) : chip_(std::move(chip)) {}

  // Makes one where there is none; waits for the one that make_ready() is making.
  Result<std::unique_ptr<CodeGenerator>> take();
  void give_back(std::unique_ptr<CodeGenerator> generator);
  // Makes one that the next take() finds, and the tables that LLVM makes at first use.
  void make_ready();

 private:
  Chip chip_;
  std::mutex lock_;
  std::vector<std::unique_ptr<CodeGenerator>> idle_;
};

}  // namespace hilo
