#include "eval/matmul.h"

#include <algorithm>
#include <bit>

#include "eval/blas.h"
#include "eval/matrix_pack.h"
#include "eval/matrix_product.h"

namespace hilo {
namespace {

// Blocks of the summed index that are packed at once. Products of two signed bytes, 2^14 at most,
// stay exact in f32 over 1024 terms; of two unsigned ones, 2^16, over 256.
constexpr int64_t packed_block = 512, signed_exact_block = 1024, unsigned_exact_block = 256;

// The distance of neighbours when it is the same everywhere; an axis of one element has any.
std::optional<int64_t> uniform_step(std::span<const int64_t> positions) {
  if (positions.size() < 2) return 1;
  const int64_t step = positions[1] - positions[0];
  for (size_t i = 2; i < positions.size(); ++i)
    if (positions[i] - positions[i - 1] != step) return std::nullopt;
  return step;
}

// Multiplications of one product: fewer are not worth several threads, more always are.
constexpr int64_t worth_threads = 1 << 21, worth_all_threads = 1 << 28;

// How a matrix of rows and columns can be given to the library where it stands.
struct InPlace {
  bool possible = false, transposed = false;
  int64_t leading = 1;
};
InPlace in_place(std::span<const int64_t> rows, std::span<const int64_t> columns) {
  const auto row = uniform_step(rows), column = uniform_step(columns);
  const int64_t m = rows.size(), n = columns.size();
  if (!row || !column) return {};
  if (n == 1 && *row == 1 && m > 1) return {true, true, m};
  if ((n == 1 || *column == 1) && (m == 1 || *row >= n)) return {true, false, m == 1 ? n : *row};
  if ((m == 1 || *row == 1) && (n == 1 || *column >= m)) return {true, true, n == 1 ? m : *column};
  return {};
}

float rounded(float value, MatmulPrecision precision) {
  if (precision == MatmulPrecision::Bf16) return BF16(value);
  const uint32_t bits = std::bit_cast<uint32_t>(value);  // tf32 keeps 10 bits of the mantissa
  const uint32_t even = bits + 0xfff + ((bits >> 13) & 1);
  return value != value ? value : std::bit_cast<float>(even & ~uint32_t{0x1fff});
}

// The free and the summed index have one step each: the kernel reads such operands where they are.
std::optional<MatrixSource> kernel_source(const MatmulOperand& operand) {
  const auto outer = uniform_step(operand.outer), inner = uniform_step(operand.inner);
  if (!has_matrix_kernel() || !is_kernel_source(operand.type) || !outer || !inner)
    return std::nullopt;
  return MatrixSource{operand.data, operand.type, *outer, *inner};
}

// The same of any operand: with tables where the steps differ.
std::optional<MatrixSource> table_source(const MatmulOperand& operand) {
  if (!has_matrix_kernel() || !is_kernel_source(operand.type)) return std::nullopt;
  if (auto uniform = kernel_source(operand)) return uniform;
  return MatrixSource{operand.data, operand.type, 0, 0, operand.outer.data(), operand.inner.data()};
}

// Where the first element of a batch stands.
int64_t start_of(const MatmulOperand& operand, const MatrixSource& source, int64_t batch) {
  if (source.outers) return operand.batch[batch];
  return operand.batch[batch] + (operand.outer.empty() ? 0 : operand.outer[0]) +
         (operand.inner.empty() ? 0 : operand.inner[0]);
}

// The part of it from position `base` on.
MatrixSource part_of(MatrixSource source, int64_t base) {
  source.data = static_cast<const std::byte*>(source.data) + base * storage_bytes(source.type);
  return source;
}

template <class T>
struct Tiled {
  const Matmul& p;
  bool round_operands, exact_bytes;
  std::optional<MatrixSource> kernel_lhs, kernel_rhs;  // both or none, and for exact bytes alone
  int64_t m, n, k, tile_m, tile_n, k_block;
  InPlace lhs, rhs, out;

  explicit Tiled(const Matmul& product, int64_t exact_block);
  int64_t tiles() const { return batches() * tile_rows() * tile_columns(); }
  int64_t batches() const { return p.out.batch.size(); }
  int64_t tile_rows() const { return (m + tile_m - 1) / tile_m; }
  int64_t tile_columns() const { return (n + tile_n - 1) / tile_n; }
  void run_tile(int64_t index) const;

