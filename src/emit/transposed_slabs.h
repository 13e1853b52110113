// Slabs that lie one after the other, transposed in the frame so that as many of them as are lanes
// lie side by side. Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"

namespace hilo {

class TransposedSlabs {
 public:
  // Of an array with so many dimensions before those of a slab. Where `fits`.
  TransposedSlabs(Builder& b, llvm::Value* array, const Shape& shape, size_t outer, int64_t lanes);
  static bool fits(const Shape& shape, size_t outer);

  // From the array to the frame and back, of the slabs from this place on.
  void read(const std::vector<llvm::Value*>& first) const { move(first, true); }
  void write(const std::vector<llvm::Value*>& first) const { move(first, false); }
  // What lies in the frame of them.
  ElementEmitter::Tile tile(const std::vector<llvm::Value*>& first) const;

 private:
  void move(const std::vector<llvm::Value*>& first, bool reads) const;

  Builder& b_;
  llvm::Value* array_;
  const Dims dims_;
  const size_t outer_;
  const int64_t lanes_, size_;  // size_: of a slab
  llvm::Type* type_;
  llvm::Value* frame_;
};

}  // namespace hilo
