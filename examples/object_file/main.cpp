// Calls a module that was compiled to an object file: the three items nearest to a query.
#include <cstdint>
#include <cstdio>

#include "rank_items.h"

alignas(rank_items_ALIGNMENT) static float items[1000][64], query[64], scores[3];
alignas(rank_items_ALIGNMENT) static int32_t places[3];

int main() {
  uint32_t random = 1;
  for (auto& item : items)
    for (float& value : item) {
      random = random * 1664525 + 1013904223;
      value = random >> 31 ? 1 : -1;
    }
  for (int j = 0; j < 64; ++j) query[j] = items[314][j];
  const void* parameters[] = {items, query};
  void* results[] = {scores, places};
  rank_items_program program;
  if (program(parameters, results) != 0) return 1;
  for (int i = 0; i < 3; ++i) std::printf("item %d: %.3f\n", places[i], scores[i]);
}
