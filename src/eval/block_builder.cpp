#include "eval/block_builder.h"

#include <algorithm>
#include <cstring>

#include "eval/operand_view.h"

namespace hilo {
namespace {

constexpr int64_t max_instructions = 1
                                     << 13;  // calls of calls are inlined, and could grow for ever
constexpr int max_depth = 64;

void copy_bytes(const KernelArguments& k) { std::memmove(k.out, k.in[0], k.n * k.first); }

using Registers = std::vector<int>;  // of the elements of a value, leaf after leaf

class SmallBuilder {
 public:
  SmallBuilder(BlockProgram& program, const Module& module, bool ideal, int64_t& instructions,
               int depth)
      : program_(program),
        module_(module),
        ideal_(ideal),
        instructions_(instructions),
        depth_(depth) {}

  Result<bool> run(ComputationId id, std::span<const int> arguments, Registers& results) {
    HILO_TRY(const bool added, add_all(id, arguments, nullptr));
    results = values_[module_[id].root.value];
    return added && !results.empty();
  }

  Result<bool> run_some(ComputationId id, std::span<const int> arguments,
                        std::span<const InstructionId> values, Registers& results) {
    const std::set<InstructionId> needed = instructions_under(module_, values);
    HILO_TRY(const bool added, add_all(id, arguments, &needed));
    for (InstructionId value : values) {
      const Registers& registers = values_[value.value];
      results.insert(results.end(), registers.begin(), registers.end());
    }
    return added;
  }

 private:
  // Null: every instruction.
  Result<bool> add_all(ComputationId id, std::span<const int> arguments,
                       const std::set<InstructionId>* needed) {
    const Computation& computation = module_[id];
    for (InstructionId parameter : computation.parameters) {
      const int64_t count = count_few(module_.shape(parameter));
      if (count < 0 || count > static_cast<int64_t>(arguments.size())) return false;
      values_[parameter.value].assign(arguments.begin(), arguments.begin() + count);
      arguments = arguments.subspan(count);
    }
    for (InstructionId id : computation.instructions) {
      if (module_[id].removed || module_[id].op == Op::Parameter) continue;
      if (needed && !needed->contains(id)) continue;
      if (++instructions_ > max_instructions) return false;
      HILO_TRY(const bool added, add(id));
      if (!added) return false;
    }
    return true;
  }

  Result<bool> add(InstructionId id) {
    HILO_TRY(const bool added, add_seen(id));
    if (added && has_trait(module_[id].op, TraitMoves) && module_.shape(id).is_array())
      for (int& element : values_[id.value])
        element = program_.add_convert(element, held_type(module_.shape(id).type, ideal_));
    return added;
  }

  // What moves elements leaves them in the types of its operands.
  Result<bool> add_seen(InstructionId id) {
    const Instruction& instruction = module_[id];
    Registers& out = values_[id.value];
    if (count_few(module_.shape(instruction)) < 0) return false;
    std::vector<const Registers*> operands;
    for (InstructionId operand : module_.operands(instruction)) {
      const auto found = values_.find(operand.value);
      if (found == values_.end()) return false;
      operands.push_back(&found->second);
    }
    if (is_elementwise(instruction.op)) return add_elementwise(instruction, operands, out);
    if (instruction.op == Op::Constant) return add_constant(instruction, out);
    if (instruction.op == Op::Iota) return add_iota(instruction, out);
    if (instruction.op == Op::Concatenate) return add_concatenate(instruction, operands, out);
    if (instruction.op == Op::GetTupleElement) return add_element(instruction, *operands[0], out);
    if (instruction.op == Op::Bitcast || instruction.op == Op::BitcastConvert)
      return add_bits(instruction, *operands[0], out);
    if (is_view(module_, instruction)) {
      read_view(view_of_operand(module_, instruction), *operands[0], out);
      return true;
    }
    if (instruction.op == Op::Tuple) {
      out = joined(operands);
      return true;
    }
    for (ComputationId callee : module_.called(instruction)) {
      const bool inlined = instruction.op == Op::Call || instruction.op == Op::Fusion;
      if (!inlined || depth_ > max_depth) return false;
      return SmallBuilder(program_, module_, ideal_, instructions_, depth_ + 1)
          .run(callee, joined(operands), out);
    }
    if (!has_trait(instruction.op, TraitSameOrder)) return false;
    out = *operands[0];
    return true;
  }

  static Registers joined(std::span<const Registers* const> operands) {
    Registers out;
    for (const Registers* operand : operands)
      out.insert(out.end(), operand->begin(), operand->end());
    return out;
  }

  // Operands of one element belong to every element.
  Result<bool> add_elementwise(const Instruction& instruction,
                               std::span<const Registers* const> operands, Registers& out) {
    HILO_TRY(const ElementwiseKernel kernel, elementwise_kernel(module_, instruction, ideal_));
    const size_t count = element_count(module_.shape(instruction));
    for (const Registers* operand : operands)
      if (operand->size() != count && operand->size() != 1) return false;
    for (size_t i = 0; i < count; ++i) {
      Registers in;
      for (const Registers* operand : operands)
        in.push_back(operand->size() == 1 ? operand->front() : operand->at(i));
      out.push_back(program_.add(kernel, in));
    }
    return true;
  }

