// fft: in complex f64, one dimension after the other. Inverse transforms divide by the length. Real
// lines of even length are complex ones of half that length: neighbours are a real and an imaginary
// part, and the spectrum of the two is taken apart (Sorensen et al., "Real-valued fast Fourier
// transform algorithms", 1987).
#include <algorithm>

#include "eval/dynamic_sizes.h"
#include "eval/fft_transform.h"
#include "eval/routine.h"

namespace hilo {
namespace {

// Where the elements of lines stand in an array.
struct Layout {
  bool is_double;
  int64_t parts;       // numbers of an element: 1 of a real one, 2 of a complex one
  int64_t step, size;  // between elements of a line, in elements; of the dimension

  int64_t place(int64_t line) const { return (line / step * step * size + line % step) * parts; }
};

struct Block {
  int64_t first, count, lanes;  // of lines; the lanes from `count` on are not stored
};

struct Places {  // of a block's lines
  int64_t of[fft_lanes] = {}, next;
  bool are_neighbours = true;

  Places(const Layout& layout, const Block& block) : next(layout.step * layout.parts) {
    for (int64_t l = 0; l < block.lanes; ++l) {
      of[l] = layout.place(block.first + std::min(l, block.count - 1));
      are_neighbours &= of[l] == of[0] + l * layout.parts;
    }
  }
};

template <int parts, class T>
void load(const T* from, const Layout& layout, const Block& block, int64_t n, Planes to) {
  const auto element = [&](int64_t at, int64_t out) {
    to.re[out] = static_cast<double>(from[at]);
    to.im[out] = parts == 2 ? static_cast<double>(from[at + parts - 1]) : 0.0;
  };
  const Places places(layout, block);
  if (parts == 2 && block.lanes == 1 && layout.step == 1)
    read_complex(from + places.of[0], {1, n, 0}, to);
  else if (block.lanes == 1)
    for (int64_t t = 0; t < n; ++t) element(places.of[0] + t * places.next, t);
  else if (parts == 2 && places.are_neighbours)
    read_complex(from + places.of[0], {n, fft_lanes, places.next}, to);
  else
    for (int64_t t = 0; t < n; ++t)
      for (int64_t l = 0; l < fft_lanes; ++l)
        element(places.of[l] + t * places.next, t * fft_lanes + l);
}

template <int parts, class T>
void store(Planes from, const Layout& layout, const Block& block, int64_t n, double scale, T* to) {
  const auto element = [&](int64_t in, int64_t at) {
    to[at] = static_cast<T>(from.re[in] * scale);
    if constexpr (parts == 2) to[at + 1] = static_cast<T>(from.im[in] * scale);
  };
  const Places places(layout, block);
  if (parts == 2 && block.lanes == 1 && layout.step == 1)
    write_complex(from, scale, {1, n, 0}, to + places.of[0]);
  else if (block.lanes == 1)
    for (int64_t t = 0; t < n; ++t) element(t, places.of[0] + t * places.next);
  else if (parts == 2 && places.are_neighbours && block.count == fft_lanes)
    write_complex(from, scale, {n, fft_lanes, places.next}, to + places.of[0]);
  else
    for (int64_t t = 0; t < n; ++t)
      for (int64_t l = 0; l < block.count; ++l)
        element(t * fft_lanes + l, places.of[l] + t * places.next);
}

// Calls body(std::integral_constant parts, T()) for the layout's elements.
template <class Body>
void visit_elements(const Layout& layout, Body&& body) {
  constexpr std::integral_constant<int, 1> real;
  constexpr std::integral_constant<int, 2> complex;
  if (layout.is_double) return layout.parts == 2 ? body(complex, double()) : body(real, double());
  layout.parts == 2 ? body(complex, float()) : body(real, float());
}

enum class Kind { Complex, RealToHalf, HalfToReal };

// The transforms along one dimension.
struct Stage {
  Kind kind;
  int64_t n, lines, lanes;
  bool is_inverse;
  Layout from, to;
  FourierTransform transform;
  std::vector<RootOfUnity> roots;  // exp(-2 pi i k / n), where real lines are halved

  Stage(Kind kind, int64_t n, int64_t lines, bool is_inverse, Layout from, Layout to)
      : kind(kind),
        n(n),
        lines(lines),
        lanes(lanes_of(length_of(kind, n), from.step)),
        is_inverse(is_inverse),
        from(from),
        to(to),
        transform(length_of(kind, n), lanes) {
    for (int64_t k = 0; is_halved() && k < n / 2; ++k) roots.push_back(root_of_unity(-k, n));
  }

