// The columns are packed once; a thread takes some rows of the left operand and goes along a few of
// them at a time, where they stand: to pack them costs much beside a product with so few columns.
// Columns that stay in the second cache are read where they stand, too.
#include "kernels/gemm/skinny_gemm_columns.h"

#include "kernels/gemm/skinny_gemm.h"

namespace hilo {
namespace {

// Strips of columns, and bytes of their packed copy where there are more than those, which then
// stays in the second cache. A copy of fewer bytes stays there beside more rows and results, too.
constexpr int64_t max_cheap_strips = 2, max_strips = 8, max_packed_bytes = 3 << 18;
constexpr int64_t max_columns = 256, max_column_bytes = 3 << 17;
// Rows of a part: so many, or fewer where that leaves some threads without one.
constexpr int64_t part_blocks = 8;
constexpr int64_t large_result = 3 << 19;  // bytes
constexpr int64_t worth_dots = 128;        // terms of a sum

class SkinnyGemmColumns {
 public:
  SkinnyGemmColumns(const MatrixProduct& product, const Parallel* parallel);
  void run() const;

 private:
  // The columns of a strip from the first line of a depth on, packed or as they stand.
  const std::byte* columns_at(int64_t strip, int64_t depth) const {
    if (is_packed_) return strip_at(strip, depth);
    const int64_t place = strip * kernel_.columns + depths_.begin(depth) * p_.rhs.inner;
    return static_cast<const std::byte*>(p_.rhs.data) + place * kernel_.bytes;
  }
  std::byte* strip_at(int64_t strip, int64_t depth) const {
    const int64_t lines = strip * lines_ + depths_.begin(depth);
    return columns_ + lines * kernel_.columns * kernel_.bytes;
  }
  std::byte* dots_at(int64_t depth) const {
    return dots_ + depth * depth_lines_ * p_.n * kernel_.bytes;
  }
  void pack(int64_t strip, int64_t depth) const;
  // Of a result that no cache holds, what is stored next.
  Ahead lines_of(const std::byte* c, int64_t rows, int64_t columns, int64_t leading) const {
    if (p_.m * p_.n * kernel_.bytes < large_result) return {};
    const int64_t bytes = columns * kernel_.bytes;
    return {c, leading * kernel_.bytes, bytes, 0, rows * part_count(bytes, cache_line)};
  }
  int64_t column_of(int64_t strip) const { return std::min(strip * kernel_.columns, p_.n); }
  void compute_block(int64_t i, int64_t rows, int64_t first, int64_t last, std::byte* c,
                     int64_t leading) const;
  void compute(int64_t part) const;

