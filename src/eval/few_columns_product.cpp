// The columns are packed once; a thread takes some rows of the left operand and goes along a few of
// them at a time.
#include "eval/few_columns_product.h"

#include "eval/few_rows_product.h"

namespace hilo {
namespace {

constexpr int64_t few_strips = 2;  // of columns
constexpr int64_t part_blocks = 16;

class FewColumns {
 public:
  explicit FewColumns(const MatrixProduct& product);
  void run(const Parallel* parallel) const;

 private:
  std::byte* strip_at(int64_t strip, int64_t depth) const {
    const int64_t lines = strip * depths_.count + depths_.begin(depth);
    return columns_ + lines * kernel_.columns * kernel_.bytes;
  }
  void pack(int64_t strip, int64_t depth) const;
  void compute_block(int64_t i, int64_t rows, std::byte* c, int64_t leading) const;
  void compute(int64_t part) const;

  const MatrixProduct& p_;
  const MatrixKernel& kernel_;
  Cut depths_, strips_, parts_;  // of the summed index, of the columns, of the rows
  std::byte* columns_;
};

FewColumns::FewColumns(const MatrixProduct& product)
    : p_(product),
      kernel_(*product.kernel),
      depths_(depths_of(product)),
      strips_{p_.n, pieces_of(p_.n, kernel_.columns)},
      parts_{p_.m, pieces_of(p_.m, part_blocks * kernel_.standing_rows)} {
  thread_local PackedMemory memory;
  columns_ = memory.take(strips_.parts * depths_.count * kernel_.columns * kernel_.bytes);
}

void FewColumns::pack(int64_t strip, int64_t depth) const {
  const int64_t j = strip * kernel_.columns, k = depths_.size(depth);
  kernel_.pack_columns({p_.rhs, j, std::min(kernel_.columns, p_.n - j), depths_.begin(depth), k}, k,
                       strip_at(strip, depth));
}

void FewColumns::compute_block(int64_t i, int64_t rows, std::byte* c, int64_t leading) const {
  for (int64_t depth = 0; depth < depths_.parts; ++depth) {
    const auto* a = static_cast<const std::byte*>(p_.lhs.data) +
                    (i * p_.lhs.outer + depths_.begin(depth)) * kernel_.bytes;
    for (int64_t strip = 0; strip < strips_.parts; ++strip) {
      const int64_t j = strip * kernel_.columns;
      kernel_.run_standing({a, strip_at(strip, depth), depths_.size(depth), rows,
                            std::min(kernel_.columns, p_.n - j), c + j * kernel_.bytes, leading,
                            p_.accumulate || depth > 0},
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
  const Cut blocks{rows, pieces_of(rows, kernel_.standing_rows)};
  for (int64_t block = 0; block < blocks.parts; ++block)
    compute_block(begin + blocks.begin(block), blocks.size(block),
                  c + blocks.begin(block) * leading * kernel_.bytes, leading);
  if (!p_.out) p_.take({begin, rows, 0, p_.n, c, leading});
}

void FewColumns::run(const Parallel* parallel) const {
  for (int64_t strip = 0; strip < strips_.parts; ++strip)
    for (int64_t depth = 0; depth < depths_.parts; ++depth) pack(strip, depth);
  const auto all = [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) compute(part);
  };
  parallel ? (*parallel)(parts_.parts, 1, all) : all(0, parts_.parts);
}

}  // namespace

bool has_few_columns(const MatrixProduct& p) {
  return p.n <= few_strips * p.kernel->columns && p.m > p.kernel->rows &&
         p.kernel->standing_rows > 0 && p.lhs.type == p.kernel->standing_type && !p.lhs.outers &&
         p.lhs.inner == 1;
}

void run_few_columns_product(const MatrixProduct& product, const Parallel* parallel) {
  FewColumns(product).run(parallel);
}

}  // namespace hilo
