#include "kernels/gemm/matmul.h"

#include <algorithm>
#include <bit>

#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matrix_pack.h"
#include "kernels/gemm/matrix_product.h"
#include "kernels/packed_memory.h"
#include "kernels/sharing.h"

namespace hilo {
namespace {

const Cores& here() { return find_cpu("native").cores; }
// Products of so many multiplications of reals. Threads that share one wait for each other once
// more, when its operands are packed.
template <class Real>
PiecesOfWork products(int64_t count, int64_t multiplications) {
  const FloatRates& rates = here().multiply_adds;
  const double rate = sizeof(Real) > sizeof(float) ? rates.f64 : rates.f32;
  return {count, static_cast<double>(multiplications) / rate + here().routine_seconds, 2};
}

// Elements of an operand that are copied at once.
constexpr int64_t max_copied = 1 << 24;
// Terms of products of bytes whose sum int32 holds.
constexpr int64_t exact_terms = 1 << 15;

// The distance of neighbours when it is the same everywhere; an axis of one element has any.
std::optional<int64_t> uniform_step(std::span<const int64_t> positions) {
  if (positions.size() < 2) return 1;
  const int64_t step = positions[1] - positions[0];
  for (size_t i = 2; i < positions.size(); ++i)
    if (positions[i] - positions[i - 1] != step) return std::nullopt;
  return step;
}

// The distance of the rows of a result whose columns stand side by side.
std::optional<int64_t> leading_of(const MatmulResult& out) {
  const auto row = uniform_step(out.row), column = uniform_step(out.column);
  if (!row || !column || (*column != 1 && out.column.size() > 1)) return std::nullopt;
  return out.row.size() == 1 ? static_cast<int64_t>(out.column.size()) : *row;
}

float rounded(float value, MatmulPrecision precision) {
  if (precision == MatmulPrecision::Bf16) return BF16(value);
  const uint32_t bits = std::bit_cast<uint32_t>(value);  // tf32 keeps 10 bits of the mantissa
  const uint32_t even = bits + 0xfff + ((bits >> 13) & 1);
  return value != value ? value : std::bit_cast<float>(even & ~uint32_t{0x1fff});
}

// An operand where it stands: steps where they are the same everywhere, else tables.
MatrixSource unpacked_source(const MatmulOperand& operand) {
  const auto outer = uniform_step(operand.outer), inner = uniform_step(operand.inner);
  if (outer && inner) return {operand.data, operand.type, *outer, *inner};
  return {operand.data, operand.type, 0, 0, operand.outer.data(), operand.inner.data()};
}

// A batch of it.
MatrixSource batch_of(const MatmulOperand& operand, MatrixSource source, int64_t batch) {
  int64_t base = operand.batch[batch];
  if (!source.outers) base += operand.outer[0] + (operand.inner.empty() ? 0 : operand.inner[0]);
  source.data = static_cast<const std::byte*>(source.data) + base * storage_bytes(source.type);
  return source;
}

template <class Sum>
struct RealOf {
  using Type = Sum;
};
template <class Real>
struct RealOf<std::complex<Real>> {
  using Type = Real;
};

// Products of one type, summed in Sum. Complex ones are products of real matrices: of the left one
// as it stands, real and imaginary parts in turn, and of a right one with two lines for each,
// (re, im) and (-im, re).
template <class Sum>
class Products {
 public:
  Products(const Matmul& product, const MatrixKernel& kernel, bool copies);
  void run(const Parallel& parallel) const;

 private:
  using Real = typename RealOf<Sum>::Type;
  static constexpr int64_t parts = sizeof(Sum) / sizeof(Real);
  // Rows or columns [begin, begin + count), numbered as the kernel sees them in `product`.
  struct Range {
    int64_t begin, count;
  };
  void run_one(int64_t batch, const Parallel* threads) const;
  void run_part(int64_t batch, Range rows, Range columns, const MatrixSource& lhs,
                const MatrixSource& rhs, const Parallel* threads) const;
  void take_also(MatrixProduct& one, int64_t base, int64_t row, int64_t column) const;
  MatrixSource source(const MatmulOperand& operand, int64_t batch, Range range,
                      PackedMemory& memory, const Parallel* threads) const;
  void copy_lines(const MatmulOperand& operand, int64_t batch, Range range, int64_t line,
                  int64_t count, Real* out) const;
  bool is_rhs(const MatmulOperand& operand) const { return &operand == &p_.rhs; }
  Cut ranges(int64_t count) const {
    return {count, copies_ ? part_count(count * std::max<int64_t>(k_, 1), max_copied) : 1};
  }

