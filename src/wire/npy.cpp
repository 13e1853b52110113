#include "wire/npy.h"

#include <algorithm>
#include <cstring>

#include "wire/literal_bytes.h"
#include "wire/npy_header.h"

namespace hilo {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr int64_t chunk_bytes = 1 << 18;

// Reads Fortran-ordered elements a chunk at a time to their row-major places.
Result<void> read_fortran(const ReadNext& read, std::span<std::byte> to, const Dims& dims,
                          int64_t element_bytes) {
  Dims reversed(dims.rbegin(), dims.rend());
  Dims strides = row_major_strides(dims);
  Dims index(dims.size(), 0);
  const int64_t count = static_cast<int64_t>(to.size()) / element_bytes;
  std::vector<std::byte> chunk(std::min<int64_t>(chunk_bytes, to.size()));
  for (int64_t done = 0; done < count;) {
    const int64_t now = std::min<int64_t>(count - done, chunk.size() / element_bytes);
    HILO_DO(read(std::span(chunk).first(now * element_bytes)));
    for (int64_t i = 0; i < now; ++i) {
      int64_t place = 0;
      for (size_t d = 0; d < dims.size(); ++d) place += index[dims.size() - 1 - d] * strides[d];
      std::memcpy(&to[place * element_bytes], &chunk[i * element_bytes], element_bytes);
      next_index(index, reversed);
    }
    done += now;
  }
  return {};
}

Result<std::string> read_header_text(const ReadNext& read, int64_t size, int64_t& consumed) {
  std::byte start[12];
  HILO_DO(read(std::span(start).first(8)));
  if (std::memcmp(start, magic.data(), magic.size()) != 0)
    return fail(ErrorKind::Format, "not a .npy file");
  const int version = static_cast<int>(start[6]);
  if (version < 1 || version > 3)
    return fail(ErrorKind::Unsupported, "npy: format version {}", version);
  const int length_bytes = version == 1 ? 2 : 4;
  HILO_DO(read(std::span(start).subspan(8, length_bytes)));
  const uint64_t length = little_endian(std::span(start).subspan(8, length_bytes));
  consumed = 8 + length_bytes + static_cast<int64_t>(length);
  if (consumed > size) return fail(ErrorKind::Format, "npy: the header passes the end of the file");
  std::string text(length, '\0');
  HILO_DO(read(std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace

Result<Literal> read_npy_stream(const ReadNext& read, int64_t size) {
  int64_t consumed = 0;
  HILO_TRY(const std::string text, read_header_text(read, size, consumed));
  HILO_TRY(const NpyHeader header, parse_npy_header(text));
  HILO_TRY(const int64_t bytes, dense_bytes(header.dims, storage_bytes(header.type)));
  if (bytes > size - consumed)
    return fail(ErrorKind::Format, "npy: {} bytes of data are needed, {} are there", bytes,
                size - consumed);
  HILO_TRY(Literal out, allocate_array(header.type, header.dims));
  const std::span<std::byte> to = out.mutable_raw();
  const int64_t element_bytes = storage_bytes(header.type);
  const bool transposed = header.fortran_order && header.dims.size() > 1;
  HILO_DO(transposed ? read_fortran(read, to, header.dims, element_bytes) : read(to));
  if (header.swapped) swap_byte_order(to, header.type);
  HILO_DO(make_valid(to, header.type));
  return out;
}

std::string npy_header(const Shape& shape) {
  std::string dims;
  for (int64_t dim : shape.dims) dims += fmt::format("{}, ", dim);
  if (dims.size() > 2) dims.resize(dims.size() - (shape.dims.size() == 1 ? 1 : 2));
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 npy_descr(shape.type), dims);
  const bool wide = magic.size() + 4 + text.size() + 64 > 65535;
  const size_t prefix = magic.size() + 2 + (wide ? 4 : 2);
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  std::string out(magic);
  out += wide ? '\2' : '\1';
  out += '\0';
  append_little_endian(out, text.size(), wide ? 4 : 2);
  return out + text;
}

Result<void> write_npy_stream(const WriteNext& write, const Literal& literal) {
  if (!literal.shape().is_array())
    return fail(ErrorKind::Usage, "only an array can be saved, not {}", to_string(literal.shape()));
  const std::string header = npy_header(literal.shape());
  HILO_DO(write(std::as_bytes(std::span(header))));
  return write(literal.raw());
}

}  // namespace hilo
