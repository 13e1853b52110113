// The reduction of all-reduce and reduce-scatter. Private to `eval`.
#pragma once

#include "eval/call.h"

namespace hilo {

using BroughtBy = std::function<std::vector<Literal>(int64_t member)>;
// What the members of a group brought combined, in their order, element by element. The computation
// takes two scalars, and then each array is reduced by itself; or two for each array, reduced
// together. Each member is asked once.
Result<std::vector<Literal>> reduce_members(const Call& call, ComputationId computation,
                                            int64_t members, const BroughtBy& brought_by);
// The same of a group with members in several processes, into meeting.common: each process combines
// a chunk of the elements, of which it gets those of all members, and gives it to all others. So
// each sends 2 (p - 1) / p of the bytes where each of p processes has a member, and the order is
// that of the group.
Result<void> reduce_over_processes(const Call& call, ComputationId computation,
                                   Rendezvous::Meeting& meeting, RemoteGroup& others);

}  // namespace hilo
