// Of the library's product.
#include <cmath>

#include "plan/kernel_forms/product_costs.h"
#include "plan/kernel_forms/product_stages.h"

namespace hilo {
namespace {

// The library's, whose blocks fill the registers. It takes rows where they stand if their terms do;
// others are packed. Operands change sides where a single column becomes a row, and where more
// columns than rows stand as rows do.
class Packed {
 public:
  Packed(const DotSide& left, const DotSide& right, const ProductSides& sides, ElementType sum,
         const KernelChip& chip)
      : left_(left), right_(right), sides_(sides), sum_(sum), chip_(chip), sizes_(sides) {}

  double seconds() const {
    Stage start(chip_, sum_);
    start.start_routines(preparations + sizes_.batches);
    // Tables of the positions of all rows, columns and terms are copied and looked through.
    start.load(4 * number(sizes_.rows + sizes_.columns + sizes_.depth));
    double out = start.seconds() + multiply();
    if (!rows_stand()) out += pack(left_, block());
    if (!has_lines()) out += pack(right_, strip());
    if (is_exchanged() || sides_.result != sum_) out += unpack();
    return out;
  }

 private:
  static constexpr int64_t vectors = 2, part_strips = 4;  // of a strip, of a part of the result
  // Allocations before the first block, in calls of functions: measured, on products of few
  // numbers.
  static constexpr double preparations = 16;
  static constexpr double through_memory = 8;  // a vector that is loaded with a mask: measured

  int64_t lanes() const { return chip_.registers.lanes(storage_bytes(sum_)); }
  int64_t block() const { return (chip_.registers.count - vectors - 1) / vectors; }
  int64_t strip() const { return vectors * lanes(); }
  // Words hold several products of narrow numbers; of bf16 where vectors are the widest.
  int64_t group() const {
    const bool are_bf16 = left_.type == ElementType::BF16 && right_.type == ElementType::BF16;
    if (!is_integral(sum_)) return are_bf16 && chip_.registers.are_many() ? 2 : 1;
    const int64_t bits = std::max(bits_of(left_.type), bits_of(right_.type));
    return std::max<int64_t>(1, bits_of(sum_) / std::max<int64_t>(bits, 16));
  }
  int64_t depth() const { return parts_of(left_.depth.count, group()); }
  bool is_exchanged() const { return &left_ != &sides_.lhs; }
  bool rows_stand() const { return left_.type == sum_ && left_.depth.stride == 1; }
  // The first block of rows packs columns that stand side by side for the others.
  bool has_lines() const { return !is_integral(sum_) && right_.own.stride == 1; }

  // In vectors; lines along terms are transposed.
  double pack(const DotSide& side, int64_t together) const {
    Stage stage(chip_, sum_);
    const double blocks = sizes_.batches * number(parts_of(side.own.count, together));
    const double of_block = number(parts_of(std::min(side.own.count, together), lanes()));
    const bool is_transposed = side.own.stride != 1 && side.own.count > 1;
    const double terms = number(is_transposed ? parts_of(depth(), lanes()) * lanes() : depth());
    const double lines =
        blocks * of_block * terms * (is_integral(sum_) && group() == 1 ? number(lanes()) : 1);
    stage.load(lines);
    stage.convert(side.type, sum_, lines);
    if (is_transposed) stage.shuffle(lines * std::log2(number(lanes())));
    stage.store(lines);
    stage.fetch(number(side.own.count) * number(side.depth.count) *
                    number(storage_bytes(side.type)) * sizes_.batches,
                sizes_.all_bytes);
    return stage.seconds();
  }

