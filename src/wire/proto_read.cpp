#include <unordered_map>
#include <unordered_set>

#include "wire/legal_name.h"
#include "wire/proto_attributes.h"
#include "wire/proto_extra.h"
#include "wire/proto_module.h"

namespace hilo {
namespace {

using proto::HloComputationProto;
using proto::HloInstructionProto;
using proto::HloModuleProto;

class Reader {
 public:
  explicit Reader(const HloModuleProto& from) : from_(from) {}

  Result<Module> read() {
    HILO_DO(read_header(from_, module_));
    HILO_DO(add_computations());
    for (int i = 0; i < from_.computations_size(); ++i) {
      current_ = {static_cast<uint32_t>(i)};
      HILO_DO(at_computation(read_computation(from_.computations(i))));
    }
    HILO_DO(check_calls(module_));
    copy_async_attributes();
    return std::move(module_);
  }

 private:
  Result<void> at_computation(Result<void> result) {
    if (!result && result.error().place.computation.empty())
      result.error().place.computation = module_[current_].name;
    return result;
  }

  Result<void> add_computations() {
    std::unordered_set<std::string> names;
    for (const HloComputationProto& from : from_.computations()) {
      const ComputationId id = {static_cast<uint32_t>(module_.computations.size())};
      Computation& computation = module_.computations.emplace_back();
      const std::string name = legal_name(from.name());
      if (name.empty() || !names.insert(name).second)
        return fail(ErrorKind::Name, "a second computation is called '{}'", name);
      computation.name = module_.strings.copy(name);
      if (!from.execution_thread().empty())
        computation.execution_thread = module_.strings.copy(from.execution_thread());
      if (!by_id_.emplace(from.id(), id).second)
        return fail(ErrorKind::Structure, "two computations with the id {}", from.id());
      if (from.name() == from_.entry_computation_name()) module_.entry = id;
    }
    const auto entry = by_id_.find(from_.entry_computation_id());
    if (entry != by_id_.end()) module_.entry = entry->second;
    if (!module_.entry)
      return fail(ErrorKind::Structure, "the entry computation {} is not there",
                  from_.entry_computation_id());
    return {};
  }

  Result<void> read_computation(const HloComputationProto& from) {
    const auto& sequences = from_.schedule().sequences();
    const auto found = sequences.find(from.id());
    HILO_TRY(const std::vector<int> order,
             order_instructions(from, found == sequences.end() ? nullptr : &found->second));
    instructions_.clear();
    names_.clear();
    for (int i : order) {
      Result<void> done = read_instruction(from.instructions(i));
      if (!done) {
        done.error().place.instruction = from.instructions(i).name();
        done.error().place.op = from.instructions(i).opcode();
        return done;
      }
    }
    for (int i : order) HILO_DO(read_control(from.instructions(i)));
    HILO_DO(number_parameters(from));
    const auto root = instructions_.find(from.root_id());
    if (root == instructions_.end())
      return fail(ErrorKind::Structure, "the root {} is not there", from.root_id());
    module_[current_].root = root->second;
    return {};
  }

  Result<std::vector<ComputationId>> called_by(const HloInstructionProto& from) const {
    std::vector<ComputationId> called;
    for (int64_t id : from.called_computation_ids()) {
      const auto found = by_id_.find(id);
      if (found == by_id_.end())
        return fail(ErrorKind::Structure, "the called computation {} is not there", id);
      called.push_back(found->second);
    }
    return called;
  }

  Result<void> read_instruction(const HloInstructionProto& from) {
    const std::optional<Op> op = op_of(from.opcode());
    if (!op) return fail(ErrorKind::Unsupported, "the opcode '{}'", from.opcode());
    const int expected = info(*op).operands;
    if (expected >= 0 && expected != from.operand_ids_size())
      return fail(ErrorKind::Structure, "{} operands where {} belong", from.operand_ids_size(),
                  expected);
    Instruction instruction;
    instruction.op = *op;
    HILO_TRY(const Shape shape, read_shape(from.shape()));
    instruction.shape = module_.shapes.intern(shape);
    const std::string name = legal_name(from.own_name().empty() ? from.name() : from.own_name());
    if (name.empty() || !names_.insert(name).second)
      return fail(ErrorKind::Name, "a second instruction is called '{}'", name);
    instruction.name = module_.strings.copy(name);
    instruction.computation = current_;
    std::vector<InstructionId> operands;
    for (int64_t id : from.operand_ids()) operands.push_back(instructions_.at(id));
    HILO_TRY(const std::vector<ComputationId> called, called_by(from));
    const ElementType first =
        operands.empty() ? ElementType::Invalid : module_.shape(operands[0]).type;
    HILO_TRY(instruction.attributes, read_attributes(module_, *op, shape, first, from, called));
    HILO_DO(check_literal(instruction, shape));
    HILO_DO(read_rest(from, instruction));
    const InstructionId id = module_.append_raw(instruction, operands);
    module_[current_].instructions.push_back(id);
    instructions_.emplace(from.id(), id);
    return {};
  }

