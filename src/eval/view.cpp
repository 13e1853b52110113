#include "eval/view.h"

#include <array>
#include <cstring>

namespace hilo {
namespace {

template <size_t N>
struct Element {
  std::array<std::byte, N> bytes;
};

template <class T>
void read_run(const T* from, int64_t stride, T* out, int64_t n) {
  if (stride == 1) std::memcpy(out, from, n * sizeof(T));
  else if (stride == 0) std::fill_n(out, n, *from);
  else
    for (int64_t i = 0; i < n; ++i) out[i] = from[i * stride];
}

// Calls run(position, dense position, length) for each run along the last dimension.
template <class Run>
void for_each_run(const View& view, int64_t begin, int64_t n, const Run& run) {
  const size_t rank = view.dims.size();
  if (rank == 0) {
    if (n > 0) run(view.base, 0, 1);
    return;
  }
  std::array<int64_t, 64> index{};
  check(rank <= index.size(), "for_each_run: too many dimensions");
  int64_t rest = begin, position = view.base;
  for (size_t d = rank; d-- > 0;) {
    index[d] = rest % view.dims[d];
    rest /= view.dims[d];
    position += index[d] * view.strides[d];
  }
  const int64_t width = view.dims[rank - 1];
  for (int64_t done = 0; done < n;) {
    const int64_t length = std::min(n - done, width - index[rank - 1]);
    run(position, done, length);
    done += length;
    index[rank - 1] += length;
    position += length * view.strides[rank - 1];
    for (size_t d = rank; d-- > 0 && index[d] == view.dims[d];) {
      position -= index[d] * view.strides[d];
      index[d] = 0;
      if (d == 0) break;
      ++index[d - 1];
      position += view.strides[d - 1];
    }
  }
}

// Square tiles, so that a transposition reads and writes whole cache lines.
template <class T>
void read_transposed(const View& view, const T* from, int64_t row, int64_t rows, T* out) {
  constexpr int64_t tile = 32;
  const size_t rank = view.dims.size();
  const int64_t width = view.dims[rank - 1], height = view.dims[rank - 2];
  const int64_t down = view.strides[rank - 2], across = view.strides[rank - 1];
  for (int64_t first = row; first < row + rows;) {
    const int64_t at = first % height, count = std::min(height - at, row + rows - first);
    int64_t rest = first / height, position = view.base + at * down;
    for (size_t d = rank - 2; d-- > 0; rest /= view.dims[d])
      position += rest % view.dims[d] * view.strides[d];
    T* to = out + (first - row) * width;
    for (int64_t r = 0; r < count; r += tile)
      for (int64_t c = 0; c < width; c += tile)
        for (int64_t i = r; i < std::min(count, r + tile); ++i)
          for (int64_t j = c; j < std::min(width, c + tile); ++j)
            to[i * width + j] = from[position + i * down + j * across];
    first += count;
  }
}

template <class T>
void read(const View& view, const void* from, int64_t begin, int64_t n, void* out) {
  const T* source = static_cast<const T*>(from);
  T* target = static_cast<T*>(out);
  const size_t rank = view.dims.size();
  if (rank >= 2 && n >= 4096) {
    const int64_t width = view.dims[rank - 1];
    if (view.strides[rank - 2] == 1 && view.strides[rank - 1] > 1 && begin % width == 0 &&
        n % width == 0)
      return read_transposed(view, source, begin / width, n / width, target);
  }
  for_each_run(view, begin, n, [&](int64_t position, int64_t dense, int64_t length) {
    read_run(source + position, view.strides.empty() ? 1 : view.strides.back(), target + dense,
             length);
  });
}

template <class Body>
void visit_bytes(int64_t element_bytes, const Body& body) {
  if (element_bytes == 1) body(std::type_identity<uint8_t>());
  else if (element_bytes == 2) body(std::type_identity<uint16_t>());
  else if (element_bytes == 4) body(std::type_identity<uint32_t>());
  else if (element_bytes == 8) body(std::type_identity<uint64_t>());
  else body(std::type_identity<Element<16>>());
}

}  // namespace

View View::of(std::span<const int64_t> dims) {
  return {Dims(dims.begin(), dims.end()), row_major_strides(dims), 0};
}

View View::simplified() const {
  View out;
  out.base = base;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (!out.dims.empty() && out.strides.back() == strides[d] * dims[d]) {
      out.dims.back() *= dims[d];
      out.strides.back() = strides[d];
    } else {
      out.dims.push_back(dims[d]);
      out.strides.push_back(strides[d]);
    }
  }
  return out;
}

bool View::is_row_major() const { return dims.empty() || (dims.size() == 1 && strides[0] == 1); }

void read_view(const View& view, int64_t element_bytes, const std::byte* from, int64_t begin,
               int64_t n, std::byte* out) {
  visit_bytes(element_bytes,
              [&]<class T>(std::type_identity<T>) { read<T>(view, from, begin, n, out); });
}

}  // namespace hilo
