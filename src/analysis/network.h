// Which devices collectives join, and how long they take over the links between these. Shown
// through analysis.h.
#pragma once

#include <map>

#include "ir/ir.h"
#include "machine/machine.h"

namespace hilo {

using DeviceGroups = std::vector<Dims>;  // members in the order of data and of sums

// How many devices run the module: what its header says, or else as many as one of its collectives
// names.
int64_t count_devices(const Module& module);
// The groups of a collective that has replica_groups, whatever its ids count, by the devices'
// numbers: replica * partitions + partition. Nothing where some device stands in no group, or an id
// is no device's.
std::optional<DeviceGroups> find_groups(const Module& module, InstructionId collective,
                                        int64_t devices);
// Of which all have the same size; 0 where they differ.
int64_t group_size(const DeviceGroups& groups);
std::optional<int64_t> channel_of(const Module& module, InstructionId collective);

// What a collective takes, beside nobody else: steps between devices, then its bytes; and of which
// axes of the torus it takes the links, a bit each.
struct LinkUse {
  double latency = 0, transfer = 0;  // seconds
  uint32_t axes = 0;
  double seconds() const { return latency + transfer; }
};

// The links between the devices that run a module. In a torus devices are counted with the last
// axis first, as meshes count them. Frameworks lay a mesh over the torus so that it fits, and
// modules do not say how: of the orders of its axes the one counts in which all collectives take
// the least.
class Network {
 public:
  // `runs`: how often each instruction runs.
  Network(const Module& module, const Machine& machine, std::span<const double> runs);
  bool is_known() const { return links_.are_known(); }
  const TorusShape& torus() const { return torus_; }

  // Of a collective, not of what starts one. Formulas: docs/collectives.md.
  LinkUse use_of(const Module& module, InstructionId collective) const;
  // Of bytes that go from the first of each pair to the second, all at once.
  using Pairs = std::vector<std::pair<int64_t, int64_t>>;
  LinkUse permute(const Pairs& pairs, double bytes) const;

 private:
  using Coordinates = std::array<int64_t, std::tuple_size_v<TorusShape>>;
  // The devices of a group along an axis: so many, each `stride` behind the one before.
  struct Extent {
    int64_t count = 1, stride = 1;
    bool operator==(const Extent&) const = default;
  };
  static std::optional<Extent> extent_of(std::vector<int64_t> along);
  using Box = std::array<Extent, std::tuple_size_v<TorusShape>>;
  struct Rate {
    double gather = 0, exchange = 0;  // seconds for a byte that a device sends
    double latency = 0;               // seconds
    uint32_t axes = 0;
  };

  void choose_order(const Module& module, std::span<const double> runs);
  Coordinates coordinates(int64_t device) const;
  int64_t device_at(const Coordinates& at) const;
  bool closes(size_t axis) const { return closes_to_ring(links_, torus_, axis); }
  bool goes_round(const Box& box, size_t axis) const;
  std::optional<Box> box_of(const Dims& group) const;
  Rate rate_of(const DeviceGroups& groups) const;
  Rate rate_of(const Box& box, double size) const;
  Rate rate_of_rings(const DeviceGroups& groups) const;
  int64_t route(int64_t from, int64_t to, double load, std::vector<double>& loads) const;

  Links links_;
  int64_t devices_ = 1;
  TorusShape torus_ = {};
  mutable std::map<DeviceGroups, Rate> rates_;  // in torus_
};

}  // namespace hilo
