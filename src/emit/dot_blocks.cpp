#include "emit/dot_blocks.h"

#include <algorithm>
#include <bit>

#include "emit/lanes.h"
#include "emit/loop_limits.h"
#include "emit/loops.h"
#include "emit/tiles.h"

namespace hilo {
namespace {

using llvm::Value;

// Columns of a right operand that is read by lines, as long pieces of memory, while what stands
// below them is fetched into the second cache. (The first has few places for lines a power of two
// apart.) Where there are many threads, fewer. Chips with few registers fetch more by themselves
// than when told to, from longer lines.
constexpr int64_t columns_of_few_registers = 2048;
constexpr int64_t columns_at_once = KernelLimits::tile;

// Strips for so many rows are transposed by tiles of so many lanes at most, which take longer, but
// not to compile.
constexpr int64_t rows_of_small_tiles = 64;
constexpr int64_t small_tile = KernelLimits::min_lanes;
class Dot {
 public:
  Dot(KernelBuilder& w, const Side& lhs, const Side& rhs, ElementType result)
      : w_(w),
        b_(w.b),
        lhs_(lhs),
        rhs_(rhs),
        result_(result),
        is_made_(!lhs.array),
        registers_(w.chip().registers),
        form_(product_form(lhs, rhs, result, w.chip())),
        sum_(form_.sum),
        in_columns_(form_.in_columns),
        rows_(form_.rows),
        columns_(form_.columns),
        lanes_(form_.lanes) {}

  // Of a left operand that no array holds: iterations are blocks of its rows, which are made in the
  // frame, times all strips of columns.
  void write_fused_producer(InstructionId left) {
    const int64_t blocks = parts_of_line(lhs_.own.count, rows_);
    const int64_t strips = parts_of_line(rhs_.own.count, columns_);
    w_.set_count(lhs_.batch.count * blocks);
    lhs_.array = frame_array(b_, stored_type(b_, lhs_.type), rows_ * depth());
    loop(b_, w_.begin, w_.end, [&](Value* i) {
      Value* block = b_.CreateURem(i, int64(b_, blocks));
      batch_ = b_.CreateUDiv(i, int64(b_, blocks));
      with_rows(block, [&](int64_t rows) {
        make_rows(left, rows);
        loop(b_, strips, [&](Value* strip) {
          with_columns(strip, [&](int64_t columns) { write_block(rows, columns); });
        });
      });
    });
  }

  void write() {
    if (form_.transposes_strips) return write_transposed_strips();
    if (form_.lines_at_once > 0) return write_column_strips();
    const int64_t blocks = parts_of_line(lhs_.own.count, rows_);
    const int64_t strips = parts_of_line(rhs_.own.count, columns_);
    w_.set_count(lhs_.batch.count * blocks * strips);
    if (form_.transposes) transpose_columns();
    else if (lhs_.own.count % rows_ == 0) w_.set_block(strips, rows_ * rhs_.own.count);
    loop(b_, w_.begin, w_.end, [&](Value* i) {
      Value* strip = b_.CreateURem(i, int64(b_, strips));
      Value* rest = b_.CreateUDiv(i, int64(b_, strips));
      Value* block = b_.CreateURem(rest, int64(b_, blocks));
      batch_ = b_.CreateUDiv(rest, int64(b_, blocks));
      with_rows(block, [&](int64_t rows) {
        with_columns(strip, [&](int64_t columns) { write_block(rows, columns); });
      });
    });
  }

 private:
  int64_t depth() const { return lhs_.depth.count; }

