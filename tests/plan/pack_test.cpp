// Packings against all orders of few blocks, the bound, and instances whose least is known.
#include <ctime>
#include <numeric>

#include "blocks.h"

namespace hilo {
namespace {

constexpr int64_t steps = 20'000'000;

// In some order, putting each block as low as it goes gives the least packing.
int64_t least_bytes(std::span<const Block> blocks, int64_t alignment) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = INT64_MAX;
  do {
    std::vector<int64_t> offsets(blocks.size(), 0);
    int64_t end = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Piece& piece = blocks[order[i]].pieces[0];
      int64_t& offset = offsets[order[i]];
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < i; ++j) {
          const Piece& other = blocks[order[j]].pieces[0];
          if (!disturb(piece, offset, other, offsets[order[j]], alignment)) continue;
          offset = offsets[order[j]] + round_up(other.bytes, alignment);
          moved = true;
        }
      }
      end = std::max(end, offset + piece.bytes);
    }
    least = std::min(least, end);
  } while (std::ranges::next_permutation(order).found);
  return least;
}

TEST(Pack, FindsTheLeastOfFewBlocks) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const int64_t alignment = round % 3 == 0 ? 1 : 4;
    const std::vector<Block> blocks = random_blocks(random, {.count = 2 + round % 6});
    const Packing packing = pack(blocks, alignment, steps);
    ASSERT_NO_FATAL_FAILURE(expect_sound(blocks, packing, alignment));
    EXPECT_EQ(packing.lower_bound, sum_at_peak(blocks, alignment));
    EXPECT_EQ(packing.bytes, least_bytes(blocks, alignment)) << "round " << round;
  }
}

TEST(Pack, NoBlocks) {
  EXPECT_EQ(pack({}, 16, steps).bytes, 0);
  const std::vector<Block> empty = {{}, block(0, 3, 0), block(3, 2, 8)};
  EXPECT_EQ(pack(empty, 16, steps).offsets, std::vector<int64_t>({0, 0, 0}));
  EXPECT_EQ(pack(empty, 16, steps).lower_bound, 0);
}

// All orders of the nine blocks need 13 bytes, though never more than 12 are alive.
TEST(Pack, TheBoundCannotAlwaysBeReached) {
  const std::vector<Block> blocks = {
      block(2, 2, 4), block(7, 8, 4), block(3, 4, 1), block(2, 3, 4), block(4, 5, 3),
      block(3, 5, 2), block(6, 7, 4), block(2, 5, 4), block(5, 8, 3),
  };
  const Packing packing = pack(blocks, 1, steps);
  expect_sound(blocks, packing, 1);
  EXPECT_EQ(packing.lower_bound, 12);
  EXPECT_EQ(packing.bytes, 13);
  EXPECT_EQ(least_bytes(blocks, 1), 13);
}

TEST(Pack, PiecesOfOneBlockShareItsOffset) {
  // A buffer that rests from 3 to 5, when another may have its place.
  const std::vector<Block> blocks = {{{{0, 2, 8, 0}, {6, 9, 8, 0}}}, block(3, 5, 8)};
  EXPECT_EQ(pack(blocks, 1, steps).bytes, 8);
  // Written in place at moment 2, where both count once.
  const std::vector<Block> in_place = {{{{0, 2, 8, 0}, {2, 4, 8, 0}}}, block(1, 3, 8)};
  EXPECT_EQ(pack(in_place, 1, steps).bytes, 16);
  EXPECT_EQ(pack(in_place, 1, steps).lower_bound, 16);
  // Four quarters that become one whole.
  const std::vector<Block> whole = {
      {{{0, 4, 4, 0}, {1, 4, 4, 4}, {2, 4, 4, 8}, {3, 4, 4, 12}, {4, 9, 16, 0}}}, block(0, 0, 12)};
  EXPECT_EQ(pack(whole, 4, steps).bytes, 16);
}