  // Rows are rounded; columns are stored element by element, where tables of positions say. Each
  // part of the result is prepared by itself.
  double unpack() const {
    Stage stage(chip_, sum_);
    const double elements = sizes_.batches * number(sizes_.rows) * number(sizes_.columns);
    const double lines =
        sizes_.batches * number(sizes_.rows) *
        number(is_exchanged() ? sizes_.columns : parts_of(sizes_.columns, lanes()) + 1);
    stage.load(3 * lines + elements);  // and a table of positions
    stage.operate(8 * lines);
    stage.store(lines);
    stage.start_kernels(sizes_.batches * number(sizes_.rows));
    const double parts = sizes_.batches * number(parts_of(sizes_.columns, part_strips * strip()));
    stage.start_routines(preparations * parts);
    return stage.seconds();
  }

  double multiply() const {
    Stage stage(chip_, sum_, group());
    const int64_t rows = left_.own.count, columns = right_.own.count;
    const double blocks = number(parts_of(rows, block())),
                 line = number(parts_of(columns, lanes())),
                 strips = number(parts_of(columns, strip()));
    const double steps = sizes_.batches * number(depth());
    stage.load(steps * (blocks * line + number(rows) * strips));
    // To spread an element takes as long as two products, of as many as a whole strip has.
    const double of_block = number(rows) / blocks, sums = of_block * vectors;
    stage.add_to_sums(sums, number(depth()), sums + vectors + of_block,
                      sizes_.batches * blocks * strips);
    stage.store(sizes_.batches * number(rows) * line);
    // Masks are in memory, and masked stores are in microcode.
    if (columns % lanes() > 0 && !chip_.registers.are_many()) {
      if (has_lines() && rows_stand()) stage.operate(through_memory * steps * blocks);
      stage.store(sizes_.batches * number(rows * lanes()));
    }
    // Of rows that stand each begins anew.
    stage.start_kernels(sizes_.batches * blocks * strips * (rows_stand() ? 2 : 1));
    stage.write_back(sizes_.batches * sizes_.out_bytes, sizes_.all_bytes);
    // Each block of rows goes through all strips, which are packed.
    const double packed = number(columns) * number(depth()) * number(storage_bytes(sum_));
    stage.fetch(sizes_.batches * blocks * packed, packed);
    if (rows_stand()) stage.fetch(sizes_.batches * sizes_.lhs_bytes, sizes_.all_bytes);
    if (has_lines()) {
      fetch_lines(stage);
      stage.convert(right_.type, sum_, steps * line);
      if (right_.type != sum_) stage.operate(through_memory * steps * line);
      if (blocks > 1) stage.store(steps * line);
    }
    return stage.seconds();
  }

  // Columns where they stand, strip by strip. Lines of the next one are fetched meanwhile, so that
  // twice as many come at once: measured.
  void fetch_lines(Stage& stage) const {
    Walk walk(right_, strip(), chip_.machine->cores);
    walk.waits /= 2;
    const double lines = sizes_.batches * walk.lines, all = sizes_.batches * walk.pass_lines;
    if (walk.stride == 0) return stage.fetch(sizes_.batches * walk.bytes, sizes_.all_bytes);
    const double rows = number(block() * depth() * group() * storage_bytes(sum_));
    stage.fetch_apart(lines, walk, sizes_.all_bytes, 0);
    stage.fetch_apart(all - lines, walk, walk.block_bytes + rows, walk.stride);
  }

  const DotSide &left_, &right_;
  const ProductSides& sides_;
  const ElementType sum_;
  const KernelChip& chip_;
  const ProductSizes sizes_;
};

}  // namespace

double seconds_of_routine(const ProductSides& sides, const KernelChip& chip) {
  const ElementType sum = wide_sum_type(sides.result);
  const bool stands = sides.rhs.depth.stride == 1 && sides.rhs.type == sum;
  const bool is_exchanged =
      sides.rhs.own.count == 1 ||
      (stands && (sides.lhs.depth.stride != 1 || sides.rhs.own.count > sides.lhs.own.count));
  if (is_exchanged) return Packed(sides.rhs, sides.lhs, sides, sum, chip).seconds();
  return Packed(sides.lhs, sides.rhs, sides, sum, chip).seconds();
}

}  // namespace hilo