  double multiplications() const {
    return static_cast<double>(lhs_.batch.count * lhs_.own.count) *
           static_cast<double>(rhs_.own.count * depth());
  }
  bool rows_overlap() const { return may_overlap(lhs_.own.count, rows_, 1, multiplications()); }
  bool columns_overlap() const {
    return may_overlap(rhs_.own.count, columns_, in_columns_ ? lanes_of_register() : 1,
                       multiplications());
  }
  // body(how many) for the block of rows, and the strip of columns, of this number.
  void with_rows(Value* block, llvm::function_ref<void(int64_t)> body) {
    with_part_of_line(b_, block, lhs_.own.count, rows_, rows_overlap(),
                      [&](Value* first, int64_t rows) { row_ = first, body(rows); });
  }
  void with_columns(Value* strip, llvm::function_ref<void(int64_t)> body) {
    with_part_of_line(b_, strip, rhs_.own.count, columns_, columns_overlap(),
                      [&](Value* first, int64_t columns) { column_ = first, body(columns); });
  }

  // The rows from row_ on, one after the other.
  void make_rows(InstructionId left, int64_t rows) {
    const Dims& dims = w_.elements.module.shape(left).dims;
    const Dims outer(dims.begin(), dims.end() - 1);
    Value* first = add_index(b_, multiply_index(b_, batch_, lhs_.own.count), row_);
    loop(b_, rows, [&](Value* r) {
      const Index row = Index::linear(b_, outer, add_index(b_, first, r));
      std::vector<Value*> at;
      for (size_t d = 0; d < outer.size(); ++d) at.push_back(row.at(b_, d));
      at.push_back(nullptr);
      loop(b_, depth(), [&](Value* k) {
        w_.elements.forget();
        at.back() = k;
        Value* element = w_.elements.at(left, Index(b_, dims, at));
        Value* to = add_index(b_, multiply_index(b_, r, depth()), k);
        store_element(b_, lhs_.type, lhs_.array, to, element);
      });
    });
    w_.elements.forget();
  }
  int64_t lanes_of_register() const { return registers_.lanes(storage_bytes(sum_)); }
  // Columns of the right operand, each in one piece, in the frame.
  void transpose_columns() {
    llvm::Type* stored = stored_type(b_, rhs_.type);
    const int64_t columns = rhs_.own.count;
    Value* transposed = frame_array(b_, stored, depth() * columns);
    loop(b_, depth(), [&](Value* k) {
      for (int64_t j = 0; j < columns; ++j) {
        Value* from = add_index(b_, multiply_index(b_, k, rhs_.depth.stride), int64(b_, j));
        Value* element = b_.CreateLoad(stored, b_.CreateInBoundsGEP(stored, rhs_.array, from));
        Value* to = add_index(b_, int64(b_, j * depth()), k);
        b_.CreateStore(element, b_.CreateInBoundsGEP(stored, transposed, to));
      }
    });
    rhs_ = {rhs_.type, transposed, {}, {columns, depth()}, {depth(), 1}};
  }
  // Iterations are strips of columns, for all rows.
  void write_transposed_strips() {
    const int64_t strips = parts_of_line(rhs_.own.count, columns_);
    w_.set_count(lhs_.batch.count * strips);
    Value* frame = frame_array(b_, real(), depth() * columns_);
    loop(b_, w_.begin, w_.end, [&](Value* i) {
      Value* strip = b_.CreateURem(i, int64(b_, strips));
      batch_ = b_.CreateUDiv(i, int64(b_, strips));
      with_columns(strip, [&](int64_t columns) {
        const Side given = rhs_;
        transpose_strip(frame, columns);
        rhs_ = {sum_, frame, {rhs_.batch.count, 0}, {rhs_.own.count, 0}, {depth(), columns}};
        write_all_rows(columns);
        rhs_ = given;
      });
    });
  }
  void write_all_rows(int64_t columns) {
    const int64_t rows = lhs_.own.count, whole = rows / rows_;
    if (rows_overlap())
      return loop(b_, whole + 1, [&](Value* block) {
        with_rows(block, [&](int64_t) { write_block(rows_, columns); });
      });
    loop(b_, whole, [&](Value* block) {
      row_ = multiply_index(b_, block, rows_);
      write_block(rows_, columns);
    });
    row_ = int64(b_, whole * rows_);
    if (rows % rows_ > 0) write_block(rows % rows_, columns);
  }
  // Lines of so many columns; the last tiles lie over those before them.
  void transpose_strip(Value* frame, int64_t columns) {
    const int64_t longest =
        lhs_.own.count >= rows_of_small_tiles ? small_tile : lanes_of_register();
    const int64_t most = std::min({columns, depth(), longest});
    const auto side = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
    const int64_t across = parts_of_line(columns, side), along = parts_of_line(depth(), side);
    loop(b_, across * along, [&](Value* tile) {
      const auto origin = [&](Value* number, int64_t size) {
        return lesser_index(b_, multiply_index(b_, number, side), int64(b_, size - side));
      };
      Value* first = origin(b_.CreateUDiv(tile, int64(b_, along)), columns);
      Value* k = origin(b_.CreateURem(tile, int64(b_, along)), depth());
      std::vector<Value*> lines;
      for (int64_t c = 0; c < side; ++c) {
        Value* column = add_index(b_, add_index(b_, column_, first), int64(b_, c));
        lines.push_back(load(rhs_, add_index(b_, start(rhs_, column), k), side));
      }
      lines = transposed(b_, std::move(lines));
      for (int64_t n = 0; n < side; ++n) {
        Value* line = multiply_index(b_, add_index(b_, k, int64(b_, n)), columns);
        store_lanes(b_, sum_, frame, add_index(b_, line, first), lines[static_cast<size_t>(n)]);
      }
    });
  }
  llvm::Type* real() const { return stored_type(b_, sum_); }

