// Numbers of rows that are done together (emit/rows.h), as lanes of vectors. Private to `emit`.
#pragma once

#include "emit/reducer.h"
#include "emit/rows.h"

namespace hilo {

// Values that each row has one of and that are made of its reductions, as the inverse of a length:
// those that something else reads than such values, after the reduction that they wait for.
struct RowNumber {
  InstructionId id;
  size_t step;
};
std::vector<RowNumber> find_row_numbers(const ElementEmitter& elements, const Rows& rows);

// What the lanes of each vector come to, in the order of the vectors: in each the first half is
// combined with the second one until one lane is left. A power of two of vectors and of lanes.
llvm::Value* combined_each(const Reducer& reducer, Builder& b, std::vector<llvm::Value*> vectors);

}  // namespace hilo
