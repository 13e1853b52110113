// Kernels of a step that were written but are not called yet. Private to `emit`.
#pragma once

#include "emit/kernel.h"
#include "emit/steps.h"

namespace hilo {

// Memory of the plan that an array takes.
struct Range {
  Address address;
  int64_t bytes = 0;
  const Shape* shape = nullptr;  // of what lies there
  bool is_same(const Range& other) const {
    return address.allocation == other.address.allocation && address.offset == other.address.offset;
  }
  bool overlaps(const Range& other) const {
    return address.allocation == other.address.allocation && bytes > 0 && other.bytes > 0 &&
           address.offset < other.address.offset + other.bytes &&
           other.address.offset < address.offset + bytes;
  }
};

// An array of a kernel: memory of the plan, or a constant where the module has it.
struct Array {
  Address address;
  InstructionId constant = {};
  bool operator==(const Array& other) const {
    return constant == other.constant && address.allocation == other.address.allocation &&
           address.offset == other.address.offset;
  }
};

struct KernelCall {
  Kernel* kernel;
  std::vector<Array> arrays;
};

// What a step reads and writes.
struct StepArrays {
  InstructionId step;
  std::optional<std::string> refusal;           // why a library does the step
  std::vector<std::vector<Range>> reads;        // by operand, of its leaves
  std::vector<Range> writes;                    // its leaves
  std::vector<std::pair<Range, Range>> copies;  // from scratch memory, at last
  // Over places that all results have, not over rows of them.
  bool is_one_loop = false;
};
struct ReadyKernels {
  StepArrays arrays;
  std::vector<KernelCall> calls;  // none where the step stands in the code already
};

StepArrays find_arrays(Steps& steps, InstructionId step);
// Writes the kernels of a step, or its code where that is a few scalars. Of a width that is not 0:
// the kernel is that of write_parts(), or none.
ReadyKernels make_kernels(Steps& steps, InstructionId step, int64_t width = 0);
// Has them called, or a library.
void call_kernels(Steps& steps, const ReadyKernels& ready);

llvm::Value* pointer_of(Steps& steps, const Array& array);
// Those that a kernel gets.
std::vector<llvm::Value*> pointers_of(Steps& steps, const KernelCall& call);
// A list of them in the frame, as a TileFunction takes it, and the kernel's own.
llvm::Value* list_of(Builder& b, std::span<llvm::Value* const> pointers);
llvm::Function* tile_of(Steps& steps, Kernel& kernel);
// The type of RunContext::parallel.
llvm::FunctionType* parallel_type(Builder& b);
// A call over all iterations, on all threads where that pays.
void call_kernel(Steps& steps, Kernel& kernel, std::vector<llvm::Value*> arguments);

}  // namespace hilo
