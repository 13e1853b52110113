// The rows are packed once; a thread takes some columns of the right operand and goes down them,
// packing a depth of them after the other into its own cache. Few blocks of rows read lines of
// columns where they stand: to pack them costs more than to use them.
#include "eval/few_rows_product.h"

namespace hilo {
namespace {

constexpr int64_t part_strips = 4, fewest_parts = 16, fewest_wide_parts = 4;
// Blocks of rows that read lines of columns where they stand, and of how many strips and lines of
// them together: a strip's are fetched into the second cache while the one before is computed.
constexpr int64_t direct_blocks = 5, direct_strips = 16, direct_lines = 192;
constexpr int64_t worth_packing_together = 1 << 16;  // elements of the rows
constexpr int64_t taken_bytes = 1 << 17;             // of sums

class FewRows {
 public:
  FewRows(const MatrixProduct& product, int64_t i, int64_t rows);  // of rows [i, i + rows)
  void run(const Parallel* parallel);

 private:
  void pack(int64_t piece) const;  // of blocks of rows and depths
  void compute(int64_t part) const;
  // Strips of columns that are packed together, of two depths in turn.
  struct Strips {
    int64_t begin, end;
    std::byte* memory;
    int64_t count() const { return end - begin; }
  };
  int64_t bytes_of(const Strips& strips) const {
    return strips.count() * kernel_.columns * (kernel_.head + depths_.most()) * kernel_.bytes;
  }
  std::byte* strips_at(const Strips& strips, int64_t depth) const {
    return strips.memory + depth % 2 * bytes_of(strips);
  }
  SourcePart strips_part(const Strips& strips, int64_t depth, int64_t t, int64_t k) const {
    const int64_t j = strips.begin * kernel_.columns;
    const int64_t columns = std::min(strips.end * kernel_.columns, p_.n) - j;
    return part_of(p_.rhs, j, columns, depth, t, k);
  }
  void pack_strips(const Strips& strips, int64_t depth, int64_t t, int64_t k) const {
    kernel_.pack_columns(strips_part(strips, depth, t, k), kernel_.head + depths_.size(depth),
                         strips_at(strips, depth) + t * kernel_.columns * kernel_.bytes);
  }
  void compute_packed(const Strips& strips, std::byte* c, int64_t leading) const;
  // Blocks of rows of a part that are taken together, while a cache holds them.
  int64_t taken_together(int64_t wide) const {
    const int64_t bytes = wide * kernel_.rows * kernel_.sum_bytes;
    return is_direct_ ? blocks_.parts : std::clamp<int64_t>(taken_bytes / bytes, 1, blocks_.parts);
  }
  // Those of sums that stand nowhere else, so that their place is used again.
  int64_t blocks_held(int64_t wide) const {
    return depths_.parts == 1 ? taken_together(wide) : blocks_.parts;
  }
  void take(const Strips& strips, int64_t begin, int64_t end, const std::byte* c,
            int64_t leading) const;
  int64_t to_next(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin,
                  int64_t end) const;
  void compute_direct(int64_t begin, int64_t end, std::byte* c, int64_t leading) const;
  // The packed rows of a block from element t of the summed index on, which stands in a depth.
  std::byte* rows_at(int64_t block, int64_t depth, int64_t t) const {
    const int64_t lines = block * all_lines_ + depth * kernel_.head + t;
    return rows_ + lines * kernel_.row_step * kernel_.bytes;
  }
  int64_t columns_of(int64_t strip) const {
    return std::min(kernel_.columns, p_.n - strip * kernel_.columns);
  }
  // The packed elements [t, t + k) of a depth.
  SourcePart part_of(const MatrixSource& source, int64_t i, int64_t count, int64_t depth, int64_t t,
                     int64_t k) const {
    const int64_t begin = (depths_.begin(depth) + t) * kernel_.group;
    return {source, i, count, begin, std::min(k * kernel_.group, p_.k - begin)};
  }