  static int64_t length_of(Kind kind, int64_t n) {
    return kind != Kind::Complex && n % 2 == 0 ? n / 2 : n;
  }
  // By the shape alone. Long lines in memory go through the caches one by one; others side by side.
  static int64_t lanes_of(int64_t length, int64_t step) {
    return length >= (step == 1 ? 64 : step < 4 ? 1024 : INT64_MAX) ? 1 : fft_lanes;
  }
  bool is_halved() const { return length_of(kind, n) < n; }
  int64_t blocks() const { return (lines + lanes - 1) / lanes; }

  void run(const void* in, void* out, const Parallel& parallel) const {
    const int64_t plane = (n + 1) * lanes;
    const int64_t memory = 2 * planes_size(plane) + transform.spare();
    constexpr int64_t long_line = 1 << 15, few_lines = 4;
    if (lines < few_lines && n >= long_line) {
      const auto own = std::make_unique_for_overwrite<double[]>(memory);
      for (int64_t i = 0; i < blocks(); ++i) run_block(i, in, out, own.get(), &parallel);
      return;
    }
    parallel(blocks(), std::max<int64_t>(1, 8192 / plane), [&](int64_t begin, int64_t end) {
      double* kept = kept_memory<FftMemory::Line>(memory);
      for (int64_t i = begin; i < end; ++i) run_block(i, in, out, kept, nullptr);
    });
  }

  void run_block(int64_t number, const void* in, void* out, double* memory,
                 const Parallel* parallel) const {
    const Block block{number * lanes, std::min(lanes, lines - number * lanes), lanes};
    Planes values = take_planes(memory, (n + 1) * lanes);
    const Planes other = take_planes(memory, (n + 1) * lanes);
    visit_elements(source(), [&]<class T>(auto parts, T) {
      load<parts.value>(static_cast<const T*>(in), source(), block,
                        kind == Kind::RealToHalf ? length_of(kind, n) : from.size, values);
    });
    if (kind == Kind::HalfToReal) {
      if (is_halved()) join(values, other), values = other;
      else mirror(values);
    }
    values = is_inverse ? transform.run(values.exchanged(), memory, parallel).exchanged()
                        : transform.run(values, memory, parallel);
    if (kind == Kind::RealToHalf && is_halved()) split(values, other), values = other;
    const double scale = is_inverse ? 1.0 / static_cast<double>(length_of(kind, n)) : 1.0;
    visit_elements(target(), [&]<class T>(auto parts, T) {
      store<parts.value>(values, target(), block,
                         kind == Kind::HalfToReal ? length_of(kind, n) : to.size, scale,
                         static_cast<T*>(out));
    });
  }

  // Real lines that are halved are read and written as complex ones.
  static Layout paired(const Layout& real) { return {real.is_double, 2, 1, real.size / 2}; }
  Layout source() const { return kind == Kind::RealToHalf && is_halved() ? paired(from) : from; }
  Layout target() const { return kind == Kind::HalfToReal && is_halved() ? paired(to) : to; }

  // in: the transform Z of x[2t] + i x[2t+1]; out: that of x, its first n / 2 + 1 elements.
  // With E and O those of x[2t] and x[2t+1], Z = E + i O and X[k] = E[k] + w^k O[k].
  void split(Planes in, Planes out) const {
    const int64_t half = n / 2;
    for (int64_t k = 0; k <= half; ++k) {
      const int64_t a = k % half * lanes, b = (half - k) % half * lanes;
      const RootOfUnity w = k < half ? roots[k] : RootOfUnity{-1, 0};
      for (int64_t l = 0; l < lanes; ++l) {
        const double even_re = (in.re[a + l] + in.re[b + l]) / 2,
                     even_im = (in.im[a + l] - in.im[b + l]) / 2;
        const double odd_re = (in.im[a + l] + in.im[b + l]) / 2,
                     odd_im = (in.re[b + l] - in.re[a + l]) / 2;
        out.re[k * lanes + l] = even_re + (odd_re * w.re - odd_im * w.im);
        out.im[k * lanes + l] = even_im + (odd_re * w.im + odd_im * w.re);
      }
    }
  }

  // The inverse of split(); imaginary parts of what is real are not read.
  void join(Planes in, Planes out) const {
    const int64_t half = n / 2;
    for (int64_t l = 0; l < lanes; ++l) in.im[l] = in.im[half * lanes + l] = 0;
    for (int64_t k = 0; k < half; ++k) {
      const int64_t a = k * lanes, b = (half - k) * lanes;
      const RootOfUnity w = roots[k];
      for (int64_t l = 0; l < lanes; ++l) {
        const double even_re = (in.re[a + l] + in.re[b + l]) / 2,
                     even_im = (in.im[a + l] - in.im[b + l]) / 2;
        const double turned_re = (in.re[a + l] - in.re[b + l]) / 2,
                     turned_im = (in.im[a + l] + in.im[b + l]) / 2;
        const double odd_re = turned_re * w.re + turned_im * w.im,
                     odd_im = turned_im * w.re - turned_re * w.im;
        out.re[a + l] = even_re - odd_im, out.im[a + l] = even_im + odd_re;
      }
    }
  }

