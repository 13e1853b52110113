// Fusions whose steps work on the same rows, as softmax and layer norm: a loop over rows does all
// steps of one row while it is in the cache. Private to `emit`.
#pragma once

#include <optional>

#include "emit/writer.h"

namespace hilo {

// The leading dimensions of all values that come from a reduction number the rows. The steps of a
// row are its reductions in their order, and then the results.
struct Rows {
  Dims dims;
  std::vector<InstructionId> reductions;  // operands before users
  // Values that cost more than reading them and that several steps read: the step that computes
  // each one leaves it in a row of the function's frame.
  struct Kept {
    InstructionId id;
    size_t step;
  };
  std::vector<Kept> kept;
};

// Nothing where the fusion has other steps, or only one.
std::optional<Rows> find_rows(const Module& module, InstructionId fusion);
// Iterations are rows.
void write_rows(Writer& writer, std::span<const WrittenLeaf> leaves, const Rows& rows);

}  // namespace hilo
