// reduce-window. By an associative computation of one array: each result as straight code where
// windows are small (emit/small_windows.h), else tiles of results side by side, which each place of
// the window is combined into. Where a window holds everything up to its place, or from there on:
// running results. By any other computation, of any number of arrays: each result alone, its
// elements in the order of the window, or running results from one end of the array.
#include <algorithm>

#include "emit/kernel_builder.h"
#include "emit/op_functions.h"
#include "emit/reducer.h"
#include "emit/small_windows.h"

namespace hilo {
namespace {

using llvm::Value;

constexpr int64_t tile = KernelLimits::tile;  // results that are made side by side
constexpr int64_t strip = 256;                // columns that have running results side by side
constexpr int64_t piece = 256;  // elements whose running results are made before they are joined

struct Running : RunningWindow {
  // Where the k-th element is that comes in, and the result then.
  Value* element(Builder& b, Value* k) const { return from_end ? mirrored(b, k) : k; }
  Value* result(Builder& b, Value* k) const {
    return from_end ? mirrored(b, k) : add_index(b, k, int64(b, has_empty ? 1 : 0));
  }
  Value* empty(Builder& b) const { return int64(b, from_end ? size : 0); }

 private:
  Value* mirrored(Builder& b, Value* k) const { return b.CreateNSWSub(int64(b, size - 1), k); }
};

class ReduceWindow {
 public:
  ReduceWindow(KernelBuilder& w, InstructionId id)
      : w_(w),
        b_(w.b),
        id_(id),
        reducer_(w.elements, module().attributes<ReduceWindowAttributes>(id).to_apply),
        windows_(windows_of(w.elements.module, id, w.elements.arrays())) {
    while (inner_ + 1 < out_.size()) ++inner_;
    while (inner_ > 0 && out_[inner_] == 1) --inner_;
  }

  void write() {
    std::optional<Running> running;
    if (const auto found = find_running(windows_)) running = Running{*found};
    const bool is_running = running && is_simple();
    if (is_running && running->dim < inner_) write_running_lines(*running);
    else if (is_running && running->size <= KernelLimits::short_row) write_short_rows(*running);
    else if (is_running) write_running(*running);
    else if (running) write_running_in_order(*running);
    else if (!is_simple()) write_in_order();
    else if (SmallWindows small(w_, windows_, reducer_); small.fit())
      small.write([&](const SmallWindows::Part& part) { write_part(part); });
    else write_tiles();
  }

 private:
  const Module& module() const { return w_.elements.module; }

  size_t arrays() const { return module().operands(id_).size() / 2; }
  bool is_simple() const { return arrays() == 1 && reducer_.is_associative(); }

  Value* init() { return w_.elements.operand(id_, 1, Index::scalar(b_)); }
  Value* element(const std::vector<Value*>& at) { return element(Index(b_, in_, at)); }
  // The same place of an array whose dimensions were merged.
  Index merged_index(size_t k, const Index& at) {
    const Dims& dims = module().shape(module().operand(id_, k)).dims;
    return dims == in_ ? at : Index::linear(b_, dims, at.position(b_));
  }
  // What other loops made on the way does not stand before this one.
  Value* element(const Index& at) {
    w_.elements.forget();
    return reducer_.widen(w_.elements.operand(id_, 0, merged_index(0, at)));
  }
  void store(Value* start, const std::vector<Value*>& at, Value* combined) {
    store_element(b_, w_.elements.leaf_shape(id_, 0).type, w_.results[0],
                  Index(b_, out_, at).position(b_), reducer_.finish(start, combined));
  }

  // body(place, of which the running dimension is left open) for each row.
  void for_rows(const Running& running, llvm::function_ref<void(std::vector<Value*>&)> body) {
    Dims rows = in_;
    rows[running.dim] = 1;
    w_.set_count(element_count(rows));
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      std::vector<Value*> at = start_of_row(Index::linear(b_, rows, number));
      body(at);
    });
  }
  // Zero in the dimensions behind those of the row.
  std::vector<Value*> start_of_row(const Index& row) {
    std::vector<Value*> out(in_.size(), int64(b_, 0));
    for (size_t d = 0; d < row.dims().size(); ++d) out[d] = row.at(b_, d);
    return out;
  }

  // Rows of few elements: straight code, for many rows side by side.
  void write_short_rows(const Running& running) {
    Value* start = init();
    const Dims rows(in_.begin(), in_.begin() + static_cast<int64_t>(running.dim));
    write_lanes(w_, rows, [&](const Index& row) {
      std::vector<Value*> at = start_of_row(row);
      Value* sum = reducer_.identity();
      for (int64_t k = 0; k < running.size; ++k) {
        at[running.dim] = running.element(b_, int64(b_, k));
        sum = reducer_.combine(sum, element(at));
        at[running.dim] = running.result(b_, int64(b_, k));
        store(start, at, sum);
      }
      if (running.has_empty) store_empty(running, at, start);
    });
  }

