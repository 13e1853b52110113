#include "kernels/fft/fft_transform.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace hilo {
namespace {

// cos and sin of 2 pi numerator / denominator, the numerator below the denominator. With an angle
// of at most an eighth of the circle, where sin and cos are most exact.
RootOfUnity root_of_unity(int64_t numerator, int64_t denominator) {
  int64_t rest = numerator;
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

RootOfUnity product(const RootOfUnity& a, const RootOfUnity& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

bool has_factors_up_to(int64_t most, int64_t n) {
  for (int64_t factor = 2; factor <= most && n > 1; ++factor)
    while (n % factor == 0) n /= factor;
  return n == 1;
}

// The least of the multiples of 16 from n on with no prime factor above 7.
int64_t good_length(int64_t n) {
  int64_t sixteenths = (n + 15) / 16;
  while (!has_factors_up_to(7, sixteenths)) ++sixteenths;
  return 16 * sixteenths;
}

int64_t largest_divisor(int64_t n) {  // not above its root
  int64_t out = 1;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) out = d;
  return out;
}

template <class T>
int64_t round_up(int64_t n) {
  const int64_t lanes = fft_lanes<T>();
  return (n + lanes - 1) / lanes * lanes;
}

// The radices of a length without prime factors above max_fft_radix. One pass of 16 is faster than
// 4 and 4 or 8 and 2, and two of them than 8, 8 and 4. Longer lines have one at most: with less
// than AVX-512 a pass of 16 runs out of registers (4096 by three of them takes 1.1 times as long as
// by four of 8 with AVX2, 1.3 times with SSE2).
std::vector<int64_t> radices_of(int64_t n) {
  int64_t twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  const int64_t sixteens = twos == 8 ? 2 : twos > 3 && twos % 3 == 1 ? 1 : 0;
  const int64_t rest = twos - 4 * sixteens;
  std::vector<int64_t> out(rest / 3, 8);
  out.insert(out.end(), sixteens, 16);
  if (rest % 3 > 0) out.push_back(int64_t{1} << rest % 3);
  for (int64_t radix = 3; radix <= max_fft_radix; radix += 2)
    for (; n % radix == 0; n /= radix) out.push_back(radix);
  return out;
}

// Gaps need passes whose rows they part evenly.
template <class T>
void set_gaps(std::vector<FftPass<T>>& passes) {
  const bool fits = std::ranges::all_of(passes, [](const FftPass<T>& pass) {
    return pass.groups * pass.stride % fft_gap == 0 &&
           (pass.stride % fft_gap == 0 || fft_gap % (pass.radix * pass.stride) == 0);
  });
  for (size_t i = 1; fits && i < passes.size(); ++i)
    passes[i - 1].to_gapped = passes[i].from_gapped = true;
}

bool has_circle(int64_t radix) { return radix % 2 == 1 && radix > 7; }

template <class T>
std::vector<FftPass<T>> passes_of(int64_t n) {
  std::vector<FftPass<T>> out;
  const RootsOfUnity roots(n);
  int64_t rest = n, stride = 1;
  for (int64_t radix : radices_of(n)) {
    FftPass<T> pass{radix, rest / radix, stride, {}, {}};
    for (int64_t p = 0; p < pass.groups; ++p)
      for (int64_t k = 1; k < radix; ++k) append(pass.roots, roots[p * k * stride]);
    for (int64_t j = 0; has_circle(radix) && j < radix; ++j)
      append(pass.circle, roots[j * (n / radix)]);
    out.push_back(std::move(pass));
    rest /= radix, stride *= radix;
  }
  set_gaps(out);
  return out;
}

}  // namespace

RootsOfUnity::RootsOfUnity(int64_t n)
    : step_(n <= max_exact ? 1 : int64_t{1} << std::bit_width(static_cast<uint64_t>(n)) / 2) {
  for (int64_t k = 0; k < n; k += step_) coarse_.push_back(root_of_unity(k, n));
  for (int64_t k = 0; k < step_; ++k) fine_.push_back(root_of_unity(k, n));
}

RootOfUnity RootsOfUnity::operator[](int64_t k) const {
  const RootOfUnity root = step_ == 1 ? coarse_[k] : product(coarse_[k / step_], fine_[k % step_]);
  return {root.re, -root.im};
}

// x[t * columns + c] of a line: transforms of the columns, which give row k, times w^(k c), and of
// the rows, which give X[k + rows * j].
template <class T>
struct FourierTransform<T>::Matrix {
  Matrix(int64_t rows, int64_t columns)
      : lanes(fft_lanes<T>()),
        rows(rows),
        columns(columns),
        down(passes_of<T>(rows)),
        across(passes_of<T>(columns)) {
    const RootsOfUnity roots(rows * columns);
    turns.re.reserve(rows * round_up<T>(columns)), turns.im.reserve(rows * round_up<T>(columns));
    for (int64_t first = 0; first < columns; first += lanes)
      for (int64_t k = 0; k < rows; ++k)
        for (int64_t c = first; c < first + lanes; ++c)
          append(turns, roots[k * std::min(c, columns - 1)]);
  }

  int64_t spare() const { return planes_size<T>(round_up<T>(rows) * columns); }

