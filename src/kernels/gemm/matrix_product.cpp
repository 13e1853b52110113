// A product goes over the summed index in depths. At each depth both operands are packed once, by
// all threads, and then parts of the result are computed from the packed copies: a part's rows stay
// in the second cache, a block of them in the first (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", TOMS 2008). Rows that blocks can read where they stand
// are not packed. Threads take pieces of packing and parts of
// the result from counters, and go on to pack the next depth into other memory while the last
// parts of one are still computed.
#include "kernels/gemm/matrix_product.h"

#include <atomic>
#include <thread>

#include "kernels/gemm/skinny_gemm.h"
#include "kernels/gemm/skinny_gemm_columns.h"
#include "kernels/packed_memory.h"

namespace hilo {
namespace {

// What is packed at once, in bytes of a packed line's element, and what a thread computes at once.
constexpr int64_t max_depth_bytes = 3072, max_strips_bytes = 16384;
// Sums of a few more terms are not cut while the first cache, whose ways are pages of 4 KB, holds
// a block's rows and strips that go by: sums that are cut are added up in memory.
constexpr int64_t max_whole_bytes = 4096, way_bytes = 4096;
constexpr int64_t part_blocks = 10, part_strips = 6;
constexpr int64_t max_helpers = 64;
constexpr int64_t enough_wide_strips = 16;  // that threads share evenly

// Whether whole blocks of rows are read where they stand.
bool reads_rows(const MatrixProduct& p) {
  return rows_stand(p) && p.kernel->reads_near && p.kernel->unpacked_rows >= p.kernel->rows;
}

const MatrixKernel& kernel_of(const MatrixProduct& p) {
  const MatrixKernel* narrow = p.kernel->narrow;
  const bool is_narrow = narrow && !reads_rows(p) && p.n < enough_wide_strips * p.kernel->columns;
  return is_narrow ? *narrow : *p.kernel;
}

template <class Ready>
void await(Ready ready) {
  for (int i = 0; !ready(); ++i)
    if (i >= 64) std::this_thread::yield();
}

// Rows [i, i + rows) and columns [j, j + columns) of a product, whose packed operands lie in
// memory together.
class Region {
 public:
  Region(const MatrixProduct& product, int64_t i, int64_t rows, int64_t j, int64_t columns,
         const Parallel& parallel);
  void run();

 private:
  // A depth of the sums: what has been begun and done of it.
  struct alignas(64) Depth {
    std::atomic<int64_t> next_chunk = 0, packed = 0, next_part = 0, done = 0;
  };
  // How an operand is cut for packing: `free` pieces of the free index times pieces of `lines`.
  struct Pieces {
    Cut units;  // blocks of rows or strips of columns
    int64_t lines, count;
  };
  Pieces cut(int64_t units, const MatrixSource& source, int64_t side_by_side, int64_t apart) const;

  void choose_parts();
  void help();
  void pack(int64_t depth, int64_t piece);
  void pack_rows_of(int64_t depth, int64_t units, int64_t t, int64_t k);
  void pack_columns_of(int64_t depth, int64_t units, int64_t t, int64_t k);
  void compute(int64_t depth, int64_t part);
  // Packed rows of a block and columns of a strip from place t on; `lines` are a depth's.
  std::byte* rows_at(int64_t depth, int64_t block, int64_t t = 0) const {
    return memory_ + depth % 2 * set_ +
           (block * lines(depth) + t) * kernel_.row_step * kernel_.bytes;
  }
  std::byte* columns_at(int64_t depth, int64_t strip, int64_t t = 0) const {
    return memory_ + depth % 2 * set_ + row_bytes_ +
           (strip * lines(depth) + t) * kernel_.columns * kernel_.bytes;
  }
  std::byte* sums_at(int64_t i, int64_t j) const {
    return c_ + (i * leading_ + j) * kernel_.sum_bytes;
  }
  int64_t lines(int64_t depth) const { return kernel_.head + depths_.size(depth); }
  // The elements that are packed in [t, t + k) of a depth.
  SourcePart part_of(const MatrixSource& source, int64_t i, int64_t count, int64_t depth, int64_t t,
                     int64_t k) const {
    const int64_t begin = (depths_.begin(depth) + t) * kernel_.group;
    return {source, i, count, begin, std::min(k * kernel_.group, p_.k - begin)};
  }
  int64_t parts() const { return row_parts_.parts * column_parts_.parts; }
  int64_t strip_columns(int64_t strip) const {
    return std::min(kernel_.columns, columns_ - strip * kernel_.columns);
  }

