// Elements that iterations read or write side by side, up to 16 of them in each: parts of complex
// numbers, rows that are reduced. Private to `emit`.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>

#include <map>
#include <optional>
#include <vector>

namespace hilo {

// Those of one array. Iteration i has `count` elements from base + i * count elements on, and all
// of them, or at least the first and the last, are read, or all are written.
struct Interleaved {
  llvm::Value* base;
  // How many bytes a number adds that the loop does not change.
  std::vector<std::pair<llvm::Value*, int64_t>> more;
  int64_t first;  // in bytes from there, of iteration 0
  int64_t count;
  llvm::Type* type;
  bool is_written;
  std::map<llvm::Instruction*, int64_t> accesses;  // the number of the element

  bool is_complete() const;
  bool is_beside(const Interleaved& other) const;  // the same elements
};

class InterleavedAccesses {
 public:
  InterleavedAccesses(const llvm::Loop& loop, const llvm::Value* counter, unsigned register_bits)
      : loop_(loop),
        counter_(counter),
        register_bits_(register_bits),
        layout_(loop.getHeader()->getDataLayout()) {}

  // Notes a load or a store; false where it is none of these.
  bool add(llvm::Instruction& access);
  bool are_complete() const;
  bool are_some() const { return !groups_.empty(); }
  bool has_pairs_of_f32() const;
  const Interleaved* find(const llvm::Instruction& access) const;

  // As vectors of so many lanes, of iterations from the counter on: what a load gives, and a store
  // that is the last one of all in its body or is left to that.
  llvm::Value* load(llvm::IRBuilder<>& b, llvm::Instruction& load, unsigned lanes);
  void store(llvm::IRBuilder<>& b, llvm::Instruction& store, llvm::Value* vector, unsigned lanes);

 private:
  using Terms = std::vector<std::pair<llvm::Value*, int64_t>>;
  struct Place {
    llvm::Value* base;
    Terms more;
    int64_t step, offset;  // in bytes: base + more + counter * step + offset
  };
  struct Sum {
    Terms more;
    int64_t factor, offset;
  };
  static void add_times(Terms& sum, const Terms& more, int64_t factor);
  std::optional<Sum> sum_of(llvm::Value* index) const;
  std::optional<Place> address_of(llvm::Value* pointer) const;
  size_t number_of(const llvm::Instruction& access) const;
  llvm::Value* address(llvm::IRBuilder<>& b, const Interleaved& group, int64_t element) const;

  const llvm::Loop& loop_;
  const llvm::Value* counter_;
  const unsigned register_bits_;
  const llvm::DataLayout& layout_;
  std::vector<Interleaved> groups_;
  std::map<size_t, std::vector<llvm::Value*>> vectors_;  // of a group, by the number of the element
};

}  // namespace hilo
