#include "eval/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

// Drops dimensions of size 1 and joins neighbours that lie one after the other on both sides.
void simplify(StridedCopy& copy) {
  StridedCopy out{{}, {}, {}, copy.from, copy.to};
  for (size_t i = 0; i < copy.sizes.size(); ++i) {
    if (copy.sizes[i] == 1) continue;
    if (!out.sizes.empty() && out.from_strides.back() == copy.from_strides[i] * copy.sizes[i] &&
        out.to_strides.back() == copy.to_strides[i] * copy.sizes[i]) {
      out.sizes.back() *= copy.sizes[i];
      out.from_strides.back() = copy.from_strides[i];
      out.to_strides.back() = copy.to_strides[i];
    } else {
      out.sizes.push_back(copy.sizes[i]);
      out.from_strides.push_back(copy.from_strides[i]);
      out.to_strides.push_back(copy.to_strides[i]);
    }
  }
  copy = std::move(out);
}

template <class T>
void copy_row(const T* from, int64_t from_stride, T* to, int64_t to_stride, int64_t count) {
  if (from_stride == 1 && to_stride == 1) std::memcpy(to, from, count * sizeof(T));
  else if (from_stride == 0 && to_stride == 1) std::fill_n(to, count, *from);
  else
    for (int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

// The two innermost dimensions; in squares when one side walks across rows, as a transposition
// does.
template <class T>
void copy_plane(const T* from, T* to, const StridedCopy& copy) {
  const size_t n = copy.sizes.size();
  if (n == 1) return copy_row(from, copy.from_strides[0], to, copy.to_strides[0], copy.sizes[0]);
  const int64_t rows = copy.sizes[n - 2], columns = copy.sizes[n - 1];
  const int64_t from_row = copy.from_strides[n - 2], from_column = copy.from_strides[n - 1];
  const int64_t to_row = copy.to_strides[n - 2], to_column = copy.to_strides[n - 1];
  const bool across = std::abs(from_row) < std::abs(from_column) && from_row != 0;
  const int64_t square = across ? 32 : columns;
  const int64_t band = across ? 32 : 1;
  for (int64_t row = 0; row < rows; row += band)
    for (int64_t column = 0; column < columns; column += square)
      for (int64_t r = row; r < std::min(rows, row + band); ++r)
        copy_row(from + r * from_row + column * from_column, from_column,
                 to + r * to_row + column * to_column, to_column,
                 std::min(square, columns - column));
}

// Planes [begin, end) of the outer dimensions in row-major order.
template <class T>
void copy_planes(const T* from, T* to, const StridedCopy& copy, int64_t begin, int64_t end) {
  const size_t outer = copy.sizes.size() - 2;
  Dims index(outer);
  for (int64_t i = outer, rest = begin; i-- > 0; rest /= copy.sizes[i])
    index[i] = rest % copy.sizes[i];
  for (int64_t plane = begin; plane < end; ++plane) {
    int64_t at_from = 0, at_to = 0;
    for (size_t i = 0; i < outer; ++i) {
      at_from += index[i] * copy.from_strides[i];
      at_to += index[i] * copy.to_strides[i];
    }
    copy_plane(from + at_from, to + at_to, copy);
    next_index(index, std::span(copy.sizes).first(outer));
  }
}

template <class T>
void copy_elements(const Call& call, const std::byte* from_bytes, std::byte* to_bytes,
                   StridedCopy copy) {
  const T* from = reinterpret_cast<const T*>(from_bytes) + copy.from;
  T* to = reinterpret_cast<T*>(to_bytes) + copy.to;
  simplify(copy);
  constexpr int64_t piece = 1 << 16;  // elements a thread takes at a time
  if (copy.sizes.empty()) {
    *to = *from;
  } else if (copy.sizes.size() == 1) {
    call.parallel(copy.sizes[0], piece, [&](int64_t begin, int64_t end) {
      copy_row(from + begin * copy.from_strides[0], copy.from_strides[0],
               to + begin * copy.to_strides[0], copy.to_strides[0], end - begin);
    });
  } else if (copy.sizes.size() == 2) {
    const int64_t rows = (std::max<int64_t>(32, piece / copy.sizes[1]) + 31) / 32 * 32;
    call.parallel(copy.sizes[0], rows, [&](int64_t begin, int64_t end) {
      StridedCopy part = copy;
      part.sizes[0] = end - begin;
      copy_plane(from + begin * copy.from_strides[0], to + begin * copy.to_strides[0], part);
    });
  } else {
    const size_t n = copy.sizes.size();
    int64_t planes = 1;
    for (size_t i = 0; i + 2 < n; ++i) planes *= copy.sizes[i];
    const int64_t grain = std::max<int64_t>(1, piece / (copy.sizes[n - 1] * copy.sizes[n - 2]));
    call.parallel(planes, grain,
                  [&](int64_t begin, int64_t end) { copy_planes(from, to, copy, begin, end); });
  }
}

}  // namespace

void copy_strided(const Call& call, int64_t element_bytes, const std::byte* from, std::byte* to,
                  StridedCopy copy) {
  if (element_count(copy.sizes) == 0) return;
  using Copier = void (*)(const Call&, const std::byte*, std::byte*, StridedCopy);
  static constexpr std::pair<int64_t, Copier> copiers[] = {{1, copy_elements<uint8_t>},
                                                           {2, copy_elements<uint16_t>},
                                                           {4, copy_elements<uint32_t>},
                                                           {8, copy_elements<uint64_t>},
                                                           {16, copy_elements<Bytes16>}};
  for (const auto& [bytes, copier] : copiers)
    if (bytes == element_bytes) return copier(call, from, to, std::move(copy));
  check(false, "copy_strided: element size");
}

Literal copy_to_dense(const Call& call, const Literal& operand, Dims from_strides, int64_t from) {
  Literal out = call.make();
  const Dims& dims = out.shape().dims;
  copy_strided(call, storage_bytes(out.type()), operand.raw().data(), out.mutable_raw().data(),
               {dims, std::move(from_strides), row_major_strides(dims), from, 0});
  return out;
}

void keep_dynamic_sizes(const Literal& operand, std::span<const int64_t> dims, Literal& result) {
  if (operand.dynamic_sizes().empty()) return;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] >= 0 && operand.size(dims[i]) != operand.shape().dims[dims[i]])
      result.set_size(i, operand.size(dims[i]));
}

}  // namespace hilo
