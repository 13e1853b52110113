// Memory and threads that the system does not give: errors that say how much was asked for.
#include <gtest/gtest.h>

#include "base/base.h"

namespace hilo {
namespace {

TEST(OutOfMemory, IsAnErrorThatSaysHowMuch) {
  const auto known = within_memory([] -> Result<int> { throw OutOfMemory(12345); });
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().kind, ErrorKind::Memory);
  EXPECT_NE(known.error().message.find("12345 bytes"), std::string::npos) << known.error().message;
  const auto unknown = within_memory([] -> Result<int> { throw std::bad_alloc(); });
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Memory);
  EXPECT_EQ(*within_memory([] -> Result<int> { return 7; }), 7);
}

TEST(ThreadPoolErrors, OfABodyReachTheCaller) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (const int64_t tiles : {1, 2, 100, 200'000}) {
      std::atomic<int64_t> done = 0;
      const auto run = [&] {
        pool.run(tiles, [&](int64_t tile) {
          if (tile == tiles / 2) throw OutOfMemory(tile);
          ++done;
        });
      };
      EXPECT_THROW(run(), OutOfMemory);
      if (threads > 1 && tiles > 1 && tiles < 1000) {
        EXPECT_EQ(done, tiles - 1);  // all others are done
      }
      done = 0;
      pool.run(tiles, [&](int64_t) { ++done; });  // and the pool is as before
      EXPECT_EQ(done, tiles);
    }
  }
}

TEST(ThreadGroup, RunsAllAtOnce) {
  std::atomic<int> waiting = 0;
  {
    const ThreadGroup group(8, [&](int64_t) {
      ++waiting;
      while (waiting < 8) std::this_thread::yield();
    });
    EXPECT_TRUE(group.has_started());
  }
  EXPECT_EQ(waiting, 8);
  const ThreadGroup none(0, [](int64_t) {});
  EXPECT_TRUE(none.has_started());
}

}  // namespace
}  // namespace hilo
