#include "eval/block_program.h"
#include "eval/first_error.h"
#include "eval/lanes.h"

namespace hilo {

Result<Literal> evaluate_Map(Call& call) {
  const ComputationId body = call.attributes<MapAttributes>().to_apply;
  Literal out = call.make();
  HILO_TRY(const LaneProgram program,
           LaneProgram::make(call, body, element_types(call.operands), std::array{out.type()}));
  for (const Literal& operand : call.operands)
    if (operand.count() != out.count())
      return call.error(ErrorKind::Shape, "operands of another size than the result");
  std::byte* start = out.mutable_raw().data();
  FirstError error;
  call.parallel(out.count(), 16 * BlockProgram::block, [&](int64_t begin, int64_t end) {
    std::vector<const void*> inputs;
    for (const Literal& operand : call.operands)
      inputs.push_back(operand.raw().data() + begin * storage_bytes(operand.type()));
    void* const target = start + begin * storage_bytes(out.type());
    error.note(program.run(inputs, std::array{target}, end - begin));
  });
  HILO_DO(error.result());
  return out;
}

}  // namespace hilo
