// Shardings that the order of propagation decided, decided anew by what they cost. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/propagation_graph.h"
#include "pass/shard/sharding_table.h"

namespace hilo {

struct PropagationState {
  const Module& module;
  const GivenShardings& given;
  const ShardedValues& values;             // with the shardings that are given
  const std::vector<uint32_t>& given_ids;  // of those, in the table
  const PropagationGraph& graph;
  ShardingTable& table;
  std::vector<uint32_t>& ids;  // of shardings in the table, by value
  ShardingOrigins* origins;    // may be null
  // Roles that are chosen to know what a sharding costs: one for each instruction, and these. Then
  // the search ends with what it has.
  size_t more_questions = 64;
};

// A local search: where an instruction has to move data, each of its open values tries the sharding
// that another array there asks for, and so do all that are sharded like it for no other reason
// than elementwise ops between. What costs less, by choose_roles() and trip counts, and is
// no more work for a device, stays. Each
// sharding is tried once for a value in a sweep, so that a sweep is linear; sweeps go on as long as
// they find something. Closed dimensions and what is given of open ones hold.
void improve_shardings(PropagationState state);

}  // namespace hilo
