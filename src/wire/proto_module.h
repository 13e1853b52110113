// A Module as HloModuleProto and back.
#pragma once

#include "ir/ir.h"
#include "wire/hlo.pb.h"

namespace hilo {

void write_module_proto(const Module& module, proto::HloModuleProto& to);
Result<Module> read_module_proto(const proto::HloModuleProto& from);

// The parts of the header: aliases, donors, stack frames, layouts, what only text says.
void write_header(const Module& module, proto::HloModuleProto& to);
Result<void> read_header(const proto::HloModuleProto& from, Module& module);

// The instructions of a computation in an order where operands come first: the schedule's when
// there is one, else the file's, changed as little as needed. Indices into from.instructions().
// A cycle, an unknown id or a schedule that does not fit is an Error of kind Structure.
Result<std::vector<int>> order_instructions(
    const proto::HloComputationProto& from,
    const proto::HloScheduleProto::InstructionSequence* schedule);
// Computations may not call each other in circles.
Result<void> check_calls(const Module& module);

}  // namespace hilo
