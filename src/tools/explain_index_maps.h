// `hilo explain --index-map=NAME`: which elements of its operands an instruction's elements need.
#pragma once

#include "ir/ir.h"

namespace hilo::tools {

// A line for each operand, or for each pair of an array of the operand and one of the result.
std::string index_maps_text(const Module& module, InstructionId id);
// {"schema": "hilo.index_maps.1", "instruction": ..., "maps": [{"operand": 0, "value": ..., ...}]}
std::string index_maps_json(const Module& module, InstructionId id);

}  // namespace hilo::tools
