// Short lines sorted side by side: lanes of vectors hold elements of different lines, and a network
// of exchanges orders them all at once. Private to `kernels`.
#pragma once

#include <span>

#include "kernels/sort/sort_exchanges.h"

namespace hilo {

// How many lines stand side by side.
template <class Word>
inline constexpr int64_t network_lanes = 128 / sizeof(Word);

template <class Word>
struct NetworkKernels {
  // words[place * network_lanes + line]: the lesser of two comes first.
  void (*exchange)(Word* words, std::span<const Exchange> exchanges);
};
// Those of this processor, for uint8_t, uint16_t, uint32_t and int64_t.
template <class Word>
const NetworkKernels<Word>& network_kernels();

}  // namespace hilo
