// Times of collectives over the links of a torus, by its axes: a gather goes round a ring, both
// ways at once, or along a line; over several axes the data is cut in as many parts, each of which
// begins with another axis ("How to Scale Your Model", Google DeepMind, 2025; Chan and others,
// "Collective communication: theory, practice, and experience", 2007).
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "analysis/analysis.h"

namespace hilo {
namespace {

constexpr size_t max_axes = std::tuple_size_v<TorusShape>;
constexpr size_t directions = 2 * max_axes;  // links of a device

const SourceTargetPairs* pairs_of(const Module& module, InstructionId id) {
  const SourceTargetPairs* out = nullptr;
  visit_attributes_type(module[id].op, [&]<class A>(std::type_identity<A>) {
    if constexpr (requires(const A& a) { a.source_target_pairs; })
      out = &module.attributes<A>(id).source_target_pairs;
  });
  return out;
}

}  // namespace

Network::Network(const Module& module, const Machine& machine, std::span<const double> runs)
    : links_(machine.links), devices_(count_devices(module)), torus_(machine.torus) {
  const auto size = [](const TorusShape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies());
  };
  if (size(torus_) != devices_) torus_ = default_torus(machine, devices_);
  // Devices of a CPU are virtual: its memory, over which they reach each other, is one.
  if (machine.family == MachineFamily::Cpu)
    links_.bytes_per_second /= static_cast<double>(devices_);
  if (is_known() && links_.torus_axes > 0) choose_order(module, runs);
}

void Network::choose_order(const Module& module, std::span<const double> runs) {
  std::vector<InstructionId> all;
  for (uint32_t i = 0; i < module.instructions.size(); ++i)
    if (const Instruction& one = module.instructions[i]; !one.removed && one.op != Op::Fusion &&
                                                         one.op != Op::AsyncStart &&
                                                         collective_bytes(module, {i}))
      all.push_back({i});
  TorusShape best = torus_;
  double least = std::numeric_limits<double>::infinity();
  // From the largest first, so that this one is taken where it makes no difference.
  const auto axes = std::span(torus_).first(static_cast<size_t>(links_.torus_axes));
  std::ranges::sort(axes, std::greater());
  do {
    rates_.clear();
    double sum = 0;
    for (InstructionId id : all)
      sum += std::max(1.0, runs[id.value]) * use_of(module, id).seconds();
    if (sum < least) least = sum, best = torus_;
  } while (std::ranges::next_permutation(axes, std::greater()).found);
  torus_ = best;
  rates_.clear();
}

Network::Coordinates Network::coordinates(int64_t device) const {
  Coordinates out;
  for (size_t axis = max_axes; axis-- > 0; device /= torus_[axis])
    out[axis] = device % torus_[axis];
  return out;
}

int64_t Network::device_at(const Coordinates& at) const {
  int64_t out = 0;
  for (size_t axis = 0; axis < max_axes; ++axis) out = out * torus_[axis] + at[axis];
  return out;
}

std::optional<Network::Extent> Network::extent_of(std::vector<int64_t> along) {
  std::ranges::sort(along);
  along.erase(std::ranges::unique(along).begin(), along.end());
  Extent out{std::ssize(along), along.size() > 1 ? along[1] - along[0] : 1};
  for (size_t i = 1; i < along.size(); ++i)
    if (along[i] - along[i - 1] != out.stride) return std::nullopt;
  return out;
}

std::optional<Network::Box> Network::box_of(const Dims& group) const {
  Box out;
  int64_t size = 1;
  for (size_t axis = 0; axis < max_axes; ++axis) {
    std::vector<int64_t> along;
    for (int64_t device : group) along.push_back(coordinates(device)[axis]);
    const auto found = extent_of(std::move(along));
    if (!found) return std::nullopt;
    out[axis] = *found;
    size *= found->count;
  }
  return size == std::ssize(group) ? std::optional(out) : std::nullopt;
}

bool Network::goes_round(const Box& box, size_t axis) const {
  return closes(axis) && box[axis].count * box[axis].stride == torus_[axis];
}

// All groups at once: those between whose members others lie share links with these.
Network::Rate Network::rate_of(const Box& box, double size) const {
  Rate out;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < max_axes; ++axis)
    if (box[axis].count > 1) axes.push_back(axis);
  const auto count = [&](size_t axis) { return static_cast<double>(box[axis].count); };
  const auto colors = static_cast<double>(axes.size());
  const double shard = 1 / (size - 1);  // of what a device sends in all
  for (size_t phase = 0; phase < axes.size(); ++phase) {
    double longest = 0;
    for (size_t color = 0; color < axes.size(); ++color) {
      double gathered = shard;
      for (size_t before = 0; before < phase; ++before)
        gathered *= count(axes[(color + before) % axes.size()]);
      const size_t axis = axes[(color + phase) % axes.size()];
      const double ways = goes_round(box, axis) ? 2 : 1;
      longest = std::max(longest, gathered * (count(axis) - 1) / colors / ways *
                                      static_cast<double>(box[axis].stride));
    }
    out.gather += longest / links_.bytes_per_second;
  }
  for (size_t axis : axes) {
    const bool round = goes_round(box, axis);
    const auto stride = static_cast<double>(box[axis].stride);
    const double hops = round ? count(axis) / 2 : count(axis) - 1;
    out.latency += links_.step_seconds * hops * stride;
    // The middle link of a line carries what one half has for the other; of a ring there are two,
    // both ways.
    const double through_middle = count(axis) * stride / (round ? 8 : 4);
    out.exchange =
        std::max(out.exchange, through_middle * size / (size - 1) / links_.bytes_per_second);
    out.axes |= 1U << axis;
  }
  return out;
}

