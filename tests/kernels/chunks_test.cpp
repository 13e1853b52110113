// Work for threads is cut by what handing it over takes.
#include "kernels/chunks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hilo {
namespace {

TEST(Chunks, HandingOverAndWaitingForTheLastOneTakeTheLeastTime) {
  Cores cores = find_cpu("znver3").cores;
  cores.thread_seconds = 4e-6;
  EXPECT_EQ(chunks_of(7e-6, 1000, 2, cores), 1);  // alone 7 us, by two threads 7.5
  EXPECT_EQ(chunks_of(7e-6, 1000, 8, cores), 8);
  EXPECT_EQ(chunks_of(9e-6, 1000, 2, cores), 4);
  EXPECT_EQ(chunks_of(9e-6, 3, 2, cores), 3);  // no more than there are iterations
  EXPECT_EQ(chunks_of(3e-6, 1000, 1, cores), 1);
  EXPECT_EQ(chunks_of(35e-6, 1000, 1, cores), 3);
  EXPECT_EQ(chunks_of(790e-6, 1000, 2, cores), 20);  // ten a thread, of 40 us
  cores.thread_seconds = 40e-6;
  EXPECT_EQ(chunks_of(40e-6, 1000, 8, cores), 1);
  EXPECT_EQ(chunks_of(400e-6, 1000, 8, cores), 16);
}

TEST(Chunks, OfAnyTimeAreBetweenOneAndTheIterations) {
  constexpr double huge = std::numeric_limits<double>::infinity();
  for (double time : {0.0, 1e-300, 1e200, huge, -1.0, std::nan("")})
    for (double serial : {0.0, 1e-9, 1e200, huge, std::nan("")})
      for (int64_t threads : {1, 2, 1000}) {
        Cores cores = find_cpu("znver3").cores;
        cores.thread_seconds = time;
        const int64_t found = chunks_of(serial, 7, threads, cores);
        EXPECT_TRUE(1 <= found && found <= 7) << time << " " << serial << " " << threads;
      }
}

}  // namespace
}  // namespace hilo
