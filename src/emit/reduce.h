// One reduce as loops. Private to `emit`.
#pragma once

#include <functional>
#include <optional>

#include "emit/kernel_builder.h"
#include "emit/lane_groups.h"
#include "emit/local_array.h"
#include "emit/partition_points.h"
#include "emit/reducer.h"

namespace hilo {

class Reduce {
 public:
  Reduce(ElementEmitter& elements, InstructionId id);

  size_t count() const { return count_; }  // of arrays that are reduced together
  const std::vector<size_t>& kept() const { return kept_; }
  const std::vector<size_t>& reduced() const { return reduced_; }
  const Reducer& reducer() const { return reducer_; }
  llvm::Type* held(size_t k) const;           // as what elements of result k are combined
  const Dims& dims() const { return dims_; }  // of what is reduced
  // The innermost dimension that counts, and whether it is reduced.
  size_t innermost() const;
  bool is_row() const;
  // The dimension along which a row is read: that one, or where it is short the one before it.
  size_t row() const;
  double reduced_elements() const;

  std::vector<llvm::Value*> inits();
  std::vector<llvm::Value*> elements_at(const std::vector<llvm::Value*>& at);
  // Places with the kept dimensions filled in.
  std::vector<llvm::Value*> place(const Index& kept);
  // One result: along a long row by lanes, else in order.
  std::vector<llvm::Value*> result(const Index& kept);
  // Whether it is made of lanes side by side: those of one result, of which at most 16 are left to
  // be combined with each other, and the result of what they come to.
  bool has_lanes() const;
  llvm::Value* lanes(const Index& kept);
  llvm::Value* finished(llvm::Value* combined);
  // The reduced elements of one result, in order.
  std::vector<llvm::Value*> in_order(const Index& kept);
  // Those of several results, one result behind the other, in the same loops; and whether that
  // pays: a step is quick but for its wait for the one before it, which it needs.
  std::vector<llvm::Value*> several_in_order(std::span<const Index> kept);
  bool waits_for_itself() const;
  // One result of what was combined in so many lanes of these arrays, from number `first` on: of an
  // associative reducer, or of one that chooses.
  std::vector<llvm::Value*> result_of_lanes(std::span<const LocalArray> held, int64_t first,
                                            int64_t lanes, const Index& kept);
  // Loops over the reduced dimensions but `along`, from number i of them on, outermost first.
  void outer_nest(size_t along, std::vector<llvm::Value*>& at, llvm::function_ref<void()> body,
                  size_t i = 0);

  // Results side by side: so many along a dimension that is kept, from a place of what is reduced
  // on.
  struct SideBySide {
    std::vector<llvm::Value*> at;
    size_t along;
    int64_t lanes;
  };
  // What they come to, in lanes of vectors from the first of their elements to the last. begin()
  // stands before the code of a lane, and begin_line() before that of a line, which it is told.
  void combine_side_by_side(
      std::span<const LocalArray> held, const SideBySide& results,
      llvm::function_ref<void(llvm::Value* lane)> begin,
      llvm::function_ref<void(const std::vector<llvm::Value*>& at)> begin_line = {});
  std::vector<llvm::Value*> held_result(std::span<const LocalArray> held, llvm::Value* lane);

  // Takes the dimensions behind the last one that is reduced for one, so that all of them are
  // columns side by side; nothing where an element is asked for by one of them.
  void merge_columns();
  // Takes the last dimension that is kept and the row of reduced ones behind it for one that is
  // kept. May not where an element is asked for by one of them.
  bool may_merge_row() const;
  void merge_row();
  // The last dimension that is kept and counts, the number of all where there is none; and how many
  // elements are reduced behind it.
  size_t last_kept() const;
  int64_t row_behind_kept() const;

  // The dimensions from `first` on, where the reduced ones of them come first and elements follow
  // from their place in all of them: lines of so many columns, one after the other.
  struct Run {
    size_t first;
    int64_t size, columns;
  };
  std::optional<Run> run() const;
  // Takes them for one, which is reduced. What is kept ends before it.
  void merge(const Run& run);
  // Of a run that was merged: its columns in a vector, of associative reducers. `lanes` is a
  // multiple of the columns by a power of two and no more than the run.
  llvm::Value* columns(const Index& kept, int64_t columns, int64_t lanes);

