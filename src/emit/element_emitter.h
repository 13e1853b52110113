// The value of an instruction at one place, as LLVM IR: what loops over arrays call in their inner
// most body. Private to `emit`.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "emit/index.h"

namespace hilo {

class ElementEmitter {
 public:
  ElementEmitter(const Module& module, Builder& builder) : module(module), b(builder) {}

  const Module& module;
  Builder& b;

  // The instruction's leaves stand in these arrays.
  void bind_arrays(InstructionId id, std::vector<llvm::Value*> arrays);
  // A fused computation's parameters are the fusion's operands.
  void bind_fusion(InstructionId fusion);

  // The leaves of the instruction are these numbers wherever they are read: those of the row at
  // hand.
  void bind_scalars(InstructionId id, std::vector<llvm::Value*> values);
  // The array holds the row at hand: the dimensions from number `first` on.
  void bind_row(InstructionId id, llvm::Value* array, size_t first);

  // The array holds a tile of the instruction's elements, until it is released: from these places
  // on (null: the first), each dimension's so far apart (0: the tile has one of its places).
  struct Tile {
    llvm::Value* array;
    std::vector<llvm::Value*> first;
    Dims steps;
    llvm::Value* place(Builder& b, const Index& index) const;
  };
  void bind_tile(InstructionId id, const Tile& tile) { tiles_.insert_or_assign(id, tile); }
  void release_tile(InstructionId id) { tiles_.erase(id); }

  // The array that holds the elements of the instruction's only leaf in their order, or null.
  llvm::Value* array(InstructionId id) const;
  // Whether there is one, as the plan asks it.
  std::function<bool(InstructionId)> arrays() const {
    return [this](InstructionId id) { return array(id) != nullptr; };
  }

  // One element of a leaf of an instruction, in the held type. The command has asked whether it can
  // be (plan/commands.h).
  llvm::Value* at(InstructionId id, const Index& index, size_t leaf = 0);
  // The same of operand number i.
  llvm::Value* operand(InstructionId id, size_t i, const Index& index) {
    return at(module.operand(id, i), index);
  }
  // The counter of a loop, or what differs from it by a constant, is in [begin, end).
  void bind_counter(llvm::Value* counter, int64_t begin, int64_t end);
  // The place with the same position in an array of other dimensions: see Index::reshaped.
  Index reshaped(const Index& index, const Dims& dims) {
    return index.reshaped(b, dims, [&](llvm::Value* at, int64_t size) { return bounds(at, size); });
  }
  // Of a place along a dimension of `size`.
  Bounds bounds(llvm::Value* place, int64_t size) const;
  // make(), in which arrays are read only where the condition holds; elsewhere zeros stand for
  // their elements. Such reads of places side by side become masked ones in a vector. What lies at
  // one place for all that the condition moves with is there, and is read as it is.
  llvm::Value* read_where(llvm::Value* condition, llvm::function_ref<llvm::Value*()> make);
  // Whether that is better than to read the nearest place of an array: the place moves with the
  // innermost loop, so that the nearest ones do not lie side by side, and the chip has masks.
  bool reads_masked(llvm::Value* place, ElementType type) const;
  int64_t register_bytes() const;  // of the chip's vectors
  // An operand that is a scalar integer, as i64.
  llvm::Value* index_operand(InstructionId id, size_t i);
  // The leaves of a computation over scalars.
  std::vector<llvm::Value*> apply(ComputationId computation,
                                  std::span<llvm::Value* const> arguments);

  const Shape& leaf_shape(InstructionId id, size_t leaf) const;

  // Values that were made so far are recomputed where they are asked for: they do not stand before
  // the code that comes now.
  void forget() { cache_.clear(); }

 private:
  struct Key {
    InstructionId id;
    size_t leaf;
    std::vector<llvm::Value*> index;
    auto operator<=>(const Key&) const = default;
  };
  using Cache = std::map<Key, llvm::Value*>;
  llvm::Value* make(InstructionId id, const Index& index, size_t leaf);
  llvm::Value* make_elementwise(InstructionId root, const Index& index);
  llvm::Value* apply_elementwise(InstructionId id, std::span<llvm::Value* const> operands);
  // What the instruction, or the operand that it stands for as a parameter, is bound to; else null,
  // and that operand in `id`.
  llvm::Value* load_of_bound(InstructionId& id, const Index& index, size_t leaf);
  llvm::Value* load_of_row(InstructionId id, const Index& index);
  llvm::Value* load_of_tile(InstructionId id, const Index& index);
  llvm::Value* make_constant(InstructionId id, const Index& index);
  llvm::Value* load(ElementType type, llvm::Value* array, llvm::Value* position);

  std::map<InstructionId, std::vector<llvm::Value*>> arrays_;
  std::map<InstructionId, std::vector<llvm::Value*>> scalars_;
  std::map<InstructionId, std::pair<llvm::Value*, size_t>> rows_;
  std::map<InstructionId, Tile> tiles_;
  std::map<llvm::Value*, Bounds> counters_;
  std::map<InstructionId, InstructionId> parameters_;  // of fused computations
  Cache cache_;
  llvm::Value* condition_ = nullptr;  // of read_where()
};

}  // namespace hilo