// Adds to the links that the shortest way goes over, one axis after the other; its hops.
int64_t Network::route(int64_t from, int64_t to, double load, std::vector<double>& loads) const {
  Coordinates at = coordinates(from);
  const Coordinates end = coordinates(to);
  int64_t hops = 0;
  for (size_t axis = 0; axis < max_axes; ++axis) {
    const int64_t size = torus_[axis], ahead = (end[axis] - at[axis] + size) % size;
    const bool forwards = closes(axis) ? 2 * ahead <= size : end[axis] > at[axis];
    for (; at[axis] != end[axis]; ++hops) {
      loads[static_cast<size_t>(device_at(at)) * directions + 2 * axis + forwards] += load;
      at[axis] = (at[axis] + (forwards ? 1 : size - 1)) % size;
    }
  }
  return hops;
}

// Rings through the members in their order, both ways at once.
Network::Rate Network::rate_of_rings(const DeviceGroups& groups) const {
  std::vector<double> loads(static_cast<size_t>(devices_) * directions);
  Rate out;
  int64_t hops = 0;
  size_t size = 1;
  for (const Dims& group : groups) {
    size = std::max(size, group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      const int64_t one = group[i], next = group[(i + 1) % group.size()];
      hops = std::max({hops, route(one, next, 0.5, loads), route(next, one, 0.5, loads)});
    }
  }
  for (size_t i = 0; i < loads.size(); ++i)
    if (loads[i] > 0) out.axes |= 1U << (i % directions / 2);
  out.gather = std::ranges::max(loads) / links_.bytes_per_second;
  // What goes to the member that is d behind takes d steps, half of them either way.
  out.exchange = out.gather * static_cast<double>(size) / 2;
  out.latency = links_.step_seconds * static_cast<double>(hops) * static_cast<double>(size - 1);
  return out;
}

Network::Rate Network::rate_of(const DeviceGroups& groups) const {
  const auto size = static_cast<double>(std::ranges::max(groups, {}, &Dims::size).size());
  if (links_.torus_axes == 0) {
    const double each = 1 / (static_cast<double>(links_.count) * links_.bytes_per_second);
    return {each, each, links_.step_seconds * (size - 1), 1};
  }
  const auto box = box_of(groups[0]);
  const bool alike =
      box && std::ranges::all_of(groups, [&](const Dims& group) { return box_of(group) == box; });
  return alike ? rate_of(*box, size) : rate_of_rings(groups);
}

LinkUse Network::use_of(const Module& module, InstructionId collective) const {
  const auto bytes = collective_bytes(module, collective);
  if (!bytes || bytes->group < 2 || bytes->sent_bytes == 0 || !is_known()) return {};
  if (const SourceTargetPairs* pairs = pairs_of(module, collective))
    return permute(pairs->pairs, bytes->sent_bytes);
  auto groups = find_groups(module, collective, devices_);
  if (!groups || groups->empty()) {
    Dims all(static_cast<size_t>(devices_));
    std::iota(all.begin(), all.end(), 0);
    groups = DeviceGroups{all};
  }
  auto found = rates_.find(*groups);
  if (found == rates_.end()) found = rates_.emplace(*groups, rate_of(*groups)).first;
  const Rate& rate = found->second;
  const bool exchanges = bytes->kind == Op::AllToAll || bytes->kind == Op::RaggedAllToAll;
  const double times = bytes->kind == Op::AllReduce ? 2 : 1;  // scattered, then gathered
  return {links_.start_seconds + times * rate.latency,
          bytes->sent_bytes * (exchanges ? rate.exchange : rate.gather), rate.axes};
}

LinkUse Network::permute(const Pairs& pairs, double bytes) const {
  LinkUse out{links_.start_seconds, 0, 0};
  if (links_.torus_axes == 0) {
    out.latency += links_.step_seconds;
    out.transfer = bytes / (static_cast<double>(links_.count) * links_.bytes_per_second);
    out.axes = 1;
    return out;
  }
  std::vector<double> loads(static_cast<size_t>(devices_) * directions);
  int64_t hops = 0;
  for (const auto& [source, target] : pairs)
    if (source >= 0 && source < devices_ && target >= 0 && target < devices_)
      hops = std::max(hops, route(source, target, 1, loads));
  for (size_t i = 0; i < loads.size(); ++i)
    if (loads[i] > 0) out.axes |= 1U << (i % directions / 2);
  out.latency += links_.step_seconds * static_cast<double>(hops);
  out.transfer = bytes * std::ranges::max(loads) / links_.bytes_per_second;
  return out;
}

}  // namespace hilo
