// Sorts of many short lines by one key, a vector of lines at once. Private to `kernels`.
#pragma once

#include <span>

#include "kernels/sort/sort_exchanges.h"
#include "kernels/sort/sort_key.h"

namespace hilo {

// Elements of a line; longer ones are sorted one by one.
inline constexpr int64_t max_short_line = 64;
// Lines that are given at once, so that a cache holds them.
inline constexpr int64_t max_short_lines = 128;

// Lines of a dense tile, of which `side` stand side by side, and blocks of so many behind each
// other; 1: each line is in one piece.
struct DenseLines {
  int64_t number, count, side;
  int64_t begin_of(int64_t line) const { return line / side * side * count + line % side; }
  int64_t at(int64_t line, int64_t place) const { return begin_of(line) + place * side; }
};

// places[at]: the place from which the element comes that stands there once each line is in the
// order of its keys, those of equal ones in the order of their places. Key: of at most 4 bytes.
template <class Key>
void find_sorted_indices(const DenseLines& lines, const Key* keys,
                         std::span<const Exchange> exchanges, uint16_t* places);

class ShortLines {
 public:
  // Of operands of these types that move together; none: lines of `count` elements are too long, or
  // words of 8 bytes cannot hold keys with places.
  static std::optional<ShortLines> make(const SortKey& key, const std::vector<ElementType>& types,
                                        int64_t count);

  // Sorts `number` lines whose elements stand `step` apart: from `base` on up to `step` neighbours,
  // or whole blocks of so many behind each other. A result may stand in its operand's place. False:
  // nothing is done, as keys do not tell elements (see keys_are_exact) and are too wide.
  bool sort(std::span<const std::byte* const> from, std::span<std::byte* const> to, int64_t base,
            int64_t step, int64_t number) const;

 private:
  struct Tile;
  template <class Key>
  bool sort_by(const Tile& tile) const;
  template <class Key>
  void sort_keys(const Tile& tile, Key* keys) const;
  void permute(const Tile& tile, const uint16_t* places) const;

  SortKey key_{};
  std::vector<ElementType> types_;
  int64_t count_ = 0;
  std::vector<Exchange> exchanges_;
};

}  // namespace hilo
