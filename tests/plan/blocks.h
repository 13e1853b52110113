// Blocks to pack, and what is wrong with a packing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/plan.h"

namespace hilo {

inline Block block(int64_t start, int64_t end, int64_t bytes) { return {{{start, end, bytes, 0}}}; }

inline int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

inline bool disturb(const Piece& a, int64_t a_offset, const Piece& b, int64_t b_offset,
                    int64_t alignment) {
  const int64_t a_low = a_offset + a.at, b_low = b_offset + b.at;
  return a.bytes > 0 && b.bytes > 0 && std::max(a.start, b.start) <= std::min(a.end, b.end) &&
         a_low < b_low + round_up(b.bytes, alignment) &&
         b_low < a_low + round_up(a.bytes, alignment);
}

// Pairs of blocks are tried one by one.
inline void expect_sound(std::span<const Block> blocks, const Packing& packing, int64_t alignment) {
  ASSERT_EQ(packing.offsets.size(), blocks.size());
  int64_t end = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_GE(packing.offsets[i], 0);
    ASSERT_EQ(packing.offsets[i] % alignment, 0);
    for (const Piece& piece : blocks[i].pieces) {
      if (piece.bytes > 0) end = std::max(end, packing.offsets[i] + piece.at + piece.bytes);
      for (size_t j = 0; j < i; ++j)
        for (const Piece& other : blocks[j].pieces)
          ASSERT_FALSE(disturb(piece, packing.offsets[i], other, packing.offsets[j], alignment))
              << "blocks " << i << " and " << j;
    }
  }
  EXPECT_EQ(end, packing.bytes);
}

// The largest sum of rounded sizes at one moment, moment by moment.
inline int64_t sum_at_peak(std::span<const Block> blocks, int64_t alignment) {
  int64_t most = 0;
  for (const Block& at : blocks)
    for (const Piece& now : at.pieces) {
      int64_t sum = 0;
      for (const Block& other : blocks) {
        int64_t bytes = 0;
        for (const Piece& piece : other.pieces)
          if (piece.start <= now.start && now.start <= piece.end)
            bytes = std::max(bytes, round_up(piece.bytes, alignment));
        sum += bytes;
      }
      most = std::max(most, sum);
    }
  return most;
}

struct RandomBlocks {
  int count = 6;
  int64_t moments = 8, bytes = 10;
  double long_lived = 0.1;  // share that lives anywhere between two moments
};
inline std::vector<Block> random_blocks(std::mt19937_64& random, const RandomBlocks& how) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<Block> blocks;
  for (int i = 0; i < how.count; ++i) {
    const bool is_long = static_cast<double>(below(1000)) < 1000 * how.long_lived;
    const int64_t start = below(how.moments);
    const int64_t length = below(is_long ? how.moments : 1 + how.moments / 8);
    blocks.push_back(block(start, std::min(how.moments - 1, start + length), 1 + below(how.bytes)));
  }
  return blocks;
}

// A rectangle of `moments` x `bytes` cut at random until there are `count` blocks: they fit without
// any gap, so the least is known.
inline std::vector<Block> cut_blocks(std::mt19937_64& random, int count, int64_t moments,
                                     int64_t bytes) {
  std::vector<Block> blocks = {block(0, moments - 1, bytes)};
  while (static_cast<int>(blocks.size()) < count) {
    Piece& whole = blocks[random() % blocks.size()].pieces[0];
    Piece part = whole;
    const int64_t length = whole.end - whole.start + 1;
    const bool in_time = random() % 2 == 0;
    if ((in_time ? length : whole.bytes) < 2) continue;
    const int64_t cut =
        1 + static_cast<int64_t>(random() %
                                 static_cast<uint64_t>((in_time ? length : whole.bytes) - 1));
    if (in_time) {
      whole.end = whole.start + cut - 1;
      part.start = whole.end + 1;
    } else {
      whole.bytes = cut;
      part.bytes -= cut;
    }
    blocks.push_back({{part}});
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  return blocks;
}

}  // namespace hilo