  Value* load(const Side& side, Value* position, int64_t lanes,
              std::optional<int64_t> first = std::nullopt) {
    return load_lanes(b_, side.type, side.array, position, lanes, real(), first);
  }

  Value* start(const Side& side, Value* own) {
    return add_index(b_, multiply_index(b_, batch_, side.batch.stride),
                     multiply_index(b_, own, side.own.stride));
  }

  // Where so many rows from row_ on begin.
  std::vector<Value*> left_rows(int64_t rows) {
    std::vector<Value*> out;
    for (int64_t r = 0; r < rows; ++r)
      out.push_back(is_made_ ? int64(b_, r * depth())
                             : start(lhs_, add_index(b_, row_, int64(b_, r))));
    return out;
  }

  void write_block(int64_t rows, int64_t columns) {
    const std::vector<Value*> lefts = left_rows(rows);
    if (in_columns_) write_columns(lefts, columns);
    else write_depths(lefts, columns);
  }

  // Fetches what stands from `position` of the right operand on.
  void fetch(Value* position, int64_t lanes) {
    const int64_t line = 64 / storage_bytes(rhs_.type);
    for (int64_t i = 0; i < lanes; i += line) {
      Value* at = b_.CreateGEP(stored_type(b_, rhs_.type), rhs_.array,
                               add_index(b_, position, int64(b_, i)));
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                         {at, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
    }
  }

  // Adds `lines` lines of the summed dimension to columns, the pieces of each row's in turn: every
  // element of the left operand is spread over the lanes. With each line that which stands
  // `apart` elements on is fetched; null: none.
  std::vector<Value*> add_lines(const std::vector<Value*>& lefts, Value* right, Value* apart,
                                Value* line, int64_t lines, int64_t lanes,
                                std::vector<Value*> sums) {
    const auto pieces = chunks_of_lanes(lanes, lanes_of_register());
    return loop_carrying(b_, lines, std::move(sums), [&](Value* i, std::span<Value* const> now) {
      Value* k = add_index(b_, line, i);
      Value* begin = add_index(b_, right, multiply_index(b_, k, rhs_.depth.stride));
      std::vector<Value*> strip, next;
      for (const LaneChunk& piece : pieces)
        strip.push_back(load(rhs_, add_index(b_, begin, int64(b_, piece.first)), piece.lanes));
      if (apart) fetch(add_index(b_, begin, apart), lanes);
      for (Value* left : lefts) {
        Value* place = add_index(b_, left, multiply_index(b_, k, lhs_.depth.stride));
        Value* one = b_.CreateExtractElement(load(lhs_, place, 1), uint64_t{0});
        for (size_t p = 0; p < pieces.size(); ++p) {
          Value* splat = b_.CreateVectorSplat(static_cast<unsigned>(pieces[p].lanes), one);
          next.push_back(multiply_add_lanes(b_, splat, strip[p], now[next.size()]));
        }
      }
      return next;
    });
  }
  // Of each row the pieces of so many lanes.
  std::vector<Value*> zeros(size_t rows, int64_t lanes) {
    std::vector<Value*> out;
    const auto pieces = chunks_of_lanes(lanes, lanes_of_register());
    for (size_t r = 0; r < rows; ++r)
      for (const LaneChunk& piece : pieces)
        out.push_back(llvm::Constant::getNullValue(
            llvm::FixedVectorType::get(real(), static_cast<unsigned>(piece.lanes))));
    return out;
  }
  // body(row, piece) for what add_lines() gives, in that order.
  void for_each_chunk(size_t rows, int64_t lanes,
                      llvm::function_ref<void(size_t row, const LaneChunk&)> body) {
    const auto pieces = chunks_of_lanes(lanes, lanes_of_register());
    for (size_t r = 0; r < rows; ++r)
      for (const LaneChunk& piece : pieces) body(r, piece);
  }

  void write_columns(const std::vector<Value*>& lefts, int64_t columns) {
    const std::vector<Value*> sums = add_lines(lefts, start(rhs_, column_), nullptr, int64(b_, 0),
                                               depth(), columns, zeros(lefts.size(), columns));
    size_t next = 0;
    for_each_chunk(lefts.size(), columns, [&](size_t row, const LaneChunk& piece) {
      store(row, add_index(b_, column_, int64(b_, piece.first)), sums[next++]);
    });
  }

  // All rows at once, by pieces of columns; neighbours are read together, as a longer one.
  void write_column_strips() {
    const int64_t pieces = parts_of_line(rhs_.own.count, columns_);
    w_.set_count(lhs_.batch.count * pieces);
    w_.set_block(pieces, rows_ * rhs_.own.count);
    const int64_t most = registers_.are_many() ? columns_at_once : columns_of_few_registers;
    const int64_t neighbours = std::clamp<int64_t>(most / columns_, 1, 2 * pieces - 1);
    const auto together = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(neighbours)));
    w_.set_max_chunk(together);
    Value* kept = frame_array(b_, real(), rows_ * together * columns_);
    row_ = int64(b_, 0);
    Value* last = b_.CreateUDiv(b_.CreateAdd(w_.end, int64(b_, pieces - 1)), int64(b_, pieces));
    loop(b_, b_.CreateUDiv(w_.begin, int64(b_, pieces)), last, [&](Value* batch) {
      batch_ = batch;
      Value* before = multiply_index(b_, batch, pieces);
      const auto of_batch = [&](Value* piece) {
        Value* number = greater_index(b_, b_.CreateSub(piece, before), int64(b_, 0));
        return lesser_index(b_, number, int64(b_, pieces));
      };
      Value* end = of_batch(w_.end);
      Value* begin = of_batch(w_.begin);
      Value* longer = b_.CreateAdd(b_.CreateSub(end, begin), int64(b_, together - 1));
      loop(b_, int64(b_, 0), b_.CreateUDiv(longer, int64(b_, together)), [&](Value* n) {
        Value* piece = add_index(b_, begin, multiply_index(b_, n, together));
        Value* next = lesser_index(b_, add_index(b_, piece, int64(b_, together)), end);
        write_neighbours(kept, together * columns_, piece, next);
      });
    });
  }

