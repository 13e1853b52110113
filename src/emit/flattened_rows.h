// Flattened rows: of costly elements, each no whole number of vectors. Private to `emit`.
#pragma once

#include "emit/kernel_builder.h"

namespace hilo {

// The dimensions from `first` on are a row of `size` elements; `count` rows are whole vectors, and
// one flat loop (emit/index_tables.h).
struct FlattenedRows {
  size_t first;
  int64_t size, count;
};

// For elements of these values, which have these dimensions: where rows are short, take costly
// steps and are made of elements whose places follow from theirs. Rows are dimensions from `first`
// on; without it, as few as will do.
std::optional<FlattenedRows> find_flattened_rows(const ElementEmitter& elements,
                                                 const std::vector<InstructionId>& ids,
                                                 const Dims& dims,
                                                 std::optional<size_t> first = std::nullopt);

// Rows of a line, along the dimension before theirs. The last block of a line may begin with rows
// that the block before it ends with.
struct BlockOfRows {
  std::vector<llvm::Value*> at;  // in the dimensions before the line's
  llvm::Value* start;            // its first row in the line
  llvm::Value* first;            // and among all rows
  llvm::Value* shared;           // rows that it begins with and another block has
};
// body(block) for each block of `count` rows; `outer` are the dimensions before a row, whose last
// one has as many places or more. Iterations are blocks.
void for_blocks_of_rows(KernelBuilder& writer, const Dims& outer, int64_t count,
                        llvm::function_ref<void(const BlockOfRows& block)> body);
// Whether no block shares rows.
bool has_whole_blocks(const Dims& outer, int64_t count);

// body(place, number) for each element of the block's rows, of an array of dimensions `dims`.
void loop_over_rows(KernelBuilder& writer, const Dims& dims, const FlattenedRows& rows,
                    const BlockOfRows& block,
                    llvm::function_ref<void(const Index& place, llvm::Value* number)> body);

// The values into the arrays, as write_elements().
void write_flattened_rows(KernelBuilder& writer, std::span<const WrittenLeaf> leaves,
                          const Dims& dims, const FlattenedRows& rows);

}  // namespace hilo
