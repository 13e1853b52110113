// The rows are packed once; a thread takes some columns of the right operand and goes down them,
// packing a depth of them after the other into its own cache, all strips of it together or one
// while the one before is multiplied. Few blocks of rows read lines of columns where they stand: to
// pack them costs more than to use them.
#include "kernels/gemm/skinny_gemm.h"

#include <atomic>

#include "kernels/gemm/recompute_inexact.h"

namespace hilo {
namespace {

constexpr int64_t part_strips = 4;
// Blocks of rows that read lines of columns where they stand, and of how many strips and lines of
// them together: a strip's are fetched into the second cache while the one before is computed.
constexpr int64_t direct_blocks = 5, direct_rows = 36, direct_strips = 16;
constexpr int64_t max_direct_lines = 256, max_direct_bytes = 36 << 10;
constexpr int64_t max_narrow_rows = 32;            // that a kernel's narrow one multiplies
constexpr int64_t interleaved_strips = 16;         // of a part that is computed in turns
constexpr int64_t rows_of_share = 128;             // with which it is worth packing a strip again
constexpr int64_t taken_bytes = 1 << 17;           // of sums
constexpr int64_t max_cached_row_bytes = 1 << 20;  // bytes

// A kernel's narrow one multiplies few rows with columns where they stand.
const MatrixKernel& kernel_of(const MatrixProduct& p, int64_t rows) {
  const MatrixKernel* narrow = p.kernel->narrow;
  const bool is_narrow = narrow && rows <= max_narrow_rows && narrow->is_direct(p.rhs);
  return is_narrow ? *narrow : *p.kernel;
}

class SkinnyGemm {
 public:
  // Of rows [i, i + rows).
  SkinnyGemm(const MatrixProduct& product, int64_t i, int64_t rows, const Parallel* parallel);
  void run();

 private:
  // Strips of a part that are multiplied in one turn with a share of the rows, of one depth; and
  // where they are packed.
  struct Turn {
    int64_t part, share, depth, begin, end;
    std::byte* memory;
    int64_t strips() const { return end - begin; }
    bool has_strips_of(const Turn& other) const {
      return begin == other.begin && end == other.end && depth == other.depth;
    }
  };
  void choose_parts();
  void pack(int64_t piece) const;  // of blocks of rows and depths
  void help();
  void help_packed(std::byte* memory, std::byte* own);
  int64_t bytes_of_turn() const {
    return turn_strips_ * kernel_.columns * (kernel_.head + depths_.most()) * kernel_.bytes;
  }
  Turn first_turn(std::byte* memory);
  bool is_last_of_part(const Turn& turn) const {
    return turn.end == parts_.begin(turn.part + 1) && turn.depth + 1 == depths_.parts;
  }
  Turn turn_after(const Turn& turn, std::byte* memory) const;
  SourcePart strips_part(const Turn& turn, int64_t t, int64_t k) const {
    const int64_t j = column_of(turn.begin);
    return part_of(p_.rhs, j, column_of(turn.end) - j, turn.depth, t, k);
  }
  void pack_strips(const Turn& turn, int64_t t, int64_t k) const {
    kernel_.pack_columns(strips_part(turn, t, k), kernel_.head + depths_.size(turn.depth),
                         turn.memory + t * kernel_.columns * kernel_.bytes);
  }
  Ahead rows_ahead(int64_t block, int64_t depth, int64_t part, int64_t parts) const;
  void multiply(const Turn& turn, const Turn* next, std::byte* c) const;
  // Blocks of rows of a part that are taken together, while a cache holds them.
  int64_t taken_together() const {
    const int64_t bytes = kernel_.rows * parts_.most() * kernel_.columns * kernel_.sum_bytes;
    return std::clamp<int64_t>(taken_bytes / bytes, 1, blocks_.parts);
  }
  void take(int64_t part, int64_t begin, int64_t end, const std::byte* c) const;
  int64_t to_next(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin,
                  int64_t end) const;
  Ahead ahead_of_block(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin, int64_t end,
                       int64_t block) const;
  void compute_direct(int64_t part, std::byte* packed, std::byte* c, int64_t leading) const;
  // Where the sums of a part are; `own`: of those that are taken.
  std::byte* sums_of(int64_t part, std::byte* own) const {
    if (!p_.out) return own;
    const int64_t j = column_of(parts_.begin(part));
    return static_cast<std::byte*>(p_.out) + (i_ * p_.leading + j) * kernel_.sum_bytes;
  }
  int64_t leading_of(int64_t part) const {
    return p_.out ? p_.leading : parts_.size(part) * kernel_.columns;
  }
  int64_t direct_lines() const {
    return std::min(max_direct_lines, max_direct_bytes / (kernel_.columns * kernel_.bytes));
  }
  // The packed rows of a block from element t of the summed index on, which stands in a depth.
  std::byte* rows_at(int64_t block, int64_t depth, int64_t t) const {
    const int64_t lines = block * all_lines_ + depth * kernel_.head + t;
    return rows_ + lines * kernel_.row_step * kernel_.bytes;
  }
  int64_t column_of(int64_t strip) const { return std::min(strip * kernel_.columns, p_.n); }
  int64_t columns_of(int64_t strip) const { return column_of(strip + 1) - column_of(strip); }
  // The packed elements [t, t + k) of a depth.
  SourcePart part_of(const MatrixSource& source, int64_t i, int64_t count, int64_t depth, int64_t t,
                     int64_t k) const {
    const int64_t begin = (depths_.begin(depth) + t) * kernel_.group;
    return {source, i, count, begin, std::min(k * kernel_.group, p_.k - begin)};
  }

