// Packed words of the summed index: pairs of bf16, or fours of bytes. Private to `kernels`; only
// where x86-64 with AVX-512 is compiled for and runs.
#pragma once

#include "kernels/gemm/matrix_kernel.h"

namespace hilo {

// out[t * width + i] = word t of the part's free index i, of up to 16: elements t * group and those
// after it, zeros behind the last. Lanes behind the part's last free index are anything.
void pack_pairs(const SourcePart& part, float* out, int64_t width);
// Strips of 32 free indices: out[j / 32 * 32 * depth + t * 32 + j % 32] = word t of j.
void pack_strips_of_pairs(const SourcePart& part, int64_t depth, float* out);
// The same of bytes, to each of which `flip` is added modulo 256.
void pack_fours(const SourcePart& part, uint8_t flip, int32_t* out, int64_t width);
void pack_strips_of_fours(const SourcePart& part, uint8_t flip, int64_t depth, int32_t* out);

}  // namespace hilo
