// Random modules whose meaning depends on layouts: bitcasts, copies, asynchronous slices and custom
// calls that see bytes in memory, between tiled layouts of all element types.
#pragma once

#include <algorithm>
#include <optional>
#include <random>

#include "shape/shape.h"

namespace hilo::test {

class RandomPhysicalModule {
 public:
  explicit RandomPhysicalModule(uint64_t seed) : random_(seed) {
    for (int i = pick(1, 3); i > 0; --i) add_parameter();
    for (int i = pick(2, 9); i > 0; --i) add_step();
  }

  std::string text() const {
    std::string types, names;
    for (const Value& value : values_) {
      if (!value.is_read) {
        types += (types.empty() ? "" : ", ") + to_string(value.shape);
        names += (names.empty() ? "" : ", ") + value.name;
      }
    }
    return "HloModule m\n" + computations_ + "ENTRY e {\n" + body_ + "  ROOT all = (" + types +
           ") tuple(" + names + ")\n}\n";
  }

 private:
  struct Value {
    std::string name;
    Shape shape;
    bool is_read = false;
    bool is_rounded = false;  // made by arithmetic on floats: its bits are nobody's law
  };

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return pick(1, n) == 1; }
  template <class T>
  const T& any(const std::vector<T>& from) {
    return from[static_cast<size_t>(pick(0, static_cast<int64_t>(from.size()) - 1))];
  }

  ElementType any_type() {
    using enum ElementType;
    static const std::vector<ElementType> types = {
        Pred, S1,  S2,  S4,  S8,  S16,  S32, S64,  U1,       U2,     U4,     U8,        U16,
        U32,  U64, F16, F32, F64, BF16, C64, C128, F8E4M3FN, F8E5M2, F8E3M4, F8E8M0FNU, F4E2M1FN};
    return any(types);
  }

  int64_t any_bits(ElementType type) {
    const int64_t natural = bits_of(type);
    if (natural < 8) return any(std::vector<int64_t>{0, 0, natural, natural, 8, 16, 32});
    if (type == ElementType::Pred) return any(std::vector<int64_t>{0, 0, 0, 8, 32, 16, 1, 2});
    return one_in(8) ? natural : one_in(30) && natural <= 16 ? 2 * natural : 0;
  }

  // Small tiles with the forms of a TPU's, and its own.
  std::vector<Tile> any_tiles() {
    using Tiles = std::vector<Dims>;
    constexpr int64_t all = Tile::combine;
    static const std::vector<Tiles> small = {{{8}},
                                             {{4}},
                                             {{2, 4}},
                                             {{4, 8}},
                                             {{1, 8}},
                                             {{2, 8}},
                                             {{8, 4}, {2, 1}},
                                             {{4, 8}, {4, 1}},
                                             {{16}, {4}, {2, 1}},
                                             {{3, 5}},
                                             {{5}},
                                             {{2, 2, 2}},
                                             {{4, 6}, {3}},
                                             {{6}, {4}},
                                             {{all, 6}},
                                             {{all, all, 4}},
                                             {{2, all, 4}}};
    static const std::vector<Tiles> large = {{{128}},
                                             {{8, 128}},
                                             {{2, 128}},
                                             {{8, 128}, {2, 1}},
                                             {{32, 128}, {4, 1}},
                                             {{1024}, {128}, {4, 1}},
                                             {{512}, {128}, {4, 1}},
                                             {{256}, {128}, {2, 1}}};
    std::vector<Tile> out;
    if (one_in(3)) return out;
    for (const Dims& dims : any(one_in(5) ? large : small)) out.push_back({dims});
    return out;
  }

