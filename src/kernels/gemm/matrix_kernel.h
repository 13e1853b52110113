// Products of small blocks of matrices in registers, and the packed copies that they read. Private
// to `kernels`.
#pragma once

#include <array>
#include <bit>

#include "shape/shape.h"

namespace hilo {

// Element (i, t), i the free index and t the summed one, stands at data[i * outer + t * inner];
// with tables at data[outers[i] + inners[t]], and `outer` and `inner` are 0.
struct MatrixSource {
  const void* data;
  ElementType type;
  int64_t outer, inner;
  const int64_t *outers = nullptr, *inners = nullptr;
};

// The part [i, i + count) of the free and [t, t + k) of the summed index of a source.
struct SourcePart {
  const MatrixSource& source;
  int64_t i, count, t, k;
};

constexpr int64_t cache_line = 64;  // bytes
// Rows of a block: its sums have all registers but those of a line's columns and of an element.
constexpr int64_t rows_of_block(int64_t registers, int64_t vectors) {
  return (registers - vectors - 1) / vectors;
}
constexpr int64_t step_of_rows(int64_t rows) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)));
}
constexpr int64_t any_depth = INT64_MAX;
// Cache lines of lines of memory that are fetched while a block is computed: `count` of them from
// byte `at` of the first line on; lines are `length` bytes long and `step` bytes apart.
struct Ahead {
  const std::byte* line = nullptr;
  int64_t step = 0, length = 0, at = 0, count = 0;
};
// All of a part whose free indices stand side by side.
Ahead ahead_of(const SourcePart& part);

// c[i * leading + j] (+)= sum over t < k of a(i, t) * b(j, t), added in the order of t.
struct KernelBlock {
  const void *a, *b;  // packed rows, and one packed strip, unless `line` says else
  int64_t k;          // packed elements of the summed index
  int64_t rows, columns;
  void* c;
  int64_t leading;
  bool add;
  Ahead ahead = {};
  // Only of blocks of standing rows: these come from memory and are fetched. Columns stand side by
  // side, this many elements from one t to the next, and are of the type of the rows; 0: they are
  // packed.
  bool rows_are_far = true;
  int64_t line = 0;
  // Only of blocks that read columns where they stand: where these are packed too; null: nowhere.
  void* packed = nullptr;
};

// What multiplies blocks of matrices on one kind of processor. A packed element holds `group`
// neighbours of the summed index, zeros behind the last. Packed memory is aligned as a vector.
struct MatrixKernel {
  int64_t rows, columns;  // of a block, whose sums stay in registers
  int64_t row_step;       // packed elements from one t to the next in packed rows
  int64_t bytes;          // of a packed element
  int64_t sum_bytes = bytes;
  int64_t group = 1;
  // Strips of columns that a thread packs together and multiplies with all rows: what blocks of
  // some kernels read would come too slowly from the last cache. 0: so only where rows are few.
  int64_t strips_together = 0;
  // A strip is packed while the one before is multiplied with all rows, where a depth of these fits
  // in the second cache; else a thread packs some strips together.
  bool packs_single_strips = false;
  int64_t depth = 0;  // lines that are packed together; 0: as many as bytes of others
  int64_t head = 0;   // lines before the first of packed rows or columns: what sums begin with
  // out[(head + t) * row_step + r] = element (r, t) of the part; up to `rows` rows. Where there is
  // a head the part holds all t that are packed together.
  void (*pack_rows)(const SourcePart& part, void* out);
  // out[j / columns * columns * depth + (head + t) * columns + j % columns] = element (j, t) of the
  // part. Of the last strip the vectors that hold an element are written.
  void (*pack_columns)(const SourcePart& part, int64_t depth, void* out);
  void (*run)(const KernelBlock& block);
  void (*finish)() = nullptr;  // after the last block that a thread runs for now
  // The same with the right operand's columns from j and lines from t on, where they stand; b is
  // not used. With each line that which stands `next` elements on is fetched, for the block after.
  // Only for sources of which is_direct is true; null: of none.
  bool (*is_direct)(const MatrixSource& source) = nullptr;
  void (*run_direct)(const KernelBlock& block, const MatrixSource& rhs, int64_t j, int64_t t,
                     int64_t next) = nullptr;
  // The same with up to `unpacked_rows` rows of `unpacked_type`, where they stand `step` apart,
  // each in one piece: a is the first. 0 rows: not at all.
  ElementType unpacked_type = ElementType::F32;
  int64_t unpacked_rows = 0;
  void (*run_unpacked)(const KernelBlock& block, int64_t step) = nullptr;
  bool reads_near = false;  // whether these may have a `line`, and rows that are not far
  // The same with any number of rows and up to `dot_columns` columns, of a strip that pack_dots has
  // transposed: neighbours of the summed index fill vectors, and each sum is that of a vector's
  // lanes, then in halves. 0 columns: not at all.
  int64_t dot_columns = 0;
  void (*pack_dots)(const void* strip, int64_t k, int64_t columns, void* out) = nullptr;
  void (*run_dots)(const KernelBlock& block, int64_t step) = nullptr;
  // The packed rows of a block may be fetched while the one before is computed.
  bool fetches_rows = false;
  // Whether the sums of a block of whole products are those of f32; others come from another kernel
  // (kernels/gemm/recompute_inexact.h). Null: they always are. Only of kernels for many rows and
  // columns.
  bool (*are_sound)(const KernelBlock& block) = nullptr;
  // A kernel of higher and narrower blocks of the same elements, for few rows or columns.
  const MatrixKernel* narrow = nullptr;
};

// This machine's kernels for sums of F32, F64 or S32, which wrap, and elements of these types, the
// best first and null behind the last; none where the elements have other types than kernels read.
using MatrixKernels = std::array<const MatrixKernel*, 6>;
MatrixKernels matrix_kernels(ElementType sum, ElementType lhs, ElementType rhs);
// Whether the best of them multiplies tiles, which are as high as they are wide.
bool multiplies_tiles(ElementType lhs, ElementType rhs);
// The best of these for products of so many rows.
const MatrixKernel* best_kernel(ElementType sum, ElementType lhs, ElementType rhs, int64_t rows);
// Of f32, or what it holds, by tiles of its parts; null where there are no such, or better ones.
const MatrixKernel* split_kernel(ElementType lhs, ElementType rhs);
// Those with AVX-512, the better one first, and AVX2, of real numbers, those with AVX-512's dot
// products of bf16 and of bytes (VNNI), and those with tiles (AMX) of the same and of parts of f32;
// null where the machine has them not or is no faster with them.
std::array<const MatrixKernel*, 2> avx512_kernels(ElementType sum);
const MatrixKernel* avx2_kernel(ElementType sum);
const MatrixKernel* bf16_kernel();
const MatrixKernel* byte_kernel(bool lhs_is_signed, bool rhs_is_signed);
const MatrixKernel* bf16_tile_kernel();
const MatrixKernel* byte_tile_kernel(bool lhs_is_signed, bool rhs_is_signed);
const MatrixKernel* split_tile_kernel();

// How many of `most` positions, at least one, follow each other from the first on.
inline int64_t count_consecutive(const int64_t* positions, int64_t most) {
  int64_t count = 1;
  while (count < most && positions[count] == positions[count - 1] + 1) ++count;
  return count;
}

// out[i] = in[i] rounded to bf16 or f16; false where there is no fast way.
bool store_rounded(const float* in, int64_t count, ElementType type, void* out);
bool store_rounded_avx512(const float* in, int64_t count, ElementType type, void* out);
bool store_rounded_avx2(const float* in, int64_t count, ElementType type, void* out);

}  // namespace hilo
