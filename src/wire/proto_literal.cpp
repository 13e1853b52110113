#include <algorithm>
#include <cstring>

#include "wire/literal_bytes.h"
#include "wire/proto_shape.h"

namespace hilo {
namespace {

using proto::LiteralProto;

// Which field of LiteralProto holds the elements of a type. Types of one or two bytes (all but
// pred) are bytes: little endian, narrow ones zero-extended.
struct Field {
  ElementType type;
  std::string* (LiteralProto::*bytes)();
  const std::string& (LiteralProto::*read)() const;
};
#define BYTES_FIELD(type, name) \
  Field { ElementType::type, &LiteralProto::mutable_##name, &LiteralProto::name }
const Field byte_fields[] = {
    BYTES_FIELD(S1, s1s),
    BYTES_FIELD(S2, s2s),
    BYTES_FIELD(S4, s4s),
    BYTES_FIELD(S8, s8s),
    BYTES_FIELD(S16, s16s),
    BYTES_FIELD(U1, u1s),
    BYTES_FIELD(U2, u2s),
    BYTES_FIELD(U4, u4s),
    BYTES_FIELD(U8, u8s),
    BYTES_FIELD(U16, u16s),
    BYTES_FIELD(F16, f16s),
    BYTES_FIELD(BF16, bf16s),
    BYTES_FIELD(F4E2M1FN, f4e2m1fns),
    BYTES_FIELD(F6E2M3FN, f6e2m3fns),
    BYTES_FIELD(F6E3M2FN, f6e3m2fns),
    BYTES_FIELD(F8E3M4, f8e3m4s),
    BYTES_FIELD(F8E4M3, f8e4m3s),
    BYTES_FIELD(F8E4M3FN, f8e4m3fns),
    BYTES_FIELD(F8E4M3B11FNUZ, f8e4m3b11fnuzs),
    BYTES_FIELD(F8E4M3FNUZ, f8e4m3fnuzs),
    BYTES_FIELD(F8E5M2, f8e5m2s),
    BYTES_FIELD(F8E5M2FNUZ, f8e5m2fnuzs),
    BYTES_FIELD(F8E8M0FNU, f8e8m0fnus),
};
#undef BYTES_FIELD

const Field* byte_field(ElementType type) {
  for (const Field& field : byte_fields)
    if (field.type == type) return &field;
  return nullptr;
}

// Calls body(repeated field, number type) for the types that have one number after another.
template <class Proto, class Body>
void with_numbers(Proto& to, ElementType type, const Body& body) {
  constexpr bool writes = !std::is_const_v<Proto>;
#define NUMBERS(Type, name, Number)                                    \
  case ElementType::Type:                                              \
    if constexpr (writes) return body(*to.mutable_##name(), Number()); \
    else return body(to.name(), Number());
  switch (type) {
    NUMBERS(Pred, preds, bool)
    NUMBERS(S32, s32s, int32_t)
    NUMBERS(S64, s64s, int64_t)
    NUMBERS(U32, u32s, uint32_t)
    NUMBERS(U64, u64s, uint64_t)
    NUMBERS(F32, f32s, float)
    NUMBERS(F64, f64s, double)
    NUMBERS(C64, c64s, float)
    NUMBERS(C128, c128s, double)
    default: fail_check("a type without a literal field", std::source_location::current());
  }
#undef NUMBERS
}

// Moves elements between row-major order and the order of the layout.
void reorder(const Shape& shape, std::span<const std::byte> from, std::span<std::byte> to,
             bool to_layout) {
  const size_t width = static_cast<size_t>(storage_bytes(shape.type));
  const size_t rank = shape.dims.size();
  Dims major_to_minor(shape.layout.minor_to_major.rbegin(), shape.layout.minor_to_major.rend());
  Dims physical(rank), strides = row_major_strides(shape.dims), index(rank, 0);
  for (size_t i = 0; i < rank; ++i) physical[i] = shape.dims[major_to_minor[i]];
  for (size_t place = 0; place < from.size(); place += width) {
    int64_t logical = 0;
    for (size_t i = 0; i < rank; ++i) logical += index[i] * strides[major_to_minor[i]];
    const size_t row_major = static_cast<size_t>(logical) * width;
    if (to_layout) std::memcpy(&to[place], &from[row_major], width);
    else std::memcpy(&to[row_major], &from[place], width);
    next_index(index, physical);
  }
}

bool is_row_major(const Shape& shape) {
  return !shape.has_layout || shape.layout.is_descending() || shape.dims.size() < 2;
}

void write_elements(const Shape& shape, std::span<const std::byte> raw, LiteralProto& to) {
  if (const Field* field = byte_field(shape.type)) {
    std::string& bytes = *(to.*field->bytes)();
    bytes.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    if (bits_of(shape.type) < 8)
      for (char& value : bytes) value &= static_cast<char>((1 << bits_of(shape.type)) - 1);
    return;
  }
  with_numbers(to, shape.type, [&]<class T>(auto& repeated, T) {
    const size_t count = raw.size() / sizeof(T);
    repeated.Resize(static_cast<int>(count), T());
    if (count > 0) std::memcpy(repeated.mutable_data(), raw.data(), raw.size());
  });
}

Result<void> read_elements(const LiteralProto& from, const Shape& shape, std::span<std::byte> raw) {
  const auto wrong_count = [&](size_t bytes) {
    return fail(ErrorKind::Format, "a literal of {} with {} bytes of values, not {}",
                to_string(shape), bytes, raw.size());
  };
  if (const Field* field = byte_field(shape.type)) {
    const std::string& bytes = (from.*field->read)();
    if (bytes.size() != raw.size()) return wrong_count(bytes.size());
    if (!raw.empty()) std::memcpy(raw.data(), bytes.data(), raw.size());
    return make_valid(raw, shape.type);
  }
  size_t bytes = 0;
  with_numbers(from, shape.type, [&]<class T>(const auto& repeated, T) {
    bytes = static_cast<size_t>(repeated.size()) * sizeof(T);
    if (bytes == raw.size() && bytes > 0) std::memcpy(raw.data(), repeated.data(), bytes);
  });
  if (bytes != raw.size()) return wrong_count(bytes);
  return {};
}

}  // namespace

void write_literal(const Literal& literal, LiteralProto& to) {
  const Shape& shape = literal.shape();
  write_shape(shape, *to.mutable_shape());
  for (const Literal& element : literal.elements())
    write_literal(element, *to.add_tuple_literals());
  if (!shape.is_array()) return;
  for (int64_t size : literal.dynamic_sizes()) to.add_dynamic_sizes(static_cast<int32_t>(size));
  if (is_row_major(shape)) return write_elements(shape, literal.raw(), to);
  std::vector<std::byte> ordered(literal.raw().size());
  reorder(shape, literal.raw(), ordered, true);
  write_elements(shape, ordered, to);
}

Result<Literal> read_literal(const LiteralProto& from) {
  HILO_TRY(const Shape shape, read_shape(from.shape()));
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const LiteralProto& element : from.tuple_literals()) {
      HILO_TRY(Literal read, read_literal(element));
      elements.push_back(std::move(read));
    }
    Literal out = Literal::tuple(std::move(elements));
    if (out.shape().elements.size() != shape.elements.size() || !same_dims(out.shape(), shape))
      return fail(ErrorKind::Format, "tuple literal elements that do not fit their shape");
    return out;
  }
  if (shape.is_token()) return Literal::token();
  if (!shape.is_array()) return fail(ErrorKind::Shape, "a literal of {}", to_string(shape));
  HILO_TRY(const int64_t bytes, dense_bytes(shape.dims, storage_bytes(shape.type)));
  if (bytes / 8 >
      static_cast<int64_t>(from.ByteSizeLong()))  // a varint of one byte holds at most 8
    return fail(ErrorKind::Format, "a literal of {} with too few values", to_string(shape));
  Literal out = Literal::uninitialized(shape);
  if (is_row_major(shape)) {
    HILO_DO(read_elements(from, shape, out.mutable_raw()));
  } else {
    std::vector<std::byte> ordered(bytes);
    HILO_DO(read_elements(from, shape, ordered));
    reorder(shape, ordered, out.mutable_raw(), false);
  }
  for (int i = 0; i < from.dynamic_sizes_size() && i < shape.rank(); ++i) {
    if (from.dynamic_sizes(i) < 0 || from.dynamic_sizes(i) > shape.dims[i])
      return fail(ErrorKind::Format, "a dynamic size of {} in {}", from.dynamic_sizes(i),
                  to_string(shape));
    out.set_size(i, from.dynamic_sizes(i));
  }
  return out;
}

}  // namespace hilo
