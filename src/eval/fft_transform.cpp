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

template <class T>
int64_t round_up(int64_t n) {
  return (n + fft_lanes<T> - 1) / fft_lanes<T> * fft_lanes<T>;
}

// The radices of a length without prime factors above 7. Two passes of 4 are faster than 8 and 2.
std::vector<int64_t> radices_of(int64_t n) {
  int64_t twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  const int64_t fours = twos % 3 == 1 && twos > 3 ? 2 : twos % 3 == 2 ? 1 : 0;
  std::vector<int64_t> out((twos - 2 * fours) / 3, 8);
  out.insert(out.end(), fours, 4);
  if (twos == 1) out.push_back(2);
  for (int64_t radix : {3, 5, 7})
    for (; n % radix == 0; n /= radix) out.push_back(radix);
  return out;
}

template <class T>
std::vector<FftPass<T>> passes_of(int64_t n) {
  std::vector<FftPass<T>> out;
  int64_t rest = n, stride = 1;
  for (int64_t radix : radices_of(n)) {
    FftPass<T> pass{radix, rest / radix, stride, {}};
    for (int64_t p = 0; p < pass.groups; ++p)
      for (int64_t k = 1; k < radix; ++k) append(pass.roots, root_of_unity(-(p * k), rest));
    out.push_back(std::move(pass));
    rest /= radix, stride *= radix;
  }
  return out;
}

RootOfUnity product(const RootOfUnity& a, const RootOfUnity& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

}  // namespace

// x[t * columns + c] of a line: transforms of the columns, which give row k, times w^(k c), and of
// the rows, which give X[k + rows * j].
template <class T>
struct FourierTransform<T>::Matrix {
  static constexpr int64_t lanes = fft_lanes<T>;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), down(passes_of<T>(rows)), across(passes_of<T>(columns)) {
    const int64_t n = rows * columns;
    std::vector<RootOfUnity> inner;
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t c = 0; c < lanes; ++c) inner.push_back(root_of_unity(-(k * c), n));
    for (int64_t c = 0; c < columns; c += lanes)
      for (int64_t k = 0; k < rows; ++k) {
        const RootOfUnity outer = root_of_unity(-(k * c), n);
        for (int64_t l = 0; l < lanes; ++l) append(turns, product(outer, inner[k * lanes + l]));
      }
  }

  int64_t spare() const { return planes_size<T>(round_up<T>(rows) * columns); }

  void run(Planes<T> values, T* spare, const Parallel* parallel) const {
    // Row k at [k / lanes][column][k % lanes], so that lanes of rows lie ready side by side.
    const Planes<T> turned = take_planes(spare, round_up<T>(rows) * columns);
    const auto pieces = [&](int64_t count, int64_t length, const auto& body) {
      if (!parallel) return body(int64_t{0}, count);
      (*parallel)(count, std::max<int64_t>(1, 4096 / length), body);
    };
    pieces(round_up<T>(columns) / lanes, rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_columns(i, values, turned);
    });
    pieces(round_up<T>(rows) / lanes, columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_rows(i, turned, values);
    });
  }

  // Of the last block more is read than the columns, and not used.
  void run_columns(int64_t block, Planes<T> values, Planes<T> turned) const {
    T* memory = kept_memory<FftMemory::Block, T>(2 * planes_size<T>(rows * lanes));
    const Planes<T> one = take_planes(memory, rows * lanes),
                    other = take_planes(memory, rows * lanes);
    const int64_t first = block * lanes, at = block * rows * lanes;
    const Planes<T> done =
        fft_kernels<T>().run_passes(down, values.from(first), columns, one, other);
    fft_kernels<T>().turn(done, turns.re.data() + at, turns.im.data() + at, rows,
                          std::min(lanes, columns - first), columns * lanes,
                          turned.from(first * lanes));
  }

  void run_rows(int64_t block, Planes<T> turned, Planes<T> values) const {
    T* memory = kept_memory<FftMemory::Block, T>(2 * planes_size<T>(columns * lanes));
    const Planes<T> one = take_planes(memory, columns * lanes),
                    other = take_planes(memory, columns * lanes);
    const int64_t first = block * lanes, count = std::min(lanes, rows - first);
    const Planes<T> done =
        fft_kernels<T>().run_passes(across, turned.from(first * columns), lanes, one, other);
    const auto store = [&](const T* from, T* to) {
      for (int64_t t = 0; t < columns; ++t, from += lanes, to += rows)
        if (count == lanes) std::copy_n(from, lanes, to);
        else std::copy_n(from, count, to);
    };
    store(done.re, values.re + first), store(done.im, values.im + first);
  }

  int64_t rows, columns;
  std::vector<FftPass<T>> down, across;
  Factors<T> turns;  // w^(k c) at [c / lanes][k][c % lanes]
};