  void store_empty(const Running& running, std::vector<Value*>& at, Value* start) {
    at[running.dim] = running.empty(b_);
    store_all(at, std::span(&start, 1));
  }

  // Whether an element is more than what is done while its sum waits for the one before.
  bool takes_steps() const {
    constexpr size_t few = 3;
    std::vector<InstructionId> made = {module().operand(id_, 0)};
    for (size_t i = 0; i < made.size() && made.size() <= few; ++i) {
      if (w_.elements.array(made[i])) continue;
      for (InstructionId operand : module().operands(made[i]))
        if (is_elementwise(module()[operand].op) && !w_.elements.array(operand) &&
            std::ranges::count(made, operand) == 0)
          made.push_back(operand);
    }
    return made.size() > few;
  }

  // One row after the other: running results within a piece, joined with what all before gave. What
  // is computed for them is so for all of the piece first, by vectors.
  void write_running(const Running& running) {
    Value* start = init();
    const bool is_computed = takes_steps();
    Value* made = is_computed ? frame_array(b_, reducer_.type(), piece) : nullptr;
    const auto place = [&](Value* i) { return b_.CreateInBoundsGEP(reducer_.type(), made, i); };
    for_rows(running, [&](std::vector<Value*>& at) {
      const auto run = [&](Value* first, int64_t count, Value* before) {
        const auto element_at = [&](Value* i) {
          at[running.dim] = running.element(b_, add_index(b_, first, i));
          return element(at);
        };
        const auto step_of = [&](Value* i) {  // in memory they lie the other way from the end
          return running.from_end ? b_.CreateNSWSub(int64(b_, count - 1), i) : i;
        };
        if (is_computed)
          loop(b_, count, [&](Value* i) { b_.CreateStore(element_at(step_of(i)), place(i)); });
        Value* total = loop_carrying(
            b_, count, {reducer_.identity()}, [&](Value* i, std::span<Value* const> now) {
              Value* next =
                  is_computed ? b_.CreateLoad(reducer_.type(), place(step_of(i))) : element_at(i);
              Value* sum = reducer_.combine(now[0], next);
              at[running.dim] = running.result(b_, add_index(b_, first, i));
              store(start, at, reducer_.combine(before, sum));
              return std::vector{sum};
            })[0];
        return reducer_.combine(before, total);
      };
      Value* before = loop_carrying(
          b_, running.size / piece, {reducer_.identity()},
          [&](Value* chunk_index, std::span<Value* const> now) {
            return std::vector{run(multiply_index(b_, chunk_index, piece), piece, now[0])};
          })[0];
      run(int64(b_, running.size / piece * piece), running.size % piece, before);
      if (running.has_empty) store_empty(running, at, start);
    });
  }