  // Packed, or where they stand.
  const std::byte* block_rows(int64_t depth, int64_t block) const {
    if (!reads_rows_) return rows_at(depth, block);
    const int64_t place = (i_ + blocks_.begin(block)) * p_.lhs.outer + depths_.begin(depth);
    return static_cast<const std::byte*>(p_.lhs.data) + place * kernel_.bytes;
  }

  const MatrixProduct& p_;
  const Parallel& parallel_;
  const MatrixKernel& kernel_;
  bool reads_rows_;
  int64_t i_, rows_, j_, columns_;
  Cut depths_, blocks_;  // of the summed index's groups; of the rows
  int64_t strips_;
  Cut row_parts_, column_parts_;  // of blocks and of strips
  Pieces row_pieces_ = {}, column_pieces_;
  int64_t row_bytes_, set_;
  std::byte *memory_, *c_;
  int64_t leading_;
  int64_t first_ = 0;  // depth of those that run now
  std::vector<Depth> now_;
  std::vector<std::atomic<int64_t>> part_depths_;  // how many depths are in each part
};

Region::Region(const MatrixProduct& product, int64_t i, int64_t rows, int64_t j, int64_t columns,
               const Parallel& parallel)
    : p_(product),
      parallel_(parallel),
      kernel_(kernel_of(product)),
      reads_rows_(reads_rows(product)),
      i_(i),
      rows_(rows),
      j_(j),
      columns_(columns),
      depths_(depths_of(product)),
      blocks_{rows, part_count(rows, kernel_.rows)},
      strips_(part_count(columns, kernel_.columns)),
      row_parts_{blocks_.parts, 0},
      column_parts_{strips_, 0} {
  choose_parts();
  if (!reads_rows_) row_pieces_ = cut(blocks_.parts, p_.lhs, 8, 4);
  column_pieces_ = cut(strips_, p_.rhs, kernel_.head > 0 ? 4 : 16, 2);
  const int64_t lines = kernel_.head + depths_.most();
  const auto whole_vectors = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  row_bytes_ =
      reads_rows_ ? 0 : whole_vectors(blocks_.parts * kernel_.row_step * lines * kernel_.bytes);
  set_ = row_bytes_ + whole_vectors(strips_ * kernel_.columns * lines * kernel_.bytes);
  leading_ = p_.out ? p_.leading : strips_ * kernel_.columns;
  thread_local PackedMemory memory;
  const int64_t sets = std::min<int64_t>(2, depths_.parts) * set_;
  memory_ = memory.take(sets + (p_.out ? 0 : rows_ * leading_ * kernel_.sum_bytes));
  c_ = p_.out ? static_cast<std::byte*>(p_.out) + (i_ * leading_ + j_) * kernel_.sum_bytes
              : memory_ + sets;
}

// Small ones where there are few, for several threads.
void Region::choose_parts() {
  int64_t blocks = part_blocks, strips = part_strips;
  while (true) {
    row_parts_.parts = part_count(row_parts_.count, blocks);
    column_parts_.parts = part_count(column_parts_.count, strips);
    if (parts() >= shared_parts(parallel_.threads()) || (blocks <= 2 && strips == 1)) break;
    if (strips > 1 && strips * kernel_.columns >= blocks * kernel_.rows) strips /= 2;
    else blocks = (blocks + 1) / 2;
  }
  part_depths_ = std::vector<std::atomic<int64_t>>(static_cast<size_t>(parts()));
}

// Neighbours that stand side by side are read line by line, a few lines of many; else each alone.
// What has a head is packed by one thread.
Region::Pieces Region::cut(int64_t units, const MatrixSource& source, int64_t side_by_side,
                           int64_t apart) const {
  const bool is_side_by_side = source.outer == 1;
  Pieces out{{units, part_count(units, is_side_by_side ? side_by_side : apart)}, 0, 0};
  const int64_t depth = depths_.most();
  out.lines = is_side_by_side && kernel_.head == 0 ? 64 : std::max<int64_t>(depth, 1);
  out.count = out.units.parts * part_count(depth, out.lines);
  return out;
}

void Region::pack_rows_of(int64_t depth, int64_t units, int64_t t, int64_t k) {
  const Cut& cut = row_pieces_.units;
  for (int64_t block = cut.begin(units); block < cut.begin(units + 1); ++block)
    kernel_.pack_rows(part_of(p_.lhs, i_ + blocks_.begin(block), blocks_.size(block), depth, t, k),
                      rows_at(depth, block, t));
}

void Region::pack_columns_of(int64_t depth, int64_t units, int64_t t, int64_t k) {
  const Cut& cut = column_pieces_.units;
  const int64_t strip = cut.begin(units), begin = strip * kernel_.columns;
  const int64_t end = std::min(cut.begin(units + 1) * kernel_.columns, columns_);
  kernel_.pack_columns(part_of(p_.rhs, j_ + begin, end - begin, depth, t, k), lines(depth),
                       columns_at(depth, strip, t));
}

void Region::pack(int64_t depth, int64_t piece) {
  const bool is_row = piece < row_pieces_.count;
  const Pieces& pieces = is_row ? row_pieces_ : column_pieces_;
  if (!is_row) piece -= row_pieces_.count;
  const int64_t units = piece % pieces.units.parts;
  const int64_t t = piece / pieces.units.parts * pieces.lines;
  const int64_t k = std::min(pieces.lines, depths_.size(depth) - t);
  if (k <= 0 && t > 0) return;
  if (is_row) pack_rows_of(depth, units, t, k);
  else pack_columns_of(depth, units, t, k);
}

// Neighbours have the same strips, which stay in the second cache.
void Region::compute(int64_t depth, int64_t part) {
  const int64_t row_part = part % row_parts_.parts, column_part = part / row_parts_.parts;
  const int64_t k = depths_.size(depth);
  const int64_t strip = column_parts_.begin(column_part),
                strip_end = column_parts_.begin(column_part + 1);
  const int64_t begin = row_parts_.begin(row_part), end = row_parts_.begin(row_part + 1);
  const std::byte* columns = columns_at(depth, strip);
  const int64_t strip_bytes = lines(depth) * kernel_.columns * kernel_.bytes;
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = blocks_.begin(block);
    KernelBlock sums = {.a = block_rows(depth, block),
                        .k = k,
                        .rows = blocks_.begin(block + 1) - first,
                        .leading = leading_,
                        .add = p_.accumulate || depth > 0,
                        .rows_are_far = false};
    for (int64_t s = strip; s < strip_end; ++s) {
      sums.b = columns + (s - strip) * strip_bytes;
      sums.columns = strip_columns(s);
      sums.c = sums_at(first, s * kernel_.columns);
      reads_rows_ ? kernel_.run_unpacked(sums, p_.lhs.outer) : kernel_.run(sums);
    }
  }
  if (!p_.take || depth + 1 < depths_.parts) return;
  const int64_t i = blocks_.begin(begin), j = strip * kernel_.columns;
  p_.take({i_ + i, blocks_.begin(end) - i, j_ + j,
           std::min(strip_end * kernel_.columns, columns_) - j, sums_at(i, j), leading_});
}

// Takes what is left to do until all is taken. What others have taken is waited for only where it
// is needed, and they are running, so each wait ends.
void Region::help() {
  const int64_t pieces = row_pieces_.count + column_pieces_.count;
  for (size_t n = 0; n < now_.size(); ++n) {
    Depth& now = now_[n];
    const int64_t depth = first_ + static_cast<int64_t>(n);
    if (n >= 2) await([&] { return now_[n - 2].done == parts(); });  // its memory is used again
    for (int64_t piece; (piece = now.next_chunk++) < pieces; ++now.packed) pack(depth, piece);
    await([&] { return now.packed == pieces; });
    for (int64_t part; (part = now.next_part++) < parts(); ++now.done) {
      std::atomic<int64_t>& depths = part_depths_[static_cast<size_t>(part)];
      await([&] { return depths == depth; });
      compute(depth, part);
      ++depths;
    }
  }
  if (kernel_.finish) kernel_.finish();
}

void Region::run() {
  const int64_t work = rows_ * columns_ * depths_.size(0);
  const int64_t together = std::max<int64_t>(1, max_work_at_once / std::max<int64_t>(1, work));
  for (first_ = 0; first_ < depths_.parts; first_ += together) {
    now_ = std::vector<Depth>(static_cast<size_t>(std::min(together, depths_.parts - first_)));
    parallel_(std::min(parts(), max_helpers), 1, [&](int64_t, int64_t) { help(); });
  }
}

// Of few rows those with fewer strips of columns than these have too few parts for many threads.
constexpr int64_t enough_strips = 4, enough_shared_strips = 8;

void run_regions(const MatrixProduct& p, const Parallel& parallel) {
  const int64_t max_columns = max_strips_bytes / p.kernel->sum_bytes / (p.out ? 1 : 2);
  const Cut rows{p.m, part_count(p.m, max_packed_rows)};
  const Cut strips{part_count(p.n, p.kernel->columns), part_count(p.n, max_columns)};
  for (int64_t i = 0; i < rows.parts; ++i)
    for (int64_t j = 0; j < strips.parts; ++j) {
      const int64_t begin = strips.begin(j) * p.kernel->columns;
      const int64_t end = std::min(strips.begin(j + 1) * p.kernel->columns, p.n);
      Region(p, rows.begin(i), rows.size(i), begin, end - begin, parallel).run();
    }
}

// Beside many columns more rows are few, too: packed strips stay in their thread's second cache,
// and the packed rows, which each part reads again, in the last one. Where a kernel wants strips
// together, each thread should have some of its own.
constexpr int64_t max_skinny_rows = 256, columns_of_a_row = 8, max_skinny_bytes = 3 << 20;
constexpr int64_t enough_parts = 2;
constexpr int64_t max_cached_bytes = 3 << 19;  // of rows that stay in the second cache by strips

// By single strips fewer columns are enough where they have no other thread.
bool goes_by_strips(const MatrixProduct& p, bool is_shared) {
  const MatrixKernel& kernel = *p.kernel;
  const int64_t together = kernel.strips_together * kernel.columns;
  if (packs_single_strips(p) && p.m <= p.k &&
      p.n >= (is_shared ? enough_shared_strips : enough_strips) * kernel.columns &&
      p.m * depths_of(p).most() * kernel.bytes <= max_cached_bytes)
    return true;
  if (p.m <= max_skinny_blocks * kernel.rows || (together > 0 && p.n >= enough_parts * together))
    return true;
  return p.m <= max_skinny_rows && p.n >= columns_of_a_row * p.m &&
         p.m * (p.k / kernel.group) * kernel.bytes <= max_skinny_bytes;
}

}  // namespace

