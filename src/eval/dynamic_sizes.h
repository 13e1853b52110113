// Arrays whose dynamic dimensions are shorter than their bounds: what lies beyond a size is not
// there. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

// Whether some dimension is shorter than its bound.
bool is_cut(const Literal& array);
bool has_cut_operand(const Call& call);
Dims sizes_of(const Literal& array);
// Also of dimensions that the shape does not call dynamic: texts need not say it of results.
void set_dynamic_sizes(Literal& array, std::span<const int64_t> sizes);

// What is not there becomes the scalar `fill`, of the same type.
Literal masked(const Call& call, const Literal& array, const Literal& fill);

// The op on operands without what is not there. Result leaf i has `sizes[i]`, and zeros beyond. The
// function must make its results by Call::make() or result_shape().
Result<Literal> evaluate_cut(Call& call, OpFunction op, std::span<const Dims> sizes);

// How many places a window takes over so many elements.
int64_t count_window_positions(const WindowDim& window, int64_t size);

}  // namespace hilo