  // Pieces [begin, end) of columns, with the sums of each row in the frame between a few lines and
  // the next, so many elements apart.
  void write_neighbours(Value* kept, int64_t apart, Value* begin, Value* end) {
    const size_t rows = static_cast<size_t>(rows_);
    const std::vector<Value*> lefts = left_rows(rows_);
    column_ = multiply_index(b_, begin, columns_);
    const int64_t all = parts_of_line(rhs_.own.count, lanes_);
    Value* first = multiply_index(b_, begin, columns_ / lanes_);
    Value* last = lesser_index(b_, multiply_index(b_, end, columns_ / lanes_), int64(b_, all));
    const auto strips = [&](llvm::function_ref<void(Value*, int64_t)> body) {
      loop(b_, first, last, [&](Value* strip) {
        Value* column = multiply_index(b_, b_.CreateSub(strip, first), lanes_);
        with_part(b_, strip, all, rhs_.own.count % lanes_, lanes_,
                  [&](int64_t lanes) { body(column, lanes); });
      });
    };
    const auto place = [&](size_t row, Value* column, const LaneChunk& piece) {
      return add_index(b_, column, int64(b_, static_cast<int64_t>(row) * apart + piece.first));
    };
    const auto load_kept = [&](size_t row, Value* column, const LaneChunk& piece) {
      return load_lanes(b_, sum_, kept, place(row, column, piece), piece.lanes, real());
    };
    const auto keep = [&](Value* column, int64_t lanes, const std::vector<Value*>& sums) {
      size_t next = 0;
      for_each_chunk(rows, lanes, [&](size_t row, const LaneChunk& piece) {
        store_lanes(b_, sum_, kept, place(row, column, piece), sums[next++]);
      });
    };
    strips([&](Value* column, int64_t lanes) { keep(column, lanes, zeros(rows, lanes)); });
    add_all_lines([&](Value* line, int64_t lines, Value* below) {
      strips([&](Value* column, int64_t lanes) {
        std::vector<Value*> sums;
        for_each_chunk(rows, lanes, [&](size_t row, const LaneChunk& piece) {
          sums.push_back(load_kept(row, column, piece));
        });
        Value* right = start(rhs_, add_index(b_, column_, column));
        Value* fetched = registers_.are_many() ? below : nullptr;
        keep(column, lanes, add_lines(lefts, right, fetched, line, lines, lanes, std::move(sums)));
      });
    });
    strips([&](Value* column, int64_t lanes) {
      for_each_chunk(rows, lanes, [&](size_t row, const LaneChunk& piece) {
        Value* to = add_index(b_, add_index(b_, column_, column), int64(b_, piece.first));
        store(row, to, load_kept(row, column, piece));
      });
    });
  }