  // Where the reduced elements begin to come from elsewhere along a dimension, unless it is short
  // or they come in turns.
  PartitionPoints partition_points_along(size_t dim) const;
  // What is combined, of each array, for so many results.
  std::vector<LocalArray> local_arrays(int64_t count);

  // Called in the innermost loop with the place whose elements were read.
  std::function<void(const std::vector<llvm::Value*>& at)> see;
  double without_loop = 4;  // so many elements are reduced without one

 private:
  std::vector<llvm::Value*> chosen(const Index& kept);
  std::vector<llvm::Value*> chosen_of_lanes(std::span<const LocalArray> held, int64_t first,
                                            int64_t lanes);
  llvm::Value* across(llvm::Value* all);
  bool is_long() const;
  // Whether elements are asked for by their place in the dimensions from this one on, not by those.
  bool are_columns_from(size_t first) const;
  void take_for_one(size_t first);  // these dimensions
  // Elements of a row that are combined lane by lane.
  struct Lanes {
    llvm::Value* place;  // of the first of them in the row
    Bounds bounds;       // of their places and those of others that the same code takes
    int64_t first, count;
    int64_t overlap;  // so many of them were combined before
  };
  using AddLanes = llvm::function_ref<void(const Lanes&)>;
  // What is combined in so many lanes, in vectors of `each`; over() is to call what it is given for
  // all elements of a row.
  std::vector<llvm::Value*> combined_in_lanes(const Index& kept, int64_t lanes, int64_t each,
                                              llvm::function_ref<void(AddLanes)> over);
  int64_t streams_of_row(int64_t elements, int64_t lanes, int64_t piece) const;
  void in_lanes(int64_t begin, int64_t end, int64_t lanes, AddLanes add);
  std::vector<std::pair<int64_t, int64_t>> between_partition_points(int64_t begin, int64_t lanes,
                                                                    int64_t count) const;
  llvm::Value* combined_inside(size_t row, std::vector<llvm::Value*> at);
  llvm::Value* index_in_row(const Lanes& lanes, llvm::Value* i);
  bool has_partition_points() const { return partition_points_.ends.size() > 2; }
  bool rounds_once() const;
  std::vector<llvm::Value*> with_next(std::vector<llvm::Value*> values,
                                      const std::vector<llvm::Value*>& next);
  // Of results at several places together: what they carry stands one behind the other.
  std::vector<llvm::Value*> nest(size_t i, std::vector<std::vector<llvm::Value*>>& at,
                                 std::vector<llvm::Value*> carried);
  std::vector<llvm::Value*> with_elements(const std::vector<std::vector<llvm::Value*>>& at,
                                          std::span<llvm::Value* const> carried);

  ElementEmitter& e_;
  Builder& b_;
  InstructionId id_;
  Reducer reducer_;
  size_t count_;
  Dims dims_;
  std::vector<size_t> reduced_, kept_;
  PartitionPoints partition_points_;  // of the row that is reduced
};

void store_results(KernelBuilder& w, InstructionId id, llvm::Value* position,
                   std::span<llvm::Value* const> values);
// Whether an element takes more than a few cheap steps from what is read.
bool is_costly(const ElementEmitter& elements, InstructionId id, const Reduce& reduce);
// Where the innermost dimension is kept: tiles of columns side by side.
void write_columns(KernelBuilder& w, InstructionId id, Reduce& reduce);
// Where short rows are reduced, and lines of many of them: their elements are columns. False where
// they are not such.
bool write_short_rows(KernelBuilder& w, InstructionId id, Reduce& reduce);
// Where few columns are kept of long runs of lines: several lines side by side, as they lie. False
// where there is no such run.
bool write_narrow_columns(KernelBuilder& w, InstructionId id, Reduce& reduce);
// Where slabs of few lines and columns are reduced, with results of several side by side. False
// where they are not such.
bool write_slabs(KernelBuilder& w, InstructionId id, Reduce& reduce);

}  // namespace hilo
