// Resharding: collectives that bring an array from one sharding to another. Every step moves only
// what a device will hold and does not hold yet, so the bytes are the least that are possible, but
// where summands are to be added first. The array redistribution problem: arXiv 2112.01075. Private
// to `pass`.
#pragma once

#include "ir/ir.h"

namespace hilo {

struct ReshardStep {
  enum class Kind : uint8_t {
    Slice,          // a device keeps a part of its tile
    Permute,        // whole tiles go to other devices
    AllToAll,       // along `axes`: dimensions lose axes, others gain some of them
    AllGather,      // along `axes`: dimensions lose axes
    Chunks,         // parts of tiles go to other devices, one collective-permute a round
    AllReduce,      // along `axes`: summands become sums
    ReduceScatter,  // along `axes`: summands become sums, of which each device keeps a part
  };
  Kind kind = Kind::Slice;
  AxisSharding from, to;
  SubAxes axes;              // devices that differ along these are a group; empty where not grouped
  std::vector<size_t> dims;  // whose axes differ
  int64_t elements = 0;      // that all devices together send, padding included
  int64_t collectives = 0;
  int64_t peak = 0;  // elements that a device holds meanwhile, operands and results
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  int64_t devices = 1;
  int64_t elements = 0, collectives = 0, peak = 0;  // sums, and the greatest

  double bytes_per_device(ElementType type) const;
};

struct ReshardOptions {
  // What a collective takes beside its bytes, as elements that a device sends in that time: many
  // rounds of chunks give way to a chain that sends more.
  double collective_elements = 0;
  // Chunks are listed one by one, in the plan and in the module: more are left to chains of
  // collectives that send more than the bound.
  int64_t max_transfers = int64_t{1} << 16;
  // Of a search, before it takes the first chain that it finds.
  size_t max_states = size_t{1} << 10;
  // Tiles that a search looks at, one by one where they have padding, before it takes the best
  // chain that is known.
  int64_t max_looks = int64_t{1} << 22;
};

// The fewest elements that are sent, then the fewest collectives, then the smallest peak.
// Shape where ranks differ; Structure where the meshes have not as many devices or manual axes
// differ; Unsupported where the target has unreduced axes that the source has not.
Result<ReshardPlan> plan_reshard(std::span<const int64_t> dims, const AxisSharding& from,
                                 const AxisSharding& to, const ReshardOptions& options = {});
// What the devices together will hold and do not hold: no plan sends less. Same errors, and
// Unsupported where anything is to be summed.
Result<int64_t> reshard_bound(std::span<const int64_t> dims, const AxisSharding& from,
                              const AxisSharding& to);

// A box of the array that a device sends to another, or has of its new tile.
struct ChunkTransfer {
  int64_t source = 0, target = 0;
  Dims offset;  // in the array
};
// Transfers of boxes of one size; each device sends one and receives one at most.
struct ChunkRound {
  Dims sizes;
  std::vector<ChunkTransfer> transfers;
  bool communicates() const;  // not only boxes that devices have
};
// All of the new tiles, each element from one of its holders.
std::vector<ChunkRound> chunk_rounds(std::span<const int64_t> dims, const AxisSharding& from,
                                     const AxisSharding& to);

// For each device, the one whose tile it gets. `from` and `to` are over one mesh, with axes of the
// same sizes in the same dimensions, in the same order.
Dims permute_sources(const AxisSharding& from, const AxisSharding& to);

}  // namespace hilo
