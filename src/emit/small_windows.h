// Results of reduce-window whose windows have few places, as straight code in loops over results.
// Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"
#include "emit/reducer.h"
#include "plan/plan.h"

namespace hilo {

class SmallWindows {
 public:
  SmallWindows(KernelBuilder& writer, const Windows& windows, Reducer reducer);

  // Whether they are so few steps.
  bool fit() const;
  // Results behind `place`, which has a number for each dimension before `dim`; those from `begin`
  // up to `end` of that one.
  struct Part {
    std::vector<llvm::Value*> place;
    size_t dim;
    llvm::Value *begin, *end;
  };
  // The kernel. others() writes a part whose windows reach into padding before its `dim`.
  void write(llvm::function_ref<void(const Part&)> others);

 private:
  // Results [begin, end) of a dimension that have these places of their windows in the array.
  struct Piece {
    int64_t begin, end;
    std::vector<int64_t> places;
  };
  static std::vector<Piece> segments_of(const WindowDim& dim, int64_t size, int64_t results);

  int64_t inside(size_t first) const;
  int64_t steps(size_t first) const;
  bool is_padded(size_t d) const;
  llvm::Value* reaches_padding(const Part& part) const;
  void write_loops(const Part& part, size_t d);
  void write_results(size_t d);
  void add_window_positions(size_t d);

  KernelBuilder& w_;
  Builder& b_;
  const Windows& windows_;
  Reducer reducer_;
  bool is_array_;
  // Dimensions before first_ are iterations of the kernel; from there to lanes_ each piece has a
  // loop; the few results behind that are straight code.
  size_t first_ = 0, lanes_ = 0;
  std::vector<std::vector<Piece>> pieces_;  // by dimension
  // At hand: by dimension, and what was combined.
  std::vector<const Piece*> piece_;
  std::vector<llvm::Value*> place_, at_;
  llvm::Value *start_ = nullptr, *combined_ = nullptr;
};

}  // namespace hilo
