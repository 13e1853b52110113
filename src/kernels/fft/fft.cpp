// fft: in the precision of its type, one dimension after the other. Inverse transforms divide by
// the length. Real lines of even length are complex ones of half that length: neighbours are a real
// and an imaginary part, and the spectrum of the two is taken apart (Sorensen et al., "Real-valued
// fast Fourier transform algorithms", 1987). Those of odd length are two lines in one.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <variant>

#include "kernels/fft/fft_transform.h"

namespace hilo {
namespace {

// Where the elements of lines stand in an array.
struct Layout {
  int64_t parts;       // numbers of an element: 1 of a real one, 2 of a complex one
  int64_t step, size;  // between elements of a line, in elements; of the dimension

  // Lines that are one piece of memory each need no division, which takes as long as short ones.
  int64_t place(int64_t line) const {
    const int64_t before = step == 1 ? line : line / step * step;
    return (before * size + line - before) * parts;
  }
  // The first `length` elements of lines; the last one stands for those that `lanes` lack.
  LinePlaces places(std::span<const int64_t> lines, int64_t lanes, int64_t length) const {
    const int64_t count = std::ssize(lines);
    LinePlaces out{parts, length, step * parts, count, {}, true};
    for (int64_t l = 0; l < lanes; ++l) {
      out.of[l] = place(lines[std::min(l, count - 1)]);
      out.are_neighbours &= out.of[l] == out.of[0] + l * parts;
    }
    return out;
  }
};

enum class Kind { Complex, RealToHalf, HalfToReal };

// The transforms along one dimension.
template <class T>
struct Stage {
  Kind kind;
  int64_t n, lines, lanes;
  bool is_inverse;
  Layout from, to;
  FourierTransform<T> transform;
  Factors<T> roots;  // exp(-2 pi i k / n), where real lines are halved

  Stage(Kind kind, int64_t n, int64_t lines, bool is_inverse, Layout from, Layout to)
      : kind(kind),
        n(n),
        lines(lines),
        lanes(lanes_of(length_of(kind, n), lines, from.step)),
        is_inverse(is_inverse),
        from(from),
        to(to),
        transform(length_of(kind, n), lanes) {
    if (!is_halved()) return;
    const RootsOfUnity all(n);
    for (int64_t k = 0; 4 * k <= n; ++k) append(roots, all[k]);
  }

  static int64_t length_of(Kind kind, int64_t n) {
    return kind != Kind::Complex && n % 2 == 0 ? n / 2 : n;
  }
  // By the shape alone. A line goes through the caches alone where it is long, or where it has few
  // beside it.
  static int64_t lanes_of(int64_t length, int64_t lines, int64_t step) {
    constexpr int64_t cached = (1 << 15) / sizeof(T);
    const int64_t lanes = fft_lanes<T>();
    const bool is_alone = step == 1 ? lines < lanes || length > cached : step < lanes / 4;
    return is_alone && length >= FourierTransform<T>::long_line ? 1 : lanes;
  }
  bool is_halved() const { return length_of(kind, n) < n; }
  bool is_paired() const { return kind != Kind::Complex && n % 2 == 1 && lanes > 1; }
  int64_t lines_at_once() const { return is_paired() ? 2 * lanes : lanes; }
  int64_t blocks() const { return (lines + lines_at_once() - 1) / lines_at_once(); }
  int64_t plane() const { return rows_with_gaps(n) * lanes; }

  // Numbers that a thread needs.
  int64_t memory() const {
    return (is_paired() ? 2 : 1) * planes_size<T>(plane()) + transform.spare();
  }

  void run(const T* in, T* out, const Parallel& parallel) const {
    constexpr int64_t long_line = 1 << 15, min_parallel_lines = 4;
    if (lines < min_parallel_lines && n >= long_line) {
      PackedMemory own;
      T* const numbers = take_numbers<T>(own, memory());
      for (int64_t i = 0; i < blocks(); ++i) run_lines(i, in, out, numbers, &parallel);
      return;
    }
    parallel(blocks(), std::max<int64_t>(1, 8192 / plane()), [&](int64_t begin, int64_t end) {
      T* kept = kept_memory<FftMemory::Line, T>(memory());
      for (int64_t i = begin; i < end; ++i) run_lines(i, in, out, kept, nullptr);
    });
  }

