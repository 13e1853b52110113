// QR by reflections: Q R is the matrix and Q' Q is one, whatever the shape and the range.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/kernels.h"

namespace hilo {
namespace {

template <class T>
struct Aligned {
  explicit Aligned(int64_t count)
      : memory(static_cast<size_t>(count) * sizeof(T) + 64),
        data(reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64)) {}
  std::vector<std::byte> memory;
  T* data;
};

template <class T>
T number(int64_t i) {
  return static_cast<T>((i * 2654435761u >> 7) % 2001) / T(1000) - 1;
}

// The largest error of Q' A against R, and of Q Q' A against A, as parts of the largest element.
template <class T>
void expect_factors(int64_t rows, int64_t columns, T scale) {
  std::vector<T> matrix(rows * columns);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = number<T>(static_cast<int64_t>(i)) * scale;
  const int64_t least = std::min(rows, columns);
  Aligned<T> space(reflection_space<T>(rows, std::max(rows, columns)));
  std::vector<T> factors = matrix, scales(least), product = matrix, q(rows * least);
  factor_qr(rows, columns, factors.data(), scales.data(), space.data);
  const Reflections<T> reflections{rows, least, columns, factors.data(), scales.data()};
  reflections.multiply(true, columns, product.data(), space.data);
  const T tolerance = 100 * std::numeric_limits<T>::epsilon() * scale;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_NEAR(product[i * columns + j], j < i ? T(0) : factors[i * columns + j], tolerance)
          << rows << " x " << columns << " at " << i << "," << j;
  reflections.multiply(false, columns, product.data(), space.data);
  for (size_t i = 0; i < matrix.size(); ++i) ASSERT_NEAR(product[i], matrix[i], tolerance);
  reflections.join(least, q.data(), space.data);
  for (int64_t a = 0; a < least; ++a)
    for (int64_t b = 0; b < least; ++b) {
      T sum = 0;
      for (int64_t i = 0; i < rows; ++i) sum += q[i * least + a] * q[i * least + b];
      ASSERT_NEAR(sum, a == b ? 1 : 0, 100 * std::numeric_limits<T>::epsilon());
    }
}

TEST(Reflectors, FactorMatricesOfManyShapes) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {1, 7}, {2, 2}, {44, 4}, {5, 9}, {130, 33}, {67, 67}, {16, 100}, {301, 3}}) {
    expect_factors<float>(rows, columns, 1);
    expect_factors<double>(rows, columns, 1);
  }
}

// Squares of such elements are infinite or 0.
TEST(Reflectors, NeedNoSquaresInRange) {
  for (float scale : {1e30F, 1e-30F}) expect_factors<float>(20, 6, scale);
  for (double scale : {1e250, 1e-250}) expect_factors<double>(20, 6, scale);
}

// LAPACK leaves a column that is zero below its diagonal as it is.
TEST(Reflectors, LeaveTriangles) {
  const std::vector<double> triangle = {-3, 1, 4, 0, 2, 5, 0, 0, 0, 0, 0, 0};
  std::vector<double> factors = triangle, scales(3, 7);
  Aligned<double> space(reflection_space<double>(4, 3));
  factor_qr(4, 3, factors.data(), scales.data(), space.data);
  EXPECT_EQ(factors, triangle);
  EXPECT_EQ(scales, std::vector<double>(3, 0));
}

}  // namespace
}  // namespace hilo
