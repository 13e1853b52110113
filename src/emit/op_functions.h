// The functions of ops, found by name through ops.def. One that is not defined is null: the op is
// not emitted in that way, as src/plan/ask has said of it. Private to `emit`.
//
//   scalar_Add       elementwise ops: the result's element from the operands', in held types,
//                    before it is rounded to the result's type
//   element_Gather   structural ops: one element of a leaf
//   write_Reduce     structural ops: the loops that write all of the result
//   step_While       structural ops: a whole instruction among the steps of a computation
#pragma once

#include "emit/element_emitter.h"

namespace hilo {

class Steps;          // steps.h
class KernelBuilder;  // kernel_builder.h

// What scalar_X gets.
struct ScalarCall {
  ElementEmitter& elements;
  Builder& b;
  const Instruction& instruction;
  ElementType type;    // of the first operand, which most ops compute in
  ElementType result;  // for ops that give another type
  llvm::Value* in[3];
};

using ScalarFunction = llvm::Value* (*)(const ScalarCall&);
using ElementFunction = llvm::Value* (*)(ElementEmitter&, InstructionId, const Index&, size_t leaf);
using WriteFunction = void (*)(KernelBuilder&, InstructionId);
using StepFunction = Result<void> (*)(Steps&, InstructionId);

struct OpFunctions {
  ScalarFunction scalar = nullptr;
  ElementFunction element = nullptr;
  WriteFunction write = nullptr;
  StepFunction step = nullptr;
};
const OpFunctions& functions_of(Op op);

#define HILO_DECLARE_Elementwise(name) \
  [[gnu::weak]] llvm::Value* scalar_##name(const ScalarCall& call);
#define HILO_DECLARE_Structural(name)                                                   \
  [[gnu::weak]] llvm::Value* element_##name(ElementEmitter& elements, InstructionId id, \
                                            const Index& index, size_t leaf);           \
  [[gnu::weak]] void write_##name(KernelBuilder& writer, InstructionId id);             \
  [[gnu::weak]] Result<void> step_##name(Steps& steps, InstructionId id);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

}  // namespace hilo