  struct Block {  // an operand's part of a tile, where it stands or packed
    const T* data;
    int64_t leading;
    bool transposed;
  };
  Block block(const MatmulOperand& operand, const InPlace& place, int64_t batch, int64_t outer,
              int64_t outer_count, int64_t inner, int64_t inner_count,
              std::vector<T>& packed) const;
  void add_exact(const std::vector<T>& part, std::vector<uint64_t>& exact) const;
  void sum(int64_t batch, int64_t i, int64_t rows, int64_t j, int64_t columns, T* c,
           int64_t leading) const;
};

template <class T>
Tiled<T>::Tiled(const Matmul& product, int64_t exact_block)
    : p(product),
      round_operands(std::is_same_v<T, float> && product.precision != MatmulPrecision::F32),
      exact_bytes(exact_block > 0),
      m(p.out.row.size()),
      n(p.out.column.size()),
      k(p.lhs.inner.size()) {
  if (exact_bytes) {
    kernel_lhs = kernel_source(p.lhs), kernel_rhs = kernel_source(p.rhs);
    if (!kernel_lhs || !kernel_rhs) kernel_lhs = kernel_rhs = std::nullopt;
  }
  tile_m = std::min<int64_t>(m, 512);
  tile_n = std::min<int64_t>(n, m >= 2048 ? 1024 : 512);
  const bool own = !std::is_same_v<T, uint64_t> && !round_operands && !exact_bytes;
  if (own && p.lhs.type == element_type<T>) lhs = in_place(p.lhs.outer, p.lhs.inner);
  if (own && p.rhs.type == element_type<T>) rhs = in_place(p.rhs.outer, p.rhs.inner);
  if (own && p.out.type == element_type<T>) out = in_place(p.out.row, p.out.column);
  if (out.transposed) out = {};
  k_block = lhs.possible && rhs.possible ? std::max<int64_t>(k, 1) : packed_block;
  if (exact_bytes) k_block = exact_block;
}

template <class T>
Tiled<T>::Block Tiled<T>::block(const MatmulOperand& operand, const InPlace& place, int64_t batch,
                                int64_t outer, int64_t outer_count, int64_t inner,
                                int64_t inner_count, std::vector<T>& packed) const {
  const int64_t base = operand.batch[batch];
  if (place.possible)
    return {
        static_cast<const T*>(operand.data) + base + operand.outer[outer] + operand.inner[inner],
        place.leading, place.transposed};
  const std::span outers(operand.outer.data() + outer, outer_count);
  const std::span inners(operand.inner.data() + inner, inner_count);
  packed.resize(outer_count * inner_count);
  const bool transposed = consecutive_runs(outers).size() * inners.size() <
                          consecutive_runs(inners).size() * outers.size();
  if (transposed) pack(operand.data, operand.type, base, inners, outers, packed.data());
  else pack(operand.data, operand.type, base, outers, inners, packed.data());
  if constexpr (std::is_same_v<T, float>)
    if (round_operands)
      for (float& value : packed) value = rounded(value, p.precision);
  return {packed.data(), transposed ? outer_count : inner_count, transposed};
}

// Sums of products of bytes, which f32 holds exactly over a block.
template <class T>
void Tiled<T>::add_exact(const std::vector<T>& part, std::vector<uint64_t>& exact) const {
  if constexpr (std::is_same_v<T, float>)
    for (size_t e = 0; exact_bytes && e < exact.size(); ++e)
      exact[e] += static_cast<uint64_t>(static_cast<int64_t>(part[e]));
}

template <class T>
void Tiled<T>::sum(int64_t batch, int64_t i, int64_t rows, int64_t j, int64_t columns, T* c,
                   int64_t leading) const {
  thread_local std::vector<T> packed_lhs, packed_rhs, part;
  thread_local std::vector<uint64_t> exact;
  if (exact_bytes) exact.assign(rows * columns, 0), part.resize(rows * columns);
  for (int64_t t = 0; t < std::max<int64_t>(k, 1); t += k_block) {
    const int64_t count = std::min(k_block, k - t);
    if constexpr (std::is_same_v<T, float>)
      if (kernel_lhs && count > 0) {
        const int64_t left = p.lhs.batch[batch] + p.lhs.outer[i] + p.lhs.inner[t];
        const int64_t right = p.rhs.batch[batch] + p.rhs.outer[j] + p.rhs.inner[t];
        run_matrix_product({rows, columns, count, part_of(*kernel_lhs, left),
                            part_of(*kernel_rhs, right), part.data(), columns});
        add_exact(part, exact);
        continue;
      }
    if (count == 0) {
      for (int64_t r = 0; r < rows; ++r) std::fill_n(c + r * leading, columns, T(0));
      break;
    }
    const Block a = block(p.lhs, lhs, batch, i, rows, t, count, packed_lhs);
    const Block b = block(p.rhs, rhs, batch, j, columns, t, count, packed_rhs);
    gemm(Gemm<T>{rows, columns, count, a.data, a.leading, a.transposed, b.data, b.leading,
                 !b.transposed, exact_bytes ? part.data() : c, exact_bytes ? columns : leading,
                 t > 0 && !exact_bytes});
    add_exact(part, exact);
  }
  if (exact_bytes)
    unpack(exact.data(), columns, p.out.data, p.out.type, p.out.batch[batch],
           std::span(p.out.row).subspan(i, rows), std::span(p.out.column).subspan(j, columns));
}

template <class T>
void Tiled<T>::run_tile(int64_t index) const {
  const int64_t j = index % tile_columns() * tile_n;
  const int64_t i = index / tile_columns() % tile_rows() * tile_m;
  const int64_t batch = index / tile_columns() / tile_rows();
  const int64_t rows = std::min(tile_m, m - i), columns = std::min(tile_n, n - j);
  if (out.possible) {
    T* c = static_cast<T*>(p.out.data) + p.out.batch[batch] + p.out.row[i] + p.out.column[j];
    return sum(batch, i, rows, j, columns, c, out.leading);
  }
  thread_local std::vector<T> c;
  c.resize(rows * columns);
  sum(batch, i, rows, j, columns, c.data(), columns);
  if (!exact_bytes)
    unpack(c.data(), columns, p.out.data, p.out.type, p.out.batch[batch],
           std::span(p.out.row).subspan(i, rows), std::span(p.out.column).subspan(j, columns));
}

template <class T>
void run(const Matmul& product, const Parallel& parallel, int64_t exact_block = 0) {
  const Tiled<T> tiled(product, exact_block);
  // Many tiny products share a tile, so that starting one costs nothing beside it.
  const int64_t work = tiled.tile_m * tiled.tile_n * std::max<int64_t>(tiled.k, 1);
  const int64_t group = std::max<int64_t>(1, 32768 / work), tiles = tiled.tiles();
  parallel(tiles, group, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) tiled.run_tile(i);
  });
}

