#include "emit/tiles.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "analysis/analysis.h"
#include "emit/loop_limits.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {

// Up to the lanes of the widest vector and a line of a cache, which is then written whole.
constexpr int64_t widest = KernelLimits::widest_lanes, narrowest = KernelLimits::min_lanes;
constexpr int64_t min_elements = 256;
// Rows of a tile may be on pages of their own, of which a processor knows 16 that it writes to:
// those of a small array are small.
constexpr int64_t rows_on_small_pages = 8;
constexpr size_t max_transposed = 4;
// Tiles of an iteration, along the dimension that is read along and along the one written along.
constexpr int64_t tiles_read = 4, tiles_written = 16;

// The last dimension before `end` that counts.
std::optional<size_t> last_before(const Dims& dims, size_t end) {
  while (end > 0 && dims[end - 1] == 1) --end;
  return end > 0 ? std::optional(end - 1) : std::nullopt;
}

// How tiles of a transpose lie, or nothing.
std::optional<Crossing> crossing_of(const Module& module, InstructionId transpose, size_t inner) {
  const Dims &from = module.shape(module.operand(transpose, 0)).dims,
             &to = module.shape(transpose).dims;
  const Dims& order = module.attributes<DimensionsAttributes>(transpose).dimensions;
  const auto index_in_order = [&](size_t d) {
    return static_cast<size_t>(std::ranges::find(order, static_cast<int64_t>(d)) - order.begin());
  };
  const auto last = last_before(from, from.size());
  if (!last || index_in_order(*last) == inner) return std::nullopt;
  Crossing out{.read = index_in_order(*last), .written = inner, .transposes = {transpose}};
  if (to[inner] < narrowest && to[out.read] >= narrowest) {
    const auto before = last_before(to, inner);
    if (!before || *before == out.read) return std::nullopt;
    out.part = std::exchange(out.written, *before);
  } else if (to[out.read] < narrowest && to[inner] >= narrowest) {
    const auto before = last_before(from, *last);
    if (!before || index_in_order(*before) == inner) return std::nullopt;
    out.part = std::exchange(out.read, index_in_order(*before));
    out.is_part_read = true;
  }
  return out;
}