  // The other half of a spectrum that belongs to real numbers.
  void mirror(Planes values) const {
    for (int64_t l = 0; l < lanes; ++l) values.im[l] = 0;
    for (int64_t k = n / 2 + 1; k < n; ++k)
      for (int64_t l = 0; l < lanes; ++l) {
        values.re[k * lanes + l] = values.re[(n - k) * lanes + l];
        values.im[k * lanes + l] = -values.im[(n - k) * lanes + l];
      }
  }
};

// All dimensions of fft_length. What lies between two of them is complex f64.
struct Transforms {
  std::vector<Stage> stages;
  int64_t between = 0;  // doubles

  // The shapes must be those that inference gives.
  Transforms(const FftAttributes& a, const Shape& operand, const Shape& result) {
    const bool to_real = a.fft_type == FftType::Irfft, from_real = a.fft_type == FftType::Rfft;
    const bool is_inverse = a.fft_type == FftType::Ifft || to_real;
    const Dims& dims = to_real ? operand.dims : result.dims;  // of the complex side
    const int64_t rank = static_cast<int64_t>(dims.size());
    const int64_t first = rank - static_cast<int64_t>(a.fft_length.size());
    if (rank - first > 1) between = 2 * element_count(dims);
    Dims order;
    for (int64_t d = rank - 1; d >= first; --d) order.push_back(d);
    if (to_real) std::ranges::reverse(order);
    for (int64_t d : order) {
      const bool is_first = d == order.front(), is_last = d == order.back();
      const bool is_real = d == rank - 1 && (to_real || from_real);
      const int64_t step = row_major_strides(dims)[d], n = a.fft_length[d - first];
      const auto layout = [&](const Shape& outer, bool is_outer) -> Layout {
        if (!is_outer) return {true, 2, step, dims[d]};
        const bool is_double = outer.type == ElementType::F64 || outer.type == ElementType::C128;
        return {is_double, is_complex(outer.type) ? 2 : 1, step, outer.dims[d]};
      };
      const Kind kind = !is_real ? Kind::Complex : to_real ? Kind::HalfToReal : Kind::RealToHalf;
      stages.emplace_back(kind, n, element_count(dims) / dims[d], is_inverse,
                          layout(operand, is_first), layout(result, is_last));
    }
  }

  void run(const std::byte* operand, std::byte* result, const Parallel& parallel) const {
    const auto middle = std::make_unique_for_overwrite<double[]>(between);
    for (const Stage& stage : stages)
      stage.run(&stage == &stages.front() ? static_cast<const void*>(operand) : middle.get(),
                &stage == &stages.back() ? static_cast<void*>(result) : middle.get(), parallel);
  }
};

// Of an operand whose batch has dynamic sizes.
Result<Literal> on_sizes(Call& call) {
  const size_t transformed = call.attributes<FftAttributes>().fft_length.size();
  Dims sizes = sizes_of(call.operands[0]);
  const Shape& operand = call.operands[0].shape();
  for (size_t d = sizes.size() - std::min(sizes.size(), transformed); d < sizes.size(); ++d) {
    if (sizes[d] != operand.dims[d])
      return call.error(ErrorKind::Unsupported, "fft along a dimension of dynamic size");
    sizes[d] = call.shape().dims[d];
  }
  return evaluate_cut(call, evaluate_Fft, std::array{sizes});
}

}  // namespace

Routine routine_Fft(const RoutineCall& call) {
  if (element_count(call.result()) == 0) return {};
  const auto transforms = std::make_shared<const Transforms>(call.attributes<FftAttributes>(),
                                                             call.operand(0), call.result());
  return [transforms](auto operands, auto results, const Parallel& parallel) {
    transforms->run(operands[0], results[0], parallel);
  };
}

Result<Literal> evaluate_Fft(Call& call) {
  if (has_cut_operand(call)) return on_sizes(call);
  Literal out = call.make();
  if (out.count() == 0) return out;
  const Transforms transforms(call.attributes<FftAttributes>(), call.operands[0].shape(),
                              out.shape());
  HILO_DO(call.need_memory(transforms.between * static_cast<int64_t>(sizeof(double))));
  transforms.run(
      call.operands[0].raw().data(), out.mutable_raw().data(),
      [&](int64_t count, int64_t grain, const auto& body) { call.parallel(count, grain, body); });
  return out;
}

}  // namespace hilo