  const MatrixProduct& p_;
  const Parallel* parallel_;
  const MatrixKernel& kernel_;
  int64_t i_;
  Cut depths_, blocks_, parts_;  // of the summed index, of the rows, of the strips of columns
  int64_t all_lines_;            // of a block's packed rows
  bool is_direct_, single_strips_;
  bool is_taken_at_once_;  // sums stand nowhere else, and their place is used again
  int64_t turn_strips_;
  std::byte* rows_;
  bool fetches_rows_;  // which are more than stay in the second cache
  Cut shares_;  // of the blocks of rows: of few parts each is computed in some, by several threads
  std::atomic<int64_t> next_part_ = 0;
};

SkinnyGemm::SkinnyGemm(const MatrixProduct& product, int64_t i, int64_t rows,
                       const Parallel* parallel)
    : p_(product),
      parallel_(parallel),
      kernel_(kernel_of(product, rows)),
      i_(i),
      depths_(depths_of(product)),
      blocks_{rows, part_count(rows, kernel_.rows)},
      parts_{part_count(p_.n, kernel_.columns), 1},
      all_lines_(depths_.count + depths_.parts * kernel_.head),
      is_direct_((blocks_.parts <= direct_blocks || rows <= direct_rows) && kernel_.is_direct &&
                 kernel_.is_direct(p_.rhs)),
      single_strips_(!is_direct_ && packs_single_strips(p_)),
      shares_{blocks_.parts, 1} {
  choose_parts();
  turn_strips_ = single_strips_ ? 1 : parts_.most();
  is_taken_at_once_ = !p_.out && !is_direct_ && !single_strips_ && depths_.parts == 1;
  thread_local PackedMemory memory;
  const int64_t bytes = blocks_.parts * all_lines_ * kernel_.row_step * kernel_.bytes;
  rows_ = memory.take(bytes);
  fetches_rows_ = kernel_.fetches_rows && bytes > max_cached_row_bytes;
}

// Enough for all threads. What wants its strips together has fewer parts, with shares of the rows
// where there are many threads.
void SkinnyGemm::choose_parts() {
  const int64_t threads = parallel_ ? parallel_->threads() : 1;
  const int64_t together = kernel_.strips_together;
  constexpr int64_t min_wide_parts = 4;
  const int64_t enough =
      together > 0 ? std::max(min_wide_parts, 2 * threads) : shared_parts(threads);
  const int64_t most = is_direct_       ? direct_strips
                       : single_strips_ ? interleaved_strips
                                        : std::max(together, part_strips);
  const int64_t least =
      together > 0 ? std::clamp<int64_t>(parts_.count / min_wide_parts, 1, part_strips) : 1;
  const int64_t strips = std::clamp(parts_.count / enough, least, most);
  parts_.parts = part_count(parts_.count, strips);
  if ((single_strips_ || together > 0) && parts_.parts < enough)
    shares_.parts =
        std::clamp<int64_t>(blocks_.count / rows_of_share, 1, part_count(enough, parts_.parts));
}

void SkinnyGemm::pack(int64_t piece) const {
  const int64_t block = piece / depths_.parts, depth = piece % depths_.parts;
  kernel_.pack_rows(part_of(p_.lhs, i_ + blocks_.begin(block), blocks_.size(block), depth, 0,
                            depths_.size(depth)),
                    rows_at(block, depth, depths_.begin(depth)));
}

// Of a part's share that nobody has begun; there may be none.
SkinnyGemm::Turn SkinnyGemm::first_turn(std::byte* memory) {
  const int64_t n = next_part_++, part = n / shares_.parts, begin = parts_.begin(part);
  const int64_t end = std::min(begin + turn_strips_, parts_.begin(part + 1));
  return {part, n % shares_.parts, 0, begin, end, memory};
}

SkinnyGemm::Turn SkinnyGemm::turn_after(const Turn& turn, std::byte* memory) const {
  const int64_t end = parts_.begin(turn.part + 1);
  const bool is_deeper = turn.end == end;
  const int64_t begin = is_deeper ? parts_.begin(turn.part) : turn.end;
  return {turn.part, turn.share, turn.depth + is_deeper, begin, std::min(begin + turn_strips_, end),
          memory};
}

// The share `part` of `parts` of a block's packed rows.
Ahead SkinnyGemm::rows_ahead(int64_t block, int64_t depth, int64_t part, int64_t parts) const {
  const int64_t lines = kernel_.head + depths_.size(depth);
  const Cut all{lines * kernel_.row_step * kernel_.bytes / cache_line, parts};
  return {rows_at(block, depth, depths_.begin(depth)) + all.begin(part) * cache_line, cache_line,
          cache_line, 0, all.size(part)};
}

// Some lines of the next turn are fetched during each block and packed after it, so that memory is
// not waited for.
void SkinnyGemm::multiply(const Turn& turn, const Turn* next, std::byte* c) const {
  const int64_t leading = leading_of(turn.part), together = taken_together();
  const int64_t depth = turn.depth, k = depths_.size(depth);
  const int64_t j = column_of(parts_.begin(turn.part));
  const int64_t first_block = shares_.begin(turn.share), last_block = shares_.begin(turn.share + 1);
  const Cut ahead{next ? depths_.size(next->depth) : 0, (last_block - first_block) * turn.strips()};
  const int64_t strip_bytes = kernel_.columns * (kernel_.head + k) * kernel_.bytes;
  for (int64_t block = first_block, n = 0, t = 0; block < last_block; ++block) {
    // Of the blocks that are taken with it.
    const int64_t first = first_block + (block - first_block) / together * together;
    const int64_t i = blocks_.begin(block) - (is_taken_at_once_ ? blocks_.begin(first) : 0);
    KernelBlock sums = {.a = rows_at(block, depth, depths_.begin(depth)),
                        .k = k,
                        .rows = blocks_.size(block),
                        .leading = leading,
                        .add = p_.accumulate || depth > 0};
    for (int64_t strip = turn.begin; strip < turn.end; ++strip) {
      const int64_t lines = next ? ahead.begin(++n) - t : 0;
      sums.b = turn.memory + (strip - turn.begin) * strip_bytes;
      sums.columns = columns_of(strip);
      sums.c = c + (i * leading + column_of(strip) - j) * kernel_.sum_bytes;
      sums.ahead = lines > 0 ? ahead_of(strips_part(*next, t, lines)) : Ahead{};
      if (fetches_rows_ && block + 1 < last_block)
        sums.ahead = rows_ahead(block + 1, depth, strip - turn.begin, turn.strips());
      kernel_.run(sums);
      if (lines > 0) pack_strips(*next, t, lines);
      t += lines;
      if (kernel_.are_sound && depth + 1 == depths_.parts)
        recompute_inexact(p_, i_ + blocks_.begin(block), column_of(strip), sums);
    }
    if (is_last_of_part(turn) && block + 1 == std::min(first + together, last_block))
      take(turn.part, first, block + 1, c);
  }
}

// Elements from a chunk's first line of a strip to that which is used after it, of strips [begin,
// end); 0: none.
int64_t SkinnyGemm::to_next(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin,
                            int64_t end) const {
  if (strip + 1 < end) return kernel_.columns;
  if (chunk + 1 == chunks.parts) return 0;
  return chunks.size(chunk) * p_.rhs.inner - (strip - begin) * kernel_.columns;
}

// Lines of the strip after one, of a chunk, that are fetched during a block.
Ahead SkinnyGemm::ahead_of_block(const Cut& chunks, int64_t chunk, int64_t strip, int64_t begin,
                                 int64_t end, int64_t block) const {
  if (++strip == end) strip = begin, ++chunk;
  if (chunk == chunks.parts) return {};
  const Cut lines{chunks.size(chunk), blocks_.parts};
  return ahead_of({p_.rhs, column_of(strip), columns_of(strip),
                   chunks.begin(chunk) + lines.begin(block), lines.size(block)});
}

// The first block of several packs a strip's lines as it reads them, for the others.
void SkinnyGemm::compute_direct(int64_t part, std::byte* packed, std::byte* c,
                                int64_t leading) const {
  const int64_t begin = parts_.begin(part), end = parts_.begin(part + 1);
  const bool is_alone = blocks_.parts == 1;
  const Cut chunks{p_.k, part_count(p_.k, direct_lines())};
  for (int64_t chunk = 0; chunk < chunks.parts; ++chunk) {
    const int64_t t = chunks.begin(chunk);
    for (int64_t s = begin; s < end; ++s) {
      KernelBlock sums = {.b = packed,
                          .k = chunks.size(chunk),
                          .columns = columns_of(s),
                          .leading = leading,
                          .add = p_.accumulate || chunk > 0,
                          .packed = is_alone ? nullptr : packed};
      for (int64_t block = 0; block < blocks_.parts; ++block) {
        const int64_t at = blocks_.begin(block) * leading + column_of(s) - column_of(begin);
        sums.a = rows_at(block, 0, t);
        sums.rows = blocks_.size(block);
        sums.c = c + at * kernel_.sum_bytes;
        if (!is_alone) sums.ahead = ahead_of_block(chunks, chunk, s, begin, end, block);
        if (block > 0) kernel_.run(sums);
        else
          kernel_.run_direct(sums, p_.rhs, column_of(s), t, to_next(chunks, chunk, s, begin, end));
      }
    }
  }
}

// The rows of blocks [begin, end) are there; c: of the part's sums.
void SkinnyGemm::take(int64_t part, int64_t begin, int64_t end, const std::byte* c) const {
  if (!p_.take) return;
  const int64_t j = column_of(parts_.begin(part)), leading = leading_of(part);
  if (!is_taken_at_once_) c += blocks_.begin(begin) * leading * kernel_.sum_bytes;
  p_.take({i_ + blocks_.begin(begin), blocks_.begin(end) - blocks_.begin(begin), j,
           column_of(parts_.begin(part + 1)) - j, c, leading});
}

// Takes parts until all are taken. Only columns that stand side by side are packed ahead.
void SkinnyGemm::help_packed(std::byte* memory, std::byte* own) {
  const bool goes_ahead = kernel_.head == 0 && p_.rhs.outer == 1;
  bool is_packed = false;
  for (Turn turn = first_turn(memory); turn.part < parts_.parts;) {
    const bool is_last = is_last_of_part(turn), knows_next = !is_last || single_strips_;
    std::byte* other = goes_ahead && turn.memory == memory ? memory + bytes_of_turn() : memory;
    Turn next = turn;
    if (knows_next) next = is_last ? first_turn(other) : turn_after(turn, other);
    const bool is_there = knows_next && next.has_strips_of(turn);
    if (is_there) next.memory = turn.memory;
    const bool packs_next = goes_ahead && knows_next && !is_there && next.part < parts_.parts;
    if (!is_packed) pack_strips(turn, 0, depths_.size(turn.depth));
    std::byte* c = sums_of(turn.part, own);
    multiply(turn, packs_next ? &next : nullptr, c);
    turn = knows_next ? next : first_turn(memory);
    is_packed = packs_next || is_there;
  }
  if (kernel_.finish) kernel_.finish();
}

void SkinnyGemm::help() {
  const int64_t places = single_strips_ ? 2 : std::min<int64_t>(2, depths_.parts);
  const int64_t packed =
      is_direct_ ? direct_lines() * kernel_.columns * kernel_.bytes : places * bytes_of_turn();
  const int64_t blocks = is_taken_at_once_ ? taken_together() : blocks_.parts;
  const int64_t elements = blocks * kernel_.rows * parts_.most() * kernel_.columns;
  const int64_t sums = p_.out ? 0 : elements * kernel_.sum_bytes;
  thread_local PackedMemory memory;
  std::byte *taken = memory.take(packed + sums), *own = taken + packed;
  if (!is_direct_) return help_packed(taken, own);
  for (int64_t part; (part = next_part_++) < parts_.parts;) {
    std::byte* c = sums_of(part, own);
    compute_direct(part, taken, c, leading_of(part));
    take(part, 0, blocks_.parts, c);
  }
}

void SkinnyGemm::run() {
  const bool packs_together = blocks_.count * p_.k >= worth_packing_together;
  run_each(packs_together ? parallel_ : nullptr, blocks_.parts * depths_.parts,
           [&](int64_t piece) { pack(piece); });
  run_each(parallel_, parts_.parts * shares_.parts, [&](int64_t) { help(); });
}

}  // namespace

void run_each(const Parallel* parallel, int64_t count, const std::function<void(int64_t)>& body) {
  const auto all = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  };
  parallel ? (*parallel)(count, 1, all) : all(0, count);
}

void run_skinny_gemm(const MatrixProduct& product, const Parallel* parallel) {
  const Cut rows{product.m, part_count(product.m, max_packed_rows)};
  for (int64_t i = 0; i < rows.parts; ++i)
    SkinnyGemm(product, rows.begin(i), rows.size(i), parallel).run();
}

}  // namespace hilo