  // An array that takes so many bytes in memory, or none was found.
  std::optional<Shape> shape_of_bytes(int64_t bytes, std::optional<ElementType> only = {}) {
    for (int attempt = 0; attempt < 60; ++attempt) {
      Shape shape;
      shape.type = only ? *only : any_type();
      shape.has_layout = true;
      shape.layout.element_size_bits = any_bits(shape.type);
      shape.layout.tiles = any_tiles();
      if (one_in(4)) shape.layout.memory_space = pick(1, 6);
      const int64_t bits = shape.layout.element_size_bits ? shape.layout.element_size_bits
                                                          : 8 * storage_bytes(shape.type);
      int64_t count = bytes * 8 / bits;
      if (bits < 8 && count > 0 && one_in(3)) count -= pick(0, 8 / bits - 1);
      set_dims(shape, count);
      if (layout_fault(shape).empty() && padded_bytes(shape) == bytes) return shape;
    }
    return std::nullopt;
  }

  // Sizes and order of `count` places in memory, padding included, cut at random by tiles.
  void set_dims(Shape& shape, int64_t count) {
    Dims sizes;  // major to minor, in tiles
    const Tile* tile = shape.layout.tiles.empty() ? nullptr : &shape.layout.tiles[0];
    int64_t volume = 1;
    for (int64_t d : tile ? tile->dims : Dims{}) volume *= d == Tile::combine ? 1 : d;
    int64_t rest = count / volume;
    const int64_t rank = (tile ? static_cast<int64_t>(tile->dims.size()) : 0) + pick(0, 2);
    for (int64_t i = 0; i < rank; ++i) {
      int64_t factor = i + 1 == rank ? rest : divisor(rest);
      sizes.push_back(factor);
      rest = factor == 0 ? 0 : rest / factor;
    }
    std::shuffle(sizes.begin(), sizes.end(), random_);
    if (tile)
      for (size_t k = 0; k < tile->dims.size(); ++k) {
        const int64_t d = tile->dims[tile->dims.size() - 1 - k];
        int64_t& size = sizes[sizes.size() - 1 - k];
        if (d == Tile::combine || size == 0) continue;
        size *= d;
        if (one_in(2)) size -= pick(0, d - 1);
      }
    Dims order(sizes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    if (one_in(2)) std::shuffle(order.begin(), order.end(), random_);
    shape.dims.assign(sizes.size(), 0);
    for (size_t i = 0; i < order.size(); ++i) shape.dims[static_cast<size_t>(order[i])] = sizes[i];
    shape.layout.minor_to_major.assign(order.rbegin(), order.rend());
  }

  int64_t divisor(int64_t of) {
    if (of <= 1) return of == 0 ? pick(0, 3) : 1;
    for (int attempt = 0; attempt < 8; ++attempt)
      if (const int64_t d = pick(1, std::min<int64_t>(of, 16)); of % d == 0) return d;
    return 1;
  }

  Shape any_array() {
    for (;;) {
      const int64_t bytes = one_in(40)  ? 0
                            : one_in(5) ? 512 * pick(1, 8)
                                        : pick(1, 24) * pick(1, 8) * pick(1, 4);
      if (auto shape = shape_of_bytes(bytes)) return *shape;
    }
  }
  // The same array in another layout.
  Shape other_layout(Shape shape) {
    const Shape before = shape;
    Dims& order = shape.layout.minor_to_major;
    std::shuffle(order.begin(), order.end(), random_);
    shape.layout.tiles = any_tiles();
    shape.layout.element_size_bits = any_bits(shape.type);
    shape.layout.memory_space = pick(0, 3);
    return padded_bytes(shape) <= 1 << 14 ? shape : before;
  }

  std::string name() { return "v" + std::to_string(values_.size() + names_++); }
  Value& add(const Shape& shape, const std::string& call) {
    const std::string own = name();
    body_ += "  " + own + " = " + to_string(shape) + " " + call + "\n";
    return values_.emplace_back(Value{own, shape});
  }
  void add_parameter() { add(any_array(), "parameter(" + std::to_string(parameters_++) + ")"); }

  // A value whose bits everybody agrees on.
  Value* operand() {
    for (int attempt = 0; attempt < 10; ++attempt) {
      Value& value =
          values_[static_cast<size_t>(pick(0, static_cast<int64_t>(values_.size()) - 1))];
      if (value.is_rounded) continue;
      return &value;
    }
    return nullptr;
  }

  static std::string call_text(const std::string& target, const std::string& operands) {
    return "custom-call(" + operands + "), custom_call_target=\"" + target + "\"";
  }

  void add_step() {
    Value* value = operand();
    if (!value) return;
    const Value from = *value;
    value->is_read = !one_in(3);
    switch (pick(0, 11)) {
      case 0:
      case 1:
      case 2: return bitcast(from);
      case 3: add(other_layout(from.shape), "copy(" + from.name + ")"); return;
      case 4:
      case 5: return concat_bitcast(from);
      case 6: return copy_start(from);
      case 7: return slice_start(from);
      case 8: return fused(from);
      case 9: return loop(from);
      case 10: return zero_crop(from);
      default: return pairs(from);
    }
  }

  void keep(const Value& from) {
    for (Value& value : values_)
      if (value.name == from.name) value.is_read = false;
  }

  void bitcast(const Value& from) {
    if (const auto to = shape_of_bytes(padded_bytes(from.shape)))
      add(*to, "bitcast(" + from.name + ")");
    else keep(from);
  }

  void concat_bitcast(const Value& from) {
    std::string names = from.name;
    int64_t bytes = padded_bytes(from.shape);
    for (int64_t i = pick(0, 3); i > 0; --i)
      if (const Value* more = operand()) {
        names += ", " + more->name;
        bytes += padded_bytes(more->shape);
      }
    if (const auto to = shape_of_bytes(bytes)) add(*to, call_text("ConcatBitcast", names));
    else keep(from);
  }

  void copy_start(const Value& from) {
    const Shape to = other_layout(from.shape);
    const std::string start = name();
    body_ += "  " + start + " = (" + to_string(to) + ", " + to_string(from.shape) +
             ", u32[]{:S(2)}) copy-start(" + from.name + ")\n";
    add(to, "copy-done(" + start + ")");
  }

  // Halves of the bytes, and these joined in the other order.
  void slice_start(const Value& from) {
    const int64_t bytes = padded_bytes(from.shape), half = bytes / 2;
    if (half == 0 || bytes % 2 != 0) return keep(from);
    Shape row = Shape::array(ElementType::S8, {bytes});
    if (bytes % 2048 == 0) row.layout.tiles = {{{1024}}, {{128}}, {{4, 1}}};
    Shape part = row;
    part.dims[0] = half;
    part.layout.memory_space = 1;
    const std::string view = name();
    body_ += "  " + view + " = " + to_string(row) + " bitcast(" + from.name + ")\n";
    std::string joined;
    for (int i = 1; i >= 0; --i) {
      const std::string start = name(), done = name();
      body_ += "  " + start + " = ((" + to_string(row) + "), " + to_string(part) +
               ", s32[]{:S(2)}) slice-start(" + view + "), slice={[" + std::to_string(i * half) +
               ":" + std::to_string((i + 1) * half) + "]}\n";
      body_ += "  " + done + " = " + to_string(part) + " slice-done(" + start + ")\n";
      joined += (joined.empty() ? "" : ", ") + done;
    }
    const auto to = shape_of_bytes(bytes);
    add(to ? *to : row, call_text("ConcatBitcast", joined));
  }

  std::string computation(const std::string& body) {
    const std::string own = "c" + std::to_string(names_++);
    computations_ += own + " {\n" + body + "}\n";
    return own;
  }

  // Numbers are inverted and others moved, in the layout that they have.
  static std::string changed(const std::string& from, const Shape& shape) {
    const std::string type = to_string(shape);
    if (shape.type == ElementType::Pred || is_integral(shape.type))
      return type + " not(" + from + ")";
    std::string dims;
    for (int64_t d = 0; d < shape.rank(); ++d) dims += (d ? "," : "") + std::to_string(d);
    return type + " reverse(" + from + "), dimensions={" + dims + "}";
  }

  void fused(const Value& from) {
    const auto to = shape_of_bytes(padded_bytes(from.shape));
    if (!to) return keep(from);
    const bool with_call = one_in(3), before = one_in(2);
    std::string body = "  p = " + to_string(from.shape) + " parameter(0)\n";
    if (before) body += "  q = " + changed("p", from.shape) + "\n";
    body += "  b = " + to_string(*to) + " " +
            (with_call ? call_text("ConcatBitcast", before ? "q" : "p")
                       : std::string("bitcast(") + (before ? "q" : "p") + ")") +
            "\n  ROOT r = " + changed("b", *to) + "\n";
    add(*to, "fusion(" + from.name + "), kind=kLoop, calls=" + computation(body));
  }

  // Three rounds there and back.
  void loop(const Value& from) {
    const auto to = shape_of_bytes(padded_bytes(from.shape));
    if (!to) return keep(from);
    const std::string own = to_string(from.shape), state = "(s32[], " + own + ")";
    const std::string condition =
        computation("  p = " + state +
                    " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
                    "  n = s32[] constant(3)\n  ROOT c = pred[] compare(i, n), direction=LT\n");
    const std::string round =
        computation("  p = " + state +
                    " parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
                    "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = " +
                    own + " get-tuple-element(p), index=1\n  y = " + to_string(*to) +
                    " bitcast(x)\n  z = " + changed("y", *to) + "\n  w = " + own +
                    " bitcast(z)\n  ROOT r = " + state + " tuple(j, w)\n");
    const std::string zero = name(), first = name(), last = name();
    body_ += "  " + zero + " = s32[] constant(0)\n  " + first + " = " + state + " tuple(" + zero +
             ", " + from.name + ")\n  " + last + " = " + state + " while(" + first +
             "), condition=" + condition + ", body=" + round + "\n";
    add(from.shape, "get-tuple-element(" + last + "), index=1");
  }

  // The same type with room for its padding.
  void zero_crop(const Value& from) {
    if (const auto to = shape_of_bytes(padded_bytes(from.shape), from.shape.type))
      add(*to, call_text("ZeroCrop", from.name) +
                   (one_in(2) ? ", output_to_operand_aliasing={{}: (0, {})}" : ""));
    else keep(from);
  }

  static bool is_wide(ElementType type) {
    using enum ElementType;
    return type == S64 || type == U64 || type == F64 || type == C64 || type == C128;
  }

  void pairs(Value from) {
    using enum ElementType;
    if (!is_wide(from.shape.type)) {
      const auto to = shape_of_bytes(padded_bytes(from.shape),
                                     any(std::vector<ElementType>{S64, U64, F64, C64, C128}));
      if (!to) return keep(from);
      from = add(*to, "bitcast(" + from.name + ")");
    }
    const ElementType type = from.shape.type;
    const ElementType half = type == C128 ? F64 : type == F64 || type == C64 ? F32 : U32;
    Shape shape = from.shape;
    shape.type = half;
    shape.layout.element_size_bits = 0;
    const std::string prefix = type == C128 ? "X128" : "X64";
    const bool rounds = type == F64;
    Value& low = add(shape, call_text(prefix + "SplitLow", from.name));
    low.is_rounded = rounds;
    const std::string low_name = low.name;
    shape = one_in(2) ? other_layout(shape) : shape;
    Value& high = add(shape, call_text(prefix + "SplitHigh", from.name));
    high.is_rounded = rounds;
    const std::string high_name = high.name;
    shape.type = type;
    shape.layout.element_size_bits = 0;
    add(shape, call_text(prefix + "Combine", low_name + ", " + high_name)).is_rounded = rounds;
  }

  std::mt19937_64 random_;
  std::vector<Value> values_;
  std::string computations_, body_;
  int64_t parameters_ = 0, names_ = 0;
};

}  // namespace hilo::test
