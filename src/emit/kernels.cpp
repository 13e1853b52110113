// A step that is loops: which functions it needs, and where they read and write.
#include <algorithm>

#include "analysis/analysis.h"
#include "emit/cache_sizes.h"
#include "emit/non_temporal_stores.h"
#include "emit/op_functions.h"
#include "emit/ready_kernels.h"
#include "emit/rows.h"
#include "emit/steps.h"
#include "emit/vector_registers.h"

namespace hilo {
namespace {

// An array that is written: the value that it holds, inside the step's fusion.
struct Target {
  InstructionId value;
  size_t leaf;
  Range to;
};

// Targets that one kernel writes, and its arrays.
struct Loops {
  std::span<const Target> targets;
  std::vector<Array> arrays;
};

}  // namespace

class KernelWriting {
 public:
  KernelWriting(Steps& steps, InstructionId id, int64_t width)
      : steps_(steps),
        program_(steps.program),
        module_(steps.module),
        b_(steps.b),
        id_(id),
        width_(width) {}

  StepArrays find_arrays() {
    StepArrays out = {.step = id_};
    const Command& command = program_.command(id_);
    if (command.refusal) out.refusal = describe(module_, command);
    find_addresses();
    out.reads = operands_, out.writes = results_;
    if (out.refusal) return out;
    find_targets();
    if (!is_scalar_step()) find_scratch();
    out.copies = copies_;
    out.is_one_loop = one_loop_ && !rows_;
    return out;
  }

  ReadyKernels run() {
    ReadyKernels out = {find_arrays(), {}};
    if (out.arrays.refusal) return out;
    if (is_scalar_step()) {
      write_scalars();
      program_.needs_code = true;
      return out;
    }
    find_loops();
    kernels_ = program_.kernels.find(id_, numbers_);
    if (!kernels_ && !write_all()) return out;
    program_.needs_code = true;
    program_.scratch_bytes = std::max(program_.scratch_bytes, scratch_);
    out.arrays.copies = copies_;
    for (size_t i = 0; i < loops_.size(); ++i)
      out.calls.push_back({&(*kernels_)[i], std::move(loops_[i].arrays)});
    return out;
  }

 private:
  void find_addresses() {
    for (InstructionId operand : module_.operands(id_)) operands_.push_back(ranges_of(operand));
    results_ = ranges_of(id_);
  }

  // Of the leaves; a token has no bytes.
  std::vector<Range> ranges_of(InstructionId id) {
    const std::vector<Address> addresses = program_.addresses.of(id);
    std::vector<Range> out;
    for_each_leaf(module_.shape(id), [&](const Shape& shape, std::span<const int64_t>) {
      out.push_back({addresses[out.size()], shape.is_array() ? literal_bytes(shape) : 0, &shape});
    });
    return out;
  }

  void find_targets() {
    InstructionId root = id_;
    while (module_[root].op == Op::Fusion)
      root = module_[module_.attributes<FusionAttributes>(root).calls].root;
    root_ = root;
    if (module_[root].op == Op::Tuple && root != id_) {
      size_t leaf = 0;
      for (InstructionId element : module_.operands(root)) {
        const auto leaves = static_cast<size_t>(leaf_count(module_.shape(element)));
        for (size_t i = 0; i < leaves; ++i) targets_.push_back({element, i, results_[leaf++]});
      }
    } else {
      for (size_t i = 0; i < results_.size(); ++i) targets_.push_back({root, i, results_[i]});
    }
    for (Target& target : targets_) take_from_tuple(target);
    const auto needs_loops = [&](const Target& target) { return needs_own_loops(target.value); };
    if (id_ != root_ && root_is_inside() && std::ranges::none_of(targets_, needs_loops))
      rows_ = find_rows(module_, id_, vector_registers(program_.ir).bytes,
                        cache_sizes(program_.ir).second);
    one_loop_ = rows_ || std::ranges::all_of(targets_, [&](const Target& target) {
                  return !has_loops(target.value) &&
                         shape_of(target).dims == shape_of(targets_.front()).dims;
                });
  }
  // Not in a fusion of the fusion.
  bool root_is_inside() const {
    return module_[root_].computation == module_.attributes<FusionAttributes>(id_).calls;
  }
  // An element of a reduction of several arrays is one of its results.
  void take_from_tuple(Target& target) const {
    while (target.value != id_ && module_[target.value].op == Op::GetTupleElement) {
      const InstructionId tuple = module_.operand(target.value, 0);
      if (!has_loops(tuple)) return;
      const int64_t index = module_.attributes<GetTupleElementAttributes>(target.value).index;
      target.leaf += first_leaf(module_.shape(tuple), static_cast<size_t>(index));
      target.value = tuple;
    }
  }
  const Shape& shape_of(const Target& target) const {
    const Shape* found = nullptr;
    size_t number = 0;
    for_each_leaf(module_.shape(target.value), [&](const Shape& shape, std::span<const int64_t>) {
      if (number++ == target.leaf) found = &shape;
    });
    return *found;
  }
  bool has_loops(InstructionId value) const { return functions_of(module_[value].op).write; }