  void run_lines(int64_t number, const T* in, T* out, T* memory, const Parallel* parallel) const {
    const int64_t first = number * lines_at_once(),
                  count = std::min(lines_at_once(), lines - first);
    std::array<int64_t, 2 * LinePlaces::most> numbers;
    std::iota(numbers.begin(), numbers.begin() + count, first);
    const std::span<const int64_t> all = std::span(numbers).first(count);
    if (count <= lanes) return run_block(all, in, out, memory, parallel);
    const uint32_t spoilt = run_pairs(all.first(lanes), all.subspan(lanes), in, out, memory);
    if (spoilt == 0) return;
    for (const std::span<const int64_t> half : {all.first(lanes), all.subspan(lanes)}) {
      std::array<int64_t, LinePlaces::most> alone;
      int64_t found = 0;
      for (int64_t l = 0; l < std::ssize(half); ++l)
        if (spoilt >> l & 1) alone[found++] = half[l];
      if (found > 0) run_block(std::span(alone).first(found), in, out, memory, parallel);
    }
  }

  // Of each line of `ones`, and that of `others` in its lane, one transform. What is not finite
  // would reach both: gives the lanes that must be done again, each line alone.
  uint32_t run_pairs(std::span<const int64_t> ones, std::span<const int64_t> others, const T* in,
                     T* out, T* memory) const {
    const FftKernels<T>& kernels = fft_kernels<T>();
    Planes<T> values = take_planes(memory, plane());
    const Planes<T> second = take_planes(memory, plane());
    // The parts of real lines are the lines.
    const bool to_half = kind == Kind::RealToHalf;
    const auto parts = [](Planes<T> both, bool is_second) {
      return Planes<T>{is_second ? both.im : both.re, nullptr};
    };
    const Planes<T> one = to_half ? parts(values, false) : values,
                    other = to_half ? parts(values, true) : second;
    kernels.load(in, from.places(ones, lanes, from.size), one);
    kernels.load(in, from.places(others, lanes, from.size), other);
    PairScales<T> scales;
    // Joined and parted lines are up to twice as large, and so are two that have been balanced.
    const auto growth = static_cast<T>(8 * transform.max_growth());
    kernels.compare(from.size, one, other, growth, scales);
    if (scales.differ)
      kernels.scale(from.size, one, scales.one.up),
          kernels.scale(from.size, other, scales.other.up);
    if (!to_half) kernels.unite(n, values, second);
    values = is_inverse ? transform.run(values.exchanged(), memory).exchanged()
                        : transform.run(values, memory);
    if (to_half) kernels.part(n, values, second);
    const Planes<T> result = to_half ? values : parts(values, false),
                    other_result = to_half ? second : parts(values, true);
    if (scales.differ) {
      kernels.scale(to.size, result, scales.one.down);
      kernels.scale(to.size, other_result, scales.other.down);
    }
    const T scale = static_cast<T>(is_inverse ? 1.0 / static_cast<double>(n) : 1.0);
    kernels.store(result, scale, to.places(ones, lanes, to.size), out);
    kernels.store(other_result, scale, to.places(others, lanes, to.size), out);
    return scales.spoilt;
  }

  void run_block(std::span<const int64_t> block, const T* in, T* out, T* memory,
                 const Parallel* parallel) const {
    const FftKernels<T>& kernels = fft_kernels<T>();
    const bool one = lanes == 1;
    const auto places = [&](const Layout& layout, int64_t length) {
      return layout.places(block, lanes, length);
    };
    Planes<T> values = take_planes(memory, plane());
    const int64_t half = n / 2;
    (one ? kernels.load_line : kernels.load)(
        in, places(source(), kind == Kind::RealToHalf ? length_of(kind, n) : from.size), values);
    if (source().parts == 1) std::fill_n(values.im, n * lanes, T());
    if (kind == Kind::HalfToReal && is_halved())
      (one ? kernels.join_line : kernels.join)(roots, half, values);
    else if (kind == Kind::HalfToReal) mirror(values);
    values = is_inverse ? transform.run(values.exchanged(), memory, parallel).exchanged()
                        : transform.run(values, memory, parallel);
    if (kind == Kind::RealToHalf && is_halved())
      (one ? kernels.split_line : kernels.split)(roots, half, values);
    const double scale = is_inverse ? 1.0 / static_cast<double>(length_of(kind, n)) : 1.0;
    (one ? kernels.store_line : kernels.store)(
        values, static_cast<T>(scale),
        places(target(), kind == Kind::HalfToReal ? length_of(kind, n) : to.size), out);
  }

