// From values to blocks: what each buffer is, and which buffers lie in one piece. Private to
// `plan`.
#pragma once

#include <unordered_map>

#include "plan/plan.h"

namespace hilo {

enum class Role : uint8_t {
  None,  // inside fusions
  Temp,
  Parameter,  // of the entry
  Constant,
  ThreadLocal,  // of computations that are applied, not run: reducers, comparators
  LiveOut,
};
struct BufferFacts {
  Role role = Role::None;
  bool live_out = false;
  bool writable = false;  // its allocation may hold other values when it is dead
  bool is_tuple = false;
  int64_t space = 0, bytes = 0;  // bytes: of its largest value
  int64_t parameter = 0;
  Dims parameter_index;
  bool has_own_allocation() const { return role != Role::None && role != Role::Temp; }
};
// By buffer.
std::vector<BufferFacts> classify(const Module& module, const Machine& machine,
                                  const Aliases& aliases);
// By value.
std::vector<int64_t> sizes_of_values(const Module& module, const Machine& machine,
                                     const Aliases& aliases);

// A result that may be written where an operand dies, `at` bytes into it or (negative) before it.
struct Overlay {
  ValueId operand, result;
  int64_t at = 0;  // of the operand, from the start of the result
  int64_t moment = 0;
};
// Whether a result may be written over an operand, which no order of the module changes: by both.
using KnownSharing = std::unordered_map<uint64_t, bool>;
// By moment; of one moment, what saves most first.
std::vector<Overlay> find_overlays(const Module& module, const Plan& plan,
                                   std::span<const BufferFacts> facts,
                                   std::span<const int64_t> sizes, const Machine& machine,
                                   KnownSharing& known);

// Buffers that get one offset.
struct Member {
  BufferId buffer;
  int64_t at = 0;  // from the group's offset
};
struct Group {
  std::vector<Member> members;
  std::vector<Piece> pieces;  // by start
  BufferId host;              // the member with an allocation of its own, which lies at 0
  int64_t bytes = 0;          // the end of the highest piece
};
// Groups that are left when the results in `overlays` are laid over their operands, wherever
// nothing else that is alive would be disturbed.
std::vector<Group> find_groups(const Plan& plan, std::span<const BufferFacts> facts,
                               std::span<const int64_t> sizes, std::span<const Overlay> overlays,
                               const Machine& machine);

// A group that lies in the allocation of a host, when the host's own values are dead.
struct Reuse {
  uint32_t group = 0, host = 0;  // indices of groups
  int64_t offset = 0;
};
// Which of the largest groups with room is moved: of up to `compared` the one without which the
// space needs least, and of equally large ones the first or the last.
struct ReuseChoice {
  size_t compared = 1;
  bool last_of_equals = false;
};
// Moves groups alive at the moment at which a space is fullest into hosts, as long as any fits.
std::vector<Reuse> reuse_dead_allocations(std::span<const Group> groups,
                                          std::span<const BufferFacts> facts,
                                          const Machine& machine, const ReuseChoice& choice);

}  // namespace hilo
