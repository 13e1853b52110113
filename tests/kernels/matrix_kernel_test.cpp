// Every kernel that this machine has, not only its best: products of whole numbers, which all sums
// hold exactly, against plain loops.
#include "kernels/gemm/matrix_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <thread>

#include "kernels/gemm/matrix_product.h"
#include "kernels/packed_memory.h"

namespace hilo::test {
namespace {

struct Sizes {
  int64_t m, n, k;
};
constexpr Sizes sizes[] = {{1, 1, 1},       {1, 70, 5},     {3, 33, 0},      {14, 32, 64},
                           {13, 47, 67},    {29, 16, 2053}, {150, 90, 301},  {99, 150, 1700},
                           {290, 5, 2100},  {61, 64, 770},  {20, 33, 17},    {40, 3, 130},
                           {61, 8, 4200},   {99, 7, 1024},  {30, 200, 40},   {77, 250, 512},
                           {125, 1000, 20}, {2150, 40, 9},  {40, 200, 303},  {2150, 1050, 9},
                           {300, 800, 70},  {37, 850, 800}, {290, 400, 300}, {290, 200, 300}};

// Runs: tables of neighbours, eleven at a time. Pairs: of the rows or columns two are neighbours.
enum class Order { Rows, Columns, Neither, Tables, Runs, Pairs };

// A matrix of whole numbers in [least, most], its elements where `order` says.
template <class T>
struct Matrix {
  int64_t outer, inner;
  std::vector<T> data;
  std::vector<int64_t> outers, inners;
  bool has_tables;

  Matrix(int64_t count, int64_t k, Order order, int least, int most, std::mt19937& random)
      : outer(order == Order::Columns   ? 1
              : order == Order::Neither ? 2 * k + 2
                                        : k),
        inner(order == Order::Columns   ? count
              : order == Order::Neither ? 2
                                        : 1),
        data(static_cast<size_t>((2 * k + 2) * count + 2)),
        has_tables(order == Order::Tables || order == Order::Runs || order == Order::Pairs) {
    for (T& value : data)
      value = static_cast<T>(least + static_cast<int>(random() % (most - least + 1)));
    for (int64_t i = 0; i < count; ++i)
      outers.push_back(order == Order::Pairs ? i / 2 * (2 * k + 2) + i % 2 : i * outer);
    for (int64_t t = 0; t < k; ++t)
      inners.push_back(order == Order::Runs    ? t + t / 11 * 3
                       : order == Order::Pairs ? 2 * t
                       : has_tables            ? (t + 1) / 2 * 2
                                               : t * inner);
  }
  MatrixSource source() const {
    if (has_tables) return {data.data(), element_type<T>, 0, 0, outers.data(), inners.data()};
    return {data.data(), element_type<T>, outer, inner};
  }
  T at(int64_t i, int64_t t) const {
    return data[static_cast<size_t>(outers[static_cast<size_t>(i)] +
                                    inners[static_cast<size_t>(t)])];
  }
};

void two_threads(int64_t count, int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& body) {
  const int64_t half = (count + 1) / 2;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += grain) body(i, std::min(end, i + grain));
  };
  std::thread other([&] { run(half, count); });
  run(0, half);
  other.join();
}

template <class Sum, class L, class R>
void expect_product(const MatrixKernel* kernel, const Sizes& size, const Matrix<L>& lhs,
                    const Matrix<R>& rhs, const std::vector<Sum>& want) {
  std::vector<Sum> out(want.size(), Sum(7)), other = out;
  MatrixProduct product{kernel,       size.m,       size.n,     size.k,
                        lhs.source(), rhs.source(), out.data(), size.n + 3};
  run_matrix_product(product);
  ASSERT_EQ(out, want) << size.m << 'x' << size.k << 'x' << size.n;
  product.out = other.data();
  for (int threads : {2, 16}) {  // as many are there; two work
    std::ranges::fill(other, Sum(7));
    run_matrix_product(product, {threads, two_threads});
    ASSERT_EQ(other, want) << size.m << 'x' << size.k << 'x' << size.n;
  }
}

