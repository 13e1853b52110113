#include "pass/layout/memory_bytes.h"

#include "pass/layout/memory_order.h"

namespace hilo {
namespace {

// Unsigned numbers of so many bits; Invalid where there are none.
ElementType words_of(int64_t bits) {
  for (const ElementType type : {ElementType::U1, ElementType::U2, ElementType::U4, ElementType::U8,
                                 ElementType::U16, ElementType::U32, ElementType::U64})
    if (bits_of(type) == bits) return type;
  return ElementType::Invalid;
}

ElementType signed_words_of(int64_t bits) {
  for (const ElementType type : {ElementType::S1, ElementType::S2, ElementType::S4, ElementType::S8,
                                 ElementType::S16, ElementType::S32, ElementType::S64})
    if (bits_of(type) == bits) return type;
  return ElementType::Invalid;
}

// bitcast-convert alone takes its bits.
bool is_whole(ElementType type, int64_t bits) {
  return type != ElementType::Pred && !is_complex(type) && bits == bits_of(type);
}

class Retyper {
 public:
  Retyper(Editor& editor, InstructionId like, InstructionId row)
      : row(row), editor_(editor), like_(like) {}
  InstructionId row;

  ElementType type() const { return editor_.module().shape(row).type; }
  int64_t count() const { return editor_.module().shape(row).dims[0]; }

  // As elements that are whole: their bits are all that they take in memory.
  void split(int64_t bits) {
    if (is_complex(type())) return interleave_parts();
    if (is_whole(type(), bits)) return;
    if (type() == ElementType::Pred) return add(Op::Convert, words_of(bits), {count()});
    const auto words = is_signed(type()) ? signed_words_of : words_of;
    as(words(bits_of(type())));
    add(Op::Convert, words(bits), {count()});
  }

  // Whole elements as whole ones of another type.
  void as(ElementType to) {
    const int64_t before = bits_of(type()), after = bits_of(to), n = count();
    if (type() == to) return;
    if (before == after) {
      add(Op::BitcastConvert, to, {n});
    } else if (before > after) {
      const int64_t parts = before / after;
      add(Op::BitcastConvert, to, {n, parts});
      add(Op::Reshape, to, {n * parts});
    } else {
      const int64_t parts = after / before, whole = (n + parts - 1) / parts;
      row = add_moves(editor_, like_, row, {}, {}, {whole * parts});
      add(Op::Reshape, type(), {whole, parts});
      add(Op::BitcastConvert, to, {whole});
    }
  }

  // The inverse of split().
  void join(ElementType to, int64_t bits) {
    if (is_complex(to)) {
      as(to == ElementType::C64 ? ElementType::F32 : ElementType::F64);
      join_parts(to);
    } else if (is_whole(to, bits)) {
      as(to);
    } else if (to == ElementType::Pred) {
      as(words_of(bits));
      const Shape words = editor_.module().shape(row);
      const InstructionId operands[] = {row, editor_.add_splat(like_, words, 0)};
      row = editor_.add(like_, Op::Compare, with(ElementType::Pred, words.dims), operands,
                        CompareAttributes{ComparisonDirection::Ne});
    } else {
      as(words_of(bits));
      add(Op::Convert, words_of(bits_of(to)), {count()});
      as(to);
    }
  }

 private:
  Shape with(ElementType type, Dims dims) const { return Shape::array(type, std::move(dims)); }

  void add(Op op, ElementType to, Dims dims) {
    row = editor_.add(like_, op, with(to, std::move(dims)), {&row, 1});
  }

  void interleave_parts() {
    const ElementType to = type() == ElementType::C64 ? ElementType::F32 : ElementType::F64;
    const int64_t n = count();
    const auto column = [&](Op op) {
      const InstructionId part = editor_.add(like_, op, with(to, {n}), {&row, 1});
      return editor_.add(like_, Op::Reshape, with(to, {n, 1}), {&part, 1});
    };
    const InstructionId real = column(Op::Real), imaginary = column(Op::Imag);
    const InstructionId columns[] = {real, imaginary};
    row = editor_.add(like_, Op::Concatenate, with(to, {n, 2}), columns,
                      DimensionsAttributes{Dims{1}});
    add(Op::Reshape, to, {2 * n});
  }

  void join_parts(ElementType to) {
    row = add_moves(editor_, like_, row, {}, {}, {(count() + 1) / 2 * 2});
    const int64_t n = count() / 2;
    const ElementType part_type = type();
    add(Op::Reshape, part_type, {n, 2});
    std::vector<InstructionId> parts;
    for (int64_t i = 0; i < 2; ++i) {
      SliceAttributes attributes;
      attributes.slice.dims = {{0, n, 1}, {i, i + 1, 1}};
      const InstructionId column =
          editor_.add(like_, Op::Slice, with(part_type, {n, 1}), {&row, 1}, attributes);
      parts.push_back(editor_.add(like_, Op::Reshape, with(part_type, {n}), {&column, 1}));
    }
    row = editor_.add(like_, Op::Complex, with(to, {n}), parts);
  }

  Editor& editor_;
  InstructionId like_;
};

}  // namespace

int64_t memory_bits(const Shape& shape) {
  if (shape.has_layout && shape.layout.element_size_bits != 0)
    return shape.layout.element_size_bits;
  return 8 * storage_bytes(shape.type);
}

ElementType moved_type(ElementType type) {
  const bool is_exact = !is_floating(type) || bits_of(type) > 16 || type == ElementType::BF16;
  const ElementType words = words_of(bits_of(type));
  return is_exact || words == ElementType::Invalid ? type : words;
}

// The same dimensions and bits.
static InstructionId add_bits(Editor& editor, InstructionId like, InstructionId value,
                              ElementType type) {
  const Shape from = editor.module().shape(value);
  if (from.type == type) return value;
  return editor.add(like, Op::BitcastConvert, Shape::array(type, from.dims), {&value, 1});
}

MemoryRow add_row(Editor& editor, InstructionId like, InstructionId value) {
  const Shape shape = editor.module().shape(value);
  value = add_bits(editor, like, value, moved_type(shape.type));
  return {add_moves(editor, like, value, moves_to_memory(shape), {}, {physical_count(shape)}),
          memory_bits(shape)};
}

InstructionId add_array(Editor& editor, InstructionId like, const MemoryRow& row,
                        const Shape& shape) {
  const InstructionId moved =
      add_moves(editor, like, row.value, {}, moves_to_memory(shape), shape.dims);
  return add_bits(editor, like, moved, shape.type);
}

InstructionId add_reordered(Editor& editor, InstructionId like, InstructionId value,
                            const Shape& shape) {
  const Shape from = editor.module().shape(value);
  std::vector<MemoryMove> forward = moves_to_memory(from), back = moves_to_memory(shape);
  if (forward != back) value = add_bits(editor, like, value, moved_type(shape.type));
  value = add_moves(editor, like, value, std::move(forward), std::move(back), shape.dims);
  return add_bits(editor, like, value, shape.type);
}

bool can_retype(ElementType type, int64_t bits) {
  if (is_complex(type)) return bits == bits_of(type);
  return words_of(bits) != ElementType::Invalid && words_of(bits_of(type)) != ElementType::Invalid;
}

MemoryRow add_retyped(Editor& editor, InstructionId like, const MemoryRow& row, ElementType type,
                      int64_t bits) {
  Retyper retyper(editor, like, row.value);
  if (retyper.type() == type && row.bits == bits) return row;
  retyper.split(row.bits);
  retyper.join(type, bits);
  return {retyper.row, bits};
}

}  // namespace hilo