// These values and all that is computed in place to make them: their elements are asked for at
// other places than are written.
std::set<InstructionId> read_elsewhere(const ElementEmitter& e,
                                       std::vector<InstructionId> waiting) {
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
std::vector<InstructionId> transposes_below(const ElementEmitter& e,
                                            std::span<const WrittenLeaf> leaves) {
  std::vector<InstructionId> waiting, elsewhere, out;
  std::set<InstructionId> seen;
  for (const WrittenLeaf& leaf : leaves) waiting.push_back(leaf.id);
  while (!waiting.empty() && seen.size() < SearchBudget::max_visited) {
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

// What has parts is computed where it stands, and what it is written to has no rows that are whole
// pages, which would all lie in the same places of the first cache.
bool may_have_parts(const ElementEmitter& e, const Crossing& crossing, const Dims& dims) {
  const InstructionId id = crossing.transposes[0];
  const int64_t bytes = storage_bytes(e.module.shape(id).type);
  return keeps_element_order(e, e.module.operand(id, 0)) &&
         (!crossing.is_part_read || dims[crossing.written] * bytes % page != 0);
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

// A vector of as many elements as each of `from` has, element number l of which is number
// element(l) of theirs, counted through.
llvm::Value* picked(Builder& b, const std::vector<llvm::Value*>& from, int64_t lanes,
                    llvm::function_ref<int64_t(int64_t)> element) {
  llvm::Value* out = from[0];
  for (size_t n = 1; n < from.size(); ++n) {
    std::vector<int> mask;
    for (int64_t l = 0; l < lanes; ++l) {
      const auto number = static_cast<size_t>(element(l) / lanes);
      const auto lane = static_cast<int>(element(l) % lanes);
      const bool is_first = n == 1 && number == 0;
      mask.push_back(number == n  ? static_cast<int>(lanes) + lane
                     : is_first   ? lane
                     : number < n ? static_cast<int>(l)
                                  : llvm::PoisonMaskElem);
    }
    out = b.CreateShuffleVector(out, from[n], mask);
  }
  return out;
}

bool is_in_tiles(const Crossing& crossing, size_t d) {
  return d == crossing.read || d == crossing.written || d == crossing.part;
}
int64_t parts_of(const Crossing& crossing, const Dims& dims) {
  return crossing.part ? dims[*crossing.part] : 1;
}

// Blocks along the dimensions that tiles have not, and along the two that they have.
Dims blocks_of(const Crossing& crossing, const Dims& dims) {
  Dims out;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!is_in_tiles(crossing, d)) out.push_back(dims[d]);
  out.push_back(parts_of_line(dims[crossing.read], crossing.side * tiles_read));
  out.push_back(parts_of_line(dims[crossing.written], crossing.side * tiles_written));
  return out;
}

class TileLoops {
 public:
  TileLoops(KernelBuilder& w, const Crossing& crossing, const Dims& dims, const TileStores& stores)
      : w_(w),
        b_(w.b),
        crossing_(crossing),
        side_(crossing.side),
        parts_(parts_of(crossing, dims)),
        dims_(dims),
        store_(stores.place),
        address_(stores.address),
        at_(dims.size(), int64(w.b, 0)) {
    for (InstructionId id : crossing_.transposes) {
      types_.push_back(b_.getIntNTy(8 * static_cast<unsigned>(bytes_of(id))));
      read_.push_back(frame_array(b_, types_.back(), side_ * side_ * parts_));
      transposed_.push_back(frame_array(b_, types_.back(), side_ * side_ * parts_));
    }
  }

  void write(llvm::Value* begin, llvm::Value* end) {
    const Dims outer = blocks_of(crossing_, dims_);
    const int64_t across = tiles_along(crossing_.read), along = tiles_along(crossing_.written);
    loop(b_, begin, end, [&](llvm::Value* number) {
      const Index block = Index::linear(b_, outer, number);
      for (size_t d = 0, k = 0; d < dims_.size(); ++d)
        if (!is_in_tiles(crossing_, d)) at_[d] = block.at(b_, k++);
      over_tiles(block.at(b_, outer.size() - 2), tiles_read, across, [&](llvm::Value* row) {
        over_tiles(block.at(b_, outer.size() - 1), tiles_written, along,
                   [&](llvm::Value* column) { write_tile(row, column); });
      });
    });
    // Other code may ask for elements that are in no tile.
    for (InstructionId id : crossing_.transposes) w_.elements.release_tile(id);
    w_.elements.forget();
  }

 private:
  int64_t bytes_of(InstructionId id) const {
    return storage_bytes(w_.elements.module.shape(id).type);
  }
  int64_t tiles_along(size_t d) const { return parts_of_line(dims_[d], side_); }

  void over_tiles(llvm::Value* block, int64_t each, int64_t count, LoopBody body) {
    llvm::Value* first = multiply_index(b_, block, each);
    llvm::Value* end = add_index(b_, first, int64(b_, each));
    if (count % each != 0) end = lesser_index(b_, end, int64(b_, count));
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
    llvm::Value* origin = lesser_index(b_, begin, int64(b_, dims_[d] - side_));
    return {origin, b_.CreateNSWSub(begin, origin)};
  }

  // body(part) with the place of each.
  void over_parts(LoopBody body) {
    if (!crossing_.part) return body(int64(b_, 0));
    loop(b_, parts_, [&](llvm::Value* part) {
      at_[*crossing_.part] = part;
      body(part);
    });
  }

  void write_tile(llvm::Value* row, llvm::Value* column) {
    const Span across = span_of(row, crossing_.read), along = span_of(column, crossing_.written);
    ElementEmitter& e = w_.elements;
    for (InstructionId id : crossing_.transposes) e.release_tile(id);
    llvm::Value* array = e.array(e.module.operand(crossing_.transposes[0], 0));
    if (address_ && array && !crossing_.part) return move_tile(array, across, along);
    for (size_t k = 0; k < crossing_.transposes.size(); ++k) read_tile(k, across, along);
    if (address_) return write_lines(across, along);
    std::vector<llvm::Value*> first(dims_.size());
    Dims steps(dims_.size());
    first[crossing_.read] = across.origin, steps[crossing_.read] = side_;
    first[crossing_.written] = along.origin, steps[crossing_.written] = 1;
    if (crossing_.part)
      first[*crossing_.part] = int64(b_, 0), steps[*crossing_.part] = side_ * side_;
    for (size_t k = 0; k < crossing_.transposes.size(); ++k)
      e.bind_tile(crossing_.transposes[k], {transposed_[k], first, steps});
    const auto over_line = [&] {
      loop(b_, along.first, int64(b_, side_), [&](llvm::Value* i) {
        at_[crossing_.written] = add_index(b_, along.origin, i);
        if (crossing_.is_part_read) store_(Index(b_, dims_, at_));
        else over_parts([&](llvm::Value*) { store_(Index(b_, dims_, at_)); });
      });
    };
    e.forget();
    loop(b_, across.first, int64(b_, side_), [&](llvm::Value* j) {
      at_[crossing_.read] = add_index(b_, across.origin, j);
      if (crossing_.is_part_read) over_parts([&](llvm::Value*) { over_line(); });
      else over_line();
    });
  }

  llvm::Type* vector(size_t k) const {
    return llvm::FixedVectorType::get(types_[k], static_cast<unsigned>(side_));
  }
  // So many elements from the pointer on, by vectors.
  std::vector<llvm::Value*> load_lines(llvm::Value* from, size_t k, int64_t count) {
    std::vector<llvm::Value*> out;
    for (int64_t n = 0; n < count; ++n)
      out.push_back(
          b_.CreateAlignedLoad(vector(k), moved(from, k, int64(b_, n * side_)), llvm::Align(1)));
    return out;
  }
  void store_lines(const std::vector<llvm::Value*>& lines, llvm::Value* to, size_t k) {
    for (size_t n = 0; n < lines.size(); ++n)
      b_.CreateAlignedStore(lines[n], moved(to, k, int64(b_, static_cast<int64_t>(n) * side_)),
                            llvm::Align(1));
  }
  llvm::Value* moved(llvm::Value* pointer, size_t k, llvm::Value* elements) {
    return b_.CreateInBoundsGEP(types_[k], pointer, elements);
  }
  // Line number `line` of a part of a tile.
  llvm::Value* line_of(llvm::Value* tile, size_t k, llvm::Value* part, llvm::Value* line) {
    llvm::Value* number = add_index(b_, multiply_index(b_, part, side_), line);
    return moved(tile, k, multiply_index(b_, number, side_));
  }

  // Nothing is computed of what is transposed: lines of the tile are written as they are.
  void write_lines(const Span& across, const Span& along) {
    at_[crossing_.written] = along.origin;
    loop(b_, across.first, int64(b_, side_), [&](llvm::Value* j) {
      at_[crossing_.read] = add_index(b_, across.origin, j);
      if (!crossing_.part || crossing_.is_part_read)
        return over_parts([&](llvm::Value* part) {
          write_line(load_lines(line_of(transposed_[0], 0, part, j), 0, 1), along.first);
        });
      std::vector<llvm::Value*> parts, lines;
      for (int64_t part = 0; part < parts_; ++part)
        parts.push_back(load_lines(line_of(transposed_[0], 0, int64(b_, part), j), 0, 1)[0]);
      for (int64_t n = 0; n < parts_; ++n)
        lines.push_back(picked(b_, parts, side_, [&](int64_t lane) {
          const int64_t place = n * side_ + lane;
          return place % parts_ * side_ + place / parts_;
        }));
      at_[*crossing_.part] = int64(b_, 0);
      write_line(lines, along.first);
    });
  }
  // What is there already is written again where the chip does not leave out lanes of any width.
  void write_line(const std::vector<llvm::Value*>& line, llvm::Value* first) {
    llvm::Value* to = address_(Index(b_, dims_, at_));
    const auto* start = llvm::dyn_cast<llvm::ConstantInt>(first);
    const bool has_masks = vector_registers(*w_.function->getParent()).are_many();
    if ((start && start->isZero()) || !has_masks) return store_lines(line, to, 0);
    const auto each = std::ssize(line);
    for (int64_t n = 0; n < each; ++n) {
      std::vector<llvm::Constant*> places;
      for (int64_t lane = 0; lane < side_; ++lane)
        places.push_back(b_.getInt32(static_cast<uint32_t>((n * side_ + lane) / each)));
      llvm::Value* begun = b_.CreateVectorSplat(static_cast<unsigned>(side_),
                                                b_.CreateTrunc(first, b_.getInt32Ty()));
      llvm::Value* mask = b_.CreateICmpSGE(llvm::ConstantVector::get(places), begun);
      b_.CreateMaskedStore(line[static_cast<size_t>(n)], moved(to, 0, int64(b_, n * side_)),
                           llvm::Align(1), mask);
    }
  }

  // Where the operand of transpose number k has the element of the place at hand.
  llvm::Value* position_in_operand(size_t k) {
    const Module& module = w_.elements.module;
    const InstructionId id = crossing_.transposes[k];
    const Dims& order = module.attributes<DimensionsAttributes>(id).dimensions;
    std::vector<llvm::Value*> at(at_.size());
    for (size_t d = 0; d < at_.size(); ++d) at[static_cast<size_t>(order[d])] = at_[d];
    return Index(b_, module.shape(module.operand(id, 0)).dims, at).position(b_);
  }
  llvm::Value* source(size_t k, llvm::Value* array) {
    return moved(array, k, position_in_operand(k));
  }

  // From an array to an array, by way of registers.
  void move_tile(llvm::Value* array, const Span& across, const Span& along) {
    std::vector<llvm::Value*> rows;
    at_[crossing_.read] = across.origin;
    for (int64_t i = 0; i < side_; ++i) {
      at_[crossing_.written] = add_index(b_, along.origin, int64(b_, i));
      rows.push_back(load_lines(source(0, array), 0, 1)[0]);
    }
    rows = transposed(b_, std::move(rows));
    at_[crossing_.written] = along.origin;
    for (int64_t j = 0; j < side_; ++j) {
      llvm::Value* row = rows[static_cast<size_t>(j)];
      at_[crossing_.read] = add_index(b_, across.origin, int64(b_, j));
      where(b_, b_.CreateICmpSLE(across.first, int64(b_, j)),
            [&] { write_line({row}, along.first); });
    }
  }

  // The elements of transpose number k, transposed.
  void read_tile(size_t k, const Span& across, const Span& along) {
    ElementEmitter& e = w_.elements;
    e.forget();
    llvm::Value* array = e.array(e.module.operand(crossing_.transposes[k], 0));
    loop(b_, side_, [&](llvm::Value* i) {
      at_[crossing_.written] = add_index(b_, along.origin, i);
      if (array) copy_lines(k, array, across, i);
      else compute_lines(k, across, i);
    });
    loop(b_, parts_, [&](llvm::Value* part) {
      const auto tile = [&](llvm::Value* all) { return line_of(all, k, part, int64(b_, 0)); };
      store_lines(transposed(b_, load_lines(tile(read_[k]), k, side_)), tile(transposed_[k]), k);
    });
  }

  // Line number i of each part of a tile, of an array.
  void copy_lines(size_t k, llvm::Value* array, const Span& across, llvm::Value* i) {
    at_[crossing_.read] = across.origin;
    if (!crossing_.is_part_read)
      return over_parts([&](llvm::Value* part) {
        store_lines(load_lines(source(k, array), k, 1), line_of(read_[k], k, part, i), k);
      });
    at_[*crossing_.part] = int64(b_, 0);
    deal_out(k, source(k, array), i);
  }

  // The same of what is computed, of parts that are read where it keeps its places.
  void compute_lines(size_t k, const Span& across, llvm::Value* i) {
    const InstructionId id = crossing_.transposes[k];
    ElementEmitter& e = w_.elements;
    const ElementType type = e.module.shape(id).type;
    if (!crossing_.is_part_read)
      return over_parts([&](llvm::Value* part) {
        llvm::Value* line = line_of(read_[k], k, part, i);
        loop(b_, side_, [&](llvm::Value* j) {
          at_[crossing_.read] = add_index(b_, across.origin, j);
          llvm::Value* value = e.at(id, Index(b_, dims_, at_));
          store_element(b_, type, line, j, value);
        });
      });
    const InstructionId operand = e.module.operand(id, 0);
    llvm::Value* row = frame_array(b_, types_[k], side_ * parts_);
    at_[crossing_.read] = across.origin;
    at_[*crossing_.part] = int64(b_, 0);
    llvm::Value* first = position_in_operand(k);
    loop(b_, side_ * parts_, [&](llvm::Value* n) {
      const Index place = Index::linear(b_, e.module.shape(operand).dims, add_index(b_, first, n));
      llvm::Value* value = e.at(operand, place);
      store_element(b_, type, row, n, value);
    });
    deal_out(k, row, i);
  }

  // Elements of all parts by turns to line number i of each.
  void deal_out(size_t k, llvm::Value* from, llvm::Value* i) {
    const std::vector<llvm::Value*> lines = load_lines(from, k, parts_);
    for (int64_t part = 0; part < parts_; ++part)
      store_lines({picked(b_, lines, side_, [&](int64_t lane) { return lane * parts_ + part; })},
                  line_of(read_[k], k, int64(b_, part), i), k);
  }

  KernelBuilder& w_;
  Builder& b_;
  const Crossing& crossing_;
  const int64_t side_, parts_;
  const Dims& dims_;
  StorePlace store_;
  std::function<llvm::Value*(const Index&)> address_;
  std::vector<llvm::Value*> at_;
  std::vector<llvm::Type*> types_;
  std::vector<llvm::Value*> read_, transposed_;  // tiles of each transpose
};

}  // namespace

// By steps that each change a bit of the row's number for one of the column's: inside of lanes of
// 128 bits (unpck, zip), then of whole lanes (shuf). They are instructions of x86, which the code
// generator sees at once.
std::vector<llvm::Value*> transposed(Builder& b, std::vector<llvm::Value*> rows) {
  const auto width = static_cast<unsigned>(rows.size());
  const unsigned lane = std::min(width, 128 / rows[0]->getType()->getScalarSizeInBits());
  // Else the code generator looks at each step through all those before it.
  llvm::Type* type = rows[0]->getType();
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  llvm::Type* floats = llvm::FixedVectorType::get(b.getFloatTy(), bits / 32);
  const auto fence = [&](llvm::Value* row) {
    llvm::Value* held = b.CreateBitCast(row, floats);
    return b.CreateBitCast(b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {floats}, {held}),
                           type);
  };
  bool is_first = true;
  const auto step = [&](unsigned bit, const std::pair<std::vector<int>, std::vector<int>>& taken) {
    if (!std::exchange(is_first, false))
      for (llvm::Value*& row : rows) row = fence(row);
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

std::optional<Crossing> find_crossing(const ElementEmitter& e, std::span<const WrittenLeaf> leaves,
                                      size_t inner) {
  const Dims& dims = e.leaf_shape(leaves[0].id, leaves[0].leaf).dims;
  if (element_count(dims) < min_elements) return std::nullopt;
  std::optional<Crossing> out;
  for (InstructionId id : transposes_below(e, leaves)) {
    if (e.module.shape(id).dims != dims || storage_bytes(e.module.shape(id).type) > 8) continue;
    const auto crossing = crossing_of(e.module, id, inner);
    if (!crossing || (crossing->part && !may_have_parts(e, *crossing, dims))) continue;
    if (!out) {
      out = crossing;
    } else if (out->transposes.size() < max_transposed && out->read == crossing->read &&
               out->written == crossing->written && out->part == crossing->part) {
      out->transposes.push_back(id);
    }
  }
  if (!out) return std::nullopt;
  int64_t most = widest;
  for (InstructionId id : out->transposes)
    most = std::min(most, cache_line / storage_bytes(e.module.shape(id).type));
  const int64_t bytes = storage_bytes(e.module.shape(out->transposes[0]).type);
  const Dims row(dims.begin() + static_cast<int64_t>(out->read) + 1, dims.end());
  if (bytes == 4 && element_count(dims) * bytes < huge_page &&
      2 * element_count(row) * bytes >= page)
    most = rows_on_small_pages;
  const auto least = static_cast<uint64_t>(std::min({dims[out->read], dims[out->written], most}));
  out->side = static_cast<int64_t>(std::bit_floor(least));
  return out->side >= narrowest ? out : std::nullopt;
}

int64_t count_tile_blocks(const Crossing& crossing, const Dims& dims) {
  return element_count(blocks_of(crossing, dims));
}

void write_tile_blocks(KernelBuilder& w, const Crossing& crossing, const Dims& dims,
                       llvm::Value* first, llvm::Value* last, const TileStores& stores) {
  TileLoops(w, crossing, dims, stores).write(first, last);
}

void write_tiles(KernelBuilder& w, const Crossing& crossing, const Dims& dims,
                 const TileStores& stores) {
  w.set_count(count_tile_blocks(crossing, dims));
  write_tile_blocks(w, crossing, dims, w.begin, w.end, stores);
}

}  // namespace hilo
