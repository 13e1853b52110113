#include "kernels/gemm/matrix_pack.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/gemm/matrix_kernel.h"

namespace hilo {
namespace {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

template <class S>
inline constexpr bool is_float_type =
    std::is_floating_point_v<S> ||
    (std::is_class_v<S> && std::is_convertible_v<S, float> && requires { S::from_bits(0); });

template <class T, class S>
T widen(S value) {
  if constexpr (is_complex_type<S> && !is_complex_type<T>) {
    return widen<T>(value.real());
  } else if constexpr (is_complex_type<S>) {
    return T(value.real(), value.imag());
  } else if constexpr (is_float_type<S> && std::is_same_v<T, uint64_t>) {
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  } else if constexpr (is_complex_type<T>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class S, class T>
S narrow(T value) {
  if constexpr (is_complex_type<T> && !is_complex_type<S>) {
    return narrow<S>(value.real());
  } else if constexpr (is_complex_type<S> && is_complex_type<T>) {
    using R = typename S::value_type;
    return S(static_cast<R>(value.real()), static_cast<R>(value.imag()));
  } else if constexpr (is_complex_type<S>) {
    return S(static_cast<typename S::value_type>(value));
  } else if constexpr (std::is_same_v<S, bool>) {
    return value != T(0);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if constexpr (is_float_type<S>) return S(static_cast<double>(static_cast<int64_t>(value)));
    else return S(static_cast<int64_t>(value));
  } else if constexpr (is_float_type<S>) {
    return S(value);
  } else {
    return S(static_cast<int64_t>(value));
  }
}

template <class S, class T>
void load(const S* from, std::span<const int64_t> minor, std::span<const Run> runs, T* out) {
  if (runs.size() * 4 > minor.size()) {
    for (size_t j = 0; j < minor.size(); ++j) out[j] = widen<T>(from[minor[j]]);
    return;
  }
  for (const Run& run : runs) {
    const S* piece = from + minor[run.start];
    for (int64_t j = 0; j < run.length; ++j) out[run.start + j] = widen<T>(piece[j]);
  }
}

template <class S, class T>
void store(const T* in, std::span<const int64_t> minor, std::span<const Run> runs, S* to) {
  if (runs.size() * 4 > minor.size()) {
    for (size_t j = 0; j < minor.size(); ++j) to[minor[j]] = narrow<S>(in[j]);
    return;
  }
  for (const Run& run : runs) {
    S* piece = to + minor[run.start];
    for (int64_t j = 0; j < run.length; ++j) piece[j] = narrow<S>(in[run.start + j]);
  }
}

using FourFloats [[gnu::vector_size(16)]] = float;

FourFloats low_halves(FourFloats a, FourFloats c) {
  return __builtin_shufflevector(a, c, 0, 4, 1, 5);
}
FourFloats high_halves(FourFloats a, FourFloats c) {
  return __builtin_shufflevector(a, c, 2, 6, 3, 7);
}

// Four lines of four, `leading` apart, become the lines.
void store_transposed(const float* in, int64_t leading, const std::array<float*, 4>& lines) {
  std::array<FourFloats, 4> row;
  for (size_t i = 0; i < 4; ++i)
    std::memcpy(&row[i], in + static_cast<int64_t>(i) * leading, sizeof row[i]);
  const FourFloats a = low_halves(row[0], row[2]), b = low_halves(row[1], row[3]),
                   c = high_halves(row[0], row[2]), d = high_halves(row[1], row[3]);
  const std::array<FourFloats, 4> transposed = {low_halves(a, b), high_halves(a, b),
                                                low_halves(c, d), high_halves(c, d)};
  for (size_t j = 0; j < 4; ++j) std::memcpy(lines[j], &transposed[j], sizeof transposed[j]);
}

// The columns of a block become lines of memory.
void store_transposed(const float* in, int64_t leading, std::span<const int64_t> major,
                      std::span<const int64_t> minor, float* to) {
  const auto count = static_cast<int64_t>(major.size()), columns = std::ssize(minor);
  const auto line = [&](int64_t j) { return to + major[0] + minor[j]; };
  const int64_t whole = count / 4 * 4, all = columns / 4 * 4;
  for (int64_t j = 0; j < all; j += 4)
    for (int64_t i = 0; i < whole; i += 4)
      store_transposed(in + i * leading + j, leading,
                       {line(j) + i, line(j + 1) + i, line(j + 2) + i, line(j + 3) + i});
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < all ? whole : 0; i < count; ++i) line(j)[i] = in[i * leading + j];
}
template <class S, class T>
void store_transposed(const T* in, int64_t leading, std::span<const int64_t> major,
                      std::span<const int64_t> minor, S* to) {
  const auto count = static_cast<int64_t>(major.size());
  for (size_t j = 0; j < minor.size(); ++j) {
    S* line = to + major[0] + minor[j];
    for (int64_t i = 0; i < count; ++i)
      line[i] = narrow<S>(in[i * leading + static_cast<int64_t>(j)]);
  }
}

// Lines are rounded as vectors and then put where their runs belong; without runs, minor places are
// lines. False where there is no fast way.
bool store_rounded_lines(const float* in, int64_t leading, ElementType type, uint16_t* to,
                         std::span<const int64_t> major, std::span<const int64_t> minor,
                         std::span<const Run> runs) {
  const auto count = static_cast<int64_t>(minor.size()), lines = static_cast<int64_t>(major.size());
  if (runs.empty()) {
    std::vector<float> line(major.size());
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t i = 0; i < lines; ++i) line[i] = in[i * leading + j];
      if (!store_rounded(line.data(), lines, type, to + major[0] + minor[j])) return false;
    }
    return true;
  }
  std::vector<uint16_t> line(runs.size() == 1 ? 0 : minor.size());
  for (int64_t i = 0; i < lines; ++i) {
    uint16_t* whole = line.empty() ? to + major[i] + minor[0] : line.data();
    if (!store_rounded(in + i * leading, count, type, whole)) return false;
    if (!line.empty())
      for (const Run& run : runs)
        std::copy_n(&line[run.start], run.length, to + major[i] + minor[run.start]);
  }
  return true;
}

}  // namespace

