// Loops over elements that read an array across its rows, as transposes do: square tiles of it are
// turned in registers, so that memory is read and written along rows. Private to `emit`.
#pragma once

#include <optional>

#include "emit/writer.h"

namespace hilo {

struct Crossing {
  size_t dim;                         // of what is written, along which is read
  std::vector<InstructionId> turned;  // transposes with the dimensions of what is written
  int64_t side;                       // of a tile
};

// Nothing where all is read along dimension `inner`, or where there is too little.
std::optional<Crossing> find_crossing(const Elements& elements, std::span<const WrittenLeaf> leaves,
                                      size_t inner);
// The columns of a square matrix whose rows are these vectors, as many as each has lanes: a power
// of two.
std::vector<llvm::Value*> turned(Builder& b, std::vector<llvm::Value*> rows);
// store(place) writes all leaves there. Iterations are blocks of tiles.
using StorePlace = llvm::function_ref<void(const Index& place)>;
void write_tiles(Writer& writer, const Crossing& crossing, const Dims& dims, size_t inner,
                 StorePlace store);
// How many blocks there are, and the same of some of them.
int64_t count_tile_blocks(const Crossing& crossing, const Dims& dims, size_t inner);
void write_tile_blocks(Writer& writer, const Crossing& crossing, const Dims& dims, size_t inner,
                       llvm::Value* first, llvm::Value* last, StorePlace store);

}  // namespace hilo