  Result<void> check_literal(const Instruction& instruction, const Shape& shape) const {
    if (instruction.op != Op::Constant) return {};
    const Literal& literal = *module_.attributes<ConstantAttributes>(instruction).literal.literal;
    if (same_dims(literal.shape(), shape)) return {};
    return fail(ErrorKind::Shape, "the literal is {}, the instruction {}",
                to_string_without_layout(literal.shape()), to_string_without_layout(shape));
  }

  Result<void> read_rest(const HloInstructionProto& from, Instruction& instruction) {
    HILO_TRY(Extra extra, read_extra(from, from_.payloads(), module_.strings));
    const bool is_plain = !extra.sharding && extra.frontend_attributes.empty() &&
                          extra.statistics.empty() && extra.result_accuracy.empty() &&
                          extra.origin.empty() && extra.parameter_replication.empty() &&
                          extra.backend_config.empty() && extra.unknown.empty() &&
                          from.control_predecessor_ids().empty();
    if (!is_plain) {
      instruction.extra = {static_cast<uint32_t>(module_.extras.size())};
      module_.extras.push_back(std::move(extra));
    }
    const std::string key = from.metadata().SerializeAsString();
    if (key.empty()) return {};
    const auto [known, is_new] =
        metadata_.emplace(key, static_cast<uint32_t>(module_.metadata.size()));
    if (is_new)
      module_.metadata.push_back(read_metadata(from.metadata(), from_.payloads(), module_.strings));
    instruction.metadata = {known->second};
    return {};
  }

  Result<void> read_control(const HloInstructionProto& from) {
    for (int64_t id : from.control_predecessor_ids()) {
      const auto found = instructions_.find(id);
      if (found == instructions_.end())
        return fail(ErrorKind::Structure, "the control predecessor {} is not there", id);
      module_.mutable_extra(instructions_.at(from.id()))
          .control_predecessors.push_back(found->second);
    }
    return {};
  }

  Result<void> number_parameters(const HloComputationProto& from) {
    std::vector<InstructionId>& parameters = module_[current_].parameters;
    for (InstructionId id : module_[current_].instructions)
      if (module_[id].op == Op::Parameter) parameters.emplace_back();
    for (InstructionId id : module_[current_].instructions) {
      if (module_[id].op != Op::Parameter) continue;
      const int64_t number = module_.attributes<ParameterAttributes>(id).number;
      if (number < 0 || number >= static_cast<int64_t>(parameters.size()) || parameters[number])
        return fail(ErrorKind::Structure, "parameter {} of {} in {}", number, parameters.size(),
                    from.name());
      parameters[number] = id;
    }
    return {};
  }

  // async-update and async-done have what their start has.
  void copy_async_attributes() {
    for (uint32_t i = 0; i < module_.instructions.size(); ++i) {
      const Op op = module_.instructions[i].op;
      if ((op != Op::AsyncUpdate && op != Op::AsyncDone) ||
          module_.instructions[i].operand_count == 0)
        continue;
      const InstructionId operand = module_.operand({i}, 0);
      if (module_[operand].op != Op::AsyncStart && module_[operand].op != Op::AsyncUpdate) continue;
      const AsyncAttributes start = module_.attributes<AsyncAttributes>(operand);
      AsyncAttributes& own = module_.mutable_attributes<AsyncAttributes>(InstructionId{i});
      if (!own.calls) own.calls = start.calls;
      if (own.async_execution_thread.empty())
        own.async_execution_thread = start.async_execution_thread;
    }
  }

  const HloModuleProto& from_;
  Module module_;
  ComputationId current_;
  std::unordered_map<int64_t, ComputationId> by_id_;
  std::unordered_map<int64_t, InstructionId> instructions_;  // of the current computation
  std::unordered_set<std::string> names_;                    // of the current computation
  std::unordered_map<std::string, uint32_t> metadata_;
};

}  // namespace

Result<Module> read_module_proto(const HloModuleProto& from) { return Reader(from).read(); }

}  // namespace hilo
