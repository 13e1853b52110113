// What the function of one op sees. Private to `eval`.
//
// Every op has one function `Result<Literal> evaluate_Gather(Call&)`, found through ops.def; all
// elementwise ops share evaluate_elementwise. One whose op has a kernel calls that, or where
// is_reference() the loops of reference/reference.h. Values are logical arrays in row-major order:
// layouts matter only to bitcast and to custom calls that read physical bytes.
#pragma once

#include "eval/eval.h"
#include "eval/rendezvous.h"

namespace hilo {

class Evaluation;    // what all devices share; evaluation.h
class LaneProgram;   // lanes.h
struct BlockRegion;  // block_region.h

struct Device {  // one virtual device
  Evaluation* evaluation;
  int64_t id = 0, replica = 0, partition = 0;  // id = replica * num_partitions + partition
  // Of the devices with inputs of their own: several run one of their programs where it has manual
  // regions, and the first of them speaks for all.
  int64_t program = 0;
  bool is_first = true;
  Traffic traffic{};          // set by make_devices
  uint64_t random_draws = 0;  // rng instructions run so far
  // Of rng-get-and-update-state, low word first; it starts as XLA's does.
  uint64_t random_state[2] = {0x7012395, 0};
};

struct Call {
  Device& device;
  const Module& module;
  InstructionId id;
  const Instruction& instruction;
  // Operand values. One that dies here is the only owner of its storage (is_unique), so that
  // updates in place are free; the function may move from it.
  std::span<Literal> operands;
  SharedShape held_stated = nullptr;       // the stated shape in held types, where it is prepared
  int depth = 0;                           // of calls; 0 in the entry
  const BlockRegion* region = nullptr;     // what evaluate_region computes
  const WidenedShapes* widened = nullptr;  // where the instruction mixes widths of floats
  std::span<const Bytes> into = {};        // memory for the leaves of the result, where it is given

  // The stated result, or in which types it is computed.
  const Shape& shape() const { return widened ? widened->result : module.shape(instruction); }
  template <class A>
  const A& attributes() const {
    return module.attributes<A>(instruction);
  }
  bool ideal() const;         // floats are held in f64
  bool is_reference() const;  // the loops of reference/reference.h, and no kernels
  ElementType held(ElementType declared) const;
  Shape held(const Shape& declared) const;  // leaves' types changed
  // Uninitialised result of the stated shape (or another) in held types, from the evaluation's
  // storage.
  Literal make() const;
  Literal make(const Shape& declared) const;
  Literal make_held(const Shape& exact) const;  // element type taken as it is
  SharedShape result_shape() const;             // the stated one in held types
  // The same storage under another shape. An error where it has another size, as in a module that
  // is not sound.
  Result<Literal> with_shape(const Literal& value, SharedShape shape) const;
  // An error where so many bytes more than now would not fit: asked before a large temporary.
  Result<void> need_memory(int64_t bytes) const;
  ThreadPool& pool() const;
  const EvalOptions& options() const;
  // Runs a computation of the module on this device.
  Result<Literal> apply(ComputationId computation, std::vector<Literal> arguments) const;
  // Runs body(begin, end) over [0, count) in fixed pieces of `grain`, on all threads.
  void parallel(int64_t count, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& body) const;
  Parallel in_chunks() const;  // the same, while the call lives
  // An error with this instruction's place.
  std::unexpected<Error> error(ErrorKind kind, std::string message) const;
};

using OpFunction = Result<Literal> (*)(Call&);
OpFunction op_function(Op op);
// Any op that mixes widths of floats, as Call::widened says: its function sees operands and result
// in these types, and what it gives is rounded to the stated ones.
Result<Literal> evaluate_widened(Call& call);

Result<Literal> evaluate_elementwise(Call& call);
#define HILO_DECLARE_Elementwise(name)
#define HILO_DECLARE_Structural(name) Result<Literal> evaluate_##name(Call& call);
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_DECLARE_##op_class(name)
#include "ir/ops.def"
#undef OP
#undef HILO_DECLARE_Elementwise
#undef HILO_DECLARE_Structural

}  // namespace hilo
