#include "plan/kernel_forms/product_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/analysis.h"
#include "pass/pass.h"

namespace hilo {
namespace {

double number(int64_t count) { return static_cast<double>(count); }
int64_t parts_of(int64_t count, int64_t each) { return (count + each - 1) / each; }

// Multiply-adds under way that keep the units busy: two units with a latency of four cycles (Agner
// Fog, "Instruction tables": Skylake, Zen 3; Arm's guides of Neoverse). And instructions that a
// core looks ahead for others, of a block behind (Skylake 224, Zen 3 256, Golden Cove 512).
constexpr double sums_under_way = 8, window = 256;

// Vectors of so many lanes of an element of a sum.
class Stage {
 public:
  // `group`: products of an instruction that are added to one lane.
  Stage(const KernelChip& chip, ElementType sum, int64_t group = 1)
      : machine_(chip.machine),
        is_wide_(storage_bytes(sum) > static_cast<int64_t>(sizeof(float))),
        bytes_(number(chip.registers.bytes)),
        units_(bytes_ / (is_wide_ ? sizeof(double) : sizeof(float))),
        instructions_(!is_integral(sum)                 ? 1
                      : bits_of(sum) > 16 && group == 1 ? 3
                                                        : 2) {}

  // Of integers a product and a sum, and those of 32 bits are two products ("Instruction tables").
  void multiply_add(double vectors) {
    counts(work_.multiply_adds) += vectors * units_ * instructions_;
  }
  // Of blocks that each add to so many sums in a row of steps, of so many instructions. What
  // a few sums leave of the units is for the block behind, as far as the core sees it.
  void add_to_sums(double sums, double steps, double instructions, double blocks) {
    const double seen = window / (window + steps * instructions);
    const double idle = std::max(0.0, sums_under_way - sums) * (1 - seen);
    multiply_add((sums + idle) * steps * blocks);
  }
  void operate(double vectors) { counts(work_.operations) += vectors * units_; }
  // Half as many units do them as products ("Software Optimization Guide for the AMD Family 19h
  // Processors", 56665; Intel: port 5 alone).
  void shuffle(double vectors) { operate(2 * vectors); }
  // Of the first cache; of a scalar, or of one that is spread over a vector, as long.
  void load(double vectors) { access(vectors * bytes_, 0, false); }
  void store(double vectors) { access(vectors * bytes_, 0, true); }
  // What comes to the first cache, of bytes that were touched so long ago.
  void fetch(double bytes, double distance) { far(bytes, distance, false); }
  void write_back(double bytes, double distance) { far(bytes, distance, true); }
  // A vector of other numbers becomes one of the sum's.
  void convert(ElementType from, ElementType to, double vectors) {
    if (from == to || (is_integral(to) && bits_of(from) == bits_of(to))) return;
    if (from == ElementType::BF16) operate(2 * vectors);  // widen, shift
    else if (bits_of(from) < 16) operate(8 * vectors);    // arithmetic on bits
    else shuffle(vectors);
  }
  void start_kernels(double count) { work_.kernels += count; }
  void start_routines(double count) { work_.routines += count; }
  double seconds() const { return estimate(work_, *machine_).serial_seconds; }

 private:
  double& counts(FloatCounts& both) { return is_wide_ ? both.f64 : both.f32; }
  void access(double bytes, double distance, bool is_written) {
    work_.accesses.push_back({bytes, distance, is_written});
  }
  void far(double bytes, double distance, bool is_written) {
    if (distance > number(machine_->cores.caches[0].bytes)) access(bytes, distance, is_written);
  }

  const Machine* machine_;
  bool is_wide_;
  double bytes_, units_;  // of a vector, and what machines count in it
  double instructions_;   // of a product that is added to a sum
  Work work_;
};

// What both operands and the result are, and how far apart two runs of the product are.
struct Sizes {
  explicit Sizes(const ProductSides& sides)
      : batches(number(sides.lhs.batch.count)),
        rows(sides.lhs.own.count),
        columns(sides.rhs.own.count),
        depth(sides.lhs.depth.count),
        lhs_bytes(number(rows) * number(depth) * number(storage_bytes(sides.lhs.type))),
        rhs_bytes(number(columns) * number(depth) * number(storage_bytes(sides.rhs.type))),
        out_bytes(number(rows) * number(columns) * number(storage_bytes(sides.result))),
        all_bytes(batches * (lhs_bytes + rhs_bytes + out_bytes)) {}
  double batches;
  int64_t rows, columns, depth;
  double lhs_bytes, rhs_bytes, out_bytes, all_bytes;
};

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
    const double blocks = number(parts_of(sizes_.rows, form_.rows)),
                 strips = number(parts_of(sizes_.columns, form_.columns));
    const double strip_bytes = sizes_.rhs_bytes / strips, block_bytes = sizes_.lhs_bytes / blocks;
    stage_.fetch(sizes_.batches * sizes_.lhs_bytes, sizes_.all_bytes);
    stage_.fetch(sizes_.batches * sizes_.rhs_bytes, sizes_.all_bytes);
    stage_.write_back(sizes_.batches * sizes_.out_bytes, sizes_.all_bytes);
    // Steps behind a routine take its result part by part; behind a kernel they read it again.
    start_.fetch(sizes_.batches * sizes_.out_bytes, sizes_.batches * sizes_.out_bytes);
    if (form_.transposes_strips) {
      const double frame = depth() * number(form_.columns * storage_bytes(form_.sum));
      stage_.fetch(sizes_.batches * strips * blocks * frame, frame + block_bytes);
      return refetch((strips - 1) * sizes_.lhs_bytes, sizes_.lhs_bytes + frame, 0);
    }
    const int64_t apart = sides_.rhs.depth.stride * storage_bytes(sides_.rhs.type);
    refetch((blocks - 1) * sizes_.rhs_bytes, sizes_.rhs_bytes + block_bytes,
            form_.in_columns ? apart : 0);
    refetch((strips - 1) * sizes_.lhs_bytes, block_bytes + strip_bytes, 0);
  }
  // Of each batch, so many bytes between lines. What comes from beyond the second cache, or from
  // another page each, is not there when it is asked for.
  void refetch(double bytes, double distance, int64_t apart) {
    const Cores& cores = chip_.machine->cores;
    const bool is_waited_for = apart >= cores.page || distance > number(cores.caches[1].bytes);
    (is_waited_for ? start_ : stage_).fetch(sizes_.batches * bytes, distance);
  }

