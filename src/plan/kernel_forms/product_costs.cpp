#include "plan/kernel_forms/product_costs.h"

#include <cmath>

#include "pass/pass.h"
#include "plan/kernel_forms/product_stages.h"

namespace hilo {
namespace {

// A line of columns in vectors. Of a part of a vector, which is no power of two, the pieces that
// are powers of two are loaded and stored by themselves.
struct Line {
  Line(int64_t columns, int64_t lanes)
      : vectors(number(parts_of(columns, lanes))),
        joined(columns % lanes == 0
                   ? 0
                   : number(std::popcount(static_cast<uint64_t>(columns % lanes))) - 1) {}
  double vectors, joined;
};

class Blocks {
 public:
  Blocks(const ProductSides& sides, const ProductForm& form, const KernelChip& chip)
      : sides_(sides),
        form_(form),
        chip_(chip),
        sizes_(sides),
        stage_(chip, form.sum),
        start_(stage_) {}

  double seconds() {
    stage_.start_kernels(1);
    fetch();
    const auto columns = parts(sizes_.columns, form_.columns);
    const auto rows = parts(sizes_.rows, form_.rows);
    for (const auto& [r, blocks] : rows)
      for (const auto& [c, strips] : columns) multiply(r, c, blocks * strips * sizes_.batches);
    const double multiplying = stage_.seconds();
    stage_ = Stage(chip_, form_.sum);
    if (form_.transposes) transpose_columns();
    if (form_.transposes_strips)
      for (const auto& [c, strips] : columns) transpose_strip(c, strips * sizes_.batches);
    return multiplying + stage_.seconds() + start_.seconds();
  }

 private:
  struct Part {
    int64_t length;
    double count;
  };
  // Of a line: whole ones, and the last.
  static std::vector<Part> parts(int64_t count, int64_t each) {
    std::vector<Part> out;
    if (count >= each) out.push_back({each, number(count / each)});
    if (count % each > 0) out.push_back({count % each, 1});
    return out;
  }
  int64_t lanes() const { return chip_.registers.lanes(storage_bytes(form_.sum)); }
  double depth() const { return number(sizes_.depth); }

  // Each block of rows goes through all columns; strips that are transposed through all rows.
  void fetch() {
    const Cores& cores = chip_.machine->cores;
    const Walk rows(sides_.lhs, form_.rows, cores), columns(sides_.rhs, form_.columns, cores);
    stage_.write_back(sizes_.batches * sizes_.out_bytes, sizes_.all_bytes);
    // Steps behind a routine take its result part by part; behind a kernel they read it again.
    start_.fetch(sizes_.batches * sizes_.out_bytes, sizes_.batches * sizes_.out_bytes);
    if (form_.transposes_strips) {
      const double frame = depth() * number(form_.columns * storage_bytes(form_.sum));
      const double frames = columns.blocks * rows.blocks * frame;
      stage_.fetch(sizes_.batches * columns.bytes, sizes_.all_bytes);
      stage_.fetch(sizes_.batches * frames, frame + rows.block_bytes);
      return go_through(rows, columns.blocks, rows.bytes + frame, rows.block_bytes + frame);
    }
    const double next_block = columns.bytes + rows.block_bytes;
    if (form_.lines_at_once > 0) {
      go_in_order(columns, rows.blocks, next_block);
      return go_in_order(rows, 1, 0);
    }
    const double next_strip = rows.block_bytes + columns.block_bytes;
    if (form_.transposes) go_in_order(columns, rows.blocks, next_block);
    else go_through(columns, rows.blocks, next_block, next_strip);
    go_through(rows, 1, 0, next_block);
    repeat_blocks(rows, columns.blocks - 1, next_strip);
  }
  // So many passes through an operand.
  void go_in_order(const Walk& walk, double passes, double distance) {
    stage_.fetch(sizes_.batches * walk.bytes, sizes_.all_bytes);
    refetch(sizes_.batches * walk.bytes * (passes - 1), distance);
  }
  // What comes from beyond the second cache is not there when it is asked for.
  void refetch(double bytes, double distance) {
    const bool is_near = distance <= number(chip_.machine->cores.caches[1].bytes);
    (is_near ? stage_ : start_).fetch(bytes, distance);
  }
  // Lines that lie in two blocks are read again in the second one.
  void go_through(const Walk& walk, double passes, double distance, double next_block) {
    if (walk.stride == 0) return go_in_order(walk, passes, distance);
    const double lines = sizes_.batches * walk.lines, all = sizes_.batches * walk.pass_lines;
    Stage& stage = stage_of(walk);
    stage.fetch_apart(lines, walk, sizes_.all_bytes, 0);
    stage.fetch_apart(lines * (passes - 1), walk, distance, 0);
    stage.fetch_apart((all - lines) * passes, walk, next_block, walk.stride);
  }
  // Each block of an operand so many times more.
  void repeat_blocks(const Walk& walk, double times, double distance) {
    if (walk.stride == 0) return refetch(sizes_.batches * walk.bytes * times, distance);
    stage_of(walk).fetch_apart(sizes_.batches * walk.pass_lines * times, walk, distance,
                               walk.stride);
  }
  // A core computes while lines come that are fetched ahead.
  Stage& stage_of(const Walk& walk) { return walk.waits > 0 ? start_ : stage_; }

