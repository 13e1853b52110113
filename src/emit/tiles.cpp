#include "emit/tiles.h"

#include <algorithm>
#include <bit>
#include <set>

#include "analysis/analysis.h"

namespace hilo {
namespace {

// Up to 16 elements and a line of a cache, which is then written whole.
constexpr int64_t widest = 16, narrowest = 8, line_bytes = 64;
constexpr int64_t least_elements = 256;
constexpr size_t most_seen = 200, most_turned = 4;
// Tiles of an iteration, along the dimension that is read along and along the one written along.
constexpr int64_t tiles_read = 4, tiles_written = 16;

// The dimension of a transpose that is the innermost one of its operand.
std::optional<size_t> read_along(const Module& module, InstructionId transpose) {
  const Dims& from = module.shape(module.operand(transpose, 0)).dims;
  const Dims& order = module.attributes<DimensionsAttributes>(transpose).dimensions;
  size_t last = from.size();
  while (last > 0 && from[last - 1] == 1) --last;
  if (last == 0) return std::nullopt;
  return std::ranges::find(order, static_cast<int64_t>(last - 1)) - order.begin();
}

// These values and all that is computed in place to make them: their elements are asked for at
// other places than are written.
std::set<InstructionId> read_elsewhere(const Elements& e, std::vector<InstructionId> waiting) {
  std::set<InstructionId> out;
  while (!waiting.empty()) {
    const InstructionId id = waiting.back();
    waiting.pop_back();
    if (e.array(id) || !out.insert(id).second) continue;
    if (e.module[id].op == Op::Fusion)
      waiting.push_back(e.module[e.module.attributes<FusionAttributes>(id).calls].root);
    const auto operands = e.module.operands(id);
    waiting.insert(waiting.end(), operands.begin(), operands.end());
  }
  return out;
}

// Transposes that elementwise ops, and no others, make the leaves of.
std::vector<InstructionId> transposes_below(const Elements& e,
                                            std::span<const WrittenLeaf> leaves) {
  std::vector<InstructionId> waiting, elsewhere, out;
  std::set<InstructionId> seen;
  for (const WrittenLeaf& leaf : leaves) waiting.push_back(leaf.id);
  while (!waiting.empty() && seen.size() < most_seen) {
    const InstructionId id = waiting.back();
    waiting.pop_back();
    if (!e.module.shape(id).is_array() || e.array(id) || !seen.insert(id).second) continue;
    const Op op = e.module[id].op;
    if (op == Op::Transpose) out.push_back(id);
    if (op == Op::Fusion)
      waiting.push_back(e.module[e.module.attributes<FusionAttributes>(id).calls].root);
    const auto operands = e.module.operands(id);
    const bool is_by_element =
        is_elementwise(op) || is_lookup(e.module, id) ||
        (op == Op::BitcastConvert && e.module.shape(operands[0]).dims == e.module.shape(id).dims);
    auto& next = is_by_element ? waiting : elsewhere;
    next.insert(next.end(), operands.rbegin(), operands.rend());
  }
  elsewhere.insert(elsewhere.end(), waiting.begin(), waiting.end());  // not looked at
  if (!out.empty()) {
    const auto excluded = read_elsewhere(e, std::move(elsewhere));
    std::erase_if(out, [&](InstructionId id) { return excluded.contains(id); });
  }
  return out;
}

// Of two vectors the elements by turns, of each lane's lower halves and of their upper halves.
std::pair<std::vector<int>, std::vector<int>> interleaved(int width, int lane) {
  std::pair<std::vector<int>, std::vector<int>> out;
  for (int i = 0; i < width; ++i) {
    const int from = i / lane * lane + i % lane / 2 + (i % 2) * width;
    out.first.push_back(from);
    out.second.push_back(from + lane / 2);
  }
  return out;
}

// Of two vectors the lanes of even and those of odd number, those of the first vector before.
std::pair<std::vector<int>, std::vector<int>> every_other_lane(int width, int lane) {
  std::pair<std::vector<int>, std::vector<int>> out;
  for (int i = 0; i < width; ++i) {
    const int from = i / lane * 2 * lane + i % lane;
    out.first.push_back(from);
    out.second.push_back(from + lane);
  }
  return out;
}

// An array of `side` rows as one of its columns.
void turn(Builder& b, llvm::Type* type, llvm::Value* from, llvm::Value* to, int64_t side) {
  llvm::Type* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(side));
  const auto place = [&](llvm::Value* array, int64_t row) {
    return b.CreateInBoundsGEP(type, array, int64(b, row * side));
  };
  std::vector<llvm::Value*> rows;
  for (int64_t row = 0; row < side; ++row)
    rows.push_back(b.CreateAlignedLoad(vector, place(from, row), llvm::Align(4)));
  rows = turned(b, std::move(rows));
  for (int64_t row = 0; row < side; ++row)
    b.CreateAlignedStore(rows[static_cast<size_t>(row)], place(to, row), llvm::Align(4));
}

int64_t rounded_up_quotient(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Blocks along the dimensions that tiles have not, across and along.
Dims blocks_of(const Crossing& crossing, const Dims& dims, size_t inner) {
  Dims out;
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != inner && d != crossing.dim) out.push_back(dims[d]);
  out.push_back(rounded_up_quotient(dims[crossing.dim], crossing.side * tiles_read));
  out.push_back(rounded_up_quotient(dims[inner], crossing.side * tiles_written));
  return out;
}

class TileLoops {
 public:
  TileLoops(Writer& w, const Crossing& crossing, const Dims& dims, size_t inner, StorePlace store)
      : w_(w),
        b_(w.b),
        crossing_(crossing),
        side_(crossing.side),
        dims_(dims),
        inner_(inner),
        store_(store),
        at_(dims.size(), int64(w.b, 0)) {
    for (InstructionId id : crossing_.turned) {
      types_.push_back(b_.getIntNTy(8 * static_cast<unsigned>(bytes_of(id))));
      read_.push_back(frame_array(b_, types_.back(), side_ * side_));
      turned_.push_back(frame_array(b_, types_.back(), side_ * side_));
    }
  }

