// Threads share a piece of work where that takes less time, and products have the same bits then.
#include "kernels/sharing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.h"

namespace hilo {
namespace {

const Cores& cores() { return find_cpu("znver3").cores; }

TEST(Sharing, WorkThatTakesLessThanAHandOverIsNotShared) {
  for (int64_t threads : {1, 2, 3, 64, 1000})
    for (int64_t count : {1, 2, 7, 1000})
      for (double part : {0.0, 0.1, 0.5, 1.0})
        EXPECT_FALSE(are_shared({count, part * cores().thread_seconds}, threads, cores()));
}

TEST(Sharing, IsNeverOfLessWorkAlone) {
  for (int64_t threads : {2, 3, 8, 96})
    for (int64_t count : {1, 2, 3, 5, 9, 100})
      for (int64_t hand_overs : {1, 2, 7}) {
        bool before = false;
        for (double seconds = 1e-9; seconds < 1; seconds *= 1.3) {
          const bool now = are_shared({count, seconds, hand_overs}, threads, cores());
          EXPECT_TRUE(now || !before) << threads << " " << count << " " << seconds;
          before = now;
        }
        // In the end only what comes out even is done apart.
        EXPECT_EQ(before, count % threads != 0) << threads << " " << count;
      }
}

TEST(Sharing, OneThreadSharesNothing) {
  for (double seconds : {0.0, 1e-6, 1.0, 1e200})
    for (int64_t count : {1, 5}) EXPECT_FALSE(are_shared({count, seconds}, 1, cores()));
}

TEST(Sharing, MoreHandOversNeedMoreWork) {
  const double hand_over = cores().thread_seconds;
  EXPECT_TRUE(are_shared({1, 3 * hand_over, 1}, 2, cores()));
  EXPECT_FALSE(are_shared({1, 3 * hand_over, 2}, 2, cores()));
  EXPECT_TRUE(are_shared({1, 5 * hand_over, 2}, 2, cores()));
  EXPECT_TRUE(are_shared({3, 1000 * hand_over, 2}, 2, cores()));
  EXPECT_FALSE(are_shared({4, 1000 * hand_over, 2}, 2, cores()));
  EXPECT_TRUE(are_shared({4, 1000 * hand_over, 2}, 8, cores()));
}

TEST(Sharing, GrainsOfAnyTimeAreBetweenOneAndThePieces) {
  constexpr double huge = std::numeric_limits<double>::infinity();
  for (double seconds : {0.0, 1e-9, 1e-6, 1e-3, 1e200, huge, -1.0})
    for (int64_t count : {1, 7, 100000})
      for (int64_t threads : {1, 2, 1000}) {
        const int64_t grain = grain_of({count, seconds}, threads, cores());
        EXPECT_TRUE(1 <= grain && grain <= count) << seconds << " " << count << " " << threads;
      }
  EXPECT_EQ(grain_of({100, 1e-9}, 8, cores()), 100);  // all of it is not worth a hand-over
}

// As many threads as it says, one after the other: the pieces are the same.
Parallel threads_in_turn(int threads) {
  return {threads, [](int64_t count, int64_t grain, const Parallel::Body& body) {
            for (int64_t begin = 0; begin < count; begin += grain)
              body(begin, std::min(count, begin + grain));
          }};
}

struct Sizes {
  int64_t batches, rows, columns, terms;
};

Dims steps(int64_t count, int64_t step) {
  Dims out;
  for (int64_t i = 0; i < count; ++i) out.push_back(i * step);
  return out;
}

// Row-major operands; where `turned`, the terms of a column stand a line apart.
template <class T>
std::vector<T> product_of(const Sizes& s, ElementType type, bool turned, int threads) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<T> left(s.batches * s.rows * s.terms), right(s.batches * s.columns * s.terms),
      out(s.batches * s.rows * s.columns);
  for (T& x : left) x = T(static_cast<float>(any(random)));
  for (T& x : right) x = T(static_cast<float>(any(random)));
  Matmul product{{left.data(), type, steps(s.batches, s.rows * s.terms), steps(s.rows, s.terms),
                  steps(s.terms, 1)},
                 {right.data(), type, steps(s.batches, s.columns * s.terms),
                  steps(s.columns, turned ? 1 : s.terms), steps(s.terms, turned ? s.columns : 1)},
                 {out.data(), type, steps(s.batches, s.rows * s.columns), steps(s.rows, s.columns),
                  steps(s.columns, 1)}};
  matmul(product, threads_in_turn(threads));
  return out;
}

template <class T>
void expect_same_bits(ElementType type) {
  for (const Sizes& s : {Sizes{1, 96, 130, 100},
                         {1, 256, 256, 256},
                         {3, 130, 200, 90},
                         {2, 300, 40, 257},
                         {5, 64, 700, 130},
                         {1, 7, 2000, 300},
                         {3, 2000, 7, 300},
                         {9, 33, 65, 1025},
                         {100, 5, 6, 7}})
    for (bool turned : {false, true}) {
      const auto one = product_of<T>(s, type, turned, 1);
      for (int threads : {2, 3, 64}) {
        const auto many = product_of<T>(s, type, turned, threads);
        EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(T)), 0)
            << text_of(type) << " " << s.batches << " x " << s.rows << " " << s.columns << " "
            << s.terms << ", " << threads << " threads";
      }
    }
}

TEST(Sharing, ProductsHaveTheSameBitsForAnyThreads) {
  expect_same_bits<float>(ElementType::F32);
  expect_same_bits<double>(ElementType::F64);
  expect_same_bits<BF16>(ElementType::BF16);
  expect_same_bits<std::complex<float>>(ElementType::C64);
}

}  // namespace
}  // namespace hilo