  // body(line, how many, how far below stands what is next) for a few lines at a time.
  void add_all_lines(llvm::function_ref<void(Value*, int64_t, Value*)> body) {
    const int64_t lines_at_once = form_.lines_at_once;
    const int64_t groups = parts_of_line(depth(), lines_at_once);
    loop(b_, groups, [&](Value* group) {
      Value* is_last = b_.CreateICmpEQ(group, int64(b_, groups - 1));
      Value* below =
          b_.CreateSelect(is_last, int64(b_, 0), int64(b_, lines_at_once * rhs_.depth.stride));
      with_part(b_, group, groups, depth() % lines_at_once, lines_at_once, [&](int64_t lines) {
        body(multiply_index(b_, group, lines_at_once), lines, below);
      });
    });
  }

  // A vector of partial sums for each result. What is left over is a vector with zeros behind it,
  // or is added element by element.
  void write_depths(const std::vector<Value*>& lefts, int64_t columns) {
    std::vector<Value*> rights;
    for (int64_t c = 0; c < columns; ++c)
      rights.push_back(start(rhs_, add_index(b_, column_, int64(b_, c))));
    const auto add = [&](Value* k, std::span<Value* const> now, int64_t lanes,
                         std::optional<int64_t> first = std::nullopt) {
      std::vector<Value*> next, right;
      for (Value* from : rights) right.push_back(load(rhs_, add_index(b_, from, k), lanes, first));
      for (Value* from : lefts) {
        Value* left = load(lhs_, add_index(b_, from, k), lanes, first);
        for (Value* other : right)
          next.push_back(multiply_add_lanes(b_, left, other, now[next.size()]));
      }
      return next;
    };
    auto* vector = llvm::FixedVectorType::get(real(), static_cast<unsigned>(lanes_));
    std::vector<Value*> sums(lefts.size() * rights.size(), llvm::Constant::getNullValue(vector));
    sums = loop_carrying(b_, depth() / lanes_, std::move(sums),
                         [&](Value* k, std::span<Value* const> now) {
                           return add(multiply_index(b_, k, lanes_), now, lanes_);
                         });
    Value* whole = int64(b_, depth() / lanes_ * lanes_);
    const int64_t rest = depth() % lanes_;
    const bool has_masks = registers_.have_masks(storage_bytes(lhs_.type)) &&
                           registers_.have_masks(storage_bytes(rhs_.type));
    if (rest > 0 && has_masks) sums = add(whole, sums, lanes_, rest);
    sums = sums_of_lanes(b_, sums);
    if (rest > 0 && !has_masks) sums = add_singles(std::move(sums), rest, whole, add);
    for (size_t r = 0; r < lefts.size(); ++r) {
      Value* row = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(real(), static_cast<unsigned>(columns)));
      for (int64_t c = 0; c < columns; ++c)
        row = b_.CreateInsertElement(row, sums[r * rights.size() + static_cast<size_t>(c)],
                                     static_cast<uint64_t>(c));
      store(r, column_, row);
    }
  }

