// A program for many devices against the same program for one: each device's tile of the result is
// the box of the whole that its sharding says.
#pragma once

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "../judge.h"
#include "analysis/analysis.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/reshard.h"
#include "ruled_calls.h"
#include "small_numbers.h"

namespace hilo::test {

// Shardings of a value's leaves; replicated where none is stated.
inline Result<std::vector<AxisSharding>> leaf_shardings(const Module& module, InstructionId id,
                                                        const Shape& global) {
  const SharedMesh mesh = flat_mesh(module.header.num_partitions);
  const auto& stated = module.extra(module[id]).sharding;
  if (stated) return axis_shardings(*stated, global, mesh);
  std::vector<AxisSharding> out;
  for_each_leaf(global, [&](const Shape& leaf, std::span<const int64_t>) {
    out.push_back(replicated_sharding(mesh, leaf.dims.size()));
  });
  return out;
}

// Calls body(offset in the tile, offset in the whole), in bytes, for the elements of a box.
inline void for_each_element(const ArrayBox& box, const Dims& whole, const Dims& tile,
                             int64_t bytes, const std::function<void(int64_t, int64_t)>& body) {
  if (box.elements() == 0) return;
  const Dims of_whole = row_major_strides(whole), of_tile = row_major_strides(tile);
  Dims index(box.sizes.size(), 0);
  do {
    int64_t in_tile = 0, in_whole = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      in_tile += index[d] * of_tile[d];
      in_whole += (box.offset[d] + index[d]) * of_whole[d];
    }
    body(in_tile * bytes, in_whole * bytes);
  } while (next_index(index, box.sizes));
}

// Of devices that hold summands, the last has the array.
inline bool has_numbers(const AxisSharding& sharding, int64_t device) {
  return sharding.unreduced.empty() ||
         std::ranges::any_of(device_groups(*sharding.mesh, sharding.unreduced),
                             [&](const Dims& group) { return group.back() == device; });
}

// What a summand is that adds nothing.
inline Literal nothing_of(const AxisSharding& sharding, ElementType type) {
  if (const auto op = reduction_of(sharding.unreduced_op); op && *op != Op::Add)
    return *identity_element(*op, type);
  return scalar_of(type, is_floating(type) ? -0.0 : 0);
}

// A device's tile of an array. Padding is NaN, or any bits: nobody may read it.
inline Literal tile_of(const Literal& whole, const AxisSharding& sharding, int64_t device,
                       Dice& dice) {
  const Shape local = local_shape(whole.shape(), sharding);
  Literal out = Literal::uninitialized(local);
  const bool is_pred = whole.type() == ElementType::Pred;
  for (std::byte& byte : out.mutable_raw())
    byte = is_pred                     ? static_cast<std::byte>(dice.below(2))
           : is_floating(whole.type()) ? std::byte{0xff}
                                       : static_cast<std::byte>(dice.below(256));
  const int64_t bytes = storage_bytes(whole.type());
  const ArrayBox box = DeviceTiles(sharding, whole.shape().dims).box_of(device);
  std::byte* to = out.mutable_raw().data();
  const bool is_zero = !has_numbers(sharding, device);
  const Literal zero = nothing_of(sharding, whole.type());
  for_each_element(box, whole.shape().dims, local.dims, bytes, [&](int64_t in, int64_t of) {
    std::copy_n(is_zero ? zero.raw().data() : whole.raw().data() + of, bytes, to + in);
  });
  return out;
}
inline Literal tile_of(const Literal& whole, std::span<const AxisSharding>& leaves, int64_t device,
                       Dice& dice) {
  if (!whole.shape().is_tuple()) {
    Literal out = tile_of(whole, leaves[0], device, dice);
    leaves = leaves.subspan(1);
    return out;
  }
  std::vector<Literal> elements;
  for (const Literal& element : whole.elements())
    elements.push_back(tile_of(element, leaves, device, dice));
  return Literal::tuple(std::move(elements));
}

