#include "eval/block_builder.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

// Ops that pass a scalar on as it is.
constexpr Op passing[] = {Op::Copy,      Op::Reshape,       Op::Broadcast, Op::OptimizationBarrier,
                          Op::Transpose, Op::AddDependency, Op::Domain};

void copy_bytes(const KernelArguments& k) { std::memmove(k.out, k.in[0], k.n * k.first); }

class ScalarBuilder {
 public:
  ScalarBuilder(BlockProgram& program, const Module& module, bool ideal, int depth)
      : program_(program), module_(module), ideal_(ideal), depth_(depth) {}

  Result<bool> run(ComputationId id, std::span<const int> arguments, std::vector<int>& results) {
    const Computation& computation = module_[id];
    size_t next = 0;
    for (InstructionId parameter : computation.parameters)
      for (int64_t leaf = leaf_count(module_.shape(parameter)); leaf > 0; --leaf) {
        if (next == arguments.size()) return false;
        values_[parameter.value].push_back(arguments[next++]);
      }
    for (InstructionId id : computation.instructions) {
      if (module_[id].removed || module_[id].op == Op::Parameter) continue;
      HILO_TRY(const bool added, add(id));
      if (!added) return false;
    }
    results = values_[computation.root.value];
    return !results.empty();
  }

 private:
  Result<bool> add(InstructionId id) {
    const Instruction& instruction = module_[id];
    std::vector<int>& out = values_[id.value];
    if (!scalars(module_.shape(instruction))) return false;
    std::vector<int> operands;
    for (InstructionId operand : module_.operands(instruction)) {
      const auto found = values_.find(operand.value);
      if (found == values_.end()) return false;
      operands.insert(operands.end(), found->second.begin(), found->second.end());
    }
    if (is_elementwise(instruction.op)) {
      HILO_TRY(const ElementwiseKernel kernel, elementwise_kernel(module_, instruction, ideal_));
      out = {program_.add(kernel, operands)};
      return true;
    }
    if (instruction.op == Op::Constant) return add_constant(instruction, out);
    if (instruction.op == Op::Tuple) return take(operands, out);
    if (instruction.op == Op::GetTupleElement) return add_element(instruction, operands, out);
    if (instruction.op == Op::Bitcast || instruction.op == Op::BitcastConvert)
      return add_bits(instruction, operands, out);
    for (ComputationId callee : module_.called(instruction)) {
      const bool inlined = instruction.op == Op::Call || instruction.op == Op::Fusion;
      if (!inlined || depth_ > 64) return false;
      return add_scalar_computation(program_, module_, callee, ideal_, operands, out, depth_ + 1);
    }
    if (std::find(std::begin(passing), std::end(passing), instruction.op) == std::end(passing))
      return false;
    operands.resize(1);
    return take(operands, out);
  }

  static bool scalars(const Shape& shape) {
    return shape.is_tuple() ? std::all_of(shape.elements.begin(), shape.elements.end(), scalars)
                            : shape.is_array() && element_count(shape) == 1;
  }

  static bool take(std::vector<int>& from, std::vector<int>& to) {
    to = std::move(from);
    return true;
  }

  bool add_constant(const Instruction& instruction, std::vector<int>& out) {
    const auto& literal = module_.attributes<ConstantAttributes>(instruction).literal.literal;
    if (!literal || !literal->shape().is_array()) return false;
    out = {program_.add_constant(to_held(*literal, ideal_))};
    return true;
  }

  // The same bits as another type, for types that are computed with as they are stored.
  bool add_bits(const Instruction& instruction, const std::vector<int>& operands,
                std::vector<int>& out) {
    const ElementType from = module_.shape(module_.operands(instruction)[0]).type;
    const ElementType to = module_.shape(instruction).type;
    if (bits_of(from) != bits_of(to) || finish_kernel(from) || finish_kernel(to) ||
        (from != to && (from == ElementType::Pred || to == ElementType::Pred)))
      return false;
    ElementwiseKernel kernel;
    kernel.kernel = copy_bytes;
    kernel.first = storage_bytes(from);
    kernel.operands[0] = from, kernel.result = to;
    out = {program_.add_convert(program_.add(kernel, operands), held_type(to, ideal_))};
    return true;
  }

  bool add_element(const Instruction& instruction, const std::vector<int>& operands,
                   std::vector<int>& out) {
    const Shape& tuple = module_.shape(module_.operands(instruction)[0]);
    const int64_t index = module_.attributes<GetTupleElementAttributes>(instruction).index;
    if (index < 0 || index >= static_cast<int64_t>(tuple.elements.size())) return false;
    int64_t first = 0;
    for (int64_t i = 0; i < index; ++i) first += leaf_count(tuple.elements[i]);
    const int64_t leaves = leaf_count(tuple.elements[index]);
    out.assign(operands.begin() + first, operands.begin() + first + leaves);
    return true;
  }

  BlockProgram& program_;
  const Module& module_;
  bool ideal_;
  int depth_;
  std::unordered_map<uint32_t, std::vector<int>> values_;  // leaves of each instruction
};

}  // namespace

Result<bool> add_scalar_computation(BlockProgram& program, const Module& module,
                                    ComputationId computation, bool ideal,
                                    std::span<const int> arguments, std::vector<int>& results,
                                    int depth) {
  return ScalarBuilder(program, module, ideal, depth).run(computation, arguments, results);
}

}  // namespace hilo
