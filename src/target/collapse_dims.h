// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Dimensions that stay side by side are one, so that loops are long. Of a transpose outside of
// fusions:
//
//   transpose(x), dimensions={3,0,1,2}  =>  reshape(transpose(reshape(x), dimensions={1,0}))
//
// tiles of [32,32,30,8] end every 30 elements, those of [30720,8] do not. And of the loop of a
// fusion, or of what moves places outside of fusions, whose rows are short:
//
//   f32[300,534,3] pad(x), padding=0_0x4_0x0_0  =>  reshape(f32[300,1602] pad(reshape(x), ...))
//
// so far that a row is long enough and that there are still rows for many threads. Up to four
// repeated places that a loop joins to an array become operands of their own first, since they
// would keep their dimension apart:
//
//   concatenate(x, broadcast(e))  =>  concatenate(x, reshape(e), reshape(e))
//
// Values are the same. Of windows, the places are as many times as far apart as rows are long:
//
//   f32[300,7] reduce-window(x, z), window={size=5x1 pad=2_2x0_0}
//     =>  reshape(f32[2100] reduce-window(reshape(x), z), window={size=5 pad=14_14 rhs_dilate=7})
//
// Assumes plain layouts; later passes may assume nothing. Stands after the fusion of loops,
// in which the reshapes would divide places.
Result<bool> collapse_dims(Module& module, const PassOptions& options);
// A pass; see merged_columns.cpp.
Result<bool> merge_columns_of_reductions(Module& module, const PassOptions& options);

}  // namespace hilo