  const Matmul& p_;
  const MatrixKernel& kernel_;
  MatrixSource lhs_, rhs_;
  bool copies_;  // both operands: they have types that the kernel does not read
  int64_t k_;
  std::optional<int64_t> leading_;  // of the result, where it can be written in place
};

template <class Sum>
Products<Sum>::Products(const Matmul& product, const MatrixKernel& kernel, bool copies)
    : p_(product),
      kernel_(kernel),
      lhs_(unpacked_source(product.lhs)),
      rhs_(unpacked_source(product.rhs)),
      copies_(copies),
      k_(product.lhs.inner.size()) {
  const ElementType sum = element_type<Sum>, out = product.out.type;
  if (out == sum || (sum == ElementType::S32 && out == ElementType::U32))
    leading_ = leading_of(product.out);
}

template <class Sum>
void Products<Sum>::run(const Parallel& parallel) const {
  const int64_t batches = p_.out.batch.size();
  const int64_t work = static_cast<int64_t>(p_.out.row.size() * p_.out.column.size()) * parts *
                       parts * std::max<int64_t>(k_, 1);
  const PiecesOfWork all = products<Real>(batches, work);
  if (work > max_work_at_once || are_shared(all, parallel.threads(), here())) {
    for (int64_t batch = 0; batch < batches; ++batch) run_one(batch, &parallel);
  } else {
    parallel(batches, grain_of(all, parallel.threads(), here()), [&](int64_t begin, int64_t end) {
      for (int64_t batch = begin; batch < end; ++batch) run_one(batch, nullptr);
    });
  }
}

template <class Sum>
void Products<Sum>::run_one(int64_t batch, const Parallel* threads) const {
  thread_local PackedMemory lhs_copy, rhs_copy;
  const Cut rows = ranges(p_.out.row.size()), columns = ranges(p_.out.column.size());
  for (int64_t i = 0; i < rows.parts; ++i) {
    const Range some_rows{rows.begin(i), rows.size(i)};
    const MatrixSource lhs = source(p_.lhs, batch, some_rows, lhs_copy, threads);
    for (int64_t j = 0; j < columns.parts; ++j) {
      const Range some_columns{columns.begin(j), columns.size(j)};
      run_part(batch, some_rows, some_columns, lhs,
               source(p_.rhs, batch, some_columns, rhs_copy, threads), threads);
    }
  }
}

template <class Sum>
MatrixSource Products<Sum>::source(const MatmulOperand& operand, int64_t batch, Range range,
                                   PackedMemory& memory, const Parallel* threads) const {
  if (!copies_) return batch_of(operand, is_rhs(operand) ? rhs_ : lhs_, batch);
  if (parts > 1 && !is_rhs(operand) && operand.type == element_type<Sum> && !lhs_.outers &&
      lhs_.inner == 1) {  // rows in one piece are rows of reals
    const MatrixSource all = batch_of(operand, lhs_, batch);
    return {static_cast<const Sum*>(all.data) + range.begin * all.outer, element_type<Real>,
            parts * all.outer, 1};
  }
  const bool by_terms = parts > 1 && is_rhs(operand);
  const int64_t lines = by_terms ? k_ : range.count, length = parts * (by_terms ? range.count : k_);
  const int64_t step = length * (by_terms ? parts : 1);
  auto* copy =
      reinterpret_cast<Real*>(memory.take(lines * step * static_cast<int64_t>(sizeof(Real))));
  const auto body = [&](int64_t begin, int64_t end) {
    copy_lines(operand, batch, range, begin, end - begin, copy + begin * step);
  };
  const PiecesOfWork copied{lines, static_cast<double>(step) / here().gathers};
  if (threads) (*threads)(lines, grain_of(copied, threads->threads(), here()), body);
  else body(0, lines);
  if (by_terms) return {copy, element_type<Real>, 1, length};
  return {copy, element_type<Real>, length, 1};
}

template <class Sum>
void Products<Sum>::copy_lines(const MatmulOperand& operand, int64_t batch, Range range,
                               int64_t line, int64_t count, Real* out) const {
  const int64_t base = operand.batch[batch];
  const auto outers = std::span(operand.outer).subspan(range.begin, range.count);
  const std::span inners(operand.inner);
  if constexpr (parts == 1) {
    pack(operand.data, operand.type, base, outers.subspan(line, count), inners, out);
    if constexpr (std::is_same_v<Real, float>)
      for (int64_t i = 0; i < count * k_ && p_.precision != MatmulPrecision::F32; ++i)
        out[i] = rounded(out[i], p_.precision);
  } else if (!is_rhs(operand)) {
    pack(operand.data, operand.type, base, outers.subspan(line, count), inners,
         reinterpret_cast<Sum*>(out));
  } else {
    constexpr int64_t elements_at_once = 4096;
    thread_local std::vector<Sum> columns;
    const int64_t some = std::max<int64_t>(1, elements_at_once / std::max<int64_t>(1, range.count));
    columns.resize(static_cast<size_t>(std::min(some, count) * range.count));
    for (int64_t t = 0; t < count; ++t, out += 4 * range.count) {
      const Sum* from = columns.data() + t % some * range.count;
      if (t % some == 0)
        pack(operand.data, operand.type, base, inners.subspan(line + t, std::min(some, count - t)),
             outers, columns.data());
      for (int64_t j = 0; j < range.count; ++j) {
        const Real re = from[j].real(), im = from[j].imag();
        Real *first = out + 2 * j, *second = first + 2 * range.count;
        first[0] = re, first[1] = im, second[0] = -im, second[1] = re;
      }
    }
  }
}

template <class Sum>
void Products<Sum>::run_part(int64_t batch, Range rows, Range columns, const MatrixSource& lhs,
                             const MatrixSource& rhs, const Parallel* threads) const {
  MatrixProduct one{&kernel_, rows.count, columns.count * parts, k_ * parts, lhs, rhs};
  const int64_t base = p_.out.batch[batch];
  if (leading_) {
    one.out = static_cast<Sum*>(p_.out.data) + base + p_.out.row[rows.begin] +
              p_.out.column[columns.begin];
    one.leading = *leading_ * parts;
  } else {
    one.take = [&, base](const ProductPart& part) {
      unpack(
          static_cast<const Sum*>(part.c), part.leading / parts, p_.out.data, p_.out.type, base,
          std::span(p_.out.row).subspan(rows.begin + part.i, part.rows),
          std::span(p_.out.column).subspan(columns.begin + part.j / parts, part.columns / parts));
    };
  }
  if (p_.take) take_also(one, base, rows.begin, columns.begin);
  threads ? run_matrix_product(one, *threads) : run_matrix_product(one);
}

// Has each part of the result told, too, where rows and columns of it are those of `one` from these
// on.
template <class Sum>
void Products<Sum>::take_also(MatrixProduct& one, int64_t base, int64_t row, int64_t column) const {
  one.take = [this, before = std::move(one.take), base, row, column](const ProductPart& part) {
    if (before) before(part);
    const int64_t first = base + p_.out.row[row + part.i] + p_.out.column[column + part.j];
    (*p_.take)({first / p_.width, part.rows, first % p_.width, part.columns});
  };
}

// Few complex rows times columns that stand side by side and are read there, as reals: the real and
// the imaginary parts of a row are two rows, whose products with both parts of a column make up one
// element. Nothing of the right operand is copied.
template <class Sum>
class ComplexRows {
 public:
  explicit ComplexRows(const Matmul& product) : p_(product), rhs_(unpacked_source(product.rhs)) {
    if (p_.out.type == element_type<Sum>) leading_ = leading_of(p_.out);
  }
  bool fits() const {
    return k_ > 0 && rows_ <= std::min(max_rows, k_) && p_.rhs.type == element_type<Sum> &&
           !rhs_.outers && rhs_.outer == 1 &&
           (p_.out.batch.size() == 1 || rows_ <= columns_ || are_worth_two_threads());
  }
  void run(const Parallel& parallel) {
    const auto batches = static_cast<int64_t>(p_.out.batch.size()), threads = parallel.threads();
    const PiecesOfWork all = products<Real>(batches, work());
    if (!are_shared(all, threads, here()))
      return parallel(batches, grain_of(all, threads, here()), [&](int64_t begin, int64_t end) {
        ComplexRows own(p_);
        for (int64_t batch = begin; batch < end; ++batch) own.run_batch(batch, nullptr);
      });
    for (int64_t batch = 0; batch < batches; ++batch) run_batch(batch, &parallel);
  }