  void run(Planes<T> values, T* spare, const Parallel* parallel) const {
    // Row k at [k / lanes][column][k % lanes], so that lanes of rows lie ready side by side.
    const Planes<T> rotated = take_planes(spare, round_up<T>(rows) * columns);
    const auto pieces = [&](int64_t count, int64_t length, const auto& body) {
      if (!parallel) return body(int64_t{0}, count);
      (*parallel)(count, std::max<int64_t>(1, 4096 / length), body);
    };
    pieces(round_up<T>(columns) / lanes, rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_columns(i, values, rotated);
    });
    pieces(round_up<T>(rows) / lanes, columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_rows(i, rotated, values);
    });
  }

  // Of the last block more is read than the columns, and not used.
  void run_columns(int64_t block, Planes<T> values, Planes<T> rotated) const {
    T* memory = kept_memory<FftMemory::Block, T>(2 * planes_size<T>(rows_with_gaps(rows) * lanes));
    const Planes<T> one = take_planes(memory, rows_with_gaps(rows) * lanes),
                    other = take_planes(memory, rows_with_gaps(rows) * lanes);
    const int64_t first = block * lanes, at = block * rows * lanes;
    const Planes<T> done =
        fft_kernels<T>().run_passes(down, values.from(first), columns, one, other);
    fft_kernels<T>().turn(done, turns.re.data() + at, turns.im.data() + at, rows,
                          std::min(lanes, columns - first), columns * lanes,
                          rotated.from(first * lanes));
  }

  void run_rows(int64_t block, Planes<T> rotated, Planes<T> values) const {
    T* memory =
        kept_memory<FftMemory::Block, T>(2 * planes_size<T>(rows_with_gaps(columns) * lanes));
    const Planes<T> one = take_planes(memory, rows_with_gaps(columns) * lanes),
                    other = take_planes(memory, rows_with_gaps(columns) * lanes);
    const int64_t first = block * lanes, count = std::min(lanes, rows - first);
    const Planes<T> done =
        fft_kernels<T>().run_passes(across, rotated.from(first * columns), lanes, one, other);
    const auto store = [&](const T* from, T* to) {
      for (int64_t t = 0; t < columns; ++t, from += lanes, to += rows)
        if (count < lanes) std::copy_n(from, count, to);
        else
          for (int64_t l = 0; l < lanes; l += min_fft_lanes<T>)
            std::copy_n(from + l, min_fft_lanes<T>, to + l);
    };
    store(done.re, values.re + first), store(done.im, values.im + first);
  }

  int64_t lanes, rows, columns;
  std::vector<FftPass<T>> down, across;
  Factors<T> turns;  // w^(k c) at [c / lanes][k][c % lanes]
};

// X[k] = chirp[k] sum over t of (x[t] chirp[t]) conj(chirp[k - t]), chirp[t] = exp(-pi i t^2 / n).
template <class T>
struct FourierTransform<T>::Convolution {
  Convolution(int64_t n, int64_t lanes)
      : n(n), lanes(lanes), size(good_length(2 * n - 1)), transform(size, lanes) {
    const int64_t step = size < long_line ? fft_lanes<double>() : 1;
    const FourierTransform<double> exact(size, step);
    std::vector<double> memory(planes_size<double>(rows_with_gaps(size) * step) + exact.spare());
    double* spare = memory.data();
    const Planes<double> values = take_planes(spare, rows_with_gaps(size) * step);
    const auto scale = static_cast<double>(size);
    const RootsOfUnity roots(2 * n);
    for (int64_t t = 0; t < n; ++t) {
      const RootOfUnity root = roots[t * t % (2 * n)];
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

  int64_t spare() const { return planes_size<T>(rows_with_gaps(size) * lanes) + transform.spare(); }
  void run(Planes<T> values, T* spare, const Parallel* parallel) const {
    const Planes<T> work = take_planes(spare, rows_with_gaps(size) * lanes);
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
  constexpr int64_t min_rows = 4;  // most of fft_lanes would be empty
  const int64_t rows = lanes == 1 ? largest_divisor(n) : min_rows;
  if (!has_factors_up_to(max_fft_radix, n) || rows < min_rows)
    convolution_ = std::make_shared<Convolution>(n, lanes);
  else if (lanes == 1) matrix_ = std::make_shared<Matrix>(rows, n / rows);
  else passes_ = passes_of<T>(n);
}

template <class T>
int64_t FourierTransform<T>::spare() const {
  if (convolution_) return convolution_->spare();
  if (matrix_) return matrix_->spare();
  return planes_size<T>(rows_with_gaps(n_) * lanes_);
}

template <class T>
Planes<T> FourierTransform<T>::run(Planes<T> values, T* spare, const Parallel* parallel) const {
  if (!convolution_ && !matrix_)
    return fft_kernels<T>().run_passes(passes_, values, lanes_,
                                       take_planes(spare, rows_with_gaps(n_) * lanes_), values);
  convolution_ ? convolution_->run(values, spare, parallel) : matrix_->run(values, spare, parallel);
  return values;
}

// A product with a root of unity doubles the sum of a number's parts. Passes and the turns between
// them give one number three such products at most; a convolution six, of which a sum of `size`.
template <class T>
int64_t FourierTransform<T>::max_growth() const {
  return convolution_ ? 64 * convolution_->size : 8;
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace hilo
