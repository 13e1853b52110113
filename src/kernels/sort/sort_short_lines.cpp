#include "kernels/sort/sort_short_lines.h"

#include <algorithm>
#include <cstring>

#include "kernels/sort/sort_network.h"
#include "kernels/thread_memory.h"

namespace hilo {
namespace {

// Vectors of 8-byte words are compared as signed numbers.
template <class Key>
using WordOf = std::conditional_t<sizeof(Key) == 8, int64_t, Key>;
// That hold a key above a place.
template <class Key>
using PlacedWord = std::conditional_t<sizeof(Key) <= 2, uint32_t, int64_t>;
constexpr uint64_t top = uint64_t{1} << 63;

// Calls body(index of a word, of an element, its place in the line) for as many lines from `first`
// on as words stand side by side.
template <class Word, class Body>
void each_word(const DenseLines& lines, int64_t first, Body&& body) {
  constexpr int64_t lanes = network_lanes<Word>;
  const int64_t number = std::min(lanes, lines.number - first), count = lines.count;
  const int64_t side = lines.side;
  if (side == lines.number) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t l = 0; l < number; ++l) body(i * lanes + l, first + l + i * side, i);
    return;
  }
  for (int64_t l = 0; l < number; ++l) {
    const int64_t begin = lines.begin_of(first + l);
    for (int64_t i = 0; i < count; ++i) body(i * lanes + l, begin + i * side, i);
  }
}

}  // namespace

template <class Key>
void find_sorted_indices(const DenseLines& lines, const Key* keys,
                         std::span<const Exchange> exchanges, uint16_t* places) {
  using Word = PlacedWord<Key>;
  constexpr int key_shift = 4 * sizeof(Word);
  constexpr uint64_t flip = sizeof(Word) == 8 ? top : 0;
  Word* words = spare<Word, struct PlacedWords>(network_lanes<Word> * lines.count);
  for (int64_t first = 0; first < lines.number; first += network_lanes<Word>) {
    each_word<Word>(lines, first, [&](int64_t word, int64_t at, int64_t place) {
      words[word] = static_cast<Word>((uint64_t{keys[at]} << key_shift ^ flip) |
                                      static_cast<uint64_t>(place));
    });
    network_kernels<Word>().exchange(words, exchanges);
    each_word<Word>(lines, first, [&](int64_t word, int64_t at, int64_t) {
      places[at] = static_cast<uint16_t>(words[word]);
    });
  }
}
template void find_sorted_indices(const DenseLines&, const uint8_t*, std::span<const Exchange>,
                                  uint16_t*);
template void find_sorted_indices(const DenseLines&, const uint16_t*, std::span<const Exchange>,
                                  uint16_t*);
template void find_sorted_indices(const DenseLines&, const uint32_t*, std::span<const Exchange>,
                                  uint16_t*);

// Lines of the operands, which become dense.
struct ShortLines::Tile {
  std::span<const std::byte* const> from;
  std::span<std::byte* const> to;
  int64_t base, step;
  DenseLines lines;

  int64_t size() const { return lines.number * lines.count; }
  // Calls body(begin of a piece among the operand's elements and in the dense tile, elements).
  template <class Body>
  void each_run(Body&& body) const {
    if (step == lines.side) return body(base, int64_t{0}, size());
    for (int64_t i = 0; i < lines.count; ++i) body(base + i * step, i * lines.number, lines.number);
  }
};

std::optional<ShortLines> ShortLines::make(const SortKey& key,
                                           const std::vector<ElementType>& types, int64_t count) {
  if (count < 2 || count > max_short_line || key.operand >= std::ssize(types)) return std::nullopt;
  if (types.size() > 1 && storage_bytes(types[static_cast<size_t>(key.operand)]) > 4)
    return std::nullopt;
  ShortLines out;
  out.key_ = key, out.types_ = types, out.count_ = count;
  out.exchanges_ = find_exchanges(count, count);
  return out;
}

