// Places in arrays as LLVM values. Private to `emit`.
#pragma once

#include "emit/ir_types.h"

namespace hilo {

// Least and greatest of what a place may be.
struct Bounds {
  int64_t first, last;
  bool meet(int64_t begin, int64_t end) const { return first < end && last >= begin; }
  bool are_in(int64_t begin, int64_t end) const { return first >= begin && last < end; }
};
// One place in an array of known dimensions: an i64 for each, or the row-major position, or both.
// What is missing is computed when it is asked for.
class Index {
 public:
  Index(Builder& b, Dims dims, std::vector<llvm::Value*> at);
  static Index scalar(Builder& b) { return Index(b, {}, {}); }
  static Index linear(Builder& b, Dims dims, llvm::Value* position);

  const Dims& dims() const { return dims_; }
  llvm::Value* at(Builder& b, size_t dim) const;
  bool has_parts() const { return !at_.empty(); }  // without a division
  llvm::Value* position(Builder& b) const;
  // The place with the same row-major position in an array of as many elements. Dimensions that
  // both have are kept, so that no division is needed for them; nor for the innermost one where it
  // is a whole number of runs of this one's; nor where all places along a dimension, by these
  // bounds of them, lie in one run of the innermost one.
  using FindBounds = llvm::function_ref<Bounds(llvm::Value* place, int64_t size)>;
  Index reshaped(Builder& b, const Dims& dims, FindBounds bounds) const;
  // What tells this place from others: equal keys are equal places.
  std::vector<llvm::Value*> key() const;

 private:
  Index() = default;
  void find_parts(Builder& b) const;
  void divide(Builder& b, llvm::Value* position, size_t end) const;
  bool join_parts(Builder& b) const;

  Dims dims_;
  Dims source_dims_;  // of an array of as many elements, and the same place there; or nothing
  std::vector<llvm::Value*> source_;
  mutable std::vector<llvm::Value*> at_;  // empty: not known yet, unless there are no dimensions
  mutable llvm::Value* position_ = nullptr;
};

// The last dimension of more than one element, or the first one.
size_t innermost_dim(const Dims& dims);
llvm::Value* int64(Builder& b, int64_t value);
// Sums and products of places, which never overflow.
llvm::Value* add_index(Builder& b, llvm::Value* a, llvm::Value* c);
llvm::Value* multiply_index(Builder& b, llvm::Value* a, int64_t factor);
llvm::Value* lesser_index(Builder& b, llvm::Value* a, llvm::Value* c);
llvm::Value* greater_index(Builder& b, llvm::Value* a, llvm::Value* c);
// Of [0, count) every other number, and then those between, as `i` goes up. Threads that share the
// work by halves so read neighbours at a time, which are long pieces of memory together.
llvm::Value* every_other(Builder& b, llvm::Value* i, int64_t count);
// An integer element of the type, as a place: sign- or zero-extended to i64, those of u64 beyond
// 2^63 taken as 2^63 - 1.
llvm::Value* as_index(Builder& b, ElementType type, llvm::Value* held);
// 0 <= place < size.
llvm::Value* is_in_bounds(Builder& b, llvm::Value* place, int64_t size);
// base * factor + offset: what a place is made of by sums, differences and products with constants.
struct Affine {
  llvm::Value* base = nullptr;  // null: a constant
  int64_t factor = 0, offset = 0;
};
Affine affine(llvm::Value* place);
llvm::Value* affine_index(Builder& b, const Affine& parts);
// The nearest place of [0, size) to one within these bounds.
llvm::Value* nearest_index(Builder& b, llvm::Value* place, const Bounds& bounds, int64_t size);
// What place k of window number `window` sees, of the array that may be dilated: the first place of
// the array is 0, of its padding less.
llvm::Value* window_element_index(Builder& b, const WindowDim& dim, llvm::Value* window,
                                  llvm::Value* k);
// Whether a loop's counter goes into both: else one does not move with the other.
bool share_a_counter(llvm::Value* a, llvm::Value* c);
// min(max(x, low), high) of i64 that are signed.
llvm::Value* clamp_index(Builder& b, llvm::Value* x, int64_t low, int64_t high);

}  // namespace hilo