Cut depths_of(const MatrixProduct& p) {
  const MatrixKernel& kernel = *p.kernel;
  const int64_t groups = (p.k + kernel.group - 1) / kernel.group;
  if (kernel.depth > 0) return {groups, part_count(groups, kernel.depth)};
  const bool fits =
      kernel.row_step * max_whole_bytes <= processor().first_cache_ways * way_bytes * 3 / 4;
  const bool is_whole = fits && groups * kernel.bytes <= max_whole_bytes;
  return {groups, is_whole ? 1 : part_count(groups, max_depth_bytes / kernel.bytes)};
}

void run_matrix_product(const MatrixProduct& p, const Parallel& parallel) {
  if (has_few_columns(p)) return run_skinny_gemm_columns(p, &parallel);
  const bool has_enough_strips = p.n >= enough_strips * p.kernel->columns;
  if (p.kernel->are_sound || (goes_by_strips(p, true) && has_enough_strips))
    run_skinny_gemm(p, &parallel);
  else run_regions(p, parallel);
}

void run_matrix_product(const MatrixProduct& p) {
  if (has_few_columns(p)) return run_skinny_gemm_columns(p, nullptr);
  if (p.kernel->are_sound || goes_by_strips(p, false)) return run_skinny_gemm(p, nullptr);
  run_regions(p, {1, [](int64_t, int64_t, const Parallel::Body& body) { body(0, 1); }});
}

}  // namespace hilo