  void multiply(int64_t rows, int64_t columns, double times) {
    start_block(rows, columns, times);
    if (form_.in_columns) multiply_columns(rows, columns, times);
    else multiply_terms(rows, columns, times);
  }

  // Where rows, columns and results stand, and sums of zero.
  void start_block(int64_t rows, int64_t columns, double times) {
    start_.operate(times * (number(rows + columns / lanes()) + 4));
  }

  void multiply_columns(int64_t rows, int64_t columns, double times) {
    const Line line(columns, lanes());
    const ElementType right = form_.transposes_strips ? form_.sum : sides_.rhs.type;
    const double steps = times * depth(), r = number(rows);
    stage_.load(steps * (line.vectors + line.joined + r));
    stage_.shuffle(steps * line.joined);
    stage_.convert(right, form_.sum, steps * line.vectors);
    stage_.convert(sides_.lhs.type, form_.sum, steps * r * 3 / 4);  // in part by other units
    const double loads = line.vectors + line.joined + r;
    stage_.add_to_sums(r * line.vectors, depth(), r * line.vectors + loads, times);
    write(times * r * (line.vectors + line.joined), times * r * line.joined);
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
  const Sizes sizes_;
  Stage stage_, start_;  // what a block does, and how it begins
};

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
  static constexpr int64_t vectors = 2;  // of a strip
  // Allocations before the first block, in calls of functions: measured, on products of few
  // numbers.
  static constexpr double preparations = 16;

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

  // Rows are rounded; columns are stored element by element, where tables of positions say.
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
    if (columns % lanes() > 0 && !chip_.registers.are_many())
      stage.store(sizes_.batches * number(rows * lanes()));  // a masked store, in microcode
    // Of rows that stand each begins anew.
    stage.start_kernels(sizes_.batches * blocks * strips * (rows_stand() ? 2 : 1));
    stage.write_back(sizes_.batches * sizes_.out_bytes, sizes_.all_bytes);
    // Each block of rows goes through all strips, which are packed.
    const double packed = number(columns) * number(depth()) * number(storage_bytes(sum_));
    stage.fetch(sizes_.batches * blocks * packed, packed);
    if (rows_stand()) stage.fetch(sizes_.batches * sizes_.lhs_bytes, sizes_.all_bytes);
    if (has_lines()) {
      stage.fetch(sizes_.batches * sizes_.rhs_bytes, sizes_.all_bytes);
      stage.convert(right_.type, sum_, steps * line);
      if (right_.type != sum_) stage.operate(8 * steps * line);  // measured: through memory
      if (blocks > 1) stage.store(steps * line);
    }
    return stage.seconds();
  }

  const DotSide &left_, &right_;
  const ProductSides& sides_;
  const ElementType sum_;
  const KernelChip& chip_;
  const Sizes sizes_;
};

ElementType sum_of(ElementType result) {
  if (is_integral(result)) return bits_of(result) > 32 ? ElementType::S64 : ElementType::S32;
  return result == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

}  // namespace

double seconds_in_blocks(const ProductSides& sides, const ProductForm& form,
                         const KernelChip& chip) {
  return Blocks(sides, form, chip).seconds();
}

double seconds_by_elements(const ProductSides& sides, const KernelChip& chip) {
  const Sizes sizes(sides);
  const ElementType sum = sum_of(sides.result);
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

double seconds_of_routine(const ProductSides& sides, const KernelChip& chip) {
  const ElementType sum = sum_of(sides.result);
  const bool stands = sides.rhs.depth.stride == 1 && sides.rhs.type == sum;
  const bool is_exchanged =
      sides.rhs.own.count == 1 ||
      (stands && (sides.lhs.depth.stride != 1 || sides.rhs.own.count > sides.lhs.own.count));
  if (is_exchanged) return Packed(sides.rhs, sides.lhs, sides, sum, chip).seconds();
  return Packed(sides.lhs, sides.rhs, sides, sum, chip).seconds();
}

}  // namespace hilo