  // Real lines that are halved are read and written as complex ones.
  static Layout paired(const Layout& real) { return {2, 1, real.size / 2}; }
  Layout source() const { return kind == Kind::RealToHalf && is_halved() ? paired(from) : from; }
  Layout target() const { return kind == Kind::HalfToReal && is_halved() ? paired(to) : to; }

  // The other half of lines that are the spectrum of real numbers.
  void mirror(Planes<T> values) const {
    std::fill_n(values.im, lanes, T());
    for (int64_t k = n / 2 + 1; k < n; ++k)
      for (int64_t l = 0; l < lanes; ++l) {
        const int64_t at = k * lanes + l, mirrored = (n - k) * lanes + l;
        values.re[at] = values.re[mirrored], values.im[at] = -values.im[mirrored];
      }
  }
};

// All dimensions of `lengths`. Complex results are made in place after the first of them.
template <class T>
struct Transforms {
  std::vector<Stage<T>> stages;
  int64_t between = 0;  // numbers that are neither operand nor result

  // The shapes must be those that inference gives.
  Transforms(FftKind form, const Dims& lengths, const Shape& operand, const Shape& result) {
    const bool to_real = form == FftKind::HalfToReal, from_real = form == FftKind::RealToHalf;
    const bool is_inverse = form == FftKind::Inverse || to_real;
    const Dims& dims = to_real ? operand.dims : result.dims;  // of the complex side
    const int64_t rank = static_cast<int64_t>(dims.size());
    const int64_t first = rank - static_cast<int64_t>(lengths.size());
    if (rank - first > 1 && to_real) between = 2 * element_count(dims);
    Dims order;
    for (int64_t d = rank - 1; d >= first; --d) order.push_back(d);
    if (to_real) std::ranges::reverse(order);
    for (int64_t d : order) {
      const bool is_real = d == rank - 1 && (to_real || from_real);
      const int64_t step = row_major_strides(dims)[d], n = lengths[d - first];
      const auto layout = [&](const Shape& outer, bool is_outer) -> Layout {
        if (!is_outer) return {2, step, dims[d]};
        return {is_complex(outer.type) ? 2 : 1, step, outer.dims[d]};
      };
      const Kind kind = !is_real ? Kind::Complex : to_real ? Kind::HalfToReal : Kind::RealToHalf;
      stages.emplace_back(kind, n, element_count(dims) / dims[d], is_inverse,
                          layout(operand, d == order.front()), layout(result, d == order.back()));
    }
  }

  // Bytes beside operand and result, of `threads` threads.
  int64_t memory(int64_t threads) const {
    int64_t kept = 0;
    for (const Stage<T>& stage : stages) kept = std::max(kept, stage.memory());
    return (between + threads * kept) * static_cast<int64_t>(sizeof(T));
  }

  void run(const std::byte* operand, std::byte* result, const Parallel& parallel) const {
    constexpr int64_t max_kept = 1 << 24;  // numbers
    PackedMemory own;
    T* const out = reinterpret_cast<T*>(result);
    T* const middle = between == 0         ? out
                      : between > max_kept ? take_numbers<T>(own, between)
                                           : kept_memory<FftMemory::Between, T>(between);
    for (const Stage<T>& stage : stages)
      stage.run(&stage == &stages.front() ? reinterpret_cast<const T*>(operand) : middle,
                &stage == &stages.back() ? out : middle, parallel);
  }
};

}  // namespace

struct PreparedFft::State {
  std::variant<Transforms<float>, Transforms<double>> transforms;
};

PreparedFft::PreparedFft(FftKind kind, const Dims& lengths, const Shape& operand,
                         const Shape& result) {
  if (result.type == ElementType::F64 || result.type == ElementType::C128)
    state_ = std::make_shared<const State>(Transforms<double>(kind, lengths, operand, result));
  else state_ = std::make_shared<const State>(Transforms<float>(kind, lengths, operand, result));
}

int64_t PreparedFft::workspace_bytes(int64_t threads) const {
  return std::visit([&](const auto& all) { return all.memory(threads); }, state_->transforms);
}

void PreparedFft::run(const std::byte* operand, std::byte* result, const Parallel& parallel) const {
  std::visit([&](const auto& all) { all.run(operand, result, parallel); }, state_->transforms);
}

}  // namespace hilo