  void multiply(int64_t rows, int64_t columns, double times) {
    start_block(rows, columns, times);
    if (form_.lines_at_once > 0) multiply_lines(rows, columns, times);
    else if (form_.in_columns) multiply_columns(rows, columns, times);
    else multiply_terms(rows, columns, times);
  }

  // Where rows, columns and results stand, and sums of zero.
  void start_block(int64_t rows, int64_t columns, double times) {
    start_.operate(times * (number(rows + columns / lanes()) + 4));
  }

  void multiply_columns(int64_t rows, int64_t columns, double times) {
    const Line line(columns, lanes());
    const double r = number(rows);
    add_lines(line, r, depth(), times);
    write(times * r * (line.vectors + line.joined), times * r * line.joined);
  }

  // Each by itself, in part by other units. One of f16 is put into a vector, converted, and spread.
  void convert_elements(double count) {
    if (sides_.lhs.type != form_.sum && sides_.lhs.type == ElementType::F16)
      stage_.shuffle(3 * count);
    else stage_.convert(sides_.lhs.type, form_.sum, count * 3 / 4);
  }

  // A few lines of columns after the other, with the sums in the frame.
  void multiply_lines(int64_t rows, int64_t columns, double times) {
    const Line line(std::min(columns, form_.lanes), lanes());
    const double r = number(rows), sums = r * line.vectors;
    const double groups = times * number(parts_of(sizes_.depth, form_.lines_at_once) *
                                         parts_of(columns, form_.lanes));
    start_.operate(groups * (r + 4));
    stage_.load(groups * sums);
    // A vector's sums go on from those of the lines before, the next vector's do not wait for them.
    if (sizes_.columns <= form_.lanes) add_lines(line, r, depth(), times);
    else add_lines(line, r, number(form_.lines_at_once), groups);
    stage_.store(groups * sums);
    write(times * r * number(parts_of(columns, lanes())), 0);
  }

  // Of each line a vector, or a few, times an element of each row.
  void add_lines(const Line& line, double rows, double depth, double times) {
    const ElementType right = form_.transposes_strips ? form_.sum : sides_.rhs.type;
    const double steps = times * depth, loads = line.vectors + line.joined + rows;
    stage_.load(steps * loads);
    stage_.shuffle(steps * line.joined);
    stage_.convert(right, form_.sum, steps * line.vectors);
    convert_elements(steps * rows);
    stage_.add_to_sums(rows * line.vectors, depth, rows * line.vectors + loads, times);
  }

