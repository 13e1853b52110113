// fft of every kind of length, against the sums that define it.
#include <cmath>
#include <complex>
#include <numbers>

#include "kernels/fft/fft_transform.h"
#include "wave.h"

namespace hilo::test {
namespace {

using Number = std::complex<long double>;
using Complex = std::vector<Number>;

Number root(int64_t k, int64_t n) {
  const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) /
                            static_cast<long double>(n);
  return {cosl(angle), sinl(angle)};
}

// Along one dimension: sign -1 forward, 1 inverse and divided by its size.
void transform(const Dims& dims, size_t dim, int sign, Complex& values) {
  const int64_t n = dims[dim], step = row_major_strides(dims)[dim];
  Complex roots;
  for (int64_t k = 0; k < n; ++k) roots.push_back(root(k * (n + sign) % n, n));
  Complex line(n);
  for (int64_t i = 0; i < static_cast<int64_t>(values.size()) / n; ++i) {
    Number* first = values.data() + i / step * step * n + i % step;
    for (int64_t k = 0; k < n; ++k) {
      line[k] = 0;
      for (int64_t t = 0; t < n; ++t) line[k] += first[t * step] * roots[k * t % n];
      if (sign > 0) line[k] /= static_cast<long double>(n);
    }
    for (int64_t k = 0; k < n; ++k) first[k * step] = line[k];
  }
}

std::string joined(std::span<const int64_t> dims) {
  std::string out;
  for (int64_t size : dims)
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ",", size);
  return out;
}

// As flat as the transform of noise: a value is of the size of the others.
double noise(int64_t i) {
  auto bits = static_cast<uint64_t>(i + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 32) * 0xbf58476d1ce4e5b9;
  return static_cast<double>(bits >> 40) / (1 << 24) - 0.5;
}

// All types over the last `count` dimensions: FFT, its inverse, and the real ones.
std::string program(const std::string& real, const std::string& complex, const Dims& dims,
                    int64_t count) {
  Dims half = dims;
  half.back() = dims.back() / 2 + 1;
  const std::string all = joined(dims), halved = joined(half);
  const std::string length = joined(std::span(dims).last(count));
  return module_of(fmt::format(
      "  x = {0}[{2}] parameter(0)\n  w = {0}[{2}] parameter(1)\n  c = {1}[{2}] complex(x, w)\n"
      "  f = {1}[{2}] fft(c), fft_type=FFT, fft_length={{{4}}}\n"
      "  i = {1}[{2}] fft(c), fft_type=IFFT, fft_length={{{4}}}\n"
      "  h = {1}[{3}] fft(x), fft_type=RFFT, fft_length={{{4}}}\n"
      "  b = {0}[{2}] fft(h), fft_type=IRFFT, fft_length={{{4}}}\n"
      "  fr = {0}[{2}] real(f)\n  fi = {0}[{2}] imag(f)\n  ir = {0}[{2}] real(i)\n"
      "  ii = {0}[{2}] imag(i)\n  hr = {0}[{3}] real(h)\n  hi = {0}[{3}] imag(h)\n"
      "  ROOT t = ({0}[{2}], {0}[{2}], {0}[{2}], {0}[{2}], {0}[{3}], {0}[{3}], {0}[{2}]) "
      "tuple(fr, fi, ir, ii, hr, hi, b)\n",
      real, complex, all, halved, length));
}

template <class T>
std::vector<Literal> inputs(const Dims& dims) {
  std::vector<T> x, w;
  for (int64_t i = 0; i < element_count(dims); ++i)
    x.push_back(static_cast<T>(noise(i))), w.push_back(static_cast<T>(noise(3 * i + 1)));
  return {Literal::from<T>(dims, x), Literal::from<T>(dims, w)};
}

void append(const Complex& values, Numbers& out) {
  for (const Number& value : values) out.push_back(static_cast<double>(value.real()));
  for (const Number& value : values) out.push_back(static_cast<double>(value.imag()));
}

