// Private to `target`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// A transpose outside of fusions whose dimensions stay in runs is one of fewer and longer ones:
//
//   transpose(x), dimensions={3,0,1,2}  =>  reshape(transpose(reshape(x), dimensions={1,0}))
//
// so that its loops are long: tiles of [32,32,30,8] end every 30 elements, those of [30720,8] do
// not. Assumes plain layouts; later passes may assume nothing. Stands after the fusion of loops,
// in which the reshapes would divide places.
Result<bool> merge_transposed_dims(Module& module, const PassOptions& options);

}  // namespace hilo
