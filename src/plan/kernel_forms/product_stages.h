// What a product's stages are counted in: instructions of vectors, and lines of memory that its
// blocks go through. Private to `plan`.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "analysis/analysis.h"
#include "plan/kernel_forms/product_costs.h"

namespace hilo {

inline double number(int64_t count) { return static_cast<double>(count); }
inline int64_t parts_of(int64_t count, int64_t each) { return (count + each - 1) / each; }

// What the library and loops over elements add up in. Blocks hold integers as the result has them,
// of 16 bits at the least: ProductForm::sum.
inline ElementType wide_sum_type(ElementType result) {
  if (is_integral(result)) return bits_of(result) > 32 ? ElementType::S64 : ElementType::S32;
  return result == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

// What both operands and the result are, and how far apart two runs of the product are.
struct ProductSizes {
  explicit ProductSizes(const ProductSides& sides)
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

// An operand that blocks of so many of its rows, or columns, go through from the first term to the
// last. Where terms do not stand side by side, a block is short runs of memory that stand apart.
class Walk {
 public:
  Walk(const DotSide& side, int64_t block, const Cores& cores)
      : bytes(number(side.own.count) * number(side.depth.count) * number(storage_bytes(side.type))),
        blocks(number(parts_of(side.own.count, block))),
        block_bytes(bytes / blocks),
        lines(bytes / number(cores.cache_line)) {
    const int64_t size = storage_bytes(side.type), step = side.depth.stride * size;
    const bool is_side_by_side = side.own.stride == 1;
    const int64_t count = std::min(block, side.own.count),
                  run = (is_side_by_side ? count : 1) * size;
    if (side.depth.count <= 1 || side.depth.stride == 1 || run >= step) return;
    stride = step;
    const int64_t foreseen = lines_foreseen * cores.cache_line;
    if (step <= foreseen) waits = 0;
    else if (run >= foreseen) waits = number(cores.cache_line) / number(run);
    const double runs = blocks * number(side.depth.count) * number(is_side_by_side ? 1 : count);
    pass_lines = std::max(lines, runs * lines_of(run, size, cores.cache_line));
    block_bytes = pass_lines / blocks * number(cores.cache_line);
  }

  double bytes, blocks, block_bytes;
  double lines, pass_lines = 0;  // of the operand, and those that a pass through it reads
  int64_t stride = 0;            // bytes; 0: in order
  double waits = 1;              // of a line

 private:
  // What lies behind so many lines, or so near, is fetched before it is asked for (Intel's
  // Optimization Reference Manual, "Data Prefetching"; AMD's guide, 56665).
  static constexpr int64_t lines_foreseen = 4;

  // Those that a run lies in: whole ones, or as it happens to lie.
  double lines_of(int64_t run, int64_t size, int64_t line) const {
    const bool is_aligned = stride % line == 0 && (run % line == 0 || line % run == 0);
    return is_aligned ? number(parts_of(run, line)) : 1 + number(run - size) / number(line);
  }
};

// Multiply-adds under way that keep the units busy: two units with a latency of four cycles (Agner
// Fog, "Instruction tables": Skylake, Zen 3; Arm's guides of Neoverse). And instructions that a
// core looks ahead for others, of a block behind (Skylake 224, Zen 3 256, Golden Cove 512).
inline constexpr double sums_under_way = 8, window = 256;

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
  // Lines of a walk that nothing fetches ahead. Those that were touched since stand `stride` apart;
  // 0: side by side.
  void fetch_apart(double lines, const Walk& walk, double distance, int64_t stride) {
    const Cores& cores = machine_->cores;
    if (distance <= held_bytes(cores.caches[0], cores, stride)) return;
    const double waits = lines * walk.waits / Cores::lines_at_once;
    work_.accesses.push_back(
        {lines * number(cores.cache_line), shared(distance), false, waits, stride});
  }
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
    if (distance > number(machine_->cores.caches[0].bytes))
      access(bytes, shared(distance), is_written);
  }
  // Other cores take the rest of the last cache.
  double shared(double distance) const {
    const bool is_near = distance <= number(machine_->cores.near_cache_bytes());
    return is_near ? distance : std::numeric_limits<double>::infinity();
  }

  const Machine* machine_;
  bool is_wide_;
  double bytes_, units_;  // of a vector, and what machines count in it
  double instructions_;   // of a product that is added to a sum
  Work work_;
};

}  // namespace hilo