// X[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t]), chirp[t] = exp(-pi i t^2 / n).
template <class T>
struct FourierTransform<T>::Convolution {
  Convolution(int64_t n, int64_t lanes)
      : n(n), lanes(lanes), size(good_length(2 * n - 1)), transform(size, lanes) {
    const int64_t step = size < long_line ? fft_lanes<double> : 1;
    const FourierTransform<double> exact(size, step);
    std::vector<double> memory(planes_size<double>(size * step) + exact.spare());
    double* spare = memory.data();
    const Planes<double> values = take_planes(spare, size * step);
    const auto scale = static_cast<double>(size);
    for (int64_t t = 0; t < n; ++t) {
      const RootOfUnity root = root_of_unity(-(t * t % (2 * n)), 2 * n);
      append(chirp, root);
      const int64_t mirrored = (size - t) % size;
      values.re[t * step] = values.re[mirrored * step] = root.re / scale;
      values.im[t * step] = values.im[mirrored * step] = -root.im / scale;
    }
    const Planes<double> done = exact.run(values, spare);
    for (int64_t k = 0; k < size; ++k) append(spectrum, {done.re[k * step], done.im[k * step]});
  }

  // to[t] = from[t] * factors[t], of each line.
  void multiply(Planes<T> from, const Factors<T>& factors, Planes<T> to) const {
    const FftKernels<T>& kernels = fft_kernels<T>();
    (lanes == 1 ? kernels.multiply_line : kernels.multiply)(from, factors, to);
  }

  int64_t spare() const { return planes_size<T>(size * lanes) + transform.spare(); }
  void run(Planes<T> values, T* spare, const Parallel* parallel) const {
    const Planes<T> work = take_planes(spare, size * lanes);
    multiply(values, chirp, work);
    std::fill(work.re + n * lanes, work.re + size * lanes, T());
    std::fill(work.im + n * lanes, work.im + size * lanes, T());
    multiply(transform.run(work, spare, parallel), spectrum, work);
    const Planes<T> back = transform.run(work.exchanged(), spare, parallel).exchanged();
    multiply(back, chirp, values);
  }

  int64_t n, lanes, size;
  FourierTransform<T> transform;
  Factors<T> chirp, spectrum;
};

template <class T>
FourierTransform<T>::FourierTransform(int64_t n, int64_t lanes) : n_(n), lanes_(lanes) {
  if (!has_small_factors(n)) {
    convolution_ = std::make_shared<Convolution>(n, lanes);
  } else if (lanes == 1) {
    const int64_t rows = largest_divisor(n);
    matrix_ = std::make_shared<Matrix>(rows, n / rows);
  } else {
    passes_ = passes_of<T>(n);
  }
}

template <class T>
int64_t FourierTransform<T>::spare() const {
  if (convolution_) return convolution_->spare();
  if (matrix_) return matrix_->spare();
  return planes_size<T>(n_ * lanes_);
}

template <class T>
Planes<T> FourierTransform<T>::run(Planes<T> values, T* spare, const Parallel* parallel) const {
  if (!convolution_ && !matrix_)
    return fft_kernels<T>().run_passes(passes_, values, lanes_, take_planes(spare, n_ * lanes_),
                                       values);
  convolution_ ? convolution_->run(values, spare, parallel) : matrix_->run(values, spare, parallel);
  return values;
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace hilo
