#include "eval/fft_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hilo {

// With an angle of at most an eighth of the circle, where sin and cos are most exact.
RootOfUnity root_of_unity(int64_t numerator, int64_t denominator) {
  int64_t rest = numerator % denominator;
  if (rest < 0) rest += denominator;
  const bool is_below = rest > denominator - rest;
  if (is_below) rest = denominator - rest;
  const bool is_left = 4 * rest > denominator;
  // In 4 * denominator parts of the circle, so that a quarter is whole.
  int64_t part = 4 * rest;
  if (is_left) part = 2 * denominator - part;
  const bool is_steep = 2 * part > denominator;
  if (is_steep) part = denominator - part;
  const double angle =
      std::numbers::pi / 2 * static_cast<double>(part) / static_cast<double>(denominator);
  double re = std::cos(angle), im = std::sin(angle);
  if (is_steep) std::swap(re, im);
  return {is_left ? -re : re, is_below ? -im : im};
}

namespace {

bool has_small_factors(int64_t n) {
  for (int64_t prime : {2, 3, 5, 7})
    while (n % prime == 0) n /= prime;
  return n == 1;
}

// The least of 2^a, 3 * 2^a, 5 * 2^a and 9 * 2^a that is not below n.
int64_t good_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t length : {1, 3, 5, 9}) {
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

int64_t largest_divisor(int64_t n) {  // not above its root
  int64_t out = 1;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) out = d;
  return out;
}

int64_t round_up(int64_t n) { return (n + fft_lanes - 1) / fft_lanes * fft_lanes; }

}  // namespace

Planes take_planes(double*& memory, int64_t count) {
  const Planes out{memory, memory + count + fft_lanes};
  memory += planes_size(count);
  return out;
}

// x[t * columns + c] of a line: transforms of the columns, which give row k, times w^(k c), and of
// the rows, which give X[k + rows * j].
struct FourierTransform::Matrix {
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), down(rows, fft_lanes), across(columns, fft_lanes) {
    const int64_t n = rows * columns;
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t c = 0; c < fft_lanes; ++c) inner.push_back(root_of_unity(-(k * c), n));
    for (int64_t c = 0; c < columns; c += fft_lanes)
      for (int64_t k = 0; k < rows; ++k) outer.push_back(root_of_unity(-(k * c), n));
  }

  void run(Planes values, double* spare, const Parallel* parallel) const {
    // Row k at [k / lanes][column][k % lanes], so that lanes of rows lie ready side by side.
    const Planes turned = take_planes(spare, round_up(rows) * columns);
    const auto pieces = [&](int64_t count, int64_t length, const auto& body) {
      if (!parallel) return body(int64_t{0}, count);
      (*parallel)(count, std::max<int64_t>(1, 4096 / length), body);
    };
    pieces((columns + fft_lanes - 1) / fft_lanes, rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_columns(i, values, turned);
    });
    pieces((rows + fft_lanes - 1) / fft_lanes, columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_rows(i, turned, values);
    });
  }

  void run_columns(int64_t block, Planes values, Planes turned) const {
    double* memory = kept_memory<FftMemory::Block>(planes_size(rows * fft_lanes) + down.spare());
    const Planes lines = take_planes(memory, rows * fft_lanes);
    const int64_t first = block * fft_lanes, count = std::min(fft_lanes, columns - first);
    const auto load = [&](const double* from, double* to) {
      for (int64_t t = 0; t < rows; ++t)
        for (int64_t l = 0; l < fft_lanes; ++l)
          to[t * fft_lanes + l] = l < count ? from[t * columns + first + l] : 0;
    };
    load(values.re, lines.re), load(values.im, lines.im);
    const Planes done = down.run(lines, memory);
    const RootOfUnity* turn = outer.data() + block * rows;
    for (int64_t k = 0; k < rows; ++k) {
      double re[fft_lanes], im[fft_lanes];
      for (int64_t l = 0; l < fft_lanes; ++l) {
        const RootOfUnity& more = inner[k * fft_lanes + l];
        const double a = turn[k].re * more.re - turn[k].im * more.im;
        const double b = turn[k].re * more.im + turn[k].im * more.re;
        const double x = done.re[k * fft_lanes + l], y = done.im[k * fft_lanes + l];
        re[l] = x * a - y * b, im[l] = x * b + y * a;
      }
      const int64_t at = (k / fft_lanes * columns + first) * fft_lanes + k % fft_lanes;
      for (int64_t l = 0; l < count; ++l)
        turned.re[at + l * fft_lanes] = re[l], turned.im[at + l * fft_lanes] = im[l];
    }
  }

  void run_rows(int64_t block, Planes turned, Planes values) const {
    double* memory = kept_memory<FftMemory::Block>(across.spare());
    const int64_t first = block * fft_lanes, count = std::min(fft_lanes, rows - first);
    const Planes lines{turned.re + first * columns, turned.im + first * columns};
    for (int64_t t = 0; t < columns && count < fft_lanes; ++t)
      for (int64_t l = count; l < fft_lanes; ++l)
        lines.re[t * fft_lanes + l] = lines.im[t * fft_lanes + l] = 0;
    const Planes done = across.run(lines, memory);
    const auto store = [&](const double* from, double* to) {
      for (int64_t t = 0; t < columns; ++t, from += fft_lanes, to += rows)
        if (count == fft_lanes) std::copy_n(from, fft_lanes, to);
        else std::copy_n(from, count, to);
    };
    store(done.re, values.re + first), store(done.im, values.im + first);
  }

  int64_t rows, columns;
  FourierTransform down, across;
  std::vector<RootOfUnity> inner, outer;  // w^(k c) for c below lanes; for each block of columns
};

