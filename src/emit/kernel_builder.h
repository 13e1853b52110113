// One kernel: a function over arrays that computes iterations [begin, end) of a step's outermost
// loop. Private to `emit`.
#pragma once

#include "emit/element_emitter.h"
#include "emit/kernel_hints.h"
#include "emit/loop_limits.h"
#include "emit/loops.h"

namespace hilo {

struct KernelChip;  // plan/kernel_forms.h

class KernelBuilder {
 public:
  // A function with `arrays` pointers and the two bounds is opened in `ir`.
  KernelBuilder(const Module& module, llvm::Module& ir, const std::string& name, size_t arrays);

  Builder b;
  ElementEmitter elements;
  llvm::Function* function;
  llvm::Value *begin, *end;
  // Of what is written: the arrays of its leaves.
  std::vector<llvm::Value*> results;
  // Operand 0 already stands in results[0] (of updates in place).
  bool in_place = false;
  // What is written are all iterations that set_count() says, from 0 on, wherever the function is.
  bool writes_all = false;

  llvm::Value* array(size_t number) const {
    return function->getArg(static_cast<unsigned>(number));
  }
  // Says what the function is called with: iterations [0, count).
  void set_count(int64_t count);
  // Says that a chunk of up to so many iterations, a power of two, is faster than as many of one.
  void set_max_chunk(int64_t iterations) { max_chunk_ = iterations; }
  // Says that so many iterations write so many elements of each result, in their order.
  void set_block(int64_t iterations, int64_t elements) { block_ = {iterations, elements}; }
  void set_loop_kind(LoopsOver what);
  int64_t count() const { return count_; }
  ResultBlock block() const { return block_; }
  int64_t max_chunk() const { return max_chunk_; }
  void close() { b.CreateRetVoid(); }
  // For which kernels are made.
  KernelChip chip() const;

 private:
  int64_t count_ = 1;
  ResultBlock block_;
  int64_t max_chunk_ = 0;
};

// body(place) for each place in `dims`, without loops, so that places side by side are lanes of a
// vector. Iterations are places, or lines of the last dimension or
// pieces of them. The block of places that whole iterations make up, in their order.
ResultBlock write_lanes(KernelBuilder& writer, const Dims& dims,
                        llvm::function_ref<void(const Index& place)> body);

// Values of equal dimensions: element by element in one loop. leaves[i] of ids[i] goes to array
// results[i].
struct WrittenLeaf {
  InstructionId id;
  size_t leaf;
  llvm::Value* array;
};
void write_elements(KernelBuilder& writer, std::span<const WrittenLeaf> leaves);
// The same of one array, into the only result.
void write_elements(KernelBuilder& writer, InstructionId id);
// The same, where the results are matrices of so many columns: iterations are rows, of which only
// the columns between two ends are written, the numbers in the function's last array: multiples
// of part_columns, as the width is. False, and nothing is written, where places in a row are no
// places along one dimension.
bool write_parts(KernelBuilder& writer, std::span<const WrittenLeaf> leaves, int64_t width);
// What one value is made of, from arrays that are there on, by ops that keep every element in its
// place, so that one loop over positions will do.
bool keeps_element_order(const ElementEmitter& elements, InstructionId id);
// Ops that each element of the values is made by, from arrays that are there on, where all are
// moves, take a step each or are `also`.
std::optional<int64_t> cheap_ops(const ElementEmitter& elements, std::vector<InstructionId> values,
                                 std::optional<Op> also = std::nullopt);

}  // namespace hilo
