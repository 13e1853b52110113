#include "eval/physical.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

// Every tile cuts each dimension by itself, so the position of an index is a sum of what each of
// its coordinates adds; only tiles with a combined dimension mix them.
struct Positions {
  const Shape& shape;
  std::vector<Dims> parts;  // by dimension and coordinate; empty: ask physical_position

  explicit Positions(const Shape& of) : shape(of) {
    for (const Tile& tile : shape.layout.tiles)
      if (std::find(tile.dims.begin(), tile.dims.end(), Tile::combine) != tile.dims.end()) return;
    Dims index(shape.dims.size(), 0);
    for (size_t i = 0; i < shape.dims.size(); ++i) {
      Dims& part = parts.emplace_back();
      for (index[i] = 0; index[i] < shape.dims[i]; ++index[i])
        part.push_back(physical_position(shape, index));
      index[i] = 0;
    }
  }
  int64_t operator()(const Dims& index) const {
    if (parts.empty()) return physical_position(shape, index);
    int64_t out = 0;
    for (size_t i = 0; i < index.size(); ++i) out += parts[i][index[i]];
    return out;
  }
};

// Calls visit(logical, physical) for every element.
template <class Visit>
void walk(const Call& call, const Shape& shape, Visit&& visit) {
  const Positions position(shape);
  const int64_t count = element_count(shape), row = shape.dims.empty() ? 1 : shape.dims.back();
  if (count == 0) return;
  call.parallel(count / row, std::max<int64_t>(1, (1 << 14) / row),
                [&](int64_t begin, int64_t end) {
                  Dims index(shape.dims.size());
                  for (int64_t i = shape.rank() - 1, rest = begin; i-- > 0; rest /= shape.dims[i])
                    index[i] = rest % shape.dims[i];
                  for (int64_t at = begin * row; at < end * row; ++at) {
                    visit(at, position(index));
                    next_index(index, shape.dims);
                  }
                });
}

template <class Move>
void move_elements(int64_t bytes, Move&& move) {
  switch (bytes) {
    case 1: return move(uint8_t());
    case 2: return move(uint16_t());
    case 4: return move(uint32_t());
    case 8: return move(uint64_t());
    default: return move(std::array<uint64_t, 2>());
  }
}

}  // namespace

int64_t physical_bits(const Shape& shape) {
  if (shape.has_layout && shape.layout.element_size_bits != 0)
    return shape.layout.element_size_bits;
  return 8 * storage_bytes(shape.type);
}

// Positions in memory are those of the row-major order.
static bool is_in_order(const Shape& shape) {
  return !shape.has_layout || (shape.layout.tiles.empty() && shape.layout.is_descending());
}

Bytes to_physical(const Call& call, const Literal& literal, const Shape& declared) {
  const int64_t bytes = storage_bytes(literal.type()), count = physical_count(declared);
  Bytes out = call.make_held(Shape::array(ElementType::U8, {count * bytes})).storage();
  if (count != literal.count()) std::memset(out.get(), 0, count * bytes);
  if (is_in_order(declared)) {
    std::memcpy(out.get(), literal.raw().data(), literal.raw().size());
    return out;
  }
  move_elements(bytes, [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(literal.raw().data());
    T* to = reinterpret_cast<T*>(out.get());
    walk(call, declared, [=](int64_t logical, int64_t physical) { to[physical] = from[logical]; });
  });
  return out;
}

Literal from_physical(const Call& call, const std::byte* physical_bytes, int64_t count,
                      const Shape& declared, const Shape& held) {
  Literal out = call.make_held(held);
  if (is_in_order(declared) && count >= out.count()) {
    std::memcpy(out.mutable_raw().data(), physical_bytes, out.raw().size());
    return out;
  }
  move_elements(storage_bytes(held.type), [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(physical_bytes);
    T* to = reinterpret_cast<T*>(out.mutable_raw().data());
    walk(call, declared, [=](int64_t logical, int64_t physical) {
      to[logical] = physical < count ? from[physical] : T();
    });
  });
  return out;
}

bool is_whole(ElementType type, int64_t bits) {
  return type != ElementType::Pred && bits == bits_of(type) && bits == 8 * storage_bytes(type);
}

void pack_bits(const std::byte* elements, int64_t count, ElementType type, int64_t bits,
               std::byte* packed) {
  const int64_t storage = storage_bytes(type);
  if (bits == 8 * storage) {
    std::memcpy(packed, elements, count * storage);
    return;
  }
  std::memset(packed, 0, (count * bits + 7) / 8);
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* element = elements + i * storage;
    const bool negative = is_signed(type) && static_cast<int8_t>(element[storage - 1]) < 0;
    for (int64_t bit = 0; bit < bits; ++bit) {
      const bool set =
          bit < 8 * storage ? (static_cast<int>(element[bit / 8]) >> (bit % 8) & 1) != 0 : negative;
      const int64_t at = i * bits + bit;
      if (set) packed[at / 8] |= static_cast<std::byte>(1 << (at % 8));
    }
  }
}

void unpack_bits(const std::byte* packed, int64_t count, ElementType type, int64_t bits,
                 std::byte* elements) {
  const int64_t storage = storage_bytes(type), width = std::min<int64_t>(bits, bits_of(type));
  if (is_whole(type, bits)) {
    std::memcpy(elements, packed, count * storage);
    return;
  }
  const auto is_set = [=](int64_t at) {
    return (static_cast<int>(packed[at / 8]) >> (at % 8) & 1) != 0;
  };
  std::memset(elements, 0, count * storage);
  for (int64_t i = 0; i < count; ++i) {
    std::byte* element = elements + i * storage;
    if (type == ElementType::Pred) {
      for (int64_t bit = 0; bit < bits; ++bit)
        if (is_set(i * bits + bit)) *element = std::byte{1};
      continue;
    }
    for (int64_t bit = 0; bit < 8 * storage; ++bit) {
      const bool extends = bit >= width;
      if (extends && !is_signed(type)) break;
      if (is_set(i * bits + (extends ? width - 1 : bit)))
        element[bit / 8] |= static_cast<std::byte>(1 << (bit % 8));
    }
  }
}

}  // namespace hilo