inline std::string difference_in_tile(const Literal& whole, const Literal& tile,
                                      const AxisSharding& sharding, int64_t device) {
  const Dims local = local_dims(whole.shape().dims, sharding);
  if (tile.shape().dims != local || tile.type() != whole.type())
    return fmt::format("device {} has {}, not a tile of {}", device,
                       to_string_without_layout(tile.shape()),
                       to_string_without_layout(whole.shape()));
  const int64_t bytes = storage_bytes(whole.type());
  const ArrayBox box = DeviceTiles(sharding, whole.shape().dims).box_of(device);
  std::string out;
  for_each_element(box, whole.shape().dims, local, bytes, [&](int64_t in, int64_t of) {
    const std::byte *a = whole.raw().data() + of, *b = tile.raw().data() + in;
    if (!out.empty() || std::equal(a, a + bytes, b)) return;
    const double x = whole.number_at(of / bytes), y = tile.number_at(in / bytes);
    if (is_floating(whole.type()) && (x == y || (std::isnan(x) && std::isnan(y)))) return;
    if (whole.type() == ElementType::C128 && whole.data<std::complex<double>>()[of / bytes] ==
                                                 tile.data<std::complex<double>>()[in / bytes])
      return;  // zeros of either sign
    out = fmt::format("device {} has {} where element {} is {}", device, y, of / bytes, x);
  });
  return out;
}

// On average over the devices, of which some may have nothing to send.
inline double sent_bytes(const Module& module, InstructionId id, const CollectiveBytes& most) {
  if (most.kind != Op::CollectivePermute) return most.sent_bytes;
  double pairs = 0;
  for (const auto& [source, target] :
       module.attributes<CollectivePermuteAttributes>(id).source_target_pairs.pairs)
    pairs += source != target;
  return most.sent_bytes * pairs / static_cast<double>(module.header.num_partitions);
}

inline std::string difference_of_groups(const Module& module, const Instruction& instruction) {
  const int64_t devices = module.header.num_partitions;
  std::vector<int> sent(devices), received(devices);
  if (instruction.op == Op::CollectivePermute) {
    const auto& pairs =
        module.attributes<CollectivePermuteAttributes>(instruction).source_target_pairs.pairs;
    for (const auto& [source, target] : pairs)
      if (++sent.at(source) > 1 || ++received.at(target) > 1) return "a permute pairs one twice";
    return "";
  }
  const auto groups = visit_attributes_type(
      instruction.op, [&]<class A>(std::type_identity<A>) -> std::vector<Dims> {
        if constexpr (requires(A a) { a.replica_groups; })
          return module.attributes<A>(instruction).replica_groups.expand();
        else return {};
      });
  for (const Dims& group : groups)
    for (int64_t device : group) ++sent.at(device);
  if (!groups.empty() && std::ranges::count(sent, 1) != devices)
    return "a device is not in one group of each collective";
  return "";
}

// How often instructions name each computation, those that do so themselves counted: the
// partitioner may make several of one that is shared.
inline std::map<ComputationId, double> count_calls(const Module& module) {
  std::map<ComputationId, double> out = {{module.entry, 1}};
  for (ComputationId caller : module.post_order() | std::views::reverse)
    for (InstructionId id : module[caller].instructions)
      if (!module[id].removed)
        for (ComputationId callee : module.called(module[id])) out[callee] += out[caller];
  return out;
}

struct CollectiveCount {
  int64_t count = 0;
  double bytes = 0;  // that a device sends on average, each instruction once a call
  std::string fault;
};
inline int64_t channel_of(const Module& module, const Instruction& one) {
  return visit_attributes_type(one.op, [&]<class A>(std::type_identity<A>) -> int64_t {
    if constexpr (requires(const A& a) { a.channel_id.value_or(0); })
      return module.attributes<A>(one).channel_id.value_or(0);
    else return 0;
  });
}
// Channels that stand in a program of regions, of which a call may have become several.
inline std::set<int64_t> given_channels(const Module& module) {
  std::set<int64_t> out;
  for (const Instruction& one : module.instructions)
    if (!one.removed) out.insert(channel_of(module, one));
  return out;
}
// `given`: channels that may stand twice, where no others may.
inline CollectiveCount count_collectives(const Module& module,
                                         std::optional<std::set<int64_t>> given = {}) {
  CollectiveCount out;
  std::set<int64_t> channels;
  auto calls = count_calls(module);
  for (ComputationId computation : module.post_order())
    for (InstructionId id : module[computation].instructions) {
      const Instruction& one = module[id];
      const auto bytes = one.removed ? std::nullopt : collective_bytes(module, id);
      if (!bytes) continue;
      ++out.count;
      out.bytes += calls[computation] * sent_bytes(module, id, *bytes);
      if (std::string fault = difference_of_groups(module, one); !fault.empty()) out.fault = fault;
      const int64_t channel = channel_of(module, one);
      if (!given) continue;
      if (!channels.insert(channel).second && !given->contains(channel))
        out.fault = "two collectives on one channel";
    }
  return out;
}