  const MatrixProduct& p_;
  const Parallel* parallel_;
  const MatrixKernel& kernel_;
  bool as_dots_, is_packed_;
  Cut depths_, strips_;           // of the summed index, of the columns
  Cut row_parts_, column_parts_;  // of strips: several where rows are too few for all threads
  int64_t lines_, depth_lines_;   // of a packed strip, of a depth of transposed columns
  std::byte *columns_ = nullptr, *dots_ = nullptr;
};

constexpr int64_t dots_depth = 4096;

// Whether columns may be read where they stand. Few strips beside many rows are packed in no time.
bool may_stand(const MatrixProduct& p) {
  constexpr int64_t small_row_count = 256;
  const bool is_packed_soon = p.n <= max_cheap_strips * p.kernel->columns && p.m > small_row_count;
  return p.kernel->reads_near && !is_packed_soon && !p.rhs.outers && p.rhs.outer == 1 &&
         p.rhs.inner > 0 && p.rhs.type == p.kernel->unpacked_type &&
         p.k * p.n * p.kernel->bytes <= processor().second_cache_bytes / 4 * 3;
}

// Narrower strips where there are no more of them.
const MatrixKernel& kernel_of(const MatrixProduct& p) {
  const MatrixKernel *wide = p.kernel, *narrow = wide->narrow;
  const bool is_narrow =
      narrow && part_count(p.n, narrow->columns) <= part_count(p.n, wide->columns);
  return is_narrow ? *narrow : *wide;
}

SkinnyGemmColumns::SkinnyGemmColumns(const MatrixProduct& product, const Parallel* parallel)
    : p_(product),
      parallel_(parallel),
      kernel_(kernel_of(product)),
      as_dots_(p_.n <= kernel_.dot_columns && p_.k >= worth_dots),
      is_packed_(as_dots_ || !may_stand(p_)),
      depths_(as_dots_ ? Cut{p_.k, part_count(p_.k, dots_depth)} : depths_of(product)),
      strips_{p_.n, part_count(p_.n, kernel_.columns)},
      row_parts_{p_.m, 1},
      column_parts_{strips_.parts, 1},
      lines_(depths_.count),
      depth_lines_(part_count(depths_.most(), kernel_.columns) * kernel_.columns) {
  const int64_t rows = kernel_.unpacked_rows;
  const int64_t fewest_parts = shared_parts(parallel ? parallel->threads() : 1);
  row_parts_.parts =
      part_count(p_.m, std::clamp(p_.m / fewest_parts, rows, part_blocks * kernel_.unpacked_rows));
  thread_local PackedMemory memory;
  if (!is_packed_) {
    column_parts_.parts = std::min(strips_.parts, part_count(fewest_parts, row_parts_.parts));
    return;
  }
  const int64_t strips = strips_.parts * lines_ * kernel_.columns * kernel_.bytes;
  const int64_t dots = as_dots_ ? depths_.parts * depth_lines_ * p_.n * kernel_.bytes : 0;
  columns_ = memory.take(strips + dots);
  dots_ = columns_ + strips;
}

void SkinnyGemmColumns::pack(int64_t strip, int64_t depth) const {
  const int64_t j = column_of(strip), k = depths_.size(depth);
  kernel_.pack_columns({p_.rhs, j, column_of(strip + 1) - j, depths_.begin(depth), k}, k,
                       strip_at(strip, depth));
  if (as_dots_) kernel_.pack_dots(strip_at(strip, depth), k, p_.n, dots_at(depth));
}

// c: of the first strip of the part.
void SkinnyGemmColumns::compute_block(int64_t i, int64_t rows, int64_t first, int64_t last,
                                      std::byte* c, int64_t leading) const {
  for (int64_t depth = 0; depth < depths_.parts; ++depth) {
    const auto* a = static_cast<const std::byte*>(p_.lhs.data) +
                    (i * p_.lhs.outer + depths_.begin(depth)) * kernel_.bytes;
    const int64_t k = depths_.size(depth);
    const bool add = p_.accumulate || depth > 0;
    if (as_dots_)
      kernel_.run_dots({a, dots_at(depth), k, rows, p_.n, c, leading, add}, p_.lhs.outer);
    for (int64_t strip = first; strip < last && !as_dots_; ++strip) {
      const int64_t columns = column_of(strip + 1) - column_of(strip);
      std::byte* sums = c + (column_of(strip) - column_of(first)) * kernel_.bytes;
      kernel_.run_unpacked(
          {a, columns_at(strip, depth), k, rows, columns, sums, leading, add,
           lines_of(sums, rows, columns, leading), is_packed_, is_packed_ ? 0 : p_.rhs.inner},
          p_.lhs.outer);
    }
  }
}

void SkinnyGemmColumns::compute(int64_t part) const {
  const int64_t row_part = part / column_parts_.parts, column_part = part % column_parts_.parts;
  const int64_t begin = row_parts_.begin(row_part), rows = row_parts_.size(row_part);
  const int64_t first = column_parts_.begin(column_part),
                last = column_parts_.begin(column_part + 1);
  const int64_t j = column_of(first), columns = column_of(last) - j;
  const int64_t leading = p_.out ? p_.leading : columns;
  thread_local PackedMemory memory;
  std::byte* c = p_.out ? static_cast<std::byte*>(p_.out) + (begin * leading + j) * kernel_.bytes
                        : memory.take(rows * leading * kernel_.bytes);
  const Cut blocks{rows, as_dots_ ? 1 : part_count(rows, kernel_.unpacked_rows)};
  for (int64_t block = 0; block < blocks.parts; ++block)
    compute_block(begin + blocks.begin(block), blocks.size(block), first, last,
                  c + blocks.begin(block) * leading * kernel_.bytes, leading);
  if (p_.take) p_.take({begin, rows, j, columns, c, leading});
}

void SkinnyGemmColumns::run() const {
  const bool packs_together = p_.k * p_.n >= worth_packing_together;
  run_each(packs_together ? parallel_ : nullptr, is_packed_ ? strips_.parts * depths_.parts : 0,
           [&](int64_t piece) { pack(piece / depths_.parts, piece % depths_.parts); });
  run_each(parallel_, row_parts_.parts * column_parts_.parts, [&](int64_t part) { compute(part); });
}

}  // namespace

bool has_few_columns(const MatrixProduct& p) {
  const MatrixKernel& kernel = *p.kernel;
  if (!rows_stand(p)) return false;
  if (may_stand(p)) return true;
  if (p.m <= kernel.rows) return false;
  const int64_t strips = part_count(p.n, kernel.columns);
  const int64_t bytes = strips * kernel.columns * p.k * kernel.bytes;
  return strips <= max_cheap_strips || (strips <= max_strips && bytes <= max_packed_bytes) ||
         (p.n <= max_columns && bytes <= max_column_bytes);
}

bool rows_stand(const MatrixProduct& p) {
  return p.kernel->unpacked_rows > 0 && p.lhs.type == p.kernel->unpacked_type && !p.lhs.outers &&
         p.lhs.inner == 1;
}

void run_skinny_gemm_columns(const MatrixProduct& product, const Parallel* parallel) {
  SkinnyGemmColumns(product, parallel).run();
}

}  // namespace hilo
