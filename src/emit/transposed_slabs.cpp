#include "emit/transposed_slabs.h"

#include <algorithm>
#include <bit>

#include "emit/loop_limits.h"
#include "emit/tiles.h"

namespace hilo {
namespace {

using llvm::Value;

// Elements of as many slabs that are transposed in registers.
constexpr int64_t widest = KernelLimits::min_lanes;
constexpr int64_t narrowest = 2;

int64_t size_of(const Dims& dims, size_t outer) {
  return element_count(Dims(dims.begin() + static_cast<std::ptrdiff_t>(outer), dims.end()));
}

}  // namespace

TransposedSlabs::TransposedSlabs(Builder& b, Value* array, const Shape& shape, size_t outer,
                                 int64_t lanes)
    : b_(b),
      array_(array),
      dims_(shape.dims),
      outer_(outer),
      lanes_(lanes),
      size_(size_of(shape.dims, outer)),
      type_(stored_type(b, shape.type)),
      frame_(frame_array(b, type_, size_ * lanes)) {}

bool TransposedSlabs::fits(const Shape& shape, size_t outer) {
  return shape.is_array() && shape.dims.size() > outer && !is_complex(shape.type) &&
         (shape.type == ElementType::Pred || bits_of(shape.type) >= CHAR_BIT) &&
         size_of(shape.dims, outer) >= narrowest;
}

ElementEmitter::Tile TransposedSlabs::tile(const std::vector<Value*>& first) const {
  ElementEmitter::Tile out = {frame_, std::vector<Value*>(dims_.size()), Dims(dims_.size())};
  int64_t step = lanes_;
  for (size_t d = dims_.size(); d-- > outer_; step *= dims_[d]) out.steps[d] = step;
  out.first[outer_ - 1] = first[outer_ - 1];
  out.steps[outer_ - 1] = 1;
  return out;
}

// Squares of elements and slabs; the last elements of a slab may be in two of them.
void TransposedSlabs::move(const std::vector<Value*>& first, bool reads) const {
  const int64_t bytes = std::max<int64_t>(1, type_->getScalarSizeInBits() / 8);
  const auto most = static_cast<uint64_t>(std::min({size_, widest, middle_vector / bytes}));
  const auto side = static_cast<int64_t>(std::bit_floor(most));
  auto* vector = llvm::FixedVectorType::get(type_, static_cast<unsigned>(side));
  const llvm::Align align(static_cast<uint64_t>(bytes));
  std::vector<Value*> at(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(outer_));
  at.resize(dims_.size(), int64(b_, 0));
  Value* begin = Index(b_, dims_, at).position(b_);
  loop(b_, lanes_ / side, [&](Value* set) {
    Value* slab = multiply_index(b_, set, side);
    loop(b_, (size_ + side - 1) / side, [&](Value* number) {
      Value* element = multiply_index(b_, number, side);
      if (size_ % side != 0)
        element = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, element, int64(b_, size_ - side));
      const auto in_array = [&](int64_t i) {
        Value* from = multiply_index(b_, add_index(b_, slab, int64(b_, i)), size_);
        return b_.CreateInBoundsGEP(type_, array_,
                                    add_index(b_, begin, add_index(b_, from, element)));
      };
      const auto in_frame = [&](int64_t i) {
        Value* from = multiply_index(b_, add_index(b_, element, int64(b_, i)), lanes_);
        return b_.CreateInBoundsGEP(type_, frame_, add_index(b_, from, slab));
      };
      std::vector<Value*> rows;
      for (int64_t i = 0; i < side; ++i)
        rows.push_back(b_.CreateAlignedLoad(vector, reads ? in_array(i) : in_frame(i), align));
      rows = transposed(b_, std::move(rows));
      for (int64_t i = 0; i < side; ++i)
        b_.CreateAlignedStore(rows[static_cast<size_t>(i)], reads ? in_frame(i) : in_array(i),
                              align);
    });
  });
}

}  // namespace hilo