// Where devices hold summands of a sum, or of a greatest or least value: on each of them that.
inline void add_summands(std::vector<Literal>& tiles, const AxisSharding& sharding) {
  if (sharding.unreduced.empty()) return;
  const Module add = parsed(fmt::format(
      "ENTRY e {{ a = {0} parameter(0)\n b = {0} parameter(1)\n ROOT c = {0} {1}(a, b) }}",
      to_string_without_layout(tiles[0].shape()), text_of(*reduction_of(sharding.unreduced_op))));
  for (const Dims& group : device_groups(*sharding.mesh, sharding.unreduced)) {
    Literal sum = tiles[static_cast<size_t>(group[0])];
    for (int64_t device : std::span(group).subspan(1))
      sum = *evaluate_once(add, {sum, tiles[static_cast<size_t>(device)]});
    for (int64_t device : group) tiles[static_cast<size_t>(device)] = sum;
  }
}

// "" where each device's tiles of the result are those of `before`, run as one program.
inline std::string difference_on_devices(const Module& before, const Module& after, uint64_t seed,
                                         const std::vector<Literal>& arguments) {
  EvalOptions whole, parts;
  whole.partitioning = Partitioning::Unpartitioned;
  parts.partitioning = Partitioning::Partitioned;
  whole.threads = parts.threads = 1;
  whole.max_steps = parts.max_steps = 1000;
  whole.custom_calls = parts.custom_calls = ruled_calls();
  const auto expected = evaluate(before, Inputs{{arguments}}, whole);
  if (!expected) return "before: " + to_string(expected.error());
  const Computation &old = before[before.entry], &entry = after[after.entry];
  Dice dice(seed);
  Inputs inputs;
  inputs.devices.resize(before.header.num_partitions);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto cut = leaf_shardings(after, entry.parameters[i], before.shape(old.parameters[i]));
    if (!cut) return "parameter: " + to_string(cut.error());
    for (int64_t device = 0; device < std::ssize(inputs.devices); ++device) {
      std::span<const AxisSharding> leaves = *cut;
      inputs.devices[device].push_back(tile_of(arguments[i], leaves, device, dice));
    }
  }
  const auto found = evaluate(after, std::move(inputs), parts);
  if (!found) return "after: " + to_string(found.error());
  const auto cut = leaf_shardings(after, entry.root, before.shape(old.root));
  if (!cut) return "result: " + to_string(cut.error());
  if (std::ranges::any_of(*cut, [](const AxisSharding& one) { return !one.manual.empty(); }))
    return "the result is within a region: devices have no tiles of one whole";
  std::vector<Literal> wholes;
  for_each_leaf(expected->devices[0], [&](const Literal& leaf) { wholes.push_back(leaf); });
  std::vector<std::vector<Literal>> tiles(wholes.size());  // of each device
  for (const Literal& result : found->devices) {
    size_t leaf = 0;
    for_each_leaf(result, [&](const Literal& tile) { tiles[leaf++].push_back(tile); });
  }
  for (size_t leaf = 0; leaf < tiles.size(); ++leaf) {
    add_summands(tiles[leaf], (*cut)[leaf]);
    for (size_t device = 0; device < tiles[leaf].size(); ++device)
      if (const std::string fault = difference_in_tile(wholes[leaf], tiles[leaf][device],
                                                       (*cut)[leaf], static_cast<int64_t>(device));
          !fault.empty())
        return fmt::format("result {}: {}", leaf, fault);
  }
  return "";
}