  void write(llvm::Value* begin, llvm::Value* end) {
    const Dims outer = blocks_of(crossing_, dims_, inner_);
    const int64_t across = tiles_along(crossing_.dim), along = tiles_along(inner_);
    loop(b_, begin, end, [&](llvm::Value* number) {
      const Index block = Index::linear(b_, outer, number);
      for (size_t d = 0, k = 0; d < dims_.size(); ++d)
        if (d != inner_ && d != crossing_.dim) at_[d] = block.at(b_, k++);
      over_tiles(block.at(b_, outer.size() - 1), tiles_written, along, [&](llvm::Value* column) {
        over_tiles(block.at(b_, outer.size() - 2), tiles_read, across,
                   [&](llvm::Value* row) { write_tile(row, column); });
      });
    });
    // Other code may ask for elements that are in no tile.
    for (InstructionId id : crossing_.turned) w_.elements.release_tile(id);
    w_.elements.forget();
  }

 private:
  int64_t bytes_of(InstructionId id) const {
    return storage_bytes(w_.elements.module.shape(id).type);
  }
  int64_t tiles_along(size_t d) const { return rounded_up_quotient(dims_[d], side_); }

  void over_tiles(llvm::Value* block, int64_t each, int64_t count, LoopBody body) {
    llvm::Value* first = multiply_index(b_, block, each);
    llvm::Value* end = add_index(b_, first, int64(b_, each));
    if (count % each != 0)
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, int64(b_, count));
    loop(b_, first, end, body);
  }

  // The last tile of a dimension lies within it, over what the one before has written: that is
  // read again, and not written again.
  struct Span {
    llvm::Value *origin, *first;  // first: that is new, from the origin on
  };
  Span span_of(llvm::Value* tile, size_t d) {
    llvm::Value* begin = multiply_index(b_, tile, side_);
    if (dims_[d] % side_ == 0) return {begin, int64(b_, 0)};
    llvm::Value* origin =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, begin, int64(b_, dims_[d] - side_));
    return {origin, b_.CreateNSWSub(begin, origin)};
  }

  void write_tile(llvm::Value* row, llvm::Value* column) {
    const Span across = span_of(row, crossing_.dim), along = span_of(column, inner_);
    Elements& e = w_.elements;
    for (InstructionId id : crossing_.turned) e.release_tile(id);
    for (size_t k = 0; k < crossing_.turned.size(); ++k) {
      const InstructionId id = crossing_.turned[k];
      e.forget();
      loop(b_, side_, [&](llvm::Value* i) {
        at_[inner_] = add_index(b_, along.origin, i);
        loop(b_, side_, [&](llvm::Value* j) {
          at_[crossing_.dim] = add_index(b_, across.origin, j);
          llvm::Value* value = e.at(id, Index(b_, dims_, at_));
          if (e.error()) return;
          llvm::Value* place = add_index(b_, multiply_index(b_, i, side_), j);
          store_element(b_, e.module.shape(id).type, read_[k], place, value);
        });
      });
      turn(b_, types_[k], read_[k], turned_[k], side_);
    }
    std::vector<llvm::Value*> first(dims_.size());
    Dims steps(dims_.size());
    first[crossing_.dim] = across.origin, steps[crossing_.dim] = side_;
    first[inner_] = along.origin, steps[inner_] = 1;
    for (size_t k = 0; k < crossing_.turned.size(); ++k)
      e.bind_tile(crossing_.turned[k], {turned_[k], first, steps});
    e.forget();
    loop(b_, across.first, int64(b_, side_), [&](llvm::Value* j) {
      at_[crossing_.dim] = add_index(b_, across.origin, j);
      loop(b_, along.first, int64(b_, side_), [&](llvm::Value* i) {
        at_[inner_] = add_index(b_, along.origin, i);
        store_(Index(b_, dims_, at_));
      });
    });
  }

  Writer& w_;
  Builder& b_;
  const Crossing& crossing_;
  const int64_t side_;
  const Dims& dims_;
  const size_t inner_;
  StorePlace store_;
  std::vector<llvm::Value*> at_;
  std::vector<llvm::Type*> types_;
  std::vector<llvm::Value*> read_, turned_;  // tiles of each transpose
};

}  // namespace

