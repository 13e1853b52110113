// Stable sorts of many unsigned keys, byte after byte from the least significant one. Private to
// `kernels`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace hilo {

// A key too wide to share a word with its element's place.
struct PlacedKey {
  uint64_t key;
  int64_t place;
  auto operator<=>(const PlacedKey&) const = default;
};
inline uint64_t sorted_bits(uint64_t word) { return word; }
inline uint64_t sorted_bits(const PlacedKey& key) { return key.key; }

// Sorts items[0, count) by bytes [first, last) of their bits. The items must be in the order of
// their lower bytes, or these must not matter. `spare` is as long as `items`.
template <class Item>
void radix_sort(Item* items, Item* spare, int64_t count, int first, int last) {
  constexpr int64_t few = 256;  // fewer are compared sooner than their bytes are counted
  if (count < few || count > UINT32_MAX) return std::sort(items, items + count);
  std::array<std::array<uint32_t, 256>, 8> counts;
  for (int byte = first; byte < last; ++byte) counts[byte].fill(0);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = sorted_bits(items[i]);
    for (int byte = first; byte < last; ++byte) ++counts[byte][bits >> (8 * byte) & 0xff];
  }
  Item *from = items, *to = spare;
  for (int byte = first; byte < last; ++byte) {
    auto& places = counts[byte];
    if (places[sorted_bits(from[0]) >> (8 * byte) & 0xff] == count) continue;  // one byte in all
    uint32_t next = 0;
    for (uint32_t& place : places) next += std::exchange(place, next);
    for (int64_t i = 0; i < count; ++i)
      to[places[sorted_bits(from[i]) >> (8 * byte) & 0xff]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy_n(from, count, items);
}

}  // namespace hilo
