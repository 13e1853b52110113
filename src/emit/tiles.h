// Loops over elements that read an array across its rows, as transposes do: square tiles of it are
// transposed in registers, so that memory is read and written along rows. Private to `emit`.
#pragma once

#include <functional>
#include <optional>

#include "emit/kernel_builder.h"

namespace hilo {

// All dimensions are those of what is written.
struct Crossing {
  size_t read, written;                   // the ones along which tiles are read and written
  std::vector<InstructionId> transposes;  // transposes to these dimensions
  int64_t side = 0;                       // of a tile
  // A short dimension behind one of these two, all of which is in a tile. Behind the one that is
  // read, it is so in the array.
  std::optional<size_t> part = std::nullopt;
  bool is_part_read = false;
};

// Nothing where all is read along dimension `inner`, the innermost one, or there is too little.
std::optional<Crossing> find_crossing(const ElementEmitter& elements,
                                      std::span<const WrittenLeaf> leaves, size_t inner);
// The columns of a square matrix whose rows are these vectors, as many as each has lanes: a power
// of two.
std::vector<llvm::Value*> transposed(Builder& b, std::vector<llvm::Value*> rows);
using StorePlace = llvm::function_ref<void(const Index& place)>;
struct TileStores {
  StorePlace place;  // writes all leaves there
  // Where nothing is computed of the only transpose: where the element of a place is written.
  std::function<llvm::Value*(const Index& place)> address = {};
};
// Iterations are blocks of tiles.
void write_tiles(KernelBuilder& writer, const Crossing& crossing, const Dims& dims,
                 const TileStores& stores);
// How many blocks there are, and the same of some of them.
int64_t count_tile_blocks(const Crossing& crossing, const Dims& dims);
void write_tile_blocks(KernelBuilder& writer, const Crossing& crossing, const Dims& dims,
                       llvm::Value* first, llvm::Value* last, const TileStores& stores);

}  // namespace hilo
