// What all devices of one evaluation share, and how a computation is walked on one of them.
// Private to `eval`.
#pragma once

#include <mutex>

#include "eval/block_region.h"
#include "eval/small_computation.h"
#include "eval/storage_pool.h"

namespace hilo {

// One instruction of a computation, ready to run. Values of a computation live in slots.
struct Step {
  InstructionId id;
  OpFunction function = nullptr;
  SharedShape held;  // the stated shape in held types
  uint32_t first_operand = 0, operand_count = 0;
  uint32_t slot = 0;
  std::shared_ptr<const BlockRegion> region = nullptr;
  std::shared_ptr<const WidenedShapes> widened = nullptr;  // where widths of floats are mixed
  int64_t take = -1;         // get-tuple-element: moves this element out of the tuple's slot
  int64_t parameter = -1;    // its operand is this argument
  bool unused = false;       // nobody reads the result
  int64_t result_bytes = 0;  // of an op that may make its result anew
};
struct PreparedOperand {
  uint32_t slot;
  bool dies;  // this is the last use
};
struct PreparedComputation {
  std::vector<Step> steps;  // operands before users, else in the order of the file
  std::vector<PreparedOperand> operands;
  uint32_t slots = 0, root = 0;
  size_t parameters = 0;
  std::shared_ptr<const SmallComputation> small = nullptr;  // where nobody watches its values
};
// regions: elementwise instructions are put together; else each makes its value.
Result<PreparedComputation> prepare(const Module& module, ComputationId computation, bool ideal,
                                    bool regions);
// The shape with the types that ideal arithmetic holds.
Shape held_shape(Shape declared, bool ideal);

class Evaluation {
 public:
  Evaluation(const Module& module, const EvalOptions& options);

  const Module& module() const { return module_; }
  const EvalOptions& options() const { return options_; }
  ThreadPool& pool() { return pool_; }
  StoragePool& storage() { return storage_; }
  const Allocate& allocate() const { return allocate_; }

  // Runs a computation of `module` (this evaluation's, or one made for a moment) on a device.
  Result<Literal> run(Device& device, const Module& module, ComputationId computation,
                      std::vector<Literal> arguments, int depth);
  using PreparedRef = std::shared_ptr<const PreparedComputation>;
  Result<PreparedRef> prepared(const Module& module, ComputationId computation);
  // An error where the user, or another device that failed, wants this one to stop.
  Result<void> may_go_on(const Device& device) const;
  bool is_interrupted() const {
    return options_.interrupt && options_.interrupt->load(std::memory_order_relaxed);
  }
  void warn(std::string message);
  std::atomic<int64_t> steps_done = 0;  // of the entry, all devices
  int64_t steps_total = 0;

 private:
  friend class EvaluationFrame;

  const Module& module_;
  const EvalOptions& options_;
  ThreadPool pool_;
  StoragePool storage_;
  Allocate allocate_;
  bool by_blocks_;                     // elementwise instructions are put together
  std::mutex mutex_;                   // of prepared_ and warnings
  std::vector<PreparedRef> prepared_;  // by computation, made on first use
};

}  // namespace hilo
