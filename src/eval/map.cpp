#include "eval/block_program.h"
#include "eval/convert.h"
#include "eval/first_error.h"
#include "eval/lanes.h"

namespace hilo {

Result<Literal> evaluate_Map(Call& call) {
  const ComputationId body = call.attributes<MapAttributes>().to_apply;
  HILO_TRY(const LaneProgram program, LaneProgram::make(call, body));
  const std::vector<InstructionId>& parameters = call.module[body].parameters;
  if (parameters.size() != call.operands.size())
    return call.error(ErrorKind::Shape, "one operand is needed for each parameter");
  std::vector<Literal> operands;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ElementType type = call.held(call.module.shape(parameters[i]).type);
    operands.push_back(converted(call, call.operands[i], type));
    if (operands[i].count() != element_count(call.shape()))
      return call.error(ErrorKind::Shape, "operands of another size than the result");
  }
  Literal out = call.make();
  std::byte* start = out.mutable_raw().data();
  FirstError error;
  call.parallel(out.count(), 16 * BlockProgram::block, [&](int64_t begin, int64_t end) {
    std::vector<const void*> inputs;
    for (const Literal& operand : operands)
      inputs.push_back(operand.raw().data() + begin * storage_bytes(operand.type()));
    void* const target = start + begin * storage_bytes(out.type());
    error.note(program.run(inputs, std::array{target}, end - begin));
  });
  HILO_DO(error.result());
  return out;
}

}  // namespace hilo
