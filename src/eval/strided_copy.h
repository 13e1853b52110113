// Moving the elements of a rectangular region between two arrays. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// Element (i0, i1, ...) below `sizes` goes from `from + sum(i * from_strides)` to `to + sum(i *
// to_strides)`; counted in elements. A stride of 0 repeats, a negative one goes backwards.
struct StridedCopy {
  Dims sizes, from_strides, to_strides;
  int64_t from = 0, to = 0;
};
// Elements of 1, 2, 4, 8 or 16 bytes. Elements must not be written twice.
void copy_strided(const Call& call, int64_t element_bytes, const std::byte* from, std::byte* to,
                  StridedCopy copy);
// The whole of a dense result from an operand by strides.
Literal copy_to_dense(const Call& call, const Literal& operand, Dims from_strides, int64_t from);

// Sizes of the result's dynamic dimensions: those of the operand's dimension `dims[i]`.
void keep_dynamic_sizes(const Literal& operand, std::span<const int64_t> dims, Literal& result);

}  // namespace hilo