  // add(place, sums, 1) of vectors of one element, for `count` places from `first` on.
  std::vector<Value*> add_singles(std::vector<Value*> sums, int64_t count, Value* first, auto add) {
    auto* single = llvm::FixedVectorType::get(real(), 1);
    for (Value*& sum : sums)
      sum = b_.CreateInsertElement(llvm::PoisonValue::get(single), sum, uint64_t{0});
    sums = loop_carrying(b_, count, std::move(sums), [&](Value* k, std::span<Value* const> now) {
      return add(add_index(b_, k, first), now, 1);
    });
    for (Value*& sum : sums) sum = b_.CreateExtractElement(sum, uint64_t{0});
    return sums;
  }

  void store(size_t row, Value* column, Value* sums) {
    Value* line = add_index(b_, multiply_index(b_, batch_, lhs_.own.count), row_);
    line = add_index(b_, line, int64(b_, static_cast<int64_t>(row)));
    Value* at = add_index(b_, multiply_index(b_, line, rhs_.own.count), column);
    store_lanes(b_, result_, w_.results[0], at, sums);
  }

  KernelBuilder& w_;
  Builder& b_;
  Side lhs_, rhs_;
  const ElementType result_;
  const bool is_made_;
  const VectorRegisters registers_;
  const ProductForm form_;
  const ElementType sum_;
  const bool in_columns_;
  int64_t rows_, columns_, lanes_;  // of a block, of a strip, of a vector
  Value *batch_ = nullptr, *row_ = nullptr, *column_ = nullptr;
};

}  // namespace

void write_blocks_of_producer(KernelBuilder& w, InstructionId left, const Side& lhs,
                              const Side& rhs, ElementType result) {
  Dot(w, lhs, rhs, result).write_fused_producer(left);
}

void write_blocks(KernelBuilder& w, Side lhs, Side rhs, ElementType result) {
  if (swaps_sides(lhs, rhs)) std::swap(lhs, rhs);
  Dot(w, lhs, rhs, result).write();
}

}  // namespace hilo
