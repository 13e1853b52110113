#include "emit/tile_and_fuse.h"

#include <algorithm>
#include <numeric>

#include "analysis/analysis.h"
#include "emit/cache_sizes.h"
#include "emit/ready_kernels.h"
#include "kernels/kernels.h"

namespace hilo {
namespace {

// Whether its result is so large that a core's second cache may not hold it until the next step.
bool may_be_first(const Module& module, InstructionId id, int64_t second_cache) {
  const Op op = module[id].op;
  return module.shape(id).is_array() && literal_bytes(module.shape(id)) >= second_cache &&
         (op == Op::Convolution || op == Op::Dot || dot_of_slices(module, id));
}

// What is no step between others.
bool is_nothing(Op op) {
  return op == Op::Constant || op == Op::GetTupleElement || op == Op::Bitcast;
}

// Whether all results of `id` have as many elements as `first`, which it reads.
bool may_be_second(const Module& module, InstructionId id, InstructionId first) {
  if (module[id].op != Op::Fusion && !is_elementwise(module[id].op)) return false;
  if (std::ranges::count(module.operands(id), first) == 0) return false;
  bool same = true;
  for_each_leaf(module.shape(id), [&](const Shape& leaf, std::span<const int64_t>) {
    same &= leaf.is_array() && element_count(leaf) == element_count(module.shape(first));
  });
  return same;
}

// Of a product all that comes from its right operand, of a convolution the features, where they lie
// side by side; else 0.
int64_t columns_of(const Module& module, InstructionId step) {
  const std::optional<DotOfSlices> product = dot_of_slices(module, step);
  const InstructionId id = product ? product->product : step;
  const Dims& dims = module.shape(id).dims;
  if (module[id].op == Op::Convolution) {
    const auto& labels = module.attributes<ConvolutionAttributes>(id).dim_labels;
    return labels.output_feature + 1 == std::ssize(dims) ? dims.back() : 0;
  }
  const auto& a = module.attributes<DotAttributes>(id);
  const auto free = static_cast<int64_t>(module.shape(module.operand(id, 1)).dims.size() -
                                         a.rhs_batch_dims.size() - a.rhs_contracting_dims.size());
  return free == 0 ? 0 : element_count(Dims(dims.end() - free, dims.end()));
}

class Joining {
 public:
  Joining(Steps& steps, StepArrays first, StepArrays second)
      : steps_(steps),
        module_(steps.module),
        first_(std::move(first)),
        second_(std::move(second)) {}

  // Whether the second step may be done part by part.
  bool fits() const {
    return !second_.refusal && second_.is_one_loop && first_.writes.size() == 1 &&
           first_.copies.empty() && second_.copies.empty() && !is_library_over_its_operands() &&
           !is_read_after_its_part() && !is_written_before_it_is_read();
  }

  // Functions over fewer iterations know their bounds.
  static bool is_in_blocks(const ReadyKernels& ready) {
    return ready.calls.size() == 1 && ready.calls[0].kernel->is_shared &&
           ready.calls[0].kernel->block.elements > 0;
  }

  // Of two steps in blocks.
  void call(const KernelCall& first, const KernelCall& second) {
    operands_to_memory();
    std::vector<llvm::Value*> arguments = pointers_of(steps_, first);
    std::ranges::copy(pointers_of(steps_, second), std::back_inserter(arguments));
    call_kernel(steps_, kernel(*first.kernel, *second.kernel), std::move(arguments));
    results_from_memory();
  }

  // Of a library's product and the kernel for parts of a matrix of this width.
  void call_library(const KernelCall& second, int64_t width) {
    const uint64_t number = steps_.add_library_step(first_.step, *first_.refusal);
    operands_to_memory();
    Builder& b = steps_.b;
    const std::vector<llvm::Value*> arguments = pointers_of(steps_, second);
    const auto count = static_cast<int64_t>(arguments.size());
    steps_.call_or_return(5, {steps_.context(), b.getInt64(number), tile_of(steps_, *second.kernel),
                              list_of(b, arguments), int64(b, count),
                              int64(b, second.kernel->count), int64(b, width)});
    steps_.program.needs_code = true;
    results_from_memory();
  }

 private:
  // Whether a library does the first step and writes over what it still reads.
  bool is_library_over_its_operands() const {
    return first_.refusal && std::ranges::any_of(first_.reads, [&](const auto& ranges) {
             return std::ranges::any_of(
                 ranges, [&](const Range& from) { return from.overlaps(first_.writes[0]); });
           });
  }
  // Whether the second step needs other elements of what the first one writes than those in the
  // places of its own.
  bool is_read_after_its_part() const {
    for (size_t i = 0; i < second_.reads.size(); ++i)
      for (const Range& range : second_.reads[i]) {
        if (!range.overlaps(first_.writes[0])) continue;
        if (module_.operand(second_.step, i) != first_.step ||
            !reads_only_same_offsets(module_, second_.step, i))
          return true;
      }
    return false;
  }
  // Whether the second step writes over what other parts of the first one read, or write.
  bool is_written_before_it_is_read() const {
    return std::ranges::any_of(second_.writes, [&](const Range& to) {
      for (const auto& ranges : first_.reads)
        if (std::ranges::any_of(ranges, [&](const Range& from) { return to.overlaps(from); }))
          return true;
      const Range& between = first_.writes[0];
      return to.overlaps(between) && !(to.is_same(between) && to.bytes == between.bytes);
    });
  }

