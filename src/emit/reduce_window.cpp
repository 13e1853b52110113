// reduce-window of one array by an associative computation: tiles of results side by side, which
// each place of the window is combined into; and running results, where a window holds everything
// up to its place.
#include <algorithm>

#include "emit/op_functions.h"
#include "emit/reducer.h"
#include "emit/writer.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t tile = 1024;  // results that are made side by side
constexpr int64_t piece = 256;  // elements whose running results are made before they are joined
constexpr int64_t large_window = 256;  // places from which running results of blocks pay

class ReduceWindow {
 public:
  ReduceWindow(Writer& w, InstructionId id)
      : w_(w),
        b_(w.b),
        id_(id),
        reducer_(w.elements, module().attributes<ReduceWindowAttributes>(id).to_apply),
        window_(module().attributes<ReduceWindowAttributes>(id).window.dims),
        in_(module().shape(module().operand(id, 0)).dims),
        out_(w.elements.leaf_shape(id, 0).dims) {
    while (inner_ + 1 < out_.size()) ++inner_;
    while (inner_ > 0 && out_[inner_] == 1) --inner_;
  }

  const char* refusal() const {
    if (module().operands(id_).size() != 2) return "of several arrays";
    if (!reducer_.is_associative()) return "by a computation of its own";
    if (out_.empty() || window_.size() != out_.size() || element_count(out_) == 0)
      return "of nothing";
    if (std::ranges::any_of(window_, [](const WindowDim& d) { return d.base_dilation != 1; }))
      return "of a dilated array";
    double places = 1;
    for (const WindowDim& dim : window_) places *= static_cast<double>(dim.size);
    return places > large_window && !running_dim() ? "of a large window" : nullptr;
  }

  void write() {
    const auto running = running_dim();
    if (running) write_running(*running);
    else write_tiles();
  }

 private:
  const Module& module() const { return w_.elements.module; }

  // The one dimension that the window has, if results along it hold everything up to their place.
  std::optional<size_t> running_dim() const {
    std::optional<size_t> found;
    for (size_t d = 0; d < window_.size(); ++d) {
      const WindowDim& dim = window_[d];
      if (dim.size == 1 && dim.stride == 1 && dim.padding_low == 0 && dim.padding_high == 0)
        continue;
      if (found || dim.size < in_[d] || dim.padding_low != dim.size - 1 || dim.padding_high != 0 ||
          dim.stride != 1 || dim.window_dilation != 1)
        return std::nullopt;
      found = d;
    }
    return found;
  }

  Value* init() { return w_.elements.operand(id_, 1, Index::scalar(b_)); }
  Value* element(const std::vector<Value*>& at) {
    return reducer_.widen(w_.elements.operand(id_, 0, Index(b_, in_, at)));
  }
  void store(Value* start, const std::vector<Value*>& at, Value* combined) {
    store_element(b_, w_.elements.leaf_shape(id_, 0).type, w_.results[0],
                  Index(b_, out_, at).position(b_), reducer_.finish(start, combined));
  }

