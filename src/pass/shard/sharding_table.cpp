#include "pass/shard/sharding_table.h"

#include "pass/field_hash.h"
#include "pass/shard/axis_lists.h"

namespace hilo {
namespace {

size_t mix_axes(size_t seed, const SubAxes& axes) {
  for (const SubAxis& axis : axes)
    seed = mix(seed, axis.axis + (static_cast<size_t>(axis.pre_size) << 8) +
                         (static_cast<size_t>(axis.size) << 32));
  return seed;
}

size_t hash_of(const AxisSharding& sharding) {
  size_t seed = 0;
  for (const AxisSharding::Dim& dim : sharding.dims)
    seed = mix(mix_axes(seed, dim.axes), static_cast<size_t>(dim.priority) * 2 + dim.is_open + 1);
  for (const SubAxes* axes : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    seed = mix_axes(mix(seed, axes->size()), *axes);
  return seed;
}

}  // namespace

uint32_t ShardingTable::intern(const AxisSharding& sharding) {
  const size_t hash = hash_of(sharding);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (shardings_[at->second] == sharding) return at->second;
  const auto id = static_cast<uint32_t>(shardings_.size());
  shardings_.push_back(sharding);
  is_sharded_.push_back(sharding.is_sharded());
  known_.emplace(hash, id);
  return id;
}

bool ShardingTable::grows(uint32_t before, uint32_t after) const {
  for (size_t d = 0; d < shardings_[before].dims.size(); ++d)
    if (!is_prefix(shardings_[before].dims[d].axes, shardings_[after].dims[d].axes)) return false;
  return true;
}

}  // namespace hilo