  // Whether no row of a loop over rows makes it: its op has loops, and elements that are none, or
  // that only small products have.
  bool needs_own_loops(InstructionId value) const {
    const Op op = module_[value].op;
    return has_loops(value) && (!functions_of(op).element || has_trait(op, TraitStored));
  }

  // A parameter of the fusion, through bitcasts; the operand itself outside of fusions; else -1.
  int64_t operand_number(InstructionId value) const {
    if (id_ == root_) {
      const auto operands = module_.operands(id_);
      const auto found = std::ranges::find(operands, value);
      return found == operands.end() ? -1 : found - operands.begin();
    }
    while (module_[value].op == Op::Bitcast) value = module_.operand(value, 0);
    if (module_[value].op != Op::Parameter ||
        module_[value].computation != module_.attributes<FusionAttributes>(id_).calls)
      return -1;
    return module_.attributes<ParameterAttributes>(value).number;
  }

  // Whether the value is made by updating an operand that already lies where the result goes, and
  // of which the step reads nothing else than what it writes over.
  bool updates_in_place(const Target& target) const {
    const Op op = module_[target.value].op;
    if (op != Op::DynamicUpdateSlice && op != Op::Scatter) return false;
    const InstructionId updated = module_.operand(target.value, 0);
    const int64_t number = operand_number(updated);
    if (number < 0) return false;
    const auto& ranges = operands_[static_cast<size_t>(number)];
    if (ranges.size() != 1 || !ranges[0].is_same(target.to)) return false;
    for (size_t i = 0; i < operands_.size(); ++i)
      for (const Range& range : operands_[i])
        if (static_cast<int64_t>(i) != number && range.overlaps(target.to)) return false;
    return id_ == root_ || std::ranges::all_of(module_.users(updated), [&](InstructionId user) {
             return user == target.value
                        ? std::ranges::count(module_.operands(user), updated) == 1
                        : op == Op::DynamicUpdateSlice &&
                              reads_only_updated_slice(module_, user, target.value);
           });
  }

  // Whether element i of what is written needs of the operand no other element than its own.
  bool reads_only_same_offset(size_t operand) const {
    if (!one_loop_ || (rows_ && rows_->slab && rows_->slab->overlaps())) return false;
    return (rows_ && reads_only_its_rows(module_, id_, operand)) ||
           reads_only_same_offsets(module_, id_, operand);
  }

  // Whether a result must be made elsewhere first, because its place is still read.
  bool is_read_elsewhere(const Target& target) const {
    if (updates_in_place(target)) return false;
    for (size_t i = 0; i < operands_.size(); ++i)
      for (const Range& range : operands_[i]) {
        if (!range.overlaps(target.to)) continue;
        if (!range.is_same(target.to) || operands_[i].size() != 1 || !reads_only_same_offset(i))
          return true;
      }
    return false;
  }

  // A few elements at one place, for which a call would cost more than they do.
  bool is_scalar_step() const {
    return one_loop_ && !rows_ && element_count(shape_of(targets_.front())) == 1;
  }
  // Scalars stand in the computation's own code.
  void write_scalars() {
    ElementEmitter elements(module_, b_);
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (is_immediate(i)) continue;
      const InstructionId operand = module_.operand(id_, i);
      if (is_held_number(operands_[i])) {
        elements.bind_scalars(operand, {steps_.load_scalar(operand)});
        continue;
      }
      steps_.to_memory(operand);
      std::vector<llvm::Value*> arrays;
      for (size_t leaf = 0; leaf < operands_[i].size(); ++leaf)
        arrays.push_back(pointer_of(steps_, array_of(i, leaf)));
      elements.bind_arrays(operand, std::move(arrays));
    }
    bind_fusions(elements);
    const Dims dims = shape_of(targets_.front()).dims;
    const Index index(b_, dims, std::vector<llvm::Value*>(dims.size(), int64(b_, 0)));
    std::vector<llvm::Value*> values;
    for (const Target& target : targets_)
      values.push_back(elements.at(target.value, index, target.leaf));
    for (size_t i = 0; i < targets_.size(); ++i) store(targets_[i], values[i]);
  }
  bool is_held_number(std::span<const Range> ranges) const {
    return ranges.size() == 1 && element_count(*ranges[0].shape) == 1 &&
           is_array(ranges[0].shape->type) && is_held(ranges[0]);
  }
  bool is_held(const Range& range) const {
    return steps_.registers_.hold(range.address, *range.shape);
  }
  void store(const Target& target, llvm::Value* value) {
    const Address to = target.to.address;
    if (is_held(target.to)) steps_.registers_.store(b_, to, *target.to.shape, value);
    else store_element(b_, target.to.shape->type, steps_.pointer(to), int64(b_, 0), value);
  }