  void operands_to_memory() {
    for (const StepArrays* arrays : {&first_, &second_})
      for (InstructionId operand : module_.operands(arrays->step))
        if (operand != first_.step) steps_.to_memory(operand);
  }
  void results_from_memory() {
    steps_.from_memory(first_.step);
    steps_.from_memory(second_.step);
  }

  Kernel& kernel(const Kernel& first, const Kernel& second) {
    Kernel& out = steps_.program.joined[{first.function, second.function}];
    if (out.function) return out;
    const int64_t elements = element_count(module_.shape(first_.step));
    const int64_t whole = std::lcm(first.block.elements, second.block.elements);
    const int64_t bytes = whole * storage_bytes(module_.shape(first_.step).type);
    // Stays in a core's first cache, or beside it in the second one, until it is read.
    const int64_t tile_bytes = cache_sizes(steps_.program.ir).first;
    const int64_t each = std::clamp<int64_t>(tile_bytes / bytes, 1, elements / whole) * whole;
    out.count = (elements + each - 1) / each;
    out.is_shared = out.count > 1;
    out.serial_seconds = first.serial_seconds + second.serial_seconds;
    out.function = write(first, second, each);
    return out;
  }

  // Iterations are pieces of so many elements.
  llvm::Function* write(const Kernel& first, const Kernel& second, int64_t each) const {
    llvm::Module& ir = steps_.program.ir;
    constexpr size_t bounds = 2;
    const size_t arrays = first.function->arg_size() + second.function->arg_size() - 2 * bounds;
    KernelBuilder w(module_, ir, steps_.program.kernel_name(second_.step), arrays);
    for (size_t i = 0; i < arrays; ++i)  // the second one's may be the first one's
      w.function->removeParamAttr(static_cast<unsigned>(i), llvm::Attribute::NoAlias);
    loop(w.b, w.begin, w.end, [&](llvm::Value* piece) {
      size_t next = 0;
      for (const Kernel* kernel : {&first, &second}) {
        llvm::Function* callee = callee_in(ir, kernel->function);
        std::vector<llvm::Value*> arguments;
        while (arguments.size() + bounds < callee->arg_size()) arguments.push_back(w.array(next++));
        const int64_t step = each / kernel->block.elements * kernel->block.iterations;
        llvm::Value* begin = multiply_index(w.b, piece, step);
        arguments.push_back(begin);
        arguments.push_back(
            lesser_index(w.b, add_index(w.b, begin, int64(w.b, step)), int64(w.b, kernel->count)));
        w.b.CreateCall(callee, arguments);
      }
    });
    w.close();
    return w.function;
  }

  Steps& steps_;
  const Module& module_;
  const StepArrays first_, second_;
};

// The number of the step in the order that may be done with the first one, or 0.
size_t find_second(const Steps& steps, std::span<const InstructionId> order) {
  const Module& module = steps.module;
  if (!may_be_first(module, order[0], cache_sizes(steps.program.ir).second)) return 0;
  size_t next = 1;
  while (next < order.size() && is_nothing(module[order[next]].op)) ++next;
  return next < order.size() && may_be_second(module, order[next], order[0]) ? next : 0;
}

// Whether both were emitted; nothing was where they were not.
bool emit_both(Steps& steps, const ReadyKernels& first, InstructionId second) {
  Joining joining(steps, first.arrays, find_arrays(steps, second));
  if (!joining.fits()) return false;
  if (!first.arrays.refusal) {
    if (!Joining::is_in_blocks(first)) return false;
    const ReadyKernels ready = make_kernels(steps, second);
    if (!Joining::is_in_blocks(ready)) return false;
    joining.call(first.calls[0], ready.calls[0]);
    return true;
  }
  const int64_t width = columns_of(steps.module, first.arrays.step);
  if (width == 0 || width % part_columns != 0 || steps.program.is_object) return false;
  const ReadyKernels ready = make_kernels(steps, second, width);
  if (ready.calls.size() != 1) return false;
  joining.call_library(ready.calls[0], width);
  return true;
}

}  // namespace

Result<size_t> emit_tiled_and_fused(Steps& steps, std::span<const InstructionId> order) {
  const size_t next = steps.program.tells_steps ? 0 : find_second(steps, order);
  if (next == 0) {
    HILO_DO(steps.emit_and_tell(order[0]));
    return size_t{1};
  }
  HILO_DO(may_go_on(steps.program.interrupt));
  const ReadyKernels first = make_kernels(steps, order[0]);
  for (const InstructionId id : order.subspan(1, next - 1)) HILO_DO(steps.emit_and_tell(id));
  const bool are_joined = emit_both(steps, first, order[next]);
  steps.program.code.joined += are_joined ? 1 : 0;
  if (!are_joined) {
    call_kernels(steps, first);
    steps.tell(order[0]);
    HILO_DO(steps.emit_and_tell(order[next]));
  } else {
    steps.tell(order[0]);
    steps.tell(order[next]);
  }
  return next + 1;
}

}  // namespace hilo