// X[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t]), chirp[t] = exp(-pi i t^2 / n).
struct FourierTransform::Convolution {
  Convolution(int64_t n, int64_t lanes)
      : n(n), lanes(lanes), size(good_length(2 * n - 1)), transform(size, lanes) {
    for (int64_t t = 0; t < n; ++t) chirp.push_back(root_of_unity(-(t * t % (2 * n)), 2 * n));
    const FourierTransform one_line(size, 1);
    std::vector<double> memory(planes_size(size) + one_line.spare());
    double* spare = memory.data();
    const Planes values = take_planes(spare, size);
    const auto scale = static_cast<double>(size);
    for (int64_t t = 0; t < n; ++t) {
      const int64_t mirrored = (size - t) % size;
      values.re[t] = values.re[mirrored] = chirp[t].re / scale;
      values.im[t] = values.im[mirrored] = -chirp[t].im / scale;
    }
    const Planes done = one_line.run(values, spare);
    for (int64_t k = 0; k < size; ++k) spectrum.push_back({done.re[k], done.im[k]});
  }

  // to[t][l] = from[t][l] * factors[t]
  void multiply(Planes from, std::span<const RootOfUnity> factors, Planes to) const {
    int64_t at = 0;
    for (const RootOfUnity& factor : factors)
      for (int64_t l = 0; l < lanes; ++l, ++at) {
        const double re = from.re[at], im = from.im[at];
        to.re[at] = re * factor.re - im * factor.im;
        to.im[at] = re * factor.im + im * factor.re;
      }
  }

  int64_t spare() const { return planes_size(size * lanes) + transform.spare(); }
  void run(Planes values, double* spare, const Parallel* parallel) const {
    const Planes work = take_planes(spare, size * lanes);
    multiply(values, chirp, work);
    std::fill(work.re + n * lanes, work.re + size * lanes, 0.0);
    std::fill(work.im + n * lanes, work.im + size * lanes, 0.0);
    multiply(transform.run(work, spare, parallel), spectrum, work);
    const Planes back = transform.run(work.exchanged(), spare, parallel).exchanged();
    multiply(back, chirp, values);
  }

  int64_t n, lanes, size;
  FourierTransform transform;
  std::vector<RootOfUnity> chirp, spectrum;
};

FourierTransform::FourierTransform(int64_t n, int64_t lanes) : n_(n), lanes_(lanes) {
  constexpr int64_t long_line = 64;  // a shorter one is faster in passes
  const int64_t rows = n < long_line || lanes > 1 ? 1 : largest_divisor(n);
  if (!has_small_factors(n)) convolution_ = std::make_shared<Convolution>(n, lanes);
  else if (rows >= fft_lanes / 2) matrix_ = std::make_shared<Matrix>(rows, n / rows);
  else add_passes();
}

void FourierTransform::add_passes() {
  int64_t rest = n_, stride = 1;
  for (int64_t radix : fft_radices)
    for (; rest % radix == 0; stride *= radix) {
      FftPass pass{radix, rest / radix, stride, {}, {}};
      for (int64_t p = 0; p < pass.groups; ++p)
        for (int64_t k = 1; k < radix; ++k) {
          const RootOfUnity root = root_of_unity(-(p * k), rest);
          pass.re.push_back(root.re), pass.im.push_back(root.im);
        }
      passes_.push_back(std::move(pass));
      rest /= radix;
    }
}

int64_t FourierTransform::spare() const {
  if (convolution_) return convolution_->spare();
  if (matrix_) return planes_size(round_up(matrix_->rows) * matrix_->columns);
  return planes_size(n_ * lanes_);
}

Planes FourierTransform::run(Planes values, double* spare, const Parallel* parallel) const {
  if (!convolution_ && !matrix_)
    return run_fft_passes(passes_, lanes_, values, take_planes(spare, n_ * lanes_));
  convolution_ ? convolution_->run(values, spare, parallel) : matrix_->run(values, spare, parallel);
  return values;
}

}  // namespace hilo
