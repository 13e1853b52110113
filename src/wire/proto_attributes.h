// Attribute structs as fields of HloInstructionProto, by their field lists and proto_fields.def.
#pragma once

#include "wire/proto_values.h"

namespace hilo {

// Fills in the attributes' fields; the computations called go to `called` in the wire's order.
void write_attributes(const Module& module, const Instruction& instruction,
                      proto::HloInstructionProto& to, std::vector<ComputationId>& called);
// Adds the attributes of `op` to the module. What the instruction calls is in the wire's order; the
// first operand's type tells what a conditional's branches and a comparison's default are.
Result<AttributesId> read_attributes(Module& module, Op op, const Shape& shape,
                                     ElementType first_operand,
                                     const proto::HloInstructionProto& from,
                                     std::vector<ComputationId> called);

}  // namespace hilo
