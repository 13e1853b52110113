// What the counting of costs shares. Laws are those of XLA's HloCostAnalysis where it has one; each
// file says where they differ and why. Private to `analysis`.
#pragma once

#include <functional>

#include "analysis/analysis.h"

namespace hilo {

// What crosses the border of a fused computation when all of its result is wanted.
struct Border {
  std::vector<double> read;  // bytes, by parameter
  double constants = 0;      // bytes of constants with more than one element
  double written = 0;        // bytes
};

struct Counting {
  explicit Counting(const Module& m)
      : module(m), inside(m.computations.size()), borders(m.computations.size()) {}

  const Module& module;
  std::vector<Cost> inside;  // by computation: one run of it with all that it calls
  std::vector<std::optional<Border>> borders;  // by computation: of those already asked for

  const Shape& operand_shape(const Instruction& i, size_t k) const {
    return module.shape(module.operands(i)[k]);
  }
};

// Arithmetic of one run, all that is called included; no bytes. A complex operation counts one.
Cost arithmetic_of(const Counting& counting, const Instruction& instruction);
// 2 * products: a multiplication and an addition each.
double dot_flops(const Shape& lhs, const Dims& lhs_contracting, const Shape& result);
double sort_flops(double elements);
double triangular_solve_flops(int64_t order, double elements);
// Counts the products of a kernel's element and an input's, not those with padding or with the
// holes of a dilation. `input`, `kernel` and `output` are those of the forward convolution, also
// for its gradients, which multiply the same pairs. None: labels or window do not fit the shapes.
struct ConvolutionSizes {
  const Window& window;
  const ConvolutionLabels& labels;
  const Shape &input, &kernel, &output;
};
std::optional<double> convolution_flops(const ConvolutionSizes& sizes);

// Bytes that one run reads and writes.
struct Traffic {
  double read = 0, written = 0;
};
Traffic traffic_of(Counting& counting, const Instruction& instruction);
double bytes_read_of(Counting& counting, const Instruction& instruction, size_t operand);
double bytes_of(const Shape& shape);  // all leaves in their layouts, tiles padded; no tuple tables
double elements_of(const Shape& shape);  // of all leaves

// What part of its elements each instruction of a computation has to give where its result is
// needed whole: `parts`, by instruction of the module. What combines elements needs as large a part
// of its operands as it gives, others an element for each of theirs.
void find_needed_parts(const Module& module, ComputationId computation,
                       const std::function<bool(InstructionId)>& combines,
                       std::vector<double>& parts);

// Both, of a custom call that eval/custom_call.def knows; none for others.
std::optional<Cost> custom_call_cost(const Counting& counting, const Instruction& instruction);
#define CUSTOM_CALL(target, family, function, sees, meaning) \
  Cost cost_##function(const Counting& counting, const Instruction& instruction);
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
#undef CUSTOM_CALL
// Operands read and results written whole, but for a trailing 8-bit workspace.
Cost library_call(const Counting& counting, const Instruction& instruction, double flops);

}  // namespace hilo
