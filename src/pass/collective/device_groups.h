// What passes ask of collectives and their groups. Private to `pass/collective`.
#pragma once

#include "pass/pass.h"

namespace hilo {

// Written as an iota where their numbers form one.
ReplicaGroups written(const DeviceGroups& groups);
// Whether two collectives do the same with whatever operands: all but operands, shapes, channels
// and how the groups are written. Reducers are the same where they combine in the same way.
bool do_the_same(const Module& module, InstructionId a, InstructionId b, int64_t devices);
// A number above all channels of the module.
int64_t next_channel(const Module& module);

// Attributes of a collective between these groups, over a channel of its own.
template <class Attributes>
Attributes between(const DeviceGroups& groups, int64_t channel) {
  Attributes out;
  out.channel_id = channel;
  out.replica_groups = written(groups);
  if constexpr (requires { out.use_global_device_ids; }) out.use_global_device_ids = true;
  return out;
}

// Removes a collective that nobody uses: all devices leave it out alike.
void remove_collective(Editor& editor, InstructionId collective);
// Whether nobody but `user` uses the value, and it once.
bool is_only_user(const Module& module, InstructionId value, InstructionId user);
// Whether `value` has one use, and is neither a result nor held by control dependences.
bool has_one_use(const Editor& editor, InstructionId value);
// Whether values of the type come out the same in whatever order `op` combines them; of floats only
// as far as `keeps` allows.
bool may_reorder(Op op, ElementType type, Keeps keeps);

}  // namespace hilo
