// Sharding rules that frameworks give custom calls. Private to `pass/shard`.
#pragma once

#include "analysis/analysis.h"

namespace hilo {

// "#sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}, custom>": what
// to_string(ShardingFactors) writes, within Shardy's marks. Syntax where it is not such. Whether it
// fits an instruction is not looked at.
Result<ShardingFactors> parse_sharding_rule(std::string_view text);
// Of a custom call that says how many dimensions in front of all its arrays are a batch
// (num_batch_dims, from JAX), each element of which has its own results. Nothing where it says none
// or sizes differ.
std::optional<ShardingFactors> batch_rule(const Module& module, InstructionId id);
// Whether it is a custom call that gives its one operand as it is, whatever else it says of it.
bool is_identity_call(const Module& module, InstructionId id);
// Whether arrays are as many and have as many dimensions, of sizes that are the factors' product.
bool fits_instruction(const ShardingFactors& factors, const Module& module, InstructionId id);

}  // namespace hilo