// Never more than two are alive, and yet no two may share a place.
TEST(Pack, TheBoundCountsBlocksThatMeetTwoByTwo) {
  const std::vector<Block> blocks = {
      {{{0, 1, 8, 0}, {5, 6, 8, 0}}}, block(1, 3, 8), block(3, 5, 7), block(8, 9, 12)};
  const Packing packing = pack(blocks, 4, steps);
  ASSERT_NO_FATAL_FAILURE(expect_sound(blocks, packing, 4));
  EXPECT_EQ(packing.lower_bound, 24);
  EXPECT_EQ(packing.bytes, 23);
}

// Of blocks whose pieces differ in size, the smallest counts.
TEST(Pack, TheBoundFromPairsIsNeverTooLarge) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    std::vector<Block> blocks = random_blocks(random, {.count = 6});
    for (Block& one : blocks) {
      const Piece& first = one.pieces[0];
      const int64_t start = first.end + 1 + static_cast<int64_t>(random() % 4);
      one.pieces.push_back({start, start + static_cast<int64_t>(random() % 3),
                            1 + static_cast<int64_t>(random() % 8), 0});
    }
    const Packing packing = pack(blocks, 1, steps / 10);
    ASSERT_NO_FATAL_FAILURE(expect_sound(blocks, packing, 1));
    EXPECT_GE(packing.bytes, packing.lower_bound) << "round " << round;
    EXPECT_GE(packing.lower_bound, sum_at_peak(blocks, 1)) << "round " << round;
  }
}

TEST(Pack, TheLastSizeIsNotRoundedUp) {
  const std::vector<Block> blocks = {block(0, 1, 24), block(0, 1, 256)};
  const Packing packing = pack(blocks, 256, steps);
  EXPECT_EQ(packing.bytes, 256 + 24);
  EXPECT_EQ(packing.lower_bound, 512);
}

TEST(Pack, CutRectanglesFitWithoutGaps) {
  std::mt19937_64 random(7);
  for (int count : {10, 20, 40}) {
    for (int round = 0; round < 10; ++round) {
      const std::vector<Block> blocks = cut_blocks(random, count, 40, 60);
      const Packing packing = pack(blocks, 1, steps);
      ASSERT_NO_FATAL_FAILURE(expect_sound(blocks, packing, 1));
      EXPECT_EQ(packing.lower_bound, 60);
      EXPECT_LE(packing.bytes, 60) << count << " blocks, round " << round;
    }
  }
}

TEST(Pack, RandomBlocksComeCloseToTheBound) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Block> blocks = random_blocks(
        random, {.count = 300, .moments = 200, .bytes = 1000, .long_lived = 0.05 * round});
    const Packing packing = pack(blocks, 16, steps);
    ASSERT_NO_FATAL_FAILURE(expect_sound(blocks, packing, 16));
    EXPECT_LE(static_cast<double>(packing.bytes), 1.1 * static_cast<double>(packing.lower_bound))
        << "round " << round;
  }
}

TEST(Pack, TheSameTwice) {
  std::mt19937_64 random(4);
  const std::vector<Block> blocks = cut_blocks(random, 60, 50, 70);
  EXPECT_EQ(pack(blocks, 1, steps / 10).offsets, pack(blocks, 1, steps / 10).offsets);
}

TEST(Pack, ManyBlocksTakeLittleTime) {
  std::mt19937_64 random(5);
  std::vector<Block> blocks;
  for (int64_t i = 0; i < 100'000; ++i) {
    const int64_t length = static_cast<int64_t>(random() % (i % 100 == 0 ? 5000 : 40));
    blocks.push_back(block(i, i + length, static_cast<int64_t>(1 + random() % 100'000)));
  }
  const std::clock_t start = std::clock();  // of this process: others may want the core
  const Packing packing = pack(blocks, 256, steps);
  const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr double most = 100;
#else
  constexpr double most = 10;
#endif
  EXPECT_LE(taken, most);
  EXPECT_LE(static_cast<double>(packing.bytes), 1.1 * static_cast<double>(packing.lower_bound));
}

}  // namespace
}  // namespace hilo
