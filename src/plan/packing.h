// Packing: blocks as rectangles over time and address that must not overlap. Private to `plan`.
#pragma once

#include "plan/plan.h"

namespace hilo {

struct Rectangle {
  uint32_t block = 0;
  int64_t start = 0, end = 0;   // moments, both included
  int64_t at = 0;               // from the block's offset
  int64_t bytes = 0, used = 0;  // rounded up to the alignment, and not
};

// No packing ends below: the largest sum of `bytes` of rectangles in each other's way, and the same
// but for the topmost, whose end is not rounded up.
struct PackingBound {
  int64_t bytes = 0, target = 0;
};

// What all ways of packing share. Blocks without rectangles lie at 0 and are in nobody's way.
struct PackingProblem {
  int64_t alignment = 1;
  std::vector<Rectangle> rectangles;  // by block; those of one block are disjoint
  std::vector<uint32_t> first;        // by block: its first rectangle; one more at the end
  std::vector<int64_t> extent;        // by block: the end of its highest byte
  std::vector<std::vector<uint32_t>> components;  // blocks that are linked by shared moments
  PackingBound bound;                             // by moments
  int64_t peak_moment = 0;                        // the first one that makes it

  // Time is cut into `leaves` spans, a power of two, with about as many rectangles starting in
  // each.
  uint32_t leaves = 1;
  std::vector<std::pair<uint32_t, uint32_t>>
      spans;  // by rectangle: the first and the last it meets
  std::span<const Rectangle> rectangles_of(uint32_t block) const {
    return {rectangles.data() + first[block], first[block + 1] - first[block]};
  }
};
PackingProblem make_problem(std::span<const Block> blocks, int64_t alignment);

// Rectangles of a block of several pieces: at each moment the union of what is alive.
std::vector<Rectangle> rectangles_of(const Block& block, uint32_t number, int64_t alignment);

// The highest end of the blocks.
int64_t highest_end(const PackingProblem& problem, std::span<const uint32_t> blocks,
                    std::span<const int64_t> offsets);

enum class Fit : uint8_t { Lowest, Tightest };  // the lowest gap that fits, or the smallest
// Places the blocks in this order. Takes its work from `steps`; false when they do not suffice.
bool fit(const PackingProblem& problem, std::span<const uint32_t> order, Fit rule,
         std::vector<int64_t>& offsets, int64_t& steps);

// Orders that are worth a try. Long and Longest: by size, but first what lives long, a 128th or a
// 16th of the time, for it is in the way of all else.
enum class FitOrder : uint8_t { Size, Long, Longest, Duration, Area, Start, End, Peak };
inline constexpr FitOrder fit_orders[] = {FitOrder::Size,     FitOrder::Long, FitOrder::Longest,
                                          FitOrder::Duration, FitOrder::Area, FitOrder::Peak,
                                          FitOrder::Start,    FitOrder::End};
std::vector<uint32_t> order_blocks(const PackingProblem& problem, std::span<const uint32_t> blocks,
                                   FitOrder by);

// One walk over time that gives each block the smallest free gap when it starts (or, backwards,
// when it ends) and takes it back after. O(n log n) for any blocks.
enum class Direction : uint8_t { Forwards, Backwards };
void sweep_fit(const PackingProblem& problem, std::span<const uint32_t> blocks, Direction direction,
               std::vector<int64_t>& offsets);

// Fits again and again, blocks that ended above `target` moved forward, until none does or the
// steps are spent. Leaves the best in `offsets`, which hold a packing of the blocks already.
void squeeze(const PackingProblem& problem, std::vector<uint32_t> order, int64_t target,
             std::vector<int64_t>& offsets, int64_t& steps);

// Of rectangles of these blocks: those of other blocks alive together with them. None when there
// would be too many.
struct Neighbours {
  std::vector<uint32_t> first, items;  // by rectangle of the problem
  std::span<const uint32_t> operator[](uint32_t i) const {
    return {items.data() + first[i], first[i + 1] - first[i]};
  }
};
std::optional<Neighbours> list_neighbours(const PackingProblem& problem,
                                          std::span<const uint32_t> blocks, size_t most);

// A bound from blocks that two by two are in each other's way, the best that so many steps find.
PackingBound bound_by_pairs(const PackingProblem& problem, const Neighbours& neighbours,
                            std::span<const uint32_t> blocks, int64_t steps);

// Searches for offsets with no end above `limit`, with a preference among blocks that could lie at
// one offset. `blocks` ascend. `offsets` change only when there are some.
enum class Found : uint8_t { Yes, No, Unknown };  // No: there are none; Unknown: no steps left
Found search_exactly(const PackingProblem& problem, const Neighbours& neighbours,
                     std::span<const uint32_t> blocks, std::span<const uint32_t> preference,
                     int64_t limit, std::vector<int64_t>& offsets, int64_t& steps);

}  // namespace hilo
