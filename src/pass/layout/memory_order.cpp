#include "pass/layout/memory_order.h"

#include <algorithm>
#include <numeric>

#include "pass/layout/permutation.h"

namespace hilo {
namespace {

class Moves {
 public:
  explicit Moves(Dims dims) : dims_(std::move(dims)) {}
  std::vector<MemoryMove> out;
  const Dims& dims() const { return dims_; }

  void transpose(const Dims& order) {
    if (std::ranges::is_sorted(order)) return;
    Dims after = permuted(dims_, order);
    out.push_back({Op::Transpose, dims_, after, order});
    dims_ = std::move(after);
  }
  void reshape(Dims after) {
    if (after == dims_) return;
    if (!out.empty() && out.back().op == Op::Reshape) {
      dims_ = out.back().before;
      out.pop_back();
    }
    if (after != dims_) out.push_back({Op::Reshape, dims_, after});
    dims_ = std::move(after);
  }
  void pad(Dims after) {
    if (after != dims_) out.push_back({Op::Pad, dims_, after});
    dims_ = std::move(after);
  }

  // Drops dimensions of size 1 but for the last `tiled` ones in the order, and gives the order of
  // the others: they change no place.
  Dims without_ones(Dims order, size_t tiled) {
    std::vector<bool> dropped(order.size());
    for (size_t i = 0; i + tiled < order.size(); ++i)
      dropped[static_cast<size_t>(order[i])] = dims_[static_cast<size_t>(order[i])] == 1;
    Dims kept, number(order.size());
    for (size_t d = 0; d < order.size(); ++d) {
      number[d] = static_cast<int64_t>(kept.size());
      if (!dropped[d]) kept.push_back(dims_[d]);
    }
    std::erase_if(order, [&](int64_t d) { return dropped[static_cast<size_t>(d)]; });
    for (int64_t& d : order) d = number[static_cast<size_t>(d)];
    reshape(std::move(kept));
    return order;
  }

  // The minor-most dimensions are cut by the tile: numbers of tiles, then places in one
  // (physical_position in shape/shape_value.h).
  void tile(const Tile& tile) {
    const size_t n = tile.dims.size();
    Dims dims = dims_;
    if (dims.size() < n) dims.insert(dims.begin(), n - dims.size(), 1);
    const size_t base = dims.size() - n;
    Dims sizes = tile.dims;
    for (size_t k = 0; k < n; ++k) {
      if (sizes[k] != Tile::combine) continue;
      dims[base + k + 1] *= dims[base + k];
      dims[base + k] = sizes[k] = 1;
    }
    reshape(dims);
    for (size_t k = 0; k < n; ++k)
      dims[base + k] = (dims[base + k] + sizes[k] - 1) / sizes[k] * sizes[k];
    pad(dims);
    Dims split(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(base)), order(base);
    std::iota(order.begin(), order.end(), 0);
    for (size_t k = 0; k < n; ++k) {
      split.push_back(dims[base + k] / sizes[k]);
      split.push_back(sizes[k]);
    }
    for (size_t part = 0; part < 2; ++part)
      for (size_t k = 0; k < n; ++k) order.push_back(static_cast<int64_t>(base + 2 * k + part));
    reshape(split);
    transpose(order);
  }

 private:
  Dims dims_;
};

size_t max_tiled_dims(const Shape& shape) {
  size_t out = 0;
  for (const Tile& tile : shape.layout.tiles) out = std::max(out, tile.dims.size());
  return out;
}

class Adder {
 public:
  Adder(Editor& editor, InstructionId like, InstructionId value)
      : value(value), editor_(editor), like_(like) {}
  InstructionId value;

  void add(Op op, const Dims& dims) { value = editor_.add(like_, op, shape(dims), {&value, 1}); }
  void transpose(const Dims& dims, const Dims& order) {
    value =
        editor_.add(like_, Op::Transpose, shape(dims), {&value, 1}, DimensionsAttributes{order});
  }
  void pad(const Dims& before, const Dims& after) {
    const ElementType type = editor_.module().shape(value).type;
    const InstructionId operands[] = {
        value, editor_.add_constant(like_, Literal::zeros(Shape::scalar(type)))};
    PadAttributes attributes;
    for (size_t d = 0; d < after.size(); ++d)
      attributes.padding.dims.push_back({0, after[d] - before[d], 0});
    value = editor_.add(like_, Op::Pad, shape(after), operands, attributes);
  }
  void slice(const Dims& after) {
    SliceAttributes attributes;
    for (int64_t size : after) attributes.slice.dims.push_back({0, size, 1});
    value = editor_.add(like_, Op::Slice, shape(after), {&value, 1}, attributes);
  }

 private:
  Shape shape(const Dims& dims) const {
    return Shape::array(editor_.module().shape(value).type, dims);
  }

  Editor& editor_;
  InstructionId like_;
};

}  // namespace

std::vector<MemoryMove> moves_to_memory(const Shape& shape) {
  Moves moves(shape.dims);
  if (shape.has_layout) {
    Dims order = shape.layout.minor_to_major;
    std::ranges::reverse(order);
    moves.transpose(moves.without_ones(std::move(order), max_tiled_dims(shape)));
    for (const Tile& tile : shape.layout.tiles) moves.tile(tile);
  }
  moves.reshape({element_count(moves.dims())});
  return std::move(moves.out);
}

InstructionId add_moves(Editor& editor, InstructionId like, InstructionId value,
                        std::vector<MemoryMove> forward, std::vector<MemoryMove> back,
                        const Dims& to) {
  while (!forward.empty() && !back.empty() && forward.back() == back.back()) {
    forward.pop_back();
    back.pop_back();
  }
  Adder adder(editor, like, value);
  for (const MemoryMove& move : forward) {
    if (move.op == Op::Transpose) adder.transpose(move.after, move.order);
    else if (move.op == Op::Pad) adder.pad(move.before, move.after);
    else adder.add(move.op, move.after);
  }
  const Dims now = editor.module().shape(adder.value).dims,
             row = back.empty() ? to : back.back().after;
  if (now != row) {
    check(now.size() == 1 && row.size() == 1, "add_moves: both are rows");
    if (now[0] > row[0]) adder.slice(row);
    else adder.pad(now, row);
  }
  for (size_t i = back.size(); i-- > 0;) {
    const MemoryMove& move = back[i];
    if (move.op == Op::Transpose) adder.transpose(move.before, inverse_order(move.order));
    else if (move.op == Op::Pad) adder.slice(move.before);
    else adder.add(move.op, move.before);
  }
  return adder.value;
}

}  // namespace hilo