  // The same down lines of what lies behind the running dimension, a strip of columns at a time.
  // [begin, end) counts strips.
  void write_running_lines(const Running& running) {
    int64_t columns = 1;
    for (size_t d = running.dim + 1; d < in_.size(); ++d) columns *= in_[d];
    const int64_t width = std::min(columns, strip), strips = (columns + width - 1) / width;
    const Dims outer(in_.begin(), in_.begin() + static_cast<int64_t>(running.dim));
    w_.set_count(element_count(outer) * strips);
    Value *before = frame_array(b_, reducer_.type(), width),
          *sums = frame_array(b_, reducer_.type(), width), *start = init();
    const auto at = [&](Value* array, Value* i) {
      return b_.CreateInBoundsGEP(reducer_.type(), array, i);
    };
    const auto load = [&](Value* array, Value* i) {
      return b_.CreateLoad(reducer_.type(), at(array, i));
    };
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      Value* block = b_.CreateUDiv(number, int64(b_, strips));
      Value* first = multiply_index(b_, b_.CreateURem(number, int64(b_, strips)), width);
      Value* left = b_.CreateNSWSub(int64(b_, columns), first);
      Value* count = lesser_index(b_, left, int64(b_, width));
      const auto place = [&](int64_t size, Value* k, Value* i) {
        Value* line = add_index(b_, multiply_index(b_, block, size), k);
        return add_index(b_, add_index(b_, multiply_index(b_, line, columns), first), i);
      };
      const auto store_at = [&](Value* k, Value* i, Value* combined) {
        store_element(b_, w_.elements.leaf_shape(id_, 0).type, w_.results[0],
                      place(out_[running.dim], k, i), reducer_.finish(start, combined));
      };
      loop(b_, int64(b_, 0), count,
           [&](Value* i) { b_.CreateStore(reducer_.identity(), at(before, i)); });
      const auto run = [&](Value* begin, int64_t lines) {
        loop(b_, int64(b_, 0), count,
             [&](Value* i) { b_.CreateStore(reducer_.identity(), at(sums, i)); });
        loop(b_, lines, [&](Value* line) {
          Value* k = add_index(b_, begin, line);
          loop(b_, int64(b_, 0), count, [&](Value* i) {
            const Index from =
                Index::linear(b_, in_, place(running.size, running.element(b_, k), i));
            Value* sum = reducer_.combine(load(sums, i), element(from));
            b_.CreateStore(sum, at(sums, i));
            store_at(running.result(b_, k), i, reducer_.combine(load(before, i), sum));
          });
        });
        loop(b_, int64(b_, 0), count, [&](Value* i) {
          b_.CreateStore(reducer_.combine(load(before, i), load(sums, i)), at(before, i));
        });
      };
      loop(b_, running.size / piece,
           [&](Value* chunk_index) { run(multiply_index(b_, chunk_index, piece), piece); });
      run(int64(b_, running.size / piece * piece), running.size % piece);
      if (running.has_empty)
        loop(b_, int64(b_, 0), count,
             [&](Value* i) { store_at(running.empty(b_), i, reducer_.identity()); });
    });
  }

  // The same by the computation itself: what the window's order gives is what came before it.
  void write_running_in_order(const Running& running) {
    const std::vector<Value*> start = inits();
    for_rows(running, [&](std::vector<Value*>& at) {
      if (running.has_empty) {
        at[running.dim] = running.empty(b_);
        store_all(at, start);
      }
      loop_carrying(b_, running.size, start, [&](Value* k, std::span<Value* const> now) {
        at[running.dim] = running.element(b_, k);
        const std::vector<Value*> next = applied(now, at);
        at[running.dim] = running.result(b_, k);
        store_all(at, next);
        return next;
      });
    });
  }

  // [begin, end) counts results.
  void write_in_order() {
    w_.set_count(element_count(out_));
    const std::vector<Value*> start = inits();
    std::vector<Value*> memory;
    for (Value* init : start) memory.push_back(frame_array(b_, init->getType(), 1));
    const auto held = [&] {
      std::vector<Value*> out;
      for (size_t k = 0; k < arrays(); ++k)
        out.push_back(b_.CreateLoad(start[k]->getType(), memory[k]));
      return out;
    };
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index result = Index::linear(b_, out_, number);
      place_.clear();
      for (size_t d = 0; d < out_.size(); ++d) place_.push_back(result.at(b_, d));
      for (size_t k = 0; k < arrays(); ++k) b_.CreateStore(start[k], memory[k]);
      std::vector<Value*> at(in_.size(), int64(b_, 0));
      for_window_indices(0, at, [&] {
        const std::vector<Value*> next = applied(held(), at);
        for (size_t k = 0; k < arrays(); ++k) b_.CreateStore(next[k], memory[k]);
      });
      store_all(place_, held());
    });
  }

  std::vector<Value*> inits() {
    std::vector<Value*> out;
    for (size_t k = 0; k < arrays(); ++k)
      out.push_back(w_.elements.operand(id_, arrays() + k, Index::scalar(b_)));
    return out;
  }

  // The computation of what there is and the arrays' elements at a place.
  std::vector<Value*> applied(std::span<Value* const> now, const std::vector<Value*>& at) {
    std::vector<Value*> arguments(now.begin(), now.end());
    w_.elements.forget();
    for (size_t k = 0; k < arrays(); ++k)
      arguments.push_back(w_.elements.operand(id_, k, merged_index(k, Index(b_, in_, at))));
    return reducer_.apply(arguments);
  }

  void store_all(const std::vector<Value*>& at, std::span<Value* const> values) {
    for (size_t k = 0; k < arrays(); ++k)
      store_element(b_, w_.elements.leaf_shape(id_, k).type, w_.results[k],
                    Index(b_, out_, at).position(b_), values[k]);
  }

  // [begin, end) counts tiles along the inner dimension, in the order of the results.
  void write_tiles() {
    start_ = init();
    const int64_t columns = out_[inner_], width = std::min(columns, tile);
    const int64_t tiles = (columns + width - 1) / width;
    const Dims outer(out_.begin(), out_.begin() + static_cast<int64_t>(inner_));
    w_.set_count(element_count(outer) * tiles);
    loop(b_, w_.begin, w_.end, [&](Value* number) {
      const Index row = Index::linear(b_, outer, b_.CreateUDiv(number, int64(b_, tiles)));
      place_.assign(out_.size(), int64(b_, 0));
      for (size_t d = 0; d < inner_; ++d) place_[d] = row.at(b_, d);
      write_tile(multiply_index(b_, b_.CreateURem(number, int64(b_, tiles)), width),
                 int64(b_, columns));
    });
  }

  // The same of a part of the results.
  void write_part(const SmallWindows::Part& part) {
    if (!start_) start_ = init();
    place_ = part.place;
    place_.resize(out_.size(), int64(b_, 0));
    write_part(part, part.dim);
  }
  void write_part(const SmallWindows::Part& part, size_t d) {
    Value* begin = d == part.dim ? part.begin : int64(b_, 0);
    Value* end = d == part.dim ? part.end : int64(b_, out_[d]);
    if (d < inner_)
      return loop(b_, begin, end, [&](Value* i) {
        place_[d] = i;
        write_part(part, d + 1);
      });
    const int64_t width = std::min(out_[d], tile);
    Value* size = b_.CreateNSWSub(end, begin);
    Value* tiles = b_.CreateUDiv(add_index(b_, size, int64(b_, width - 1)), int64(b_, width));
    loop(b_, int64(b_, 0), tiles, [&](Value* number) {
      write_tile(add_index(b_, begin, multiply_index(b_, number, width)), end);
    });
  }

  // Results from `first` on, up to `end`, at place_ in the dimensions before the inner one.
  void write_tile(Value* first, Value* end) {
    const int64_t width = std::min(out_[inner_], tile);
    if (!results_) results_ = frame_array(b_, reducer_.type(), width);
    first_ = first;
    Value* count = lesser_index(b_, b_.CreateNSWSub(end, first), int64(b_, width));
    end_ = add_index(b_, first_, count);
    loop(b_, int64(b_, 0), count, [&](Value* i) { b_.CreateStore(reducer_.identity(), slot(i)); });
    std::vector<Value*> at(in_.size(), int64(b_, 0));
    add_window_positions(0, at);
    loop(b_, int64(b_, 0), count, [&](Value* i) {
      std::vector<Value*> result = place_;
      result[inner_] = add_index(b_, first_, i);
      store(start_, result, b_.CreateLoad(reducer_.type(), slot(i)));
    });
  }

  Value* slot(Value* i) { return b_.CreateInBoundsGEP(reducer_.type(), results_, i); }

  // The place of the array under place k of the window, for result 0 of the dimension.
  Value* offset(const WindowDim& dim, Value* k) {
    return add_index(b_, multiply_index(b_, k, dim.window_dilation), int64(b_, -dim.padding_low));
  }

  // Combines the array's elements under each place of the window, where they are not padding.
  void add_window_positions(size_t d, std::vector<Value*>& at) {
    if (d == inner_) return add_window_positions(d + 1, at);  // its places are those of lines
    if (d == out_.size()) return add_line(at);
    for_window_index(d, at, [&] { add_window_positions(d + 1, at); });
  }

  // body() for each place of the window from dimension d on.
  void for_window_indices(size_t d, std::vector<Value*>& at, llvm::function_ref<void()> body) {
    if (d == out_.size()) return body();
    for_window_index(d, at, [&] { for_window_indices(d + 1, at, body); });
  }

  // body() for each place of the window in dimension d, if the array has it.
  void for_window_index(size_t d, std::vector<Value*>& at, llvm::function_ref<void()> body) {
    const WindowDim& dim = window_[d];
    loop(b_, dim.size, [&](Value* k) {
      at[d] = add_index(b_, multiply_index(b_, place_[d], dim.stride), offset(dim, k));
      if (dim.padding_low == 0 && dim.padding_high == 0) return body();
      where(b_, is_in_bounds(b_, at[d], in_[d]), body);
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
      Value* begin = greater_index(b_, first_, first_at_least(int64(b_, 0)));
      Value* end = lesser_index(b_, end_, first_at_least(int64(b_, in_[inner_])));
      loop(b_, begin, end, [&](Value* i) {
        std::vector<Value*> here = at;
        here[inner_] = add_index(b_, multiply_index(b_, i, dim.stride), from);
        Value* result = slot(b_.CreateNSWSub(i, first_));
        Value* sum = b_.CreateLoad(reducer_.type(), result);
        b_.CreateStore(reducer_.combine(sum, element(here)), result);
      });
    });
  }

  KernelBuilder& w_;
  Builder& b_;
  InstructionId id_;
  Reducer reducer_;
  const Windows windows_;
  const std::vector<WindowDim>& window_ = windows_.dims;
  const Dims &in_ = windows_.in, &out_ = windows_.out;
  size_t inner_ = 0;  // the last dimension of more than one result
  Value *start_ = nullptr, *results_ = nullptr, *first_ = nullptr, *end_ = nullptr;
  std::vector<Value*> place_;  // of the results of a line
};

}  // namespace

void write_ReduceWindow(KernelBuilder& w, InstructionId id) {
  w.set_loop_kind(LoopsOver::Windows);
  ReduceWindow(w, id).write();
}

}  // namespace hilo
