// A loop over elements that may be vectorised. Private to `emit`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <set>
#include <vector>

#include "emit/interleaved.h"
#include "emit/loop_counter.h"

namespace hilo {

unsigned register_bits(const llvm::TargetTransformInfo& target);

class LoopVectorizer {
 public:
  LoopVectorizer(llvm::Loop& loop, const LoopCounter& counter, unsigned lanes,
                 const llvm::TargetTransformInfo& target);

  // Whether each instruction can be one over vectors; changes nothing.
  bool fits();
  // Asked where it fits. What is left after the last whole vector: elements of the vector before it
  // once more, or a rest.
  bool overlaps() const { return end_ == End::Overlaps; }
  bool has_rest() const { return end_ == End::Masked || end_ == End::Scalar; }
  // Whether the loop is one vector of numbers of several parts, of which LLVM would make none.
  bool is_row_of_parts() const;
  // Whether half as many lanes are faster: pairs of f32 that are computed in double, in few steps.
  // Halves of their vectors would be moved between vectors before and after each conversion.
  bool has_pairs_for_doubles() const;
  // Whether twice as many lanes are faster: two vectors share constants, which do not fit into
  // registers, and one's chain of steps fills the waiting of the other's. Tables are read by single
  // lanes, but for those that are seldom chosen.
  bool waits() const;

  void vectorize();

  // Of the body, for what makes vectors of its steps.
  const llvm::Loop& loop() const { return loop_; }
  llvm::BasicBlock& body() const { return body_; }
  const llvm::TargetTransformInfo& target() const { return target_; }
  llvm::PHINode* number() const { return counter_.number; }
  unsigned lanes() const { return lanes_; }
  InterleavedAccesses& interleaved() { return interleaved_; }
  // Whether iterations have values of their own: what depends on the counter, and all stores.
  bool varies(const llvm::Value* value) const {
    return value == counter_.number || varying_.contains(value);
  }
  // What is added to the counter in a sum that is nothing else; null where it is the counter, and
  // nothing where it is no such sum.
  std::optional<llvm::Value*> offset_in(llvm::Value* index) const;
  // The next elements lie beside each other: at a place that does not change, plus the counter.
  bool is_consecutive(const llvm::Value* pointer, llvm::Type* type) const;
  // By the same way in each iteration.
  bool is_moved(const llvm::GetElementPtrInst& place) const;

 private:
  enum class End { Whole, Overlaps, Masked, Scalar };

  int longest_chain() const;
  unsigned lane_bits() const;
  bool is_whole(const llvm::Value* value) const;
  llvm::ConstantInt* number_of(uint64_t value) const;
  uint64_t count_to_end() const;
  bool has_whole_end() const;
  bool may_overlap() const;
  bool may_have_rest() const;
  bool has_masks() const;
  bool is_counting(const llvm::Instruction& step) const;
  bool writes_its_own() const;
  bool reads_what_it_writes(const llvm::LoadInst& load, const llvm::StoreInst& first) const;
  bool drops_lanes(const llvm::Instruction& step) const;
  bool fits(llvm::Instruction& step);
  bool fits(const llvm::IntrinsicInst& call) const;
  std::vector<llvm::Instruction*> varying_steps() const;
  void end_with_last_vector();
  void end_with_rest();
  llvm::BasicBlock* masked_rest(llvm::Value* whole, llvm::Value* end, llvm::BasicBlock& after);
  llvm::BasicBlock* scalar_rest(llvm::Value* whole, llvm::BasicBlock& before,
                                llvm::BasicBlock& after) const;

  llvm::Loop& loop_;
  const LoopCounter counter_;
  llvm::BasicBlock& body_;
  const llvm::DataLayout& layout_;
  const unsigned lanes_;
  const llvm::TargetTransformInfo& target_;
  InterleavedAccesses interleaved_;
  End end_ = End::Whole;
  std::set<const llvm::Value*> varying_;
};

}  // namespace hilo