template <class L, class R, class Sum>
void expect_exact(int least, int most, int rhs_least, int rhs_most) {
  std::mt19937 random(3);
  const auto kernels = matrix_kernels(element_type<Sum>, element_type<L>, element_type<R>);
  ASSERT_TRUE(kernels[0]);
  for (const Sizes& size : sizes)
    for (Order order :
         {Order::Rows, Order::Columns, Order::Neither, Order::Tables, Order::Runs, Order::Pairs}) {
      const Matrix<L> lhs(size.m, size.k, order, least, most, random);
      const Matrix<R> rhs(size.n, size.k, order, rhs_least, rhs_most, random);
      const int64_t leading = size.n + 3;  // what stands behind the columns stays
      std::vector<Sum> want(static_cast<size_t>(size.m * leading), Sum(7));
      for (int64_t i = 0; i < size.m; ++i)
        for (int64_t j = 0; j < size.n; ++j) {
          double sum = 0;
          for (int64_t t = 0; t < size.k; ++t)
            sum += static_cast<double>(lhs.at(i, t)) * static_cast<double>(rhs.at(j, t));
          want[static_cast<size_t>(i * leading + j)] = static_cast<Sum>(sum);
        }
      for (const MatrixKernel* kernel : kernels)
        if (kernel) expect_product<Sum>(kernel, size, lhs, rhs, want);
      if constexpr (std::is_same_v<Sum, float>)
        if (const MatrixKernel* split = split_kernel(element_type<L>, element_type<R>))
          expect_product<Sum>(split, size, lhs, rhs, want);
    }
}

TEST(MatrixKernel, RealNumbers) {
  expect_exact<float, float, float>(-9, 9, -9, 9);
  expect_exact<float, float, float>(-3999, 3999, -1, 1);  // more than bf16 holds
  expect_exact<float, float, float>(-1, 1, -3999, 3999);
  expect_exact<double, double, double>(-999, 999, -999, 999);
}
TEST(MatrixKernel, NarrowRealNumbers) {
  expect_exact<BF16, F16, float>(-9, 9, -9, 9);
  expect_exact<BF16, BF16, float>(-9, 9, -9, 9);
  expect_exact<int8_t, uint8_t, float>(-9, 9, 0, 9);
  expect_exact<float, double, double>(-9, 9, -999, 999);
}
TEST(MatrixKernel, BytesOfEverySign) {
  expect_exact<int8_t, int8_t, int32_t>(-128, 127, -128, 127);
  expect_exact<uint8_t, int8_t, int32_t>(0, 255, -128, 127);
  expect_exact<int8_t, uint8_t, int32_t>(-128, 127, 0, 255);
  expect_exact<uint8_t, uint8_t, int32_t>(0, 255, 0, 255);
  expect_exact<int8_t, int8_t, int32_t>(-128, -128, -128, -128);
  expect_exact<S4, U4, int32_t>(-8, 7, 0, 15);
}
TEST(MatrixKernel, LongerIntegers) {
  expect_exact<int16_t, int16_t, int32_t>(-1000, 1000, -1000, 1000);
  expect_exact<uint16_t, int32_t, int32_t>(0, 40000, -20, 20);
}
TEST(MatrixKernel, IntegersWrap) {
  const std::vector<int16_t> values(64, -32768);
  for (const MatrixKernel* kernel :
       matrix_kernels(ElementType::S32, ElementType::S16, ElementType::S16)) {
    if (!kernel) continue;
    int32_t out[1] = {};
    const MatrixSource source{values.data(), ElementType::S16, 64, 1};
    run_matrix_product({kernel, 1, 1, 3, source, source, out, 1});  // 3 * 2^30
    EXPECT_EQ(out[0], -1073741824);
  }
}