  const MatrixProduct& p_;
  const MatrixKernel& kernel_;
  int64_t i_;
  Cut depths_, blocks_, parts_;  // of the summed index, of the rows, of the strips of columns
  int64_t all_lines_;            // of a block's packed rows
  bool is_direct_;
  std::byte* rows_;
};

FewRows::FewRows(const MatrixProduct& product, int64_t i, int64_t rows)
    : p_(product),
      kernel_(*product.kernel),
      i_(i),
      depths_(depths_of(product)),
      blocks_{rows, pieces_of(rows, kernel_.rows)},
      parts_{pieces_of(p_.n, kernel_.columns), 1},
      all_lines_(depths_.count + depths_.parts * kernel_.head),
      is_direct_(blocks_.parts <= direct_blocks && kernel_.is_direct && kernel_.is_direct(p_.rhs)) {
  const int64_t together = kernel_.strips_together;
  const int64_t most = is_direct_ ? direct_strips : std::max(together, part_strips);
  const int64_t enough_parts = together > 0 ? fewest_wide_parts : fewest_parts;
  parts_.parts = pieces_of(parts_.count, std::clamp<int64_t>(parts_.count / enough_parts, 1, most));
  thread_local PackedMemory memory;
  rows_ = memory.take(blocks_.parts * all_lines_ * kernel_.row_step * kernel_.bytes);
}

void FewRows::pack(int64_t piece) const {
  const int64_t block = piece / depths_.parts, depth = piece % depths_.parts;
  kernel_.pack_rows(part_of(p_.lhs, i_ + blocks_.begin(block), blocks_.size(block), depth, 0,
                            depths_.size(depth)),
                    rows_at(block, depth, depths_.begin(depth)));
}

// Where columns stand side by side, some lines of the next depth are fetched during each block and
// packed after it, so that memory is not waited for.
void FewRows::compute_packed(const Strips& strips, std::byte* c, int64_t leading) const {
  const int64_t width = kernel_.columns, blocks = blocks_.parts * strips.count();
  const bool goes_ahead = kernel_.head == 0 && p_.rhs.outer == 1;
  const int64_t together = taken_together(strips.count() * width);
  const bool is_held = !p_.out && depths_.parts == 1;
  for (int64_t depth = 0; depth < depths_.parts; ++depth) {
    const int64_t k = depths_.size(depth), next = depth + 1;
    if (depth == 0 || !goes_ahead) pack_strips(strips, depth, 0, k);
    const Cut ahead{goes_ahead && next < depths_.parts ? depths_.size(next) : 0, blocks};
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t block = i / strips.count(), s = i % strips.count();
      const int64_t t = ahead.begin(i), lines = ahead.size(i);
      const int64_t first = block / together * together;  // of the blocks that are taken with it
      std::byte* taken = c + (is_held ? 0 : blocks_.begin(first)) * leading * kernel_.sum_bytes;
      kernel_.run({rows_at(block, depth, depths_.begin(depth)),
                   strips_at(strips, depth) + s * width * (kernel_.head + k) * kernel_.bytes, k,
                   blocks_.size(block), columns_of(strips.begin + s),
                   taken + ((blocks_.begin(block) - blocks_.begin(first)) * leading + s * width) *
                               kernel_.sum_bytes,
                   leading, p_.accumulate || depth > 0,
                   lines > 0 ? ahead_of(strips_part(strips, next, t, lines)) : Ahead{}});
      if (lines > 0) pack_strips(strips, next, t, lines);
      const bool is_last = block + 1 == std::min(first + together, blocks_.parts);
      if (p_.take && next == depths_.parts && s + 1 == strips.count() && is_last)
        take(strips, first, block + 1, taken, leading);
    }
  }
}

// Elements from a chunk's first line of a strip to that which is used after it, of strips [begin,
// end); 0: none.
int64_t FewRows::to_next(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin,
                         int64_t end) const {
  if (strip + 1 < end) return kernel_.columns;
  if (chunk + 1 == chunks.parts) return 0;
  return chunks.size(chunk) * p_.rhs.inner - (strip - begin) * kernel_.columns;
}

void FewRows::compute_direct(int64_t begin, int64_t end, std::byte* c, int64_t leading) const {
  const Cut chunks{p_.k, pieces_of(p_.k, direct_lines)};
  for (int64_t chunk = 0; chunk < chunks.parts; ++chunk) {
    const int64_t t = chunks.begin(chunk);
    for (int64_t s = begin; s < end; ++s) {
      const int64_t next = to_next(chunks, chunk, s, begin, end);
      for (int64_t block = 0; block < blocks_.parts; ++block) {
        const int64_t at = blocks_.begin(block) * leading + (s - begin) * kernel_.columns;
        kernel_.run_direct(
            {rows_at(block, 0, t), nullptr, chunks.size(chunk), blocks_.size(block), columns_of(s),
             c + at * kernel_.sum_bytes, leading, p_.accumulate || chunk > 0},
            p_.rhs, s * kernel_.columns, t, next);
      }
    }
  }
}

// The rows of blocks [begin, end), of which the first one stands at c.
void FewRows::take(const Strips& strips, int64_t begin, int64_t end, const std::byte* c,
                   int64_t leading) const {
  const int64_t j = strips.begin * kernel_.columns;
  p_.take({i_ + blocks_.begin(begin), blocks_.begin(end) - blocks_.begin(begin), j,
           std::min(strips.end * kernel_.columns, p_.n) - j, c, leading});
}

void FewRows::compute(int64_t part) const {
  const int64_t begin = parts_.begin(part), end = parts_.begin(part + 1);
  const int64_t wide = (end - begin) * kernel_.columns;
  Strips strips{begin, end, nullptr};
  const int64_t packed = is_direct_ ? 0 : std::min<int64_t>(2, depths_.parts) * bytes_of(strips);
  thread_local PackedMemory memory;
  const int64_t held = p_.out ? 0 : std::min(blocks_held(wide) * kernel_.rows, blocks_.count);
  strips.memory = memory.take(packed + held * wide * kernel_.sum_bytes);
  const int64_t j = begin * kernel_.columns, leading = p_.out ? p_.leading : wide;
  std::byte* c = p_.out ? static_cast<std::byte*>(p_.out) + (i_ * leading + j) * kernel_.sum_bytes
                        : strips.memory + packed;
  if (is_direct_) {
    compute_direct(begin, end, c, leading);
    if (p_.take) take(strips, 0, blocks_.parts, c, leading);
  } else {
    compute_packed(strips, c, leading);
  }
  if (kernel_.finish) kernel_.finish();
}

void FewRows::run(const Parallel* parallel) {
  const auto each = [&](int64_t count, bool is_shared, const auto& body) {
    const auto all = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    };
    is_shared ? (*parallel)(count, 1, all) : all(0, count);
  };
  each(blocks_.parts * depths_.parts, parallel && blocks_.count * p_.k >= worth_packing_together,
       [&](int64_t piece) { pack(piece); });
  each(parts_.parts, parallel != nullptr, [&](int64_t part) { compute(part); });
}

}  // namespace

void run_few_rows_product(const MatrixProduct& product, const Parallel* parallel) {
  const Cut rows{product.m, pieces_of(product.m, most_packed_rows)};
  for (int64_t i = 0; i < rows.parts; ++i)
    FewRows(product, rows.begin(i), rows.size(i)).run(parallel);
}

}  // namespace hilo