std::vector<Run> consecutive_runs(std::span<const int64_t> positions) {
  std::vector<Run> out;
  for (int64_t i = 0; i < static_cast<int64_t>(positions.size()); ++i) {
    if (i == 0 || positions[i] != positions[i - 1] + 1) out.push_back({i, 0});
    ++out.back().length;
  }
  return out;
}

template <class T>
void pack(const void* data, ElementType type, int64_t base, std::span<const int64_t> major,
          std::span<const int64_t> minor, T* out) {
  const std::vector<Run> runs = consecutive_runs(minor);
  visit_storage(type, [&]<class S>(std::type_identity<S>) {
    const S* from = static_cast<const S*>(data) + base;
    for (size_t i = 0; i < major.size(); ++i)
      load(from + major[i], minor, runs, out + i * minor.size());
  });
}

template <class T>
void unpack(const T* in, int64_t leading, void* data, ElementType type, int64_t base,
            std::span<const int64_t> major, std::span<const int64_t> minor) {
  const auto is_next = [](int64_t a, int64_t c) { return c == a + 1; };
  const bool is_transposed =
      !major.empty() && std::ranges::adjacent_find(minor, is_next) == minor.end() &&
      count_consecutive(major.data(), std::ssize(major)) == std::ssize(major);
  const std::vector<Run> runs = is_transposed ? std::vector<Run>() : consecutive_runs(minor);
  if constexpr (std::is_same_v<T, float>)
    if ((type == ElementType::F16 ||
         (type == ElementType::BF16 && (is_transposed ? minor.size() : runs.size()) == 1)) &&
        store_rounded_lines(in, leading, type, static_cast<uint16_t*>(data) + base, major, minor,
                            runs))
      return;
  visit_storage(type, [&]<class S>(std::type_identity<S>) {
    S* to = static_cast<S*>(data) + base;
    if (is_transposed) return store_transposed(in, leading, major, minor, to);
    for (size_t i = 0; i < major.size(); ++i) store(in + i * leading, minor, runs, to + major[i]);
  });
}

template <class T>
std::vector<T> values_of(ElementType type, const std::byte* data, int64_t count) {
  std::vector<T> out(static_cast<size_t>(count));
  pack(data, type, 0, Dims{0}, positions(Dims{count}, Dims{1}), out.data());
  return out;
}

template <class T>
void store_values(std::span<const T> values, ElementType type, std::byte* data) {
  const int64_t count = std::ssize(values);
  unpack(values.data(), count, data, type, 0, Dims{0}, positions(Dims{count}, Dims{1}));
}

#define HILO_PACK(T)                                                                             \
  template void pack(const void*, ElementType, int64_t, std::span<const int64_t>,                \
                     std::span<const int64_t>, T*);                                              \
  template void unpack(const T*, int64_t, void*, ElementType, int64_t, std::span<const int64_t>, \
                       std::span<const int64_t>);                                                \
  template std::vector<T> values_of(ElementType, const std::byte*, int64_t);                     \
  template void store_values(std::span<const T>, ElementType, std::byte*);
HILO_PACK(float)
HILO_PACK(double)
HILO_PACK(std::complex<float>)
HILO_PACK(std::complex<double>)
HILO_PACK(uint64_t)
HILO_PACK(int32_t)
#undef HILO_PACK

}  // namespace hilo