// What the partitioner keeps of what a program states: parameters' and the result's shardings.
inline std::string changed_boundary(const Module& before, const Module& after) {
  const auto differs = [&](InstructionId old, InstructionId now) {
    if (!before.extra(before[old]).sharding) return false;
    const Shape& global = before.shape(old);
    const auto a = leaf_shardings(before, old, global), b = leaf_shardings(after, now, global);
    if (!a || !b) return true;
    size_t i = 0;
    bool out = false;
    for_each_leaf(global, [&](const Shape& leaf, std::span<const int64_t>) {
      const DeviceTiles x((*a)[i], leaf.dims), y((*b)[i], leaf.dims);
      for (int64_t d = 0; d < x.devices(); ++d) out = out || x.box_of(d) != y.box_of(d);
      ++i;
    });
    return out;
  };
  const Computation &old = before[before.entry], &entry = after[after.entry];
  for (size_t i = 0; i < old.parameters.size(); ++i)
    if (differs(old.parameters[i], entry.parameters[i]))
      return fmt::format("parameter {} has another sharding", i);
  return differs(old.root, entry.root) ? "the result has another sharding" : "";
}

// What a device sends where each instruction gathers its operands whole, each result of a
// computation once more, and what one device has made alone is told to all. All values state their
// shardings.
inline double bytes_to_gather_all(const Module& module) {
  double out = 0;
  auto calls = count_calls(module);
  const auto devices = static_cast<double>(module.header.num_partitions);
  // `is_made`: what one device tells when it has made it, else what others gather.
  const auto add = [&](InstructionId id, double times, bool is_made) {
    const auto leaves = leaf_shardings(module, id, module.shape(id));
    size_t next = 0;
    for_each_leaf(module.shape(id), [&](const Shape& leaf, std::span<const int64_t>) {
      const AxisSharding& from = (*leaves)[next++];
      if (!from.manual.empty() || is_single_device(*from.mesh) != is_made) return;
      if (is_made) {
        out += times * static_cast<double>(unpadded_bytes(leaf)) * (devices - 1) / devices;
        return;
      }
      const auto plan =
          plan_reshard(leaf.dims, from, replicated_sharding(from.mesh, leaf.dims.size()));
      check(plan.has_value(), "bytes_to_gather_all: a sharding of other devices");
      out += times * plan->bytes_per_device(leaf.type);
    });
  };
  for (ComputationId computation : module.post_order()) {
    for (InstructionId id : module[computation].instructions) {
      for (InstructionId operand : module.operands(id)) add(operand, calls[computation], false);
      add(id, calls[computation], true);
    }
    add(module[computation].root, calls[computation], false);
  }
  return out;
}

inline Result<Module> partitioned(const Module& before, std::string_view passes) {
  Module out = before;
  const auto pipeline = parse_pipeline(passes, all_passes(), all_pipelines());
  check(pipeline.has_value(), "partitioned: a pass that is not");
  HILO_DO(run_pipeline(out, *pipeline, {}));
  return out;
}

inline std::vector<Literal> small_arguments(const Module& module, uint64_t seed) {
  Dice dice(seed);
  std::vector<Literal> out;
  for (InstructionId parameter : module[module.entry].parameters)
    out.push_back(small_numbers(dice, module.shape(parameter)));
  return out;
}

// "" where both texts are the same, else the first lines that are not.
inline std::string other_text(std::string_view a, std::string_view b) {
  const size_t at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (at == a.size() && at == b.size()) return "";
  const size_t line = a.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  const auto shown = [&](std::string_view text) {
    return text.substr(line, text.find('\n', line) - line);
  };
  return fmt::format("another text the second time:\n{}\n{}", shown(a), shown(b));
}

// What is wrong with a program for many devices that passes make of one for one; "" where nothing.
inline std::string fault_of(const Module& before, uint64_t seed, std::string_view passes) {
  const auto after = partitioned(before, passes);
  if (!after) return "partitioner: " + to_string(after.error());
  for (const Error& error : verify(*after)) return "not sound: " + to_string(error);
  // Passes behind the partitioner inline calls and peel loops: copies stay on their channel.
  const bool is_last = passes.ends_with("spmd-partitioner");
  const auto given = is_last ? std::optional(given_channels(before)) : std::nullopt;
  if (std::string fault = count_collectives(*after, given).fault; !fault.empty()) return fault;
  if (passes == "spmd-partitioner")
    if (std::string fault = changed_boundary(before, *after); !fault.empty()) return fault;
  if (std::string fault = other_text(print(*after), print(*partitioned(before, passes)));
      !fault.empty())
    return fault;
  return difference_on_devices(before, *after, seed, small_arguments(before, seed));
}

}  // namespace hilo::test
