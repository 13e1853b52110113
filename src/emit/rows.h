// Fusions whose steps work on the same rows, as softmax and layer norm: a loop over rows does all
// steps of one row while it is in the cache. Private to `emit`.
#pragma once

#include <optional>

#include "emit/kernel_builder.h"

namespace hilo {

// The leading dimensions of all values that come from a reduction number the rows. The steps of a
// row are its reductions in their order, and then the results.
struct Rows {
  Dims dims;
  // Rows that are columns of slabs, as of [slabs, lines, columns] whose lines are reduced: their
  // elements do not lie side by side, so that several rows are done as lanes. Lanes are columns or,
  // where these are few, slabs.
  struct Slab {
    Dims elements;                 // dimensions
    std::vector<size_t> numbered;  // of them: those that number the rows
    size_t along;                  // which of these the lanes are along
    int64_t lanes;
    bool is_costly;         // an element takes more than cheap steps
    int64_t lines() const;  // elements of a row
    // Whether the last lanes are some that were done before.
    bool overlaps() const { return elements[numbered[along]] % lanes != 0; }
    int64_t size() const;  // elements from one lane to the next: of slabs, or 1
  };
  std::optional<Slab> slab;
  std::vector<InstructionId> reductions;  // operands before users
  // Values that cost more than reading them and that several steps read: the step that computes
  // each one leaves it in a row of the function's frame.
  struct Kept {
    InstructionId id;
    size_t step;
  };
  std::vector<Kept> kept;
};

// Nothing where the fusion has other steps, or only one. register_bytes: of the chip's vectors;
// cache_bytes: of a core's second cache, which holds what rows keep in the frame.
std::optional<Rows> find_rows(const Module& module, InstructionId fusion, int64_t register_bytes,
                              int64_t cache_bytes);
// Iterations are rows.
void write_rows(KernelBuilder& writer, std::span<const WrittenLeaf> leaves, const Rows& rows);
// The same of rows in slabs, whose lanes are iterations together.
void write_rows_in_slabs(KernelBuilder& writer, std::span<const WrittenLeaf> leaves,
                         const Rows& rows);
// The leaves by their dimensions: one loop computes those of equal ones.
std::vector<std::vector<WrittenLeaf>> by_dims(const ElementEmitter& elements,
                                              std::span<const WrittenLeaf> leaves);

}  // namespace hilo
