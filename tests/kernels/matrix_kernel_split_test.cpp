// Products of f32 by tiles of their parts: no further from those of f64 than sums of f32 are, and
// the same where numbers or sums are none that parts hold. Without tiles (AMX) there are none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "kernels/gemm/matrix_product.h"

namespace hilo::test {
namespace {

constexpr int64_t m = 70, n = 90;
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Operands {
  int64_t k;
  std::vector<float> lhs, rhs;  // rows and columns in one piece each

  Operands(int64_t terms, const std::function<float()>& left, const std::function<float()>& right)
      : k(terms), lhs(static_cast<size_t>(m * terms)), rhs(static_cast<size_t>(n * terms)) {
    std::ranges::generate(lhs, left);
    std::ranges::generate(rhs, right);
  }
  float& left(int64_t i, int64_t t) { return lhs[static_cast<size_t>(i * k + t)]; }
  float& right(int64_t j, int64_t t) { return rhs[static_cast<size_t>(j * k + t)]; }
  std::vector<float> product(const MatrixKernel* kernel) const {
    std::vector<float> out(static_cast<size_t>(m * n));
    run_matrix_product({kernel,
                        m,
                        n,
                        k,
                        {lhs.data(), ElementType::F32, k, 1},
                        {rhs.data(), ElementType::F32, k, 1},
                        out.data(),
                        n});
    return out;
  }
};

const MatrixKernel* split() { return split_kernel(ElementType::F32, ElementType::F32); }
const MatrixKernel* plain() {
  return matrix_kernels(ElementType::F32, ElementType::F32, ElementType::F32)[0];
}

// The largest error, as a part of the sum of the magnitudes of what is added.
double error_of(const Operands& given, const std::vector<float>& product) {
  double most = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, all = 0;
      for (int64_t t = 0; t < given.k; ++t) {
        const double term = static_cast<double>(given.lhs[static_cast<size_t>(i * given.k + t)]) *
                            given.rhs[static_cast<size_t>(j * given.k + t)];
        sum += term, all += std::abs(term);
      }
      const double error = std::abs(product[static_cast<size_t>(i * n + j)] - sum);
      if (all > 0) most = std::max(most, error / all);
    }
  return most;
}

// Rounding to f32 once is an error of 2^-24; sums of k terms may have sqrt(k) of it, and the parts
// that are left out of each term make up less than one.
void expect_near(const Operands& given) {
  const double error = error_of(given, given.product(split()));
  EXPECT_LE(error, (1 + std::sqrt(static_cast<double>(given.k))) * 0x1p-24) << given.k;
}

std::function<float()> normal(double scale) {
  return [random = std::mt19937(5), scale]() mutable {
    return static_cast<float>(scale * std::normal_distribution<double>()(random));
  };
}
std::function<float()> of_all_sizes(int most) {
  return [random = std::mt19937(6), most]() mutable {
    const double number = std::normal_distribution<double>()(random);
    return static_cast<float>(
        std::ldexp(number, std::uniform_int_distribution(-most, most)(random)));
  };
}

TEST(SplitKernel, IsAsNearAsF32) {
  if (!split()) GTEST_SKIP() << "no tiles";
  for (int64_t k : {1, 31, 32, 100, 512, 513, 3000}) {
    expect_near({k, normal(1), normal(1)});
    expect_near({k, of_all_sizes(25), of_all_sizes(25)});
    expect_near({k, normal(1e17), normal(1e17)});
  }
}

// Their parts would be subnormal, or the sums are.
TEST(SplitKernel, KeepsSmallNumbersAndSums) {
  if (!split()) GTEST_SKIP() << "no tiles";
  expect_near({40, normal(1e-33), normal(1e12)});
  expect_near({600, normal(1e-16), normal(1e-15)});
  Operands one_hot(600, [] { return 0.0f; }, normal(1e-31));
  for (int64_t i = 0; i < m; ++i) one_hot.left(i, 8 * i) = 1;
  const std::vector<float> product = one_hot.product(split());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      ASSERT_EQ(product[static_cast<size_t>(i * n + j)], one_hot.right(j, 8 * i));
}

// Each in its own rows or columns of blocks, at the first and at a later depth.
TEST(SplitKernel, InfinitiesAndNaNsAreThoseOfF32) {
  if (!split()) GTEST_SKIP() << "no tiles";
  for (float special : {infinity, -infinity, NAN, 0x1.fffffep127f})
    for (int64_t t : {0, 599}) {
      Operands given(600, normal(1), normal(1));
      given.left(3, t) = special;
      given.right(80, t) = 0;
      const std::vector<float> got = given.product(split()), want = given.product(plain());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i])) << special << ' ' << i;
        ASSERT_EQ(std::isinf(got[i]), std::isinf(want[i])) << special << ' ' << i;
      }
    }
}

TEST(SplitKernel, ZerosAreZeros) {
  if (!split()) GTEST_SKIP() << "no tiles";
  const Operands given(100, [] { return 0.0f; }, normal(1));
  for (float sum : given.product(split())) ASSERT_EQ(sum, 0.0f);
}

}  // namespace
}  // namespace hilo::test
