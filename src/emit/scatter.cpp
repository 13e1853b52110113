#include <algorithm>
#include <bit>

#include "emit/index_vectors.h"
#include "emit/kernel_builder.h"
#include "emit/op_functions.h"
#include "emit/reducer.h"

namespace hilo {
namespace {

using llvm::Value;

// Places along a dimension of the windows in a piece, of which there are about so many.
constexpr int64_t min_tile = 64, wanted_tiles = 8;

class Scatter {
 public:
  Scatter(KernelBuilder& w, InstructionId id)
      : w_(w),
        b_(w.b),
        id_(id),
        a_(w.elements.module.attributes<ScatterAttributes>(id)),
        reducer_(w.elements, a_.to_apply),
        array_(shape_of(0)),
        update_(shape_of(2)) {
    for (size_t d = 0; d < update_.dims.size(); ++d)
      (contains(a_.update_window_dims, d) ? window_ : batch_).push_back(d);
    for (size_t d = 0; d < array_.dims.size(); ++d)
      if (!contains(a_.inserted_window_dims, d) && !contains(a_.input_batching_dims, d))
        moved_.push_back(d);
  }

  // Index vectors in their order, one after the other: several may name one place. Iterations are
  // pieces of all windows along their longest dimension, each of which goes through all index
  // vectors, where that is not the one of memory's lines: parts of lines would be read in more time
  // than threads save.
  void write() {
    Dims batch_dims;
    for (size_t d : batch_) batch_dims.push_back(update_.dims[d]);
    find_tiles();
    loop(b_, element_count(batch_dims), [&](Value* row) {
      const Index index = Index::linear(b_, batch_dims, row);
      std::vector<Value*> batch;
      for (size_t d = 0; d < batch_.size(); ++d) batch.push_back(index.at(b_, d));
      const std::vector<Value*> start = starts(batch);
      where(b_, is_inside(start), [&] {
        std::vector<Value*> at(update_.dims.size());
        for (size_t d = 0; d < batch_.size(); ++d) at[batch_[d]] = batch[d];
        over_window(0, start, at);
      });
    });
  }

 private:
  const Shape& shape_of(size_t operand) const {
    return w_.elements.module.shape(w_.elements.module.operand(id_, operand));
  }

  void find_tiles() {
    w_.set_count(1);
    const auto longest =
        std::ranges::max_element(window_, {}, [&](size_t d) { return update_.dims[d]; });
    if (!w_.in_place || longest == window_.end() || *longest + 1 == update_.dims.size() ||
        update_.dims[*longest] < 2 * min_tile)
      return;
    cut_ = *longest;
    const int64_t size = update_.dims[*longest];
    const auto part = static_cast<uint64_t>(size / wanted_tiles);
    piece_ = std::max(min_tile, static_cast<int64_t>(std::bit_floor(part)));
    w_.set_count(parts_of_line(size, piece_));
  }

  // Where the window of a batch position starts in the array.
  std::vector<Value*> starts(const std::vector<Value*>& batch) {
    std::vector<Value*> out(array_.dims.size(), int64(b_, 0));
    for (size_t c = 0; c < a_.scatter_dims_to_operand_dims.size(); ++c) {
      out[static_cast<size_t>(a_.scatter_dims_to_operand_dims[c])] =
          index_component(w_.elements, id_, a_.index_vector_dim, batch, static_cast<int64_t>(c));
    }
    for (size_t i = 0; i < a_.input_batching_dims.size(); ++i) {
      out[static_cast<size_t>(a_.input_batching_dims[i])] =
          batch_index_of(batch, a_.index_vector_dim, a_.scatter_indices_batching_dims[i]);
    }
    return out;
  }

  // A window that does not lie wholly inside is skipped.
  Value* is_inside(const std::vector<Value*>& start) {
    Value* out = b_.getTrue();
    for (size_t d = 0; d < array_.dims.size(); ++d) {
      const auto moved = std::ranges::find(moved_, d);
      const int64_t extent =
          moved == moved_.end() ? 1 : update_.dims[window_[moved - moved_.begin()]];
      const int64_t last = array_.dims[d] - extent;
      if (last < 0) return b_.getFalse();
      out = b_.CreateAnd(out, b_.CreateICmpULE(start[d], int64(b_, last)));
    }
    return out;
  }

  void over_window(size_t i, const std::vector<Value*>& start, std::vector<Value*>& at) {
    if (i == window_.size()) return combine(start, at);
    const auto body = [&](Value* n) {
      at[window_[i]] = n;
      over_window(i + 1, start, at);
    };
    if (cut_ != window_[i]) return loop(b_, update_.dims[window_[i]], body);
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      with_part_of_line(b_, number, update_.dims[*cut_], piece_, false,
                        [&](Value* first, int64_t count) {
                          loop(b_, count, [&](Value* n) { body(add_index(b_, first, n)); });
                        });
    });
  }

  void combine(const std::vector<Value*>& start, const std::vector<Value*>& at) {
    std::vector<Value*> to = start;
    for (size_t i = 0; i < moved_.size(); ++i)
      to[moved_[i]] = add_index(b_, start[moved_[i]], at[window_[i]]);
    Value* position = Index(b_, array_.dims, std::move(to)).position(b_);
    Value* update = w_.elements.operand(id_, 2, Index(b_, update_.dims, at));
    Value* now = load_element(b_, array_.type, w_.results[0], position);
    const std::vector<Value*> next = reducer_.apply(std::array{now, update});
    store_element(b_, array_.type, w_.results[0], position, next[0]);
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  const ScatterAttributes& a_;
  Reducer reducer_;
  const Shape &array_, &update_;
  std::vector<size_t> window_, batch_, moved_;  // of the update; of the array: window dimensions
  std::optional<size_t> cut_;                   // of the windows' dimensions, into pieces
  int64_t piece_ = 0;                           // places along it in one
};

}  // namespace

void write_Scatter(KernelBuilder& w, InstructionId id) {
  if (!w.in_place) {
    const Shape& shape = w.elements.module.shape(id);
    loop(w.b, element_count(shape.dims), [&](llvm::Value* i) {
      llvm::Value* value = w.elements.operand(id, 0, Index::linear(w.b, shape.dims, i));
      store_element(w.b, shape.type, w.results[0], i, value);
    });
  }
  Scatter(w, id).write();
}

}  // namespace hilo