  void find_scratch() {
    for (Target& target : targets_) {
      if (!is_read_elsewhere(target)) continue;
      const auto scratch = static_cast<uint32_t>(program_.plan.allocations.size());
      const Range from = {{scratch, scratch_}, target.to.bytes};
      copies_.push_back({from, target.to});
      scratch_ += (target.to.bytes + 63) / 64 * 64;
      target.to = from;
    }
  }

  // One for all targets where one loop writes them, else one for each value.
  void find_loops() {
    for (size_t i = 0; i < targets_.size();) {
      size_t next = one_loop_ ? targets_.size() : i + 1;
      while (next < targets_.size() && targets_[next].value == targets_[i].value &&
             targets_[next - 1].leaf < targets_[next].leaf)
        ++next;
      loops_.push_back({std::span(targets_).subspan(i, next - i), {}});
      number_arrays(loops_.back());
      i = next;
    }
  }
  void number_arrays(Loops& loops) {
    for (size_t i = 0; i < operands_.size(); ++i)
      if (!is_immediate(i))
        for (size_t leaf = 0; leaf < operands_[i].size(); ++leaf)
          numbers_.push_back(array_number(loops, array_of(i, leaf)));
    for (const Target& target : loops.targets)
      numbers_.push_back(array_number(loops, {target.to.address}));
    numbers_.push_back(updates_in_place(loops.targets[0]) ? 1 : 0);
    numbers_.push_back(is_beyond_caches(loops) ? 1 : 0);
    numbers_.push_back(static_cast<size_t>(width_));
  }
  // Whether the results are too large for caches, and lie where nothing is read and memory is the
  // plan's own, which is aligned.
  bool is_beyond_caches(const Loops& loops) const {
    return std::ranges::all_of(loops.targets, [&](const Target& target) {
      const auto& allocations = program_.plan.allocations;
      const uint32_t allocation = target.to.address.allocation;
      if (target.to.bytes < beyond_caches || target.to.address.offset % 64 != 0 ||
          allocation >= allocations.size() || allocations[allocation].parameter)
        return false;
      return std::ranges::none_of(operands_, [&](std::span<const Range> ranges) {
        return std::ranges::any_of(ranges,
                                   [&](const Range& range) { return range.overlaps(target.to); });
      });
    });
  }
  static size_t array_number(Loops& loops, const Array& array) {
    const auto found = std::ranges::find(loops.arrays, array);
    if (found != loops.arrays.end()) return static_cast<size_t>(found - loops.arrays.begin());
    loops.arrays.push_back(array);
    return loops.arrays.size() - 1;
  }
  Array array_of(size_t operand, size_t leaf) const {
    const InstructionId id = module_.operand(id_, operand);
    if (module_[id].op != Op::Constant) return {operands_[operand][leaf].address};
    const auto& literal = module_.attributes<ConstantAttributes>(id).literal.literal;
    if (!literal || literal->raw().empty()) return {operands_[operand][leaf].address};
    return {{}, id};
  }
  bool is_immediate(size_t operand) const {
    return stands_in_code(module_, module_.operand(id_, operand));
  }

  // False where the one loop cannot be written in parts of the width that is asked for.
  bool write_all() {
    std::vector<Kernel> kernels;
    for (Loops& loops : loops_) {
      const std::optional<Kernel> kernel = write(loops);
      if (!kernel) return false;
      kernels.push_back(*kernel);
    }
    for (const Kernel& kernel : kernels) program_.parts.added(*kernel.function);
    program_.code.kernels += static_cast<int64_t>(kernels.size());
    kernels_ = &program_.kernels.add(id_, numbers_, std::move(kernels));
    return true;
  }