// The kernel's products, each as it stands; false where there is no kernel for the operands.
bool run_kernel(const Matmul& p, const Parallel& parallel) {
  if (p.precision != MatmulPrecision::F32) return false;
  const auto lhs = table_source(p.lhs), rhs = table_source(p.rhs);
  if (!lhs || !rhs) return false;
  const InPlace place =
      p.out.type == ElementType::F32 ? in_place(p.out.row, p.out.column) : InPlace{};
  const int64_t m = p.out.row.size(), n = p.out.column.size(), k = p.lhs.inner.size();
  const auto run_one = [&](int64_t batch, const Parallel* threads) {
    MatrixProduct one{m, n, k, part_of(*lhs, start_of(p.lhs, *lhs, batch)),
                      part_of(*rhs, start_of(p.rhs, *rhs, batch))};
    const int64_t base = p.out.batch[batch];
    if (place.possible && !place.transposed) {
      one.out = static_cast<float*>(p.out.data) + base + p.out.row[0] + p.out.column[0];
      one.leading = place.leading;
    } else {
      one.take = [&, base](const ProductPart& part) {
        unpack(part.c, part.leading, p.out.data, p.out.type, base,
               std::span(p.out.row).subspan(part.i, part.rows),
               std::span(p.out.column).subspan(part.j, part.columns));
      };
    }
    threads ? run_matrix_product(one, *threads) : run_matrix_product(one);
  };
  const int64_t batches = p.out.batch.size(), work = m * n * std::max<int64_t>(k, 1);
  if (work >= worth_all_threads || (work >= worth_threads && batches < 8)) {
    for (int64_t batch = 0; batch < batches; ++batch) run_one(batch, &parallel);
  } else {  // many tiny products together, so that starting one costs nothing beside it
    parallel(batches, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
      for (int64_t batch = begin; batch < end; ++batch) run_one(batch, nullptr);
    });
  }
  return true;
}

// The longest sum of products that f32 holds exactly, or 0.
int64_t exact_block(const Matmul& p) {
  const auto is_byte = [](ElementType type) { return is_integral(type) && bits_of(type) <= 8; };
  if (!is_byte(p.lhs.type) || !is_byte(p.rhs.type) || !is_integral(p.out.type)) return 0;
  const bool is_wide = is_unsigned(p.lhs.type) || is_unsigned(p.rhs.type);
  return is_wide ? unsigned_exact_block : signed_exact_block;
}

}  // namespace

void matmul(const Matmul& product, const Call& call) {
  matmul(product, [&](int64_t count, int64_t grain, const auto& body) {
    call.parallel(count, grain, body);
  });
}

void matmul(const Matmul& given, const Parallel& parallel) {
  if (given.out.batch.empty() || given.out.row.empty() || given.out.column.empty()) return;
  const bool is_column_major = given.out.column.size() > 1 && given.out.row.size() > 1 &&
                               given.out.row[1] - given.out.row[0] == 1 &&
                               given.out.column[1] - given.out.column[0] != 1;
  // Lanes of the kernel go along the columns.
  const bool is_column = given.out.column.size() == 1 && given.out.row.size() > 1;
  const Matmul swapped = {
      given.rhs,
      given.lhs,
      {given.out.data, given.out.type, given.out.batch, given.out.column, given.out.row},
      given.precision};
  const Matmul& p = is_column_major || is_column ? swapped : given;
  if (const int64_t exact = exact_block(p)) return run<float>(p, parallel, exact);
  const ElementType sum = accumulator_type(p.lhs.type, p.rhs.type, p.out.type);
  if (sum == ElementType::F32 && run_kernel(p, parallel)) return;
  visit_accumulator(sum, [&]<class T>(std::type_identity<T>) { run<T>(p, parallel); });
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