  void multiply_terms(int64_t rows, int64_t columns, double times) {
    const double r = number(rows), c = number(columns);
    const double vectors = std::max(1.0, number(form_.lanes) / number(lanes()));
    const bool has_masks = chip_.registers.have_masks(storage_bytes(sides_.lhs.type)) &&
                           chip_.registers.have_masks(storage_bytes(sides_.rhs.type));
    const int64_t rest = sizes_.depth % form_.lanes;
    const double steps = times * (vectors * number(sizes_.depth / form_.lanes) +
                                  (has_masks ? vectors * (rest > 0) : number(rest)));
    stage_.load(steps * (r + c));
    stage_.convert(sides_.lhs.type, form_.sum, steps * r);
    stage_.convert(sides_.rhs.type, form_.sum, steps * c);
    stage_.add_to_sums(r * c * vectors, steps / times / vectors, vectors * (r * c + r + c), times);
    // Sums of two and two vectors, of up to four; halves of what is left; a row of the results.
    const double together = std::min({r * c, 4.0, number(form_.lanes)});
    const double halves = std::max(0.0, std::log2(number(form_.lanes)) - std::log2(together));
    const double groups = times * std::ceil(r * c / together);
    stage_.shuffle(groups * 2 * (together - 1));
    stage_.operate(groups * (together - 1 + 2 * halves));
    stage_.operate(times * r * (c - 1));
    write(times * r, 0);
  }

  // Results of few bits are rounded from the frame.
  void write(double vectors, double split) {
    if (sides_.result != form_.sum && !is_integral(sides_.result)) {
      stage_.operate(8 * vectors);
      stage_.load(vectors);
      stage_.store(vectors);
    }
    stage_.store(vectors);
    stage_.shuffle(split);
  }

  // Element by element.
  void transpose_columns() {
    const double elements = depth() * number(sizes_.columns);
    stage_.load(elements);
    stage_.store(elements);
  }

  void transpose_strip(int64_t columns, double times) {
    const auto side = static_cast<int64_t>(
        std::bit_floor(static_cast<uint64_t>(std::min({columns, sizes_.depth, lanes()}))));
    const double tiles = times * number(parts_of(columns, side) * parts_of(sizes_.depth, side));
    const double lines = tiles * number(side);
    stage_.load(lines);
    stage_.convert(sides_.rhs.type, form_.sum, lines);
    stage_.shuffle(lines * std::log2(number(side)));
    stage_.store(lines);
    start_.operate(tiles * number(side + 4) / 2);
  }

  const ProductSides& sides_;
  const ProductForm& form_;
  const KernelChip& chip_;
  const ProductSizes sizes_;
  Stage stage_, start_;  // what a block does, and how it begins
};

}  // namespace

double seconds_in_blocks(const ProductSides& sides, const ProductForm& form,
                         const KernelChip& chip) {
  return Blocks(sides, form, chip).seconds();
}

double seconds_by_elements(const ProductSides& sides, const KernelChip& chip) {
  const ProductSizes sizes(sides);
  const ElementType sum = wide_sum_type(sides.result);
  Stage stage(chip, sum);
  const int64_t lanes = chip.registers.lanes(storage_bytes(sum));
  // Vectors along lines, of which there are loops; all terms are in registers.
  const bool is_vector = std::max(sizes.rows, sizes.columns) >= LoopLimits::short_row &&
                         sizes.depth <= chip.registers.count;
  const double elements = sizes.batches * number(sizes.rows) * number(sizes.columns);
  const double lines = is_vector ? std::ceil(elements / number(lanes)) : elements;
  const double steps = lines * number(sizes.depth);
  stage.start_kernels(1);
  stage.load(2 * steps);
  stage.convert(sides.lhs.type, sum, steps);
  stage.convert(sides.rhs.type, sum, steps);
  // Operands that do not lie along the lanes.
  if (is_vector) stage.shuffle(steps * (sides.rhs.own.stride == 1 ? 1 : std::log2(number(lanes))));
  stage.operate(2 * steps);  // no multiply-add
  stage.store(lines);
  stage.fetch(sizes.all_bytes, sizes.all_bytes);
  return stage.seconds();
}

}  // namespace hilo