  bool add_constant(const Instruction& instruction, Registers& out) {
    const auto& stated = module_.attributes<ConstantAttributes>(instruction).literal.literal;
    if (!stated || !stated->shape().is_array()) return false;
    const Literal literal = to_held(*stated, ideal_);
    const int64_t bytes = storage_bytes(literal.type());
    for (int64_t i = 0; i < literal.count(); ++i) {
      Literal element = Literal::uninitialized(Shape::scalar(literal.type()));
      std::memcpy(element.mutable_raw().data(), literal.raw().data() + i * bytes, bytes);
      out.push_back(program_.add_constant(element));
    }
    return true;
  }

  bool add_iota(const Instruction& instruction, Registers& out) {
    const Dims& dims = module_.shape(instruction).dims;
    const int64_t dim = module_.attributes<IotaAttributes>(instruction).iota_dimension;
    if (dim < 0 || dim >= static_cast<int64_t>(dims.size())) return false;
    const int64_t inner = row_major_strides(dims)[dim];
    const ElementType type = held_type(module_.shape(instruction).type, ideal_);
    for (int64_t i = 0; i < element_count(dims); ++i) {
      const Literal index = Literal::scalar<int64_t>(i / inner % dims[dim]);
      out.push_back(program_.add_convert(program_.add_constant(index), type));
    }
    return true;
  }

  bool add_concatenate(const Instruction& instruction, std::span<const Registers* const> operands,
                       Registers& out) {
    const Dims& dims = module_.shape(instruction).dims;
    const Dims& dimensions = module_.attributes<DimensionsAttributes>(instruction).dimensions;
    if (dimensions.size() != 1 || dimensions[0] < 0 || dimensions[0] >= std::ssize(dims))
      return false;
    const int64_t outer = element_count(std::span(dims).first(dimensions[0]));
    for (int64_t i = 0; i < outer; ++i)
      for (const Registers* operand : operands) {
        const int64_t run = std::ssize(*operand) / outer;
        out.insert(out.end(), operand->begin() + i * run, operand->begin() + (i + 1) * run);
      }
    return std::ssize(out) == element_count(dims);
  }

  static void read_view(const View& view, const Registers& operand, Registers& out) {
    Dims index(view.dims.size());
    for (int64_t i = view.count(); i > 0; --i) {
      int64_t at = view.base;
      for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d];
      out.push_back(operand.at(at));
      next_index(index, view.dims);
    }
  }

  // The same bits as another type, for types that are computed with as they are stored.
  bool add_bits(const Instruction& instruction, const Registers& operand, Registers& out) {
    const ElementType from = module_.shape(module_.operands(instruction)[0]).type;
    const ElementType to = module_.shape(instruction).type;
    if (bits_of(from) != bits_of(to) || finish_kernel(from) || finish_kernel(to) ||
        (from != to && (from == ElementType::Pred || to == ElementType::Pred)))
      return false;
    // A bitcast may put several elements in another order, and show padding.
    if (instruction.op == Op::Bitcast &&
        (operand.size() != 1 || element_count(module_.shape(instruction)) != 1))
      return false;
    ElementwiseKernel kernel;
    kernel.kernel = copy_bytes;
    kernel.first = storage_bytes(from);
    kernel.operands[0] = from, kernel.result = to;
    for (int element : operand)
      out.push_back(
          program_.add_convert(program_.add(kernel, std::array{element}), held_type(to, ideal_)));
    return true;
  }

  bool add_element(const Instruction& instruction, const Registers& operand, Registers& out) {
    const Shape& tuple = module_.shape(module_.operands(instruction)[0]);
    const int64_t index = module_.attributes<GetTupleElementAttributes>(instruction).index;
    if (index < 0 || index >= static_cast<int64_t>(tuple.elements.size())) return false;
    int64_t first = 0;
    for (int64_t i = 0; i < index; ++i) first += count_few(tuple.elements[i]);
    const int64_t count = count_few(tuple.elements[index]);
    out.assign(operand.begin() + first, operand.begin() + first + count);
    return true;
  }

  BlockProgram& program_;
  const Module& module_;
  bool ideal_;
  int64_t& instructions_;  // added so far, by all builders of a program
  int depth_;
  std::unordered_map<uint32_t, Registers> values_;
};

}  // namespace

int64_t count_few(const Shape& shape) {
  if (!shape.is_tuple()) {
    if (!is_fixed_array(shape)) return -1;
    const int64_t count = element_count(shape);
    return count > 0 && count <= max_register_elements ? count : -1;
  }
  int64_t out = 0;
  for (const Shape& element : shape.elements) {
    const int64_t count = count_few(element);
    if (count < 0) return -1;
    out += count;
  }
  return out;
}

Result<bool> add_small_computation(BlockProgram& program, const Module& module,
                                   ComputationId computation, bool ideal,
                                   std::span<const int> arguments, std::vector<int>& results) {
  int64_t instructions = 0;
  return SmallBuilder(program, module, ideal, instructions, 0).run(computation, arguments, results);
}

std::set<InstructionId> instructions_under(const Module& module,
                                           std::span<const InstructionId> values) {
  std::vector<InstructionId> waiting(values.begin(), values.end());
  std::set<InstructionId> out(values.begin(), values.end());
  while (!waiting.empty()) {
    const InstructionId id = waiting.back();
    waiting.pop_back();
    for (InstructionId operand : module.operands(id))
      if (out.insert(operand).second) waiting.push_back(operand);
  }
  return out;
}

Result<bool> add_values(BlockProgram& program, const Module& module, ComputationId computation,
                        std::span<const int> arguments, std::span<const InstructionId> values,
                        std::vector<int>& results) {
  int64_t instructions = 0;
  return SmallBuilder(program, module, false, instructions, 0)
      .run_some(computation, arguments, values, results);
}

}  // namespace hilo