// A block of each size, from packed rows and from rows where they stand, before and after which
// other sums stand.
template <class T>
void expect_block(const MatrixKernel& kernel, int64_t rows, int64_t columns, bool add) {
  constexpr int64_t k = 21, leading = 51;
  std::mt19937 random(7);
  const Matrix<T> lhs(rows, k, Order::Rows, -9, 9, random);
  const Matrix<T> rhs(columns, k, Order::Columns, -9, 9, random);
  PackedMemory memory;
  const int64_t of_rows = kernel.row_step * (k + 1) * kernel.bytes / 64 * 64 + 64;
  std::byte* a = memory.take(of_rows + kernel.columns * k * kernel.bytes);
  std::byte* b = a + of_rows;
  const MatrixSource left = lhs.source(), right = rhs.source();
  kernel.pack_rows({left, 0, rows, 0, k}, a);
  kernel.pack_columns({right, 0, columns, 0, k}, k, b);
  std::vector<T> want(static_cast<size_t>((rows + 2) * leading), T(5));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      T& sum = want[static_cast<size_t>((i + 1) * leading + j + 1)];
      if (!add) sum = 0;
      for (int64_t t = 0; t < k; ++t) sum += lhs.at(i, t) * rhs.at(j, t);
    }
  std::vector<T> out(want.size(), T(5));
  kernel.run({a, b, k, rows, columns, &out[leading + 1], leading, add});
  ASSERT_EQ(out, want) << rows << 'x' << columns << (add ? " added" : "");
  if (rows > kernel.unpacked_rows) return;
  out.assign(want.size(), T(5));
  kernel.run_unpacked({lhs.data.data(), b, k, rows, columns, &out[leading + 1], leading, add}, k);
  ASSERT_EQ(out, want) << rows << 'x' << columns << (add ? " added" : "") << " standing";
}
TEST(MatrixKernel, BlocksOfEverySize) {
  const auto expect_all = []<class T>(std::type_identity<T>) {
    constexpr ElementType type = element_type<T>;
    for (const MatrixKernel* kernel : matrix_kernels(type, type, type))
      for (int64_t rows = 1; kernel && rows <= kernel->rows; ++rows)
        for (int64_t columns = 1; columns <= kernel->columns; ++columns)
          for (bool add : {false, true}) expect_block<T>(*kernel, rows, columns, add);
  };
  expect_all(std::type_identity<float>());
  expect_all(std::type_identity<double>());
}

// Packed memory is kept from one product to the next: what stood there meets no sum of the next.
TEST(MatrixKernel, NothingIsLeftOfAnotherProduct) {
  constexpr int64_t side = 40;
  const std::vector<BF16> nans(side * side, BF16(NAN)), ones(side * side, BF16(1));
  for (const MatrixKernel* kernel :
       matrix_kernels(ElementType::F32, ElementType::BF16, ElementType::BF16))
    for (int64_t k = 1; kernel && k < side; ++k) {
      std::vector<float> out(side * side);
      for (const auto* values : {&nans, &ones}) {
        const MatrixSource source{values->data(), ElementType::BF16, side, 1};
        const int64_t depth = values == &nans ? side : k;
        run_matrix_product({kernel, side, side, depth, source, source, out.data(), side});
      }
      for (float sum : out) ASSERT_EQ(sum, static_cast<float>(k));
    }
}

// Ties, largest numbers, infinities and NaNs among them, at every rest of a vector.
template <class T, class Store>
void expect_rounded(Store store) {
  std::mt19937 random(5);
  std::vector<float> in;
  for (uint32_t high : {0x3f80, 0x3f81, 0x7f7f, 0x7f80, 0x0000, 0x477f, 0x3880})
    for (uint32_t low : {0x0000, 0x1000, 0x7fff, 0x8000, 0x8001, 0xf000, 0xffff})
      for (uint32_t sign : {0, 1})
        in.push_back(std::bit_cast<float>(sign << 31 | high << 16 | low));
  for (int i = 0; i < 1000; ++i)
    in.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (int64_t count : {1, 3, 7, 8, 9, 15, 31, 1000}) {
    std::vector<T> out(static_cast<size_t>(count) + 1);
    if (!store(in.data(), count, element_type<T>, out.data())) return;
    for (int64_t i = 0; i <= count; ++i) {
      const auto at = static_cast<size_t>(i);
      const T want = i < count ? T(in[at]) : T();
      const auto found = static_cast<float>(out[at]), wanted = static_cast<float>(want);
      EXPECT_TRUE(found == wanted || (found != found && wanted != wanted)) << in[at];
    }
  }
}
TEST(MatrixKernel, RoundsWhatItStores) {
  expect_rounded<BF16>(store_rounded_avx512);
  expect_rounded<BF16>(store_rounded_avx2);
  expect_rounded<F16>(store_rounded_avx512);
  expect_rounded<F16>(store_rounded_avx2);
}

}  // namespace
}  // namespace hilo::test
