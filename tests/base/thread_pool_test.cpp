#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace hilo {
namespace {

TEST(ThreadPool, CallsEveryTileOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t tiles : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> calls(tiles);
      pool.run(tiles, [&](int64_t tile) { ++calls[tile]; });
      for (const auto& count : calls) ASSERT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ManyMoreTilesThanThreads) {
  for (int threads : {2, 16}) {
    ThreadPool pool(threads);
    for (int64_t tiles : {17, 63, 64, 65, 200000}) {
      std::vector<std::atomic<uint8_t>> calls(tiles);
      pool.run(tiles, [&](int64_t tile) { ++calls[tile]; });
      for (const auto& count : calls) ASSERT_EQ(count, 1);
    }
  }
}

// A thread that is late leaves its share to the others.
TEST(ThreadPool, TilesOfWhoIsLateAreTaken) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int64_t> others = 0;
    pool.run(40, [&](int64_t tile) {
      if (tile > 0) ++others;
      else
        while (others < 39) std::this_thread::yield();
    });
    ASSERT_EQ(others, 39);
  }
}

// Workers look for work for a while and then sleep; each is found awake and asleep, and as many
// tiles as there are threads can be worked on at once.
TEST(ThreadPool, WakesAsManyAsThereAreTiles) {
  for (int threads : {2, 8, 64}) {
    ThreadPool pool(threads);
    for (int pause : {0, 50, 150, 1000})
      for (int64_t tiles : {2, threads}) {
        std::this_thread::sleep_for(std::chrono::microseconds(pause));
        std::atomic<int64_t> here = 0;
        pool.run(tiles, [&](int64_t) {
          ++here;
          while (here < tiles) std::this_thread::yield();
        });
        EXPECT_EQ(here, tiles);
      }
  }
}

TEST(ThreadPool, NestedRunsGoInline) {
  ThreadPool pool(3);
  std::atomic<int> inner = 0, elsewhere = 0;
  pool.run(8, [&](int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    pool.run(16, [&](int64_t) {
      ++inner;
      if (std::this_thread::get_id() != here) ++elsewhere;
    });
  });
  EXPECT_EQ(inner, 8 * 16);
  EXPECT_EQ(elsewhere, 0);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int64_t> mine = 0;
        pool.run(10, [&](int64_t tile) { mine += tile; });
        sum += mine;  // run() returned: all tiles are done
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 200 * 45);
}

TEST(ThreadPool, CallersTakeTurns) {
  constexpr int threads = 2, tiles = 400;
  ThreadPool pool(threads);
  std::atomic<int64_t> taken = 0, taken_before = -1;
  std::thread other;
  pool.run(tiles, [&](int64_t tile) {
    if (tile == 0)
      other = std::thread([&] {
        pool.run(2, [&](int64_t) {
          int64_t unset = -1;
          taken_before.compare_exchange_strong(unset, taken.load());
        });
      });
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    ++taken;
  });
  other.join();
  EXPECT_GE(taken_before, tiles - threads);
}

// A caller waits for its own tiles only while another's are still running.
TEST(ThreadPool, ManyShortLivedPools) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(4);
    std::atomic<int> calls = 0;
    pool.run(7, [&](int64_t) { ++calls; });
    ASSERT_EQ(calls, 7);
  }
}

TEST(ThreadPool, SameBitsForAnyThreadCount) {
  const auto sum = [](int threads) {
    ThreadPool pool(threads);
    std::vector<float> partial(64);
    pool.run(64, [&](int64_t tile) {
      for (int i = 0; i < 1000; ++i)
        partial[tile] += 1.0f / static_cast<float>(tile * 1000 + i + 1);
    });
    float total = 0;
    for (float part : partial) total += part;
    return total;
  };
  EXPECT_EQ(sum(1), sum(2));
  EXPECT_EQ(sum(1), sum(7));
}

TEST(UsableCores, FollowsAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace hilo
