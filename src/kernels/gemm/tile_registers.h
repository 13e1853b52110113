// Blocks of 32 rows and columns in AMX's tiles of 16 x 16 words (Intel, "Architecture Instruction
// Set Extensions Programming Reference", chapter 3). Private to `kernels`; only where x86-64 is
// compiled for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hilo::tile_registers {

constexpr int64_t side = 16, words = 16, word_bytes = 4;
constexpr int64_t tile_row = words * word_bytes, block_side = 2 * side;
constexpr int64_t element_bytes = tile_row;
constexpr int64_t block_line = block_side * word_bytes;  // of packed columns

// Tiles by number: sums of the upper and of the lower rows, the rows, the columns.
constexpr int upper = 0, lower = 2, left = 4, right = 6;

// What LDTILECFG reads.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0;
  std::array<uint8_t, 14> reserved = {};
  std::array<uint16_t, 16> bytes_of_row = {};
  std::array<uint8_t, 16> rows = {};

  void set(int tile, int64_t row_count, int64_t columns) {
    if (row_count <= 0 || columns <= 0) return;
    bytes_of_row[static_cast<size_t>(tile)] = static_cast<uint16_t>(columns * word_bytes);
    rows[static_cast<size_t>(tile)] = static_cast<uint8_t>(row_count);
  }
};
static_assert(sizeof(TileShapes) == 64);

// The rows and columns of the block that the thread's tiles are shaped for; 0: none. One number:
// two would be read together where a block has just been written as two, which waits for all
// stores.
inline thread_local int64_t shaped = 0;

inline void shape_tiles(int64_t rows, int64_t columns) {
  const int64_t shape = rows * (block_side + 1) + columns;
  if (shaped == shape) return;
  TileShapes shapes;
  for (int i = 0; i < 2; ++i) {
    const int64_t height = std::min(side, rows - i * side);
    shapes.set(left + i, height, words);
    for (int j = 0; j < 2; ++j) {
      const int64_t width = std::min(side, columns - j * side);
      shapes.set(2 * i + j, height, width);
      shapes.set(right + j, words, width);
    }
  }
  asm volatile("ldtilecfg %0" : : "m"(shapes));
  shaped = shape;
}

// Without tiles a thread's registers are saved faster when another one runs.
inline void release_tiles() {
  if (shaped > 0) asm volatile("tilerelease");
  shaped = 0;
}

template <int tile>
void load(const std::byte* from, int64_t step) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(step), "i"(tile) : "memory");
}
template <int tile>
void store(std::byte* to, int64_t step) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(step), "i"(tile) : "memory");
}
template <int tile>
void clear() {
  asm volatile("tilezero %%tmm%c0" : : "i"(tile));
}

// To the sums add the products of pairs of bf16.
template <int sums, int rows, int columns>
void add_pairs() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(columns));
}

// The sums of a block: of two tiles of rows where it is tall, of two of columns where it is wide,
// else of one.
template <bool tall, bool wide>
void begin_sums(const std::byte* c, int64_t step, bool add) {
  if (add) {
    load<upper>(c, step);
    if constexpr (wide) load<upper + 1>(c + tile_row, step);
    if constexpr (tall) load<lower>(c + side * step, step);
    if constexpr (tall && wide) load<lower + 1>(c + side * step + tile_row, step);
  } else {
    clear<upper>();
    if constexpr (wide) clear<upper + 1>();
    if constexpr (tall) clear<lower>();
    if constexpr (tall && wide) clear<lower + 1>();
  }
}
template <bool tall, bool wide>
void store_sums(std::byte* c, int64_t step) {
  store<upper>(c, step);
  if constexpr (wide) store<upper + 1>(c + tile_row, step);
  if constexpr (tall) store<lower>(c + side * step, step);
  if constexpr (tall && wide) store<lower + 1>(c + side * step + tile_row, step);
}

}  // namespace hilo::tile_registers