// What the program gives, in its order.
Numbers expected(const Dims& dims, int64_t count, const std::vector<Literal>& given) {
  Numbers out;
  Complex both, real;
  for (int64_t i = 0; i < element_count(dims); ++i) {
    both.emplace_back(given[0].number_at(i), given[1].number_at(i));
    real.emplace_back(given[0].number_at(i));
  }
  Complex forward = both, back = both, spectrum = real, half;
  for (size_t d = dims.size() - count; d < dims.size(); ++d) {
    transform(dims, d, -1, forward), transform(dims, d, 1, back);
    transform(dims, d, -1, spectrum);
  }
  for (size_t i = 0; i < spectrum.size(); ++i)
    if (static_cast<int64_t>(i) % dims.back() <= dims.back() / 2) half.push_back(spectrum[i]);
  append(forward, out), append(back, out), append(half, out);
  for (const Number& value : real) out.push_back(static_cast<double>(value.real()));
  return out;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// No error is above 24 units of rounding of what its transform has as root mean square, sums of
// primes and convolutions included; those of XLA come to 13 for a prime length.
void expect_transforms(const Dims& dims, int64_t count) {
  SCOPED_TRACE(fmt::format("[{}], last {}", joined(dims), count));
  const auto all = static_cast<size_t>(element_count(dims));
  const size_t half = all / dims.back() * (dims.back() / 2 + 1);
  const auto compare = [&](const Numbers& got, const Numbers& want, double unit) {
    ASSERT_EQ(got.size(), want.size());
    size_t i = 0;
    for (const size_t size : {2 * all, 2 * all, 2 * half, all}) {
      const double tolerance = 24 * unit * root_mean_square(std::span(want).subspan(i, size));
      for (const size_t end = i + size; i < end; ++i)
        ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
    }
  };
  const auto narrow = inputs<float>(dims), wide = inputs<double>(dims);
  compare(run_one(program("f64", "c128", dims, count), wide), expected(dims, count, wide), 0x1p-53);
  compare(run_one(program("f32", "c64", dims, count), narrow), expected(dims, count, narrow),
          0x1p-24);
}

TEST(FftLengths, PowersProductsAndPrimes) {
  for (int64_t n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13,  14,
                    15, 16, 22, 25, 30, 32, 49, 60, 64, 66, 97, 98, 100, 105})
    expect_transforms({3, n}, 1);
  for (int64_t n : {127, 128, 131, 194, 210, 211, 240, 256, 343, 500, 512})
    expect_transforms({n}, 1);
}

// Lines that do not lie side by side, and more or fewer of them than are transformed at once.
TEST(FftLengths, SeveralDimensions) {
  expect_transforms({5, 12}, 2);
  expect_transforms({2, 6, 7, 10}, 3);
  expect_transforms({70, 3}, 2);
  expect_transforms({11, 64}, 2);
  expect_transforms({9, 16, 16}, 2);
  expect_transforms({1, 1, 1}, 3);
  expect_transforms({37, 45}, 1);
  expect_transforms({33, 5, 11}, 2);
  expect_transforms({512, 3}, 2);
  expect_transforms({17, 127}, 1);
  expect_transforms({17, 48}, 1);
  expect_transforms({17, 128}, 1);
  expect_transforms({17, 256}, 1);
  expect_transforms({256, 5}, 2);
  expect_transforms({17, 131}, 1);
}

// A line so long that threads share it: the transform of an impulse is a root of unity's powers.
TEST(FftLengths, LongLines) {
  for (const int64_t n : {int64_t{1} << 16, int64_t{60000}, int64_t{32771}}) {
    std::vector<double> x(n, 0), w(n, 0);
    x[5] = 1;
    const std::string text =
        module_of(fmt::format("  x = f64[{0}] parameter(0)\n  w = f64[{0}] parameter(1)\n"
                              "  c = c128[{0}] complex(x, w)\n"
                              "  f = c128[{0}] fft(c), fft_type=FFT, fft_length={{{0}}}\n"
                              "  r = f64[{0}] real(f)\n  i = f64[{0}] imag(f)\n"
                              "  ROOT t = (f64[{0}], f64[{0}]) tuple(r, i)\n",
                              n));
    const std::vector<Literal> given = {Literal::from<double>({n}, x),
                                        Literal::from<double>({n}, w)};
    const Numbers got = run_one(text, given, {.threads = 1});
    ASSERT_EQ(got.size(), static_cast<size_t>(2 * n));
    for (int64_t k = 0; k < n; ++k) {
      const Number want = std::conj(root(5 * k, n));
      ASSERT_NEAR(got[k], static_cast<double>(want.real()), 2e-14) << n << " at " << k;
      ASSERT_NEAR(got[n + k], static_cast<double>(want.imag()), 2e-14) << n << " at " << k;
    }
    EXPECT_EQ(run_one(text, given, {.threads = 3}), got);
  }
}

TEST(FftLengths, SameBitsForAnyThreads) {
  const Dims dims = {37, 96};
  const std::string text = program("f32", "c64", dims, 2);
  const Numbers one = run_one(text, inputs<float>(dims), {.threads = 1});
  EXPECT_EQ(run_one(text, inputs<float>(dims), {.threads = 2}), one);
  EXPECT_EQ(run_one(text, inputs<float>(dims), {.threads = 7}), one);
}

// Vectors of rows would lie in two cache lines each.
TEST(FftPlanes, BeginWithACacheLine) {
  for (const int64_t count : {1, 17, 64, 1000}) {
    PackedMemory memory;
    float* const all = take_numbers<float>(memory, 2 * planes_size<float>(count));
    float* next = all;
    const Planes<float> first = take_planes(next, count), second = take_planes(next, count);
    EXPECT_EQ(next, all + 2 * planes_size<float>(count));
    const float* const planes[] = {first.re, first.im, second.re, second.im, next};
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(planes[i]) % 64, 0u) << count;
      EXPECT_GE(planes[i + 1] - planes[i], count);
    }
  }
}

TEST(FftLengths, NoElements) {
  EXPECT_EQ(run_one(module_of("  x = f32[3,0] parameter(0)\n"
                              "  y = c64[3,0] fft(x), fft_type=RFFT, fft_length={0}\n"
                              "  ROOT r = f32[3,0] real(y)\n"),
                    {f32({3, 0}, {})}),
            Numbers{});
}

}  // namespace
}  // namespace hilo::test