 private:
  using Real = typename RealOf<Sum>::Type;
  static constexpr int64_t max_rows = 64;

  int64_t work() const { return 4 * rows_ * k_ * columns_; }
  // Of any number of threads, for the bits are others.
  bool are_worth_two_threads() const { return are_shared(products<Real>(1, work()), 2, here()); }
  void run_batch(int64_t batch, const Parallel* threads);
  void pack_rows(int64_t batch, Real* reals);
  void join(int64_t batch, int64_t i, const Real* reals);

  const Matmul& p_;
  MatrixSource rhs_;
  std::optional<int64_t> leading_;  // of the result, where it is written in place
  int64_t k_ = p_.lhs.inner.size(), rows_ = p_.out.row.size(), columns_ = p_.out.column.size();
  std::vector<Sum> rows_kept_, out_;
};

// Of each row the real parts and then the imaginary ones.
template <class Sum>
void ComplexRows<Sum>::pack_rows(int64_t batch, Real* reals) {
  rows_kept_.resize(static_cast<size_t>(rows_ * k_));
  pack(p_.lhs.data, p_.lhs.type, p_.lhs.batch[batch], p_.lhs.outer, p_.lhs.inner,
       rows_kept_.data());
  const Sum* from = rows_kept_.data();
  for (int64_t i = 0; i < rows_; ++i, from += k_, reals += 2 * k_)
    for (int64_t t = 0; t < k_; ++t) reals[t] = from[t].real(), reals[k_ + t] = from[t].imag();
}

template <class Sum>
void ComplexRows<Sum>::join(int64_t batch, int64_t i, const Real* reals) {
  const Real* imaginaries = reals + 2 * columns_;
  out_.resize(static_cast<size_t>(leading_ ? 0 : columns_));
  Sum* out = leading_ ? static_cast<Sum*>(p_.out.data) + p_.out.batch[batch] + p_.out.row[i] +
                            p_.out.column[0]
                      : out_.data();
  for (int64_t j = 0; j < columns_; ++j)
    out[j] = Sum(reals[2 * j] - imaginaries[2 * j + 1], reals[2 * j + 1] + imaginaries[2 * j]);
  if (!leading_)
    unpack(out, columns_, p_.out.data, p_.out.type, p_.out.batch[batch],
           std::span(p_.out.row).subspan(i, 1), p_.out.column);
}

template <class Sum>
void ComplexRows<Sum>::run_batch(int64_t batch, const Parallel* threads) {
  constexpr ElementType real = element_type<Real>;
  const int64_t row_bytes = 2 * rows_ * k_ * static_cast<int64_t>(sizeof(Real));
  const int64_t lhs_bytes = (row_bytes + 63) / 64 * 64;
  thread_local PackedMemory memory;
  std::byte* taken =
      memory.take(lhs_bytes + 4 * rows_ * columns_ * static_cast<int64_t>(sizeof(Real)));
  auto *lhs = reinterpret_cast<Real*>(taken), *sums = reinterpret_cast<Real*>(taken + lhs_bytes);
  pack_rows(batch, lhs);
  const MatrixSource right = batch_of(p_.rhs, rhs_, batch);
  MatrixProduct one{
      matrix_kernels(real, real, real)[0],  2 * rows_, 2 * columns_, k_, {lhs, real, k_, 1},
      {right.data, real, 1, 2 * rhs_.inner}};
  one.out = sums, one.leading = 2 * columns_;
  threads ? run_matrix_product(one, *threads) : run_matrix_product(one);
  for (int64_t i = 0; i < rows_; ++i) join(batch, i, sums + 4 * i * columns_);
}

// Of less, splitting the operands takes longer than tiles save.
bool is_worth_splitting(const Matmul& p) {
  constexpr int64_t rows = 128, columns = 512, terms = 128, multiplications = 1 << 25;
  const int64_t m = p.out.row.size(), n = p.out.column.size(), k = p.lhs.inner.size();
  return m >= rows && n >= columns && k >= terms && m * k >= multiplications / n;
}

// That reads the operands of a product of floats as they are, or null.
const MatrixKernel* kernel_of(const Matmul& p, ElementType sum) {
  if (sum == ElementType::F32 && p.precision != MatmulPrecision::F32) return nullptr;
  if (sum == ElementType::F32 && p.may_split && is_worth_splitting(p))
    if (const MatrixKernel* split = split_kernel(p.lhs.type, p.rhs.type)) return split;
  return best_kernel(sum, p.lhs.type, p.rhs.type, p.out.row.size());
}
// For integers whose sums are those modulo 2^32, or are exact in int32; else null.
const MatrixKernel* integer_kernel(const Matmul& p) {
  const auto is_byte = [](ElementType type) { return bits_of(type) <= 8; };
  const int64_t k = p.lhs.inner.size();
  if (bits_of(p.out.type) > 32 && !(is_byte(p.lhs.type) && is_byte(p.rhs.type) && k <= exact_terms))
    return nullptr;
  return best_kernel(ElementType::S32, p.lhs.type, p.rhs.type, p.out.row.size());
}

// By the kernel; with copies of operands that it does not read.
template <class Sum>
void run_products(const Matmul& p, const Parallel& parallel) {
  using Real = typename RealOf<Sum>::Type;
  constexpr ElementType real = element_type<Real>;
  constexpr bool is_complex_sum = !std::is_same_v<Sum, Real>;
  if constexpr (is_complex_sum) {
    ComplexRows<Sum> rows(p);
    if (rows.fits()) return rows.run(parallel);
  }
  const MatrixKernel* kernel = is_complex_sum ? nullptr : kernel_of(p, real);
  Products<Sum>(p, kernel ? *kernel : *matrix_kernels(real, real, real)[0], !kernel).run(parallel);
}

// Other integers: a tile of the result.
void run_wide_tile(const Matmul& p, int64_t batch, const Cut& rows, int64_t row, const Cut& columns,
                   int64_t column) {
  constexpr int64_t max_terms = 256;
  const auto part = [](const Dims& positions, const Cut& cut, int64_t i) {
    return std::span(positions).subspan(cut.begin(i), cut.size(i));
  };
  const int64_t m = rows.size(row), n = columns.size(column), k = p.lhs.inner.size();
  std::vector<uint64_t> a(m * max_terms), b(max_terms * n), c(m * n);
  for (int64_t t = 0; t < k; t += max_terms) {
    const int64_t count = std::min(max_terms, k - t);
    pack(p.lhs.data, p.lhs.type, p.lhs.batch[batch], part(p.lhs.outer, rows, row),
         std::span(p.lhs.inner).subspan(t, count), a.data());
    pack(p.rhs.data, p.rhs.type, p.rhs.batch[batch], std::span(p.rhs.inner).subspan(t, count),
         part(p.rhs.outer, columns, column), b.data());
    add_integer_product(m, n, count, a.data(), b.data(), c.data());
  }
  unpack(c.data(), n, p.out.data, p.out.type, p.out.batch[batch], part(p.out.row, rows, row),
         part(p.out.column, columns, column));
}

void run_wide_integers(const Matmul& p, const Parallel& parallel) {
  constexpr int64_t max_rows = 64, max_columns = 256;
  const int64_t m = p.out.row.size(), n = p.out.column.size(), k = p.lhs.inner.size();
  const Cut rows{m, part_count(m, max_rows)}, columns{n, part_count(n, max_columns)};
  const int64_t batches = p.out.batch.size(), tiles = rows.parts * columns.parts;
  const int64_t work = rows.most() * columns.most() * std::max<int64_t>(k, 1);
  const PiecesOfWork all = products<uint64_t>(batches * tiles, work);
  parallel(all.count, grain_of(all, parallel.threads(), here()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run_wide_tile(p, i / tiles, rows, i % tiles / columns.parts, columns, i % columns.parts);
  });
}

Matmul swap_operands(const Matmul& p) {
  return {p.rhs,
          p.lhs,
          {p.out.data, p.out.type, p.out.batch, p.out.column, p.out.row},
          p.precision,
          p.may_split};
}

// Rows that are complex, each in one piece, stand there as rows of reals.
bool stands_as_reals(const MatmulOperand& operand) {
  return is_complex(operand.type) && uniform_step(operand.inner) == 1 &&
         uniform_step(operand.outer);
}

// Rows or columns, of which fewer are few beside the others.
constexpr size_t max_short_side = 64;

// Lanes of the kernel go along the columns: few of these change places with the rows, unless rows
// are read where they stand.
bool wants_columns(const Matmul& p) {
  constexpr size_t worth_transposing = 8, side_of_tile = 16;
  const size_t rows = p.out.row.size(), columns = p.out.column.size();
  if (columns == 1) return rows > 1 && !stands_as_reals(p.lhs);
  if (columns >= side_of_tile && multiplies_tiles(p.lhs.type, p.rhs.type)) return false;
  const bool stands = stands_as_reals(p.lhs) ||
                      ((p.lhs.type == ElementType::F32 || p.lhs.type == ElementType::F64) &&
                       (p.lhs.inner.size() < 2 || p.lhs.inner[1] - p.lhs.inner[0] == 1));
  return columns <= max_short_side && rows >= worth_transposing * columns && !stands;
}

// A right operand whose columns each stand in one piece is read there, where few rows would not pay
// for packing it.
bool wants_rows(const Matmul& p) {
  const size_t rows = p.out.row.size(), columns = p.out.column.size();
  if (is_complex(p.rhs.type) && rows <= max_short_side && columns > rows && stands_as_reals(p.rhs))
    return p.rhs.inner.size() > 1;
  const auto kernel = matrix_kernels(p.rhs.type, p.lhs.type, p.rhs.type)[0];
  return rows > 1 && rows <= max_short_side && columns >= 2 * rows && p.rhs.inner.size() > 1 &&
         kernel && kernel->unpacked_type == p.rhs.type && kernel->unpacked_rows > 0 &&
         accumulator_type(p.lhs.type, p.rhs.type, p.out.type) == p.rhs.type &&
         uniform_step(p.rhs.inner) == 1 && uniform_step(p.rhs.outer);
}

// Rows of a table that fill vectors, as of a window's places and features, are read as they stand
// where they are columns.
bool has_rows_of_vectors(const Matmul& p) {
  constexpr int64_t lanes = 16, worth_transposing = 1024, few = 8;
  const Dims& outer = p.lhs.outer;
  const auto rows = static_cast<int64_t>(outer.size());
  if (is_integral(p.lhs.type) || is_complex(p.lhs.type) || rows % lanes != 0 ||
      std::ssize(p.rhs.outer) < few || std::ssize(p.lhs.inner) < worth_transposing ||
      uniform_step(outer))
    return false;
  for (int64_t i = 0; i < rows; ++i)
    if (i % lanes > 0 && outer[i] != outer[i - 1] + 1) return false;
  return true;
}

bool is_run_transposed(const Matmul& p) {
  const bool is_column_major = p.out.column.size() > 1 && p.out.row.size() > 1 &&
                               p.out.row[1] - p.out.row[0] == 1 &&
                               p.out.column[1] - p.out.column[0] != 1;
  return is_column_major || wants_columns(p) || wants_rows(p) || has_rows_of_vectors(p);
}

bool is_empty(const Matmul& p) {
  return p.out.batch.empty() || p.out.row.empty() || p.out.column.empty();
}

}  // namespace

bool tells_parts(const Matmul& p, int64_t width) {
  const MatmulResult& out = p.out;
  if (is_empty(p) || width % part_columns != 0 || is_run_transposed(p) ||
      std::ssize(out.column) % part_columns != 0)
    return false;
  const ElementType sum = accumulator_type(p.lhs.type, p.rhs.type, out.type);
  const MatrixKernel* kernel = sum == ElementType::U64 ? integer_kernel(p)
                               : is_complex(sum)       ? nullptr
                                                       : kernel_of(p, sum);
  const bool has_rows = out.row.size() == 1 || uniform_step(out.row) == width;
  return kernel && kernel->columns % part_columns == 0 && has_rows &&
         uniform_step(out.column) == 1 && std::ranges::all_of(out.batch, [&](int64_t base) {
           const int64_t column = (base + out.row[0] + out.column[0]) % width;
           return column % part_columns == 0 && column + std::ssize(out.column) <= width;
         });
}

void matmul(const Matmul& given, const Parallel& parallel) {
  if (is_empty(given)) return;
  const Matmul swapped = swap_operands(given);
  const Matmul& p = is_run_transposed(given) ? swapped : given;
  visit_accumulator(accumulator_type(p.lhs.type, p.rhs.type, p.out.type),
                    [&]<class T>(std::type_identity<T>) {
                      if constexpr (!std::is_same_v<T, uint64_t>) run_products<T>(p, parallel);
                      else if (const MatrixKernel* kernel = integer_kernel(p))
                        Products<int32_t>(p, *kernel, false).run(parallel);
                      else run_wide_integers(p, parallel);
                    });
}

ElementType accumulator_type(ElementType lhs, ElementType rhs, ElementType out) {
  const ElementType types[] = {lhs, rhs, out};
  const bool is_double = std::ranges::any_of(
      types, [](ElementType type) { return real_type_of(type) == ElementType::F64; });
  if (std::ranges::any_of(types, is_complex))
    return is_double ? ElementType::C128 : ElementType::C64;
  if (is_double) return ElementType::F64;
  return std::ranges::any_of(types, is_floating) ? ElementType::F32 : ElementType::U64;
}

}  // namespace hilo
