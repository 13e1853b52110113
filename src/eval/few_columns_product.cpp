// The columns are packed once; a thread takes some rows of the left operand and goes along a few of
// them at a time, where they stand: to pack them costs much beside a product with so few columns.
#include "eval/few_columns_product.h"

#include "eval/few_rows_product.h"

namespace hilo {
namespace {

// Strips of columns, and bytes of their packed copy where there are more than those, which then
// stays in the second cache. A copy of fewer bytes stays there beside more rows and results, too.
constexpr int64_t few_strips = 2, most_strips = 8, most_packed_bytes = 3 << 18;
constexpr int64_t most_columns = 256, most_bytes_of_columns = 3 << 17;
// Rows of a part: so many, or fewer where that leaves some threads without one.
constexpr int64_t part_blocks = 8, fewest_parts = 16;
constexpr int64_t large_result = 3 << 19;            // bytes
constexpr int64_t worth_dots = 128;                  // terms of a sum
constexpr int64_t worth_packing_together = 1 << 16;  // elements of the columns

class FewColumns {
 public:
  explicit FewColumns(const MatrixProduct& product);
  void run(const Parallel* parallel) const;

 private:
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
    return {c, leading * kernel_.bytes, bytes, 0, rows * pieces_of(bytes, cache_line)};
  }
  void compute_block(int64_t i, int64_t rows, std::byte* c, int64_t leading) const;
  void compute(int64_t part) const;

  const MatrixProduct& p_;
  const MatrixKernel& kernel_;
  bool as_dots_;
  Cut depths_, strips_, parts_;  // of the summed index, of the columns, of the rows
  int64_t lines_, depth_lines_;  // of a packed strip, of a depth of turned columns
  std::byte *columns_, *dots_;
};

constexpr int64_t dots_depth = 4096;

// Narrower strips where there are no more of them.
const MatrixKernel& kernel_of(const MatrixProduct& p) {
  const MatrixKernel *wide = p.kernel, *narrow = wide->narrow;
  const bool is_narrow = narrow && pieces_of(p.n, narrow->columns) <= pieces_of(p.n, wide->columns);
  return is_narrow ? *narrow : *wide;
}

FewColumns::FewColumns(const MatrixProduct& product)
    : p_(product),
      kernel_(kernel_of(product)),
      as_dots_(p_.n <= kernel_.dot_columns && p_.k >= worth_dots),
      depths_(as_dots_ ? Cut{p_.k, pieces_of(p_.k, dots_depth)} : depths_of(product)),
      strips_{p_.n, pieces_of(p_.n, kernel_.columns)},
      parts_{p_.m, 1},
      lines_(depths_.count),
      depth_lines_(pieces_of(depths_.most(), kernel_.columns) * kernel_.columns) {
  const int64_t rows = kernel_.standing_rows;
  parts_.parts =
      pieces_of(p_.m, std::clamp(p_.m / fewest_parts, rows, part_blocks * kernel_.standing_rows));
  thread_local PackedMemory memory;
  const int64_t strips = strips_.parts * lines_ * kernel_.columns * kernel_.bytes;
  const int64_t dots = as_dots_ ? depths_.parts * depth_lines_ * p_.n * kernel_.bytes : 0;
  columns_ = memory.take(strips + dots);
  dots_ = columns_ + strips;
}

void FewColumns::pack(int64_t strip, int64_t depth) const {
  const int64_t j = strip * kernel_.columns, k = depths_.size(depth);
  kernel_.pack_columns({p_.rhs, j, std::min(kernel_.columns, p_.n - j), depths_.begin(depth), k}, k,
                       strip_at(strip, depth));
  if (as_dots_) kernel_.pack_dots(strip_at(strip, depth), k, p_.n, dots_at(depth));
}

void FewColumns::compute_block(int64_t i, int64_t rows, std::byte* c, int64_t leading) const {
  for (int64_t depth = 0; depth < depths_.parts; ++depth) {
    const auto* a = static_cast<const std::byte*>(p_.lhs.data) +
                    (i * p_.lhs.outer + depths_.begin(depth)) * kernel_.bytes;
    const int64_t k = depths_.size(depth);
    const bool add = p_.accumulate || depth > 0;
    if (as_dots_)
      kernel_.run_dots({a, dots_at(depth), k, rows, p_.n, c, leading, add}, p_.lhs.outer);
    for (int64_t strip = 0; strip < strips_.parts && !as_dots_; ++strip) {
      const int64_t j = strip * kernel_.columns;
      const int64_t columns = std::min(kernel_.columns, p_.n - j);
      std::byte* sums = c + j * kernel_.bytes;
      kernel_.run_standing({a, strip_at(strip, depth), k, rows, columns, sums, leading, add,
                            lines_of(sums, rows, columns, leading)},
                           p_.lhs.outer);
    }
  }
}

void FewColumns::compute(int64_t part) const {
  const int64_t begin = parts_.begin(part), rows = parts_.size(part);
  const int64_t leading = p_.out ? p_.leading : p_.n;
  thread_local PackedMemory memory;
  std::byte* c = p_.out ? static_cast<std::byte*>(p_.out) + begin * leading * kernel_.bytes
                        : memory.take(rows * leading * kernel_.bytes);
  const Cut blocks{rows, as_dots_ ? 1 : pieces_of(rows, kernel_.standing_rows)};
  for (int64_t block = 0; block < blocks.parts; ++block)
    compute_block(begin + blocks.begin(block), blocks.size(block),
                  c + blocks.begin(block) * leading * kernel_.bytes, leading);
  if (p_.take) p_.take({begin, rows, 0, p_.n, c, leading});
}

void FewColumns::run(const Parallel* parallel) const {
  const auto each = [&](int64_t count, bool is_shared, const auto& body) {
    const auto all = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    };
    is_shared ? (*parallel)(count, 1, all) : all(0, count);
  };
  each(strips_.parts * depths_.parts, parallel && p_.k * p_.n >= worth_packing_together,
       [&](int64_t piece) { pack(piece / depths_.parts, piece % depths_.parts); });
  each(parts_.parts, parallel != nullptr, [&](int64_t part) { compute(part); });
}

}  // namespace

bool has_few_columns(const MatrixProduct& p) {
  const MatrixKernel& kernel = *p.kernel;
  if (kernel.standing_rows == 0 || p.m <= kernel.rows || p.lhs.type != kernel.standing_type ||
      p.lhs.outers || p.lhs.inner != 1)
    return false;
  const int64_t strips = pieces_of(p.n, kernel.columns);
  const int64_t bytes = strips * kernel.columns * p.k * kernel.bytes;
  return strips <= few_strips || (strips <= most_strips && bytes <= most_packed_bytes) ||
         (p.n <= most_columns && bytes <= most_bytes_of_columns);
}

void run_few_columns_product(const MatrixProduct& product, const Parallel* parallel) {
  FewColumns(product).run(parallel);
}

}  // namespace hilo