// By steps that each change a bit of the row's number for one of the column's: inside of lanes of
// 128 bits (unpck, zip), then of whole lanes (shuf). They are instructions of x86, which the code
// generator sees at once.
std::vector<llvm::Value*> turned(Builder& b, std::vector<llvm::Value*> rows) {
  const auto width = static_cast<unsigned>(rows.size());
  const unsigned lane = std::min(width, 128 / rows[0]->getType()->getScalarSizeInBits());
  const auto step = [&](unsigned bit, const std::pair<std::vector<int>, std::vector<int>>& taken) {
    for (unsigned row = 0; row < width; ++row) {
      if (row & bit) continue;
      llvm::Value *first = rows[row], *second = rows[row | bit];
      rows[row] = b.CreateShuffleVector(first, second, taken.first);
      rows[row | bit] = b.CreateShuffleVector(first, second, taken.second);
    }
  };
  const auto all = static_cast<int>(width), each = static_cast<int>(lane);
  for (unsigned bit = lane / 2; bit > 0; bit /= 2) step(bit, interleaved(all, each));
  for (unsigned bit = lane; bit < width; bit *= 2) step(bit, every_other_lane(all, each));
  return rows;
}

std::optional<Crossing> find_crossing(const Elements& e, std::span<const WrittenLeaf> leaves,
                                      size_t inner) {
  const Dims& dims = e.leaf_shape(leaves[0].id, leaves[0].leaf).dims;
  if (element_count(dims) < least_elements) return std::nullopt;
  std::optional<Crossing> out;
  for (InstructionId id : transposes_below(e, leaves)) {
    const ElementType type = e.module.shape(id).type;
    const auto dim = read_along(e.module, id);
    if (e.module.shape(id).dims != dims || !dim || *dim == inner || storage_bytes(type) > 8)
      continue;
    if (!out) out = Crossing{*dim, {}, 0};
    if (out->dim != *dim || out->turned.size() == most_turned) continue;
    out->turned.push_back(id);
  }
  if (!out) return std::nullopt;
  int64_t most = widest;
  for (InstructionId id : out->turned)
    most = std::min(most, line_bytes / storage_bytes(e.module.shape(id).type));
  const auto least = static_cast<uint64_t>(std::min({dims[out->dim], dims[inner], most}));
  out->side = static_cast<int64_t>(std::bit_floor(least));
  return out->side >= narrowest ? out : std::nullopt;
}

int64_t count_tile_blocks(const Crossing& crossing, const Dims& dims, size_t inner) {
  return element_count(blocks_of(crossing, dims, inner));
}

void write_tile_blocks(Writer& w, const Crossing& crossing, const Dims& dims, size_t inner,
                       llvm::Value* first, llvm::Value* last, StorePlace store) {
  TileLoops(w, crossing, dims, inner, store).write(first, last);
}

void write_tiles(Writer& w, const Crossing& crossing, const Dims& dims, size_t inner,
                 StorePlace store) {
  w.set_count(count_tile_blocks(crossing, dims, inner),
              static_cast<double>(tiles_read * tiles_written * crossing.side * crossing.side));
  write_tile_blocks(w, crossing, dims, inner, w.begin, w.end, store);
}

}  // namespace hilo
