// Computations over a few numbers, as loops with counters and random keys call them by the
// thousand: every element has a register of one block program, and a call is one run of it. Private
// to `eval`.
#pragma once

#include "eval/block_program.h"
#include "eval/call.h"

namespace hilo {

class SmallComputation {
 public:
  // Null: it has larger values, or ops that blocks cannot do.
  static std::shared_ptr<const SmallComputation> find(const Module& module,
                                                      ComputationId computation, bool ideal);
  // No value: the arguments are not what the computation states.
  std::optional<Literal> run(const Allocate& allocate, std::span<const Literal> arguments) const;

 private:
  friend class SmallLoop;
  // Of the elements of arguments and of the result, leaf after leaf.
  std::vector<ElementType> arguments_, results_;
  std::vector<SharedShape> parameters_;
  struct Part {  // of the result
    SharedShape shape;
    std::vector<Part> elements;
  };
  Part result_;
  BlockProgram program_;

  static Part part_of(const Shape& held);
  static Literal make(const Part& part, const Allocate& allocate);
};

// A while of two such computations: its state stays in one place from iteration to iteration.
class SmallLoop {
 public:
  // Whether the body takes what it gives, and the condition takes the same and gives a pred.
  static bool fits(const SmallComputation& condition, const SmallComputation& body);
  SmallLoop(const SmallComputation& condition, const SmallComputation& body);
  bool load(const Literal& state);  // false: it is not what the computations state
  bool goes_on() const;
  void step();
  Literal state(const Allocate& allocate) const;

 private:
  const SmallComputation &condition_, &body_;
  std::vector<std::byte> state_[2];
  std::vector<const void*> inputs_[2];
  std::vector<void*> outputs_[2];
  int now_ = 0;  // which of the two is the state
};

}  // namespace hilo
