// That ids lead where they should: entry, roots, parameters, operands, callees.
#include "verify/report.h"

namespace hilo {
namespace {

bool exists(const Module& module, InstructionId id) {
  return id && id.value < module.instructions.size() && !module[id].removed;
}

void verify_root_and_parameters(const Module& module, ComputationId id, Report& report) {
  const Computation& computation = module[id];
  const auto belongs = [&](InstructionId other) {
    return exists(module, other) && module[other].computation == id && module[other].shape;
  };
  if (!belongs(computation.root))
    report.add(ErrorKind::Structure, id, "the computation has no root");
  for (size_t i = 0; i < computation.parameters.size(); ++i)
    if (!belongs(computation.parameters[i]))
      report.add(ErrorKind::Structure, id,
                 fmt::format("parameter {} is missing, parameters are numbered from 0", i));
}

void verify_parameter(const Module& module, InstructionId id, Report& report) {
  const Instruction& instruction = module[id];
  const int64_t number = module.attributes<ParameterAttributes>(instruction).number;
  const auto& parameters = module[instruction.computation].parameters;
  if (number >= 0 && number < static_cast<int64_t>(parameters.size()) && parameters[number] == id)
    return;
  report.add(ErrorKind::Structure, id,
             fmt::format("parameter number {} stands twice or is not below {}", number,
                         parameters.size()));
}

void verify_instruction(const Module& module, InstructionId id, Report& report) {
  const Instruction& instruction = module[id];
  const auto foreign = [&](InstructionId other) {
    return !exists(module, other) || module[other].computation != instruction.computation;
  };
  if (const std::string_view lost = module.lost_id(instruction); !lost.empty())
    return report.add(ErrorKind::Structure, id,
                      lost == "shape" ? "expected a result shape"
                                      : fmt::format("its {} is not of this module", lost));
  if (!instruction.attributes && info(instruction.op).attributes != "None")
    return report.add(ErrorKind::Structure, id, "expected attributes");
  for (InstructionId operand : module.operands(instruction))
    if (foreign(operand))
      return report.add(ErrorKind::Structure, id, "an operand is not of the same computation");
  for (InstructionId before : module.extra(instruction).control_predecessors)
    if (foreign(before))
      return report.add(ErrorKind::Structure, id,
                        "a control predecessor is not of the same computation");
  if (instruction.op == Op::Parameter) verify_parameter(module, id, report);
}

// Ranks beyond this have no use; rules may take the square of it.
constexpr size_t max_dimensions = 1024;

bool has_too_many_dimensions(const Shape& shape) {
  if (shape.dims.size() > max_dimensions || shape.layout.minor_to_major.size() > max_dimensions)
    return true;
  for (const Shape& element : shape.elements)
    if (has_too_many_dimensions(element)) return true;
  return false;
}

void report_too_many_dimensions(const Module& module, ShapeId shape, Report& report) {
  std::string message = fmt::format("an array of more than {} dimensions", max_dimensions);
  for (size_t i = 0; i < module.computations.size(); ++i)
    for (InstructionId id : module.computations[i].instructions)
      if (exists(module, id) && module[id].computation.value == i && module[id].shape == shape)
        return report.add(ErrorKind::Limit, id, std::move(message));
  report.add(ErrorKind::Limit, std::move(message));
}

}  // namespace

void verify_structure(const Module& module, Report& report) {
  if (!module.entry || module.entry.value >= module.computations.size())
    return report.add(ErrorKind::Structure, "the module has no entry computation");
  for (uint32_t i = 0; i < module.shapes.size(); ++i)
    if (has_too_many_dimensions(module.shapes[ShapeId{i}]))
      return report_too_many_dimensions(module, {i}, report);
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id = {static_cast<uint32_t>(i)};
    verify_root_and_parameters(module, id, report);
    for (InstructionId instruction : module[id].instructions) {
      if (report.is_full()) return;
      if (!exists(module, instruction) || module[instruction].computation != id)
        return report.add(ErrorKind::Structure, id, "an instruction is not of this computation");
      verify_instruction(module, instruction, report);
    }
  }
}

}  // namespace hilo
