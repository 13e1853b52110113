// Front door of `eval`: the evaluator, the specification in code. It runs any module, not
// partitioned ones as one global program, partitioned ones on as many virtual devices as they name;
// devices are threads. Results have the same bits for any number of threads.
#pragma once

#include <atomic>

#include "ir/ir.h"
#include "kernels/kernels.h"

namespace hilo {

class Communicator;  // device/device.h

enum class Partitioning : uint8_t { Detect, Partitioned, Unpartitioned };

// What a custom call gets and gives. Results are uninitialised leaves of the instruction's shape.
struct CustomCallArguments {
  std::span<const Literal> operands;
  std::span<Literal> results;  // leaves of the result, in order
  std::string_view backend_config, target;
  const Module* module = nullptr;
  const Instruction* instruction = nullptr;
};
using CustomCallFunction = std::function<Result<void>(const CustomCallArguments&)>;

// A value as it is made, for profiles, printing and checks. Called on the device's own thread.
struct ValueEvent {
  int64_t device;
  InstructionId instruction;
  const Literal* value;
  double seconds;  // that the instruction took, callees included
  int depth;       // 0 in the entry
};

// The processes that run a module's devices together, each with the same module and options.
struct Processes {
  std::shared_ptr<Communicator> communicator;  // null: all devices are in this process
  // The process of each device; empty: as many on each, in order. A program of one device runs
  // whole in each process of several that are named.
  std::vector<int> ranks;
  uint64_t run = 1;  // the same everywhere, another for each run; 0 is none
};

struct EvalOptions {
  int threads = 0;  // 0: usable_cores()
  Partitioning partitioning = Partitioning::Detect;
  std::optional<int64_t> devices;  // instead of what the module says
  Processes processes;
  bool ideal_floats = false;  // floats of 16 and more bits and complex held in f64, unrounded
  MatmulPrecision matmul_precision = MatmulPrecision::F32;
  bool is_verified = false;       // verify() has found nothing, and need not look again
  bool reference = false;         // obvious loops for every op, and no kernels; slow
  int64_t max_steps = INT64_MAX;  // loop iterations of each while
  int64_t memory_limit = 0;       // bytes of values alive, all devices; 0: what the machine has
  Allocate allocate;              // storage of values; empty: a pool of the evaluation's own
  std::map<std::string, CustomCallFunction> custom_calls;  // before the table of known ones
  std::vector<std::vector<Literal>> infeed;                // for each device, in order
  std::vector<std::vector<Literal>>* outfeed = nullptr;
  std::function<void(const ValueEvent&)> observer;
  // Given each value as it is made, on the device's own thread; may move its leaves to other
  // storage (Literal::view), where every later reader finds them. Fused ops keep their own.
  std::function<void(int64_t device, InstructionId, Literal&)> place;
  std::function<void(int64_t done, int64_t total)> progress;  // top-level instructions, all devices
  const std::atomic<bool>* interrupt = nullptr;
  std::vector<std::string>* warnings = nullptr;
};

// One value for each entry parameter of each device, with several processes of each of
// local_devices(); shapes as held (f64 with ideal_floats).
struct Inputs {
  std::vector<std::vector<Literal>> devices;
};
struct Outputs {
  std::vector<Literal> devices;  // the result of the entry on each device
};

// Number of virtual devices that evaluate() runs the module on: 1 for one that is not partitioned.
int64_t device_count(const Module& module, const EvalOptions& options);
// Those of them that take part in this process, or in the one of a rank, in order. Usage where the
// devices of the module cannot be shared out among the processes.
Result<std::vector<int64_t>> local_devices(const Module& module, const EvalOptions& options,
                                           std::optional<int> rank = {});
// Whether the shapes of the module are those of one device: Partitioned, or else Unpartitioned.
Partitioning find_partitioning(const Module& module, const EvalOptions& options);
// Bytes that the largest moment will need, all devices: an upper estimate before anything runs.
int64_t estimate_memory(const Module& module, const EvalOptions& options);

// verify()'s first error where there is one; Input where inputs are not what the entry takes;
// Memory where the system has too little; Unsupported, Deadlock, Steps, Evaluation and Interrupted,
// each with the instruction's place.
Result<Outputs> evaluate(const Module& module, Inputs inputs, const EvalOptions& options = {});
// One computation alone on device 0, with its own arguments.
Result<Literal> evaluate_computation(const Module& module, ComputationId computation,
                                     std::vector<Literal> arguments,
                                     const EvalOptions& options = {});

// Virtual devices for who evaluates some instructions and computes the others itself: they keep
// their state (meetings, transfers, random numbers, infeed) between single instructions.
class VirtualDevices {
 public:
  // Both must outlive it.
  VirtualDevices(const Module& module, const EvalOptions& options);
  ~VirtualDevices();
  int64_t count() const;                  // in this process; each has a thread of control
  int64_t program(int64_t device) const;  // the one of local_devices() that it takes part in
  bool is_first(int64_t device) const;    // in its program, whose results are then its own
  // Called on the device's own thread. Operands may show memory that is written over later: what
  // other devices read then is copied. into: memory for the leaves of the result, which some ops
  // write there; it may be that of operands where their values are the result's first ones.
  Result<Literal> evaluate(int64_t device, InstructionId id, std::vector<Literal> operands,
                           std::span<const Bytes> into = {});
  // The device has ended well; or it has failed, and all others end with the same error when they
  // come to evaluate. The first error stays.
  void finish(int64_t device);
  void stop(const Error& error);
  std::optional<Error> error() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The kernel of an instruction (kernels/kernels.h), made ready to be run without an evaluation
// around it. Results overlap no operand, but for those of a sort, which may each stand in its
// operand's place, and of a custom call, which may stand in that of an operand of as many bytes.
// The bits are those of evaluate(). Empty where there is none for the instruction. Its sizes must
// be static; `module` must outlive the routine.
Routine find_routine(const Module& module, InstructionId id, const EvalOptions& options = {});

// Custom-call targets with known semantics, for `hilo list custom-calls`.
enum class CustomCallSees : uint8_t { Values, Bytes };  // custom_call.def
struct CustomCallInfo {
  std::string_view target, family, meaning;
  CustomCallSees sees;
};
std::span<const CustomCallInfo> known_custom_calls();
// The one of a target; null where it is none of them.
const CustomCallInfo* find_custom_call(std::string_view target);

// The function that a shared library has for a target (the C interface is custom_call_abi.h); from
// "zeros": one that fills the results with zeros; from "operand": one whose results are its first
// operands. A path without '/' is looked for as dlopen does.
Result<CustomCallFunction> load_custom_call(const std::string& target, const std::string& from);

// What to tell of a custom call that is neither known nor supplied, and how to supply it.
std::string unknown_custom_call(const Module& module, InstructionId id);

// The literal in the types that ideal arithmetic holds, and the type held for a declared one.
ElementType held_type(ElementType declared, bool ideal_floats);
Literal to_held(const Literal& literal, bool ideal_floats);

}  // namespace hilo
