// What handlers of several ops share. Private to to_module*.cpp.
#pragma once

#include "wire/stablehlo/converter.h"

namespace hilo::mlir {

// One for each op: Result<void> convert_gather(Step&).
#define OP(name, operands, results, function, op, quantised) Result<void> convert_##function(Step&);
#include "wire/stablehlo/stablehlo_ops.def"
#undef OP

Result<Window> window_of(const Step& step, const Dims& sizes, std::string_view base,
                         std::string_view window);
Result<Window> convolution_window(const Step& step);
Result<void> convolve(Step& step, const Window& window);
Result<SliceAttributes> slice_attributes(const Step& step, const Dims& starts, const Dims& limits,
                                         const Dims& strides);
Result<PadAttributes> pad_attributes(const Step& step, const Dims& low, const Dims& high,
                                     const Dims& interior);
Result<void> gather_with(Step& step, Dims slice_sizes);
// Dimension i of the value becomes dimension dims[i]; where it is 1 and the result's is not, it is
// dropped first.
Result<InstructionId> broadcast_in(Step& step, InstructionId value, const Dims& dims,
                                   const Dims& to);
Result<void> broadcast_to(Step& step, const Dims& to);
Result<Precisions> precisions_of(const Step& step);
Result<ReplicaGroups> replica_groups_of(const Step& step);
Result<std::vector<AxisRef>> axis_refs_of(const Program& program, const Attribute& list);
// Operands [first, last) become of the types that the computation takes: it may be wider than they.
Result<void> promote(Step& step, ComputationId computation, size_t first, size_t last);
// A computation that adds two scalars.
Result<ComputationId> sum_of(Step& step, ElementType type);
// The op that a name outside of the dialect means: chlo.erf, mhlo.topk. `attributes`: its own.
Result<bool> convert_as(Step& step, std::string_view name, const Attribute* attributes);
// The custom call of an export that checks its sizes.
Result<void> check_shape_assertion(Step& step);

}  // namespace hilo::mlir
