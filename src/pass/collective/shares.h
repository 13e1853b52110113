// How the devices of a group share an array of which each takes a slice. Private to
// `pass/collective`.
#pragma once

#include "pass/collective/device_values.h"

namespace hilo {

// One dimension, of which each device takes `size` elements from its start. Every group has the
// same number of different starts, each for as many of its members.
struct Share {
  size_t dim = 0;
  int64_t size = 0;
  int64_t starts = 0;       // different ones in a group
  DeviceGroups scattered;   // one member for each start, in the order of the starts
  DeviceGroups alike;       // members with the same start; all of one member where each has its own
  std::vector<Dims> slots;  // of each device's group: the starts in order
  bool in_order = false;    // `scattered` are the groups themselves, members in their order
};
// Nothing where the groups differ in the number of starts, or starts in the number of members.
std::optional<Share> find_share(const DeviceGroups& groups, const DeviceSlice& slice, size_t dim);

}  // namespace hilo