  // One row after the other: running results within a piece, joined with what all before gave.
  void write_running(size_t dim) {
    Dims rows = in_;
    rows[dim] = 1;
    w_.set_count(element_count(rows), static_cast<double>(2 * in_[dim]));
    Value* start = init();
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index row = Index::linear(b_, rows, number);
      std::vector<Value*> at;
      for (size_t d = 0; d < in_.size(); ++d) at.push_back(row.at(b_, d));
      const auto run = [&](Value* first, int64_t count, Value* before) {
        Value* total = loop_carrying(b_, count, {reducer_.identity()},
                                     [&](Value* i, std::span<Value* const> now) {
                                       at[dim] = add_index(b_, first, i);
                                       Value* sum = reducer_.combine(now[0], element(at));
                                       store(start, at, reducer_.combine(before, sum));
                                       return std::vector{sum};
                                     })[0];
        return reducer_.combine(before, total);
      };
      Value* before = loop_carrying(
          b_, in_[dim] / piece, {reducer_.identity()},
          [&](Value* number_of_piece, std::span<Value* const> now) {
            return std::vector{run(multiply_index(b_, number_of_piece, piece), piece, now[0])};
          })[0];
      run(int64(b_, in_[dim] / piece * piece), in_[dim] % piece, before);
    });
  }

  // [begin, end) counts tiles along the inner dimension, in the order of the results.
  void write_tiles() {
    const int64_t columns = out_[inner_], width = std::min(columns, tile);
    const int64_t tiles = (columns + width - 1) / width;
    const Dims outer(out_.begin(), out_.begin() + static_cast<int64_t>(inner_));
    double places = 1;
    for (const WindowDim& dim : window_) places *= static_cast<double>(dim.size);
    w_.set_count(element_count(outer) * tiles, places * static_cast<double>(width));
    results_ = frame_array(b_, reducer_.type(), width);
    Value* start = init();
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index row = Index::linear(b_, outer, b_.CreateUDiv(number, int64(b_, tiles)));
      place_.assign(out_.size(), int64(b_, 0));
      for (size_t d = 0; d < inner_; ++d) place_[d] = row.at(b_, d);
      first_ = multiply_index(b_, b_.CreateURem(number, int64(b_, tiles)), width);
      Value* left = b_.CreateNSWSub(int64(b_, columns), first_);
      Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, int64(b_, width));
      end_ = add_index(b_, first_, count);
      loop(b_, int64(b_, 0), count,
           [&](Value* i) { b_.CreateStore(reducer_.identity(), slot(i)); });
      std::vector<Value*> at(in_.size(), int64(b_, 0));
      add_places(0, at);
      loop(b_, int64(b_, 0), count, [&](Value* i) {
        std::vector<Value*> result = place_;
        result[inner_] = add_index(b_, first_, i);
        store(start, result, b_.CreateLoad(reducer_.type(), slot(i)));
      });
    });
  }

  Value* slot(Value* i) { return b_.CreateInBoundsGEP(reducer_.type(), results_, i); }

  // The place of the array under place k of the window, for result 0 of the dimension.
  Value* offset(const WindowDim& dim, Value* k) {
    return add_index(b_, multiply_index(b_, k, dim.window_dilation), int64(b_, -dim.padding_low));
  }

  // Combines the array's elements under each place of the window from dimension d on, where they
  // are not padding.
  void add_places(size_t d, std::vector<Value*>& at) {
    if (d == out_.size()) return add_line(at);
    const WindowDim& dim = window_[d];
    if (d == inner_) return add_places(d + 1, at);  // its places are those of lines
    loop(b_, dim.size, [&](Value* k) {
      at[d] = add_index(b_, multiply_index(b_, place_[d], dim.stride), offset(dim, k));
      if (dim.padding_low == 0 && dim.padding_high == 0) return add_places(d + 1, at);
      where(b_, is_place(b_, at[d], in_[d]), [&] { add_places(d + 1, at); });
    });
  }

  // Results [first_, end_) whose elements under place k are in the array: i * stride + offset is.
  void add_line(std::vector<Value*>& at) {
    const WindowDim& dim = window_[inner_];
    loop(b_, dim.size, [&](Value* k) {
      Value* from = offset(dim, k);
      const auto first_at_least = [&](Value* place) {
        Value* distance = b_.CreateSub(place, from);
        return b_.CreateSDiv(add_index(b_, distance, int64(b_, dim.stride - 1)),
                             int64(b_, dim.stride));
      };
      Value* begin =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first_, first_at_least(int64(b_, 0)));
      Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end_,
                                            first_at_least(int64(b_, in_[inner_])));
      loop(b_, begin, end, [&](Value* i) {
        std::vector<Value*> here = at;
        here[inner_] = add_index(b_, multiply_index(b_, i, dim.stride), from);
        Value* result = slot(b_.CreateNSWSub(i, first_));
        Value* sum = b_.CreateLoad(reducer_.type(), result);
        b_.CreateStore(reducer_.combine(sum, element(here)), result);
      });
    });
  }

  Writer& w_;
  Builder& b_;
  InstructionId id_;
  Reducer reducer_;
  const std::vector<WindowDim>& window_;
  Dims in_, out_;
  size_t inner_ = 0;  // the last dimension of more than one result
  Value *results_ = nullptr, *first_ = nullptr, *end_ = nullptr;
  std::vector<Value*> place_;  // of the results of a line
};

}  // namespace

Result<void> write_ReduceWindow(Writer& w, InstructionId id) {
  ReduceWindow reduce(w, id);
  if (const char* refusal = reduce.refusal()) return fail(ErrorKind::Unsupported, "{}", refusal);
  w.set_loops_over("windows");
  reduce.write();
  return {};
}

}  // namespace hilo