bool ShortLines::sort(std::span<const std::byte* const> from, std::span<std::byte* const> to,
                      int64_t base, int64_t step, int64_t number) const {
  const DenseLines lines = {number, count_, std::min(step, number)};
  const Tile tile{from, to, base, step, lines};
  const int64_t bytes = storage_bytes(types_[static_cast<size_t>(key_.operand)]);
  if (bytes == 8) return sort_by<uint64_t>(tile);
  if (bytes == 4) return sort_by<uint32_t>(tile);
  if (bytes == 2) return sort_by<uint16_t>(tile);
  return sort_by<uint8_t>(tile);
}

template <class Key>
bool ShortLines::sort_by(const Tile& tile) const {
  const ElementType type = types_[static_cast<size_t>(key_.operand)];
  const std::byte* values = tile.from[static_cast<size_t>(key_.operand)];
  Key* keys = spare<Key, struct KeysOfTile>(tile.size());
  bool is_exact = types_.size() == 1;
  tile.each_run([&](int64_t at, int64_t dense, int64_t elements) {
    const std::byte* piece = values + at * static_cast<int64_t>(sizeof(Key));
    make_sort_keys(key_, type, piece, 1, elements, keys + dense);
    is_exact = is_exact && keys_are_exact(key_, type, piece, 1, elements);
  });
  if (is_exact) {
    sort_keys(tile, keys);
    return true;
  }
  if constexpr (sizeof(Key) == 8) {
    return false;
  } else {
    uint16_t* places = spare<uint16_t, struct PlacesOfTile>(tile.size());
    find_sorted_indices(tile.lines, keys, exchanges_, places);
    permute(tile, places);
    return true;
  }
}

// A single array whose keys tell its elements.
template <class Key>
void ShortLines::sort_keys(const Tile& tile, Key* keys) const {
  using Word = WordOf<Key>;
  constexpr Key flip = sizeof(Key) == 8 ? static_cast<Key>(top) : Key(0);
  Word* words = spare<Word, struct WordsOfTile>(network_lanes<Word> * tile.lines.count);
  for (int64_t first = 0; first < tile.lines.number; first += network_lanes<Word>) {
    each_word<Word>(tile.lines, first, [&](int64_t word, int64_t at, int64_t) {
      words[word] = static_cast<Word>(keys[at] ^ flip);
    });
    network_kernels<Word>().exchange(words, exchanges_);
    each_word<Word>(tile.lines, first, [&](int64_t word, int64_t at, int64_t) {
      keys[at] = static_cast<Key>(words[word]) ^ flip;
    });
  }
  tile.each_run([&](int64_t at, int64_t dense, int64_t elements) {
    elements_of_keys(key_, types_[0], keys + dense, 1, elements,
                     tile.to[0] + at * static_cast<int64_t>(sizeof(Key)));
  });
}

void ShortLines::permute(const Tile& tile, const uint16_t* places) const {
  const DenseLines& lines = tile.lines;
  for (size_t o = 0; o < types_.size(); ++o)
    visit_storage(types_[o], [&]<class T>(std::type_identity<T>) {
      using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      constexpr auto bytes = static_cast<int64_t>(sizeof(T));
      Stored* elements = spare<Stored, struct ElementsOfTile>(2 * tile.size());
      Stored* moved = elements + tile.size();
      tile.each_run([&](int64_t at, int64_t dense, int64_t size) {
        std::copy_n(tile.from[o] + at * bytes, size * bytes,
                    reinterpret_cast<std::byte*>(elements + dense));
      });
      for (int64_t l = 0; l < lines.number; ++l)
        for (int64_t i = 0; i < lines.count; ++i)
          moved[lines.at(l, i)] = elements[lines.at(l, places[lines.at(l, i)])];
      tile.each_run([&](int64_t at, int64_t dense, int64_t size) {
        std::copy_n(reinterpret_cast<const std::byte*>(moved + dense), size * bytes,
                    tile.to[o] + at * bytes);
      });
    });
}

}  // namespace hilo