  // One function that writes these targets.
  std::optional<Kernel> write(Loops& loops) {
    KernelBuilder writer(module_, program_.parts.current(), program_.kernel_name(id_),
                         loops.arrays.size() + (width_ > 0 ? 1 : 0));
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (is_immediate(i)) continue;
      std::vector<llvm::Value*> arrays;
      for (size_t leaf = 0; leaf < operands_[i].size(); ++leaf)
        arrays.push_back(writer.array(array_number(loops, array_of(i, leaf))));
      writer.elements.bind_arrays(module_.operand(id_, i), std::move(arrays));
    }
    bind_fusions(writer.elements);
    std::vector<WrittenLeaf> leaves;
    for (const Target& target : loops.targets) {
      llvm::Value* array = writer.array(array_number(loops, {target.to.address}));
      leaves.push_back({target.value, target.leaf, array});
      writer.results.resize(std::max(writer.results.size(), target.leaf + 1));
      writer.results[target.leaf] = array;
    }
    const InstructionId first = loops.targets[0].value;
    const WriteFunction write = functions_of(module_[first].op).write;
    writer.in_place = updates_in_place(loops.targets[0]);
    change_hints(*writer.function, [&](KernelHints& hints) {
      hints.is_beyond_caches = is_beyond_caches(loops);
      hints.large_arrays = large_arrays(loops);
    });
    bool is_written = true;
    if (width_ > 0) is_written = write_parts(writer, leaves, width_);
    else if (rows_) write_rows(writer, leaves, *rows_);
    else if (write) write(writer, first);
    else write_elements(writer, leaves);
    writer.close();
    if (!is_written) {
      writer.function->eraseFromParent();
      return std::nullopt;
    }
    if (writer.function->getParent() != &program_.ir) show_to_parts(*writer.function);
    align_frame(*writer.function);
    const Estimate& cost = program_.command(id_).cost;
    const Kernel kernel = {
        .function = writer.function,
        .count = writer.count(),
        .block = writer.block(),
        .max_chunk = writer.max_chunk(),
        .is_shared = cost.threads > 1 && writer.count() > 1,
        .serial_seconds = cost.serial_seconds / static_cast<double>(loops_.size())};
    if (!kernel.is_shared && width_ == 0) fix_bounds(writer);
    return kernel;
  }

  // Long code has vectors for which there is no register; without this they are kept where the
  // caller's frame happens to end, across cache lines.
  static void align_frame(llvm::Function& function) {
    constexpr unsigned long_code = 150;
    const llvm::Align cache_line(64);
    if (function.getInstructionCount() >= long_code)
      function.addFnAttr(llvm::Attribute::getWithStackAlignment(function.getContext(), cache_line));
  }

  std::vector<unsigned> large_arrays(Loops& loops) const {
    const int64_t near = cache_sizes(program_.ir).near;
    std::vector<unsigned> out;
    for (size_t i = 0; i < operands_.size(); ++i)
      for (size_t leaf = 0; leaf < operands_[i].size() && !is_immediate(i); ++leaf)
        if (operands_[i][leaf].bytes >= near)
          out.push_back(static_cast<unsigned>(array_number(loops, array_of(i, leaf))));
    return out;
  }

  // What one thread does is done in one call: LLVM knows how often its loops go round, and makes
  // no code for other counts.
  static void fix_bounds(KernelBuilder& writer) {
    llvm::Type* type = writer.begin->getType();
    writer.begin->replaceAllUsesWith(llvm::ConstantInt::get(type, 0));
    writer.end->replaceAllUsesWith(llvm::ConstantInt::getSigned(type, writer.count()));
  }

  void bind_fusions(ElementEmitter& elements) const {
    for (InstructionId id = id_; module_[id].op == Op::Fusion;
         id = module_[module_.attributes<FusionAttributes>(id).calls].root)
      elements.bind_fusion(id);
  }

  Steps& steps_;
  Program& program_;
  const Module& module_;
  Builder& b_;
  InstructionId id_, root_;  // root_: of the fusion, or id_
  int64_t width_;            // of parts, or 0
  std::vector<std::vector<Range>> operands_;
  std::vector<Range> results_;
  std::vector<Target> targets_;
  std::optional<Rows> rows_;  // of a fusion that works row by row
  bool one_loop_ = false;
  std::vector<Loops> loops_;
  std::vector<size_t> numbers_;                  // what Kernels::find asks for
  std::vector<Kernel>* kernels_ = nullptr;       // one for each of loops_
  std::vector<std::pair<Range, Range>> copies_;  // from scratch memory
  int64_t scratch_ = 0;
};

StepArrays find_arrays(Steps& steps, InstructionId step) {
  return KernelWriting(steps, step, 0).find_arrays();
}

ReadyKernels make_kernels(Steps& steps, InstructionId step, int64_t width) {
  return KernelWriting(steps, step, width).run();
}

}  // namespace hilo
