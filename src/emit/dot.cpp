#include "emit/dot_blocks.h"
#include "emit/dot_producer_batches.h"
#include "emit/dot_side.h"
#include "emit/kernel_builder.h"
#include "emit/lanes.h"
#include "emit/loop_limits.h"
#include "emit/op_functions.h"

namespace hilo {
namespace {

using Way = DotKernel::Way;

// Blocks of registers.
void write_in_blocks(KernelBuilder& w, InstructionId id, const DotKernel& kernel) {
  const Module& module = w.elements.module;
  const Side lhs = side_of(w, module.operand(id, 0), kernel.lhs);
  const Side rhs = side_of(w, module.operand(id, 1), kernel.rhs);
  const ElementType result = module.shape(id).type;
  if (kernel.way == Way::ProducerBatches)
    return write_producer_batches(w, id, lhs, rhs, [&](const Side& left, const Side& right) {
      write_blocks(w, left, right, result);
    });
  if (kernel.way == Way::FusedProducer)
    return write_blocks_of_producer(w, module.operand(id, 0), lhs, rhs, result);
  write_blocks(w, lhs, rhs, result);
  if (stores_lanes(result)) w.set_loop_kind(LoopsOver::Vectors);
}

// Whether lines are worth vectors along them; of shorter ones of complex numbers LLVM would make
// vectors across, whose shuffles take longer to compile than they save.
bool has_long_lines(const Dims& dims) {
  return !dims.empty() && dims.back() % KernelLimits::min_lanes == 0;
}

}  // namespace

void write_Dot(KernelBuilder& w, InstructionId id) {
  const auto kernel = dot_kernel(w.elements.module, id, w.elements.arrays(), w.chip());
  check(kernel.has_value(), "dot: the command is a kernel");
  if (kernel->way != Way::Elements) return write_in_blocks(w, id, *kernel);
  const Shape& result = w.elements.module.shape(id);
  if (is_complex(result.type) && !has_long_lines(result.dims)) w.set_loop_kind(LoopsOver::Vectors);
  write_elements(w, id);
}

}  // namespace hilo
