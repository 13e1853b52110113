// The rows are packed once; a thread takes some columns of the right operand and goes down them,
// packing a depth of them after the other into its own cache. Few blocks of rows read lines of
// columns where they stand, some of many columns at a time: to pack them costs more than to use
// them.
#include "eval/few_rows_product.h"

#include "eval/packed_memory.h"

namespace hilo {
namespace {

constexpr int64_t most_depth = 512, part_strips = 8, fewest_parts = 8;
// Blocks of rows that read lines of columns where they stand, and how many strips of them together.
constexpr int64_t direct_blocks = 5, direct_strips = 16;
constexpr int64_t worth_packing_together = 1 << 16;  // elements of the rows

class FewRows {
 public:
  explicit FewRows(const MatrixProduct& product);
  void run(const Parallel* parallel);

 private:
  void pack(int64_t piece) const;  // of blocks of rows and depths
  void compute(int64_t part) const;
  void compute_packed(int64_t begin, int64_t end, float* strips, float* c, int64_t leading) const;
  void compute_direct(int64_t begin, int64_t end, float* c, int64_t leading) const;
  // The packed rows of a block from place t of the summed index on.
  const float* rows_at(int64_t block, int64_t t) const {
    return rows_ + (block * p_.k + t) * packed_rows;
  }
  int64_t columns_of(int64_t strip) const {
    return std::min(kernel_columns, p_.n - strip * kernel_columns);
  }

  const MatrixProduct& p_;
  Cut depths_, blocks_, parts_;  // of the summed index, of the rows, of the strips of columns
  bool is_direct_;
  float* rows_;
};

FewRows::FewRows(const MatrixProduct& product)
    : p_(product),
      depths_{p_.k, pieces_of(p_.k, most_depth)},
      blocks_{p_.m, pieces_of(p_.m, kernel_rows)},
      parts_{pieces_of(p_.n, kernel_columns), 1},
      is_direct_(blocks_.parts <= direct_blocks && is_direct_source(p_.rhs)) {
  const int64_t most = is_direct_ ? direct_strips : part_strips;
  parts_.parts = pieces_of(parts_.count, std::clamp<int64_t>(parts_.count / fewest_parts, 1, most));
  thread_local PackedMemory memory;
  rows_ = memory.take(blocks_.parts * p_.k * packed_rows);
}

void FewRows::pack(int64_t piece) const {
  const int64_t block = piece / depths_.parts, depth = piece % depths_.parts;
  const int64_t t = depths_.begin(depth);
  pack_rows({p_.lhs, blocks_.begin(block), blocks_.size(block), t, depths_.size(depth)},
            rows_ + (block * p_.k + t) * packed_rows);
}

void FewRows::compute_packed(int64_t begin, int64_t end, float* strips, float* c,
                             int64_t leading) const {
  const int64_t columns = std::min(end * kernel_columns, p_.n) - begin * kernel_columns;
  for (int64_t depth = 0; depth < depths_.parts; ++depth) {
    const int64_t t = depths_.begin(depth), k = depths_.size(depth);
    pack_columns({p_.rhs, begin * kernel_columns, columns, t, k}, k, strips);
    for (int64_t block = 0; block < blocks_.parts; ++block)
      for (int64_t s = begin; s < end; ++s)
        run_matrix_kernel({rows_at(block, t), strips + (s - begin) * kernel_columns * k, k,
                           blocks_.size(block), columns_of(s),
                           c + blocks_.begin(block) * leading + (s - begin) * kernel_columns,
                           leading, p_.accumulate || depth > 0});
  }
}

void FewRows::compute_direct(int64_t begin, int64_t end, float* c, int64_t leading) const {
  const Cut chunks{p_.k, pieces_of(p_.k, blocks_.parts < direct_blocks ? 64 : 128)};
  for (int64_t chunk = 0; chunk < chunks.parts; ++chunk) {
    const int64_t t = chunks.begin(chunk);
    for (int64_t s = begin; s < end; ++s)
      for (int64_t block = 0; block < blocks_.parts; ++block)
        run_direct_kernel(
            {rows_at(block, t), nullptr, chunks.size(chunk), blocks_.size(block), columns_of(s),
             c + blocks_.begin(block) * leading + (s - begin) * kernel_columns, leading,
             p_.accumulate || chunk > 0},
            p_.rhs, s * kernel_columns, t);
  }
}

void FewRows::compute(int64_t part) const {
  const int64_t begin = parts_.begin(part), end = parts_.begin(part + 1);
  const int64_t wide = (end - begin) * kernel_columns;
  const int64_t packed = is_direct_ ? 0 : wide * depths_.most();
  thread_local PackedMemory memory;
  float* strips = memory.take(packed + (p_.out ? 0 : p_.m * wide));
  const int64_t j = begin * kernel_columns, leading = p_.out ? p_.leading : wide;
  float* c = p_.out ? p_.out + j : strips + packed;
  if (is_direct_) compute_direct(begin, end, c, leading);
  else compute_packed(begin, end, strips, c, leading);
  if (!p_.out) p_.take({0, p_.m, j, std::min(wide, p_.n - j), c, leading});
}

void FewRows::run(const Parallel* parallel) {
  const auto each = [&](int64_t count, bool is_shared, const auto& body) {
    const auto all = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    };
    is_shared ? (*parallel)(count, 1, all) : all(0, count);
  };
  each(blocks_.parts * depths_.parts, parallel && p_.m * p_.k >= worth_packing_together,
       [&](int64_t piece) { pack(piece); });
  each(parts_.parts, parallel != nullptr, [&](int64_t part) { compute(part); });
}

}  // namespace

void run_few_rows_product(const MatrixProduct& product, const Parallel* parallel) {
  FewRows(product).run(parallel);
}

}  // namespace hilo
