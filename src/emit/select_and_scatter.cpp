// select-and-scatter: in each window the element that `select` prefers to all after it is found,
// and the source's element is combined into the result there, windows in the order of the source.
// Where the innermost dimension has no windows, places along it lie side by side; pieces of the
// work write places of their own.
#include <algorithm>

#include "emit/kernel_builder.h"
#include "emit/op_functions.h"
#include "emit/reducer.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t widest = 256;  // lanes of a piece
constexpr int64_t min_lanes = KernelLimits::narrow_lanes;

class SelectAndScatter {
 public:
  SelectAndScatter(KernelBuilder& w, InstructionId id)
      : w_(w),
        b_(w.b),
        id_(id),
        a_(module().attributes<SelectAndScatterAttributes>(id)),
        window_(a_.window.dims),
        type_(module().shape(id).type),
        dims_(module().shape(id).dims),
        windows_(module().shape(module().operand(id, 1)).dims),
        scatter_(w.elements, a_.scatter) {}

  // [begin, end) counts places of the dimensions without windows, of one dimension whose windows
  // do not touch each other, and strips of lanes.
  void write() {
    find_tiles();
    Dims pieces;
    for (size_t d = 0; d < dims_.size(); ++d)
      if (is_counted(d)) pieces.push_back(windows_[d]);
    const int64_t columns = lanes_ < dims_.size() ? dims_[lanes_] : 1;
    const int64_t strips = parts_of_line(columns, width_);
    pieces.push_back(strips);
    w_.set_count(element_count(pieces));
    if (has_lanes()) {
      kept_ = frame_array(b_, held(), width_);
      chosen_ = frame_array(b_, b_.getInt32Ty(), width_);
    }
    init_ = w_.elements.operand(id_, 2, Index::scalar(b_));
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index piece = Index::linear(b_, pieces, number);
      at_.assign(dims_.size(), int64(b_, 0));
      size_t next = 0;
      for (size_t d = 0; d < dims_.size(); ++d)
        if (is_counted(d)) at_[d] = piece.at(b_, next++);
      Value* strip = piece.at(b_, next);
      with_part_of_line(b_, strip, columns, width_, false, [&](Value* first, int64_t count) {
        first_ = first, count_ = count;
        std::vector<Value*> place = at_;
        fill(0, place);
        over_windows(0);
      });
    });
  }

 private:
  const Module& module() const { return w_.elements.module; }
  llvm::Type* held() const { return held_type(b_, type_); }
  bool has_lanes() const { return lanes_ < dims_.size(); }
  bool has_windows(size_t d) const {
    const WindowDim& w = window_[d];
    return w.size != 1 || w.stride != 1 || w.padding_low != 0 || windows_[d] != dims_[d];
  }
  int64_t extent(size_t d) const { return (window_[d].size - 1) * window_[d].window_dilation + 1; }
  // Whether every place of every window lies in the array.
  bool is_inside(size_t d) const {
    const WindowDim& w = window_[d];
    return w.padding_low <= 0 &&
           (windows_[d] - 1) * w.stride - w.padding_low + extent(d) <= dims_[d];
  }
  bool is_counted(size_t d) const { return d == disjoint_ || (d != lanes_ && !has_windows(d)); }

  void find_tiles() {
    lanes_ = disjoint_ = dims_.size();
    size_t last = dims_.size();
    while (last > 0 && dims_[last - 1] == 1 && !has_windows(last - 1)) --last;
    if (last > 0 && !has_windows(last - 1) && dims_[last - 1] >= min_lanes) lanes_ = last - 1;
    if (has_lanes()) width_ = std::min(dims_[lanes_], widest);
    for (size_t d = dims_.size(); d-- > 0;)
      if (has_windows(d) && extent(d) <= window_[d].stride) disjoint_ = d;
  }

  // The initial value into the places of this piece.
  void fill(size_t d, std::vector<Value*>& place) {
    if (d == dims_.size())
      return store_element(b_, type_, w_.results[0], Index(b_, dims_, place).position(b_), init_);
    const auto body = [&](Value* i) {
      place[d] = i;
      fill(d + 1, place);
    };
    if (d == lanes_) return loop(b_, count_, [&](Value* i) { body(add_index(b_, first_, i)); });
    if (d != disjoint_) return is_counted(d) ? fill(d + 1, place) : loop(b_, dims_[d], body);
    // From one window's first place to the next one's.
    const auto bound = [&](Value* window) {
      return clamp_index(b_, window_element_index(b_, window_[d], window, int64(b_, 0)), 0,
                         dims_[d]);
    };
    Value* is_first = b_.CreateICmpEQ(at_[d], int64(b_, 0));
    Value* is_last = b_.CreateICmpEQ(at_[d], int64(b_, windows_[d] - 1));
    Value* begin = b_.CreateSelect(is_first, int64(b_, 0), bound(at_[d]));
    Value* next = bound(add_index(b_, at_[d], int64(b_, 1)));
    loop(b_, begin, b_.CreateSelect(is_last, int64(b_, dims_[d]), next), body);
  }

  void over_windows(size_t d) {
    if (d == dims_.size()) return has_lanes() ? window_of_lanes() : window_alone();
    if (is_counted(d) || d == lanes_) return over_windows(d + 1);
    loop(b_, windows_[d], [&](Value* i) {
      at_[d] = i;
      over_windows(d + 1);
    });
  }

  Value* prefers(Value* kept, Value* met) {
    return w_.elements.apply(a_.select, std::array{kept, met})[0];
  }

  Value* slot(llvm::Type* type, Value* array, Value* i) {
    return b_.CreateInBoundsGEP(type, array, i);
  }

  // body(number, place) for the places of a window that lie in the array, lanes left out.
  void over_window(size_t d, Value* number, std::vector<Value*>& place,
                   llvm::function_ref<void(Value*)> body) {
    if (d == dims_.size()) return body(number);
    if (!has_windows(d)) return over_window(d + 1, number, place, body);
    loop(b_, window_[d].size, [&](Value* k) {
      place[d] = window_element_index(b_, window_[d], at_[d], k);
      Value* next = add_index(b_, multiply_index(b_, number, window_[d].size), k);
      if (is_inside(d)) return over_window(d + 1, next, place, body);
      where(b_, is_in_bounds(b_, place[d], dims_[d]),
            [&] { over_window(d + 1, next, place, body); });
    });
  }

  // All lanes of a window: which place each chooses, then each place's part of the result.
  void window_of_lanes() {
    llvm::Type* number_type = b_.getInt32Ty();
    loop(b_, count_, [&](Value* i) {
      b_.CreateStore(b_.getInt32(UINT32_MAX), slot(number_type, chosen_, i));
      b_.CreateStore(llvm::Constant::getNullValue(held()), slot(held(), kept_, i));
    });
    std::vector<Value*> place = at_;
    over_window(0, int64(b_, 0), place, [&](Value* number) {
      Value* here = b_.CreateTrunc(number, number_type);
      loop(b_, count_, [&](Value* i) {
        place[lanes_] = add_index(b_, first_, i);
        Value* met = w_.elements.operand(id_, 0, Index(b_, dims_, place));
        Value* kept = b_.CreateLoad(held(), slot(held(), kept_, i));
        Value* chosen = b_.CreateLoad(number_type, slot(number_type, chosen_, i));
        Value* is_kept = b_.CreateSelect(b_.CreateICmpSLT(chosen, b_.getInt32(0)), b_.getFalse(),
                                         prefers(kept, met));
        b_.CreateStore(b_.CreateSelect(is_kept, kept, met), slot(held(), kept_, i));
        b_.CreateStore(b_.CreateSelect(is_kept, chosen, here), slot(number_type, chosen_, i));
      });
    });
    over_window(0, int64(b_, 0), place, [&](Value* number) {
      Value* here = b_.CreateTrunc(number, number_type);
      loop(b_, count_, [&](Value* i) {
        std::vector<Value*> source = at_;
        source[lanes_] = place[lanes_] = add_index(b_, first_, i);
        Value* chosen = b_.CreateLoad(number_type, slot(number_type, chosen_, i));
        combine(Index(b_, dims_, place).position(b_), source, b_.CreateICmpEQ(chosen, here));
      });
    });
  }

  void combine(Value* position, const std::vector<Value*>& source, Value* is_here) {
    Value* now = load_element(b_, type_, w_.results[0], position);
    Value* more = w_.elements.operand(id_, 1, Index(b_, windows_, source));
    Value* next = scatter_.apply(std::array{now, more})[0];
    store_element(b_, type_, w_.results[0], position, b_.CreateSelect(is_here, next, now));
  }

  // One window by itself.
  void window_alone() {
    std::vector<Value*> place = at_;
    Value* position =
        choose(0, b_.getTrue(), place, {int64(b_, -1), llvm::Constant::getNullValue(held())})[0];
    where(b_, b_.CreateICmpSGE(position, int64(b_, 0)),
          [&] { combine(position, at_, b_.getTrue()); });
  }

  // The position and the value that a window's places from dimension d on choose; position -1 is
  // none yet. Places outside are read as the array's first ones, and not chosen.
  std::vector<Value*> choose(size_t d, Value* inside, std::vector<Value*>& place,
                             std::vector<Value*> now) {
    if (d == dims_.size()) {
      const Index index(b_, dims_, place);
      Value* met = w_.elements.operand(id_, 0, index);
      Value* is_kept = b_.CreateSelect(b_.CreateICmpSLT(now[0], int64(b_, 0)), b_.getFalse(),
                                       prefers(now[1], met));
      is_kept = b_.CreateSelect(inside, is_kept, b_.getTrue());
      return {b_.CreateSelect(is_kept, now[0], index.position(b_)),
              b_.CreateSelect(is_kept, now[1], met)};
    }
    if (!has_windows(d)) return choose(d + 1, inside, place, std::move(now));
    return loop_carrying(
        b_, window_[d].size, std::move(now), [&](Value* k, std::span<Value* const> carried) {
          Value* here = window_element_index(b_, window_[d], at_[d], k);
          Value* fits = is_inside(d) ? b_.getTrue() : is_in_bounds(b_, here, dims_[d]);
          place[d] = b_.CreateSelect(fits, here, int64(b_, 0));
          return choose(d + 1, b_.CreateAnd(inside, fits), place, {carried.begin(), carried.end()});
        });
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  const SelectAndScatterAttributes& a_;
  const std::vector<WindowDim>& window_;
  ElementType type_;
  const Dims &dims_, &windows_;  // of the array and of the source
  Reducer scatter_;
  size_t lanes_ = 0, disjoint_ = 0;  // dimensions, or past the last one
  int64_t width_ = 1, count_ = 1;    // lanes of a strip; of the strip at hand
  Value *kept_ = nullptr, *chosen_ = nullptr, *init_ = nullptr, *first_ = nullptr;
  std::vector<Value*> at_;  // the window at hand
};

}  // namespace

void write_SelectAndScatter(KernelBuilder& w, InstructionId id) { SelectAndScatter(w, id).write(); }

}  // namespace hilo
