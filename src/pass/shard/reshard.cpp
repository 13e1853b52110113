// Plans: chains that the search finds, chunks where they send less, a gather and a slice where
// nothing else is left.
#include "pass/shard/reshard.h"

#include <algorithm>

#include "pass/shard/axis_lists.h"
#include "pass/shard/reshard_search.h"

namespace hilo {
namespace {

using Kind = ReshardStep::Kind;

std::vector<size_t> changed_dims(const AxisSharding& from, const AxisSharding& to) {
  std::vector<size_t> out;
  for (size_t dim = 0; dim < from.dims.size(); ++dim)
    if (from.dims[dim].axes != to.dims[dim].axes) out.push_back(dim);
  return out;
}

// Slices that follow each other are one.
void add_step(ReshardStep step, ReshardPlan& plan) {
  plan.elements += step.elements;
  plan.collectives += step.collectives;
  plan.peak = std::max(plan.peak, step.peak);
  if (!plan.steps.empty() && step.kind == Kind::Slice && plan.steps.back().kind == Kind::Slice) {
    ReshardStep& last = plan.steps.back();
    last.to = std::move(step.to);
    last.dims = changed_dims(last.from, last.to);
    last.peak = std::max(last.peak, step.peak);
    return;
  }
  plan.steps.push_back(std::move(step));
}

ReshardPlan plan_of(const ReshardSpace& space, const std::vector<ChainStep>& chain) {
  ReshardPlan plan;
  AxisSharding from = space.sharding(space.source());
  for (const ChainStep& one : chain) {
    AxisSharding to = space.sharding(one.lists);
    std::vector<size_t> dims = changed_dims(from, to);
    add_step({one.kind, std::move(from), to, space.axes(one.group), std::move(dims),
              one.cost.elements, one.cost.collectives, one.cost.peak},
             plan);
    from = std::move(to);
  }
  return plan;
}

// Every device gets a box of each tile that meets its own.
int64_t transfers_at_most(std::span<const int64_t> dims, const AxisSharding& from,
                          const AxisSharding& to) {
  const Dims held = local_dims(dims, from), wanted = local_dims(dims, to);
  int64_t out = mesh_size(*from.mesh);
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const int64_t meets = wanted[dim] % held[dim] == 0   ? wanted[dim] / held[dim]
                          : held[dim] % wanted[dim] == 0 ? 1
                                                         : wanted[dim] / held[dim] + 2;
    out *= std::min(meets, tile_count(from, dim));
  }
  return out;
}

// Whether the same devices are with each other where the shape is local.
bool have_same_manual_groups(const AxisSharding& a, const AxisSharding& b) {
  if (*a.mesh == *b.mesh) return digits_of(*a.mesh, a.manual) == digits_of(*b.mesh, b.manual);
  const auto groups = [](const AxisSharding& of) {
    const SubAxes whole = split_mesh(*of.mesh, of.manual);
    auto out = device_groups(*of.mesh, axes_outside(*of.mesh, whole, of.manual));
    for (Dims& group : out) std::ranges::sort(group);
    std::ranges::sort(out);
    return out;
  };
  return groups(a) == groups(b);
}

Result<void> check_pair(std::span<const int64_t> dims, const AxisSharding& from,
                        const AxisSharding& to) {
  if (from.dims.size() != dims.size() || to.dims.size() != dims.size())
    return fail(ErrorKind::Shape, "expected shardings of {} dimensions, found {} and {}",
                dims.size(), from.dims.size(), to.dims.size());
  if (mesh_size(*from.mesh) != mesh_size(*to.mesh) || is_single_device(*from.mesh) ||
      is_single_device(*to.mesh))
    return fail(ErrorKind::Structure, "expected shardings over the same devices, found {} and {}",
                mesh_size(*from.mesh), mesh_size(*to.mesh));
  if (!have_same_manual_groups(from, to))
    return fail(ErrorKind::Structure, "expected the same manual axes on both sides");
  if (*from.mesh == *to.mesh ? overlap_in_part(to.unreduced, from.unreduced) ||
                                   !axes_outside(*from.mesh, to.unreduced, from.unreduced).empty()
                             : !to.unreduced.empty())
    return fail(ErrorKind::Unsupported, "a resharding that makes summands of an array");
  // Sums over all devices and steps, a step of each axis at most twice, must not overflow.
  int64_t elements = mesh_size(*from.mesh) * mesh_size(*from.mesh);
  for (int64_t size : dims)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements))
      return fail(ErrorKind::Limit, "an array too large for {} devices", mesh_size(*from.mesh));
  return {};
}

// The target over the source's mesh, or the source over the target's, where one can say the other.
void share_mesh(std::span<const int64_t> dims, AxisSharding& from, AxisSharding& to) {
  if (*from.mesh == *to.mesh) return;
  if (auto target = axis_sharding(tile_sharding(to), dims.size(), from.mesh);
      target && *target->mesh == *from.mesh)
    to = std::move(*target);
  else if (auto source = axis_sharding(tile_sharding(from), dims.size(), to.mesh);
           source && *source->mesh == *to.mesh) {
    source->unreduced_op = std::move(from.unreduced_op);  // tiles do not say it
    from = std::move(*source);
  }
}

}  // namespace

double ReshardPlan::bytes_per_device(ElementType type) const {
  return static_cast<double>(elements) * bits_of(type) / 8 / static_cast<double>(devices);
}

namespace {

// Over one mesh that can be cut for both; else nothing.
std::optional<ReshardPlan> plan_of_chain(std::span<const int64_t> dims, const AxisSharding& from,
                                         const AxisSharding& to, bool can_chunk,
                                         const ReshardOptions& options) {
  if (*from.mesh != *to.mesh) return std::nullopt;
  const auto space = ReshardSpace::make(dims, from, to);
  if (!space) return std::nullopt;
  const auto chain = find_chain(*space, can_chunk, options);
  if (!chain) return std::nullopt;
  return plan_of(*space, *chain);
}

// Unless a chain costs less, where collectives cost more than their bytes.
ReshardPlan plan_of_chunks(std::span<const int64_t> dims, const AxisSharding& from,
                           const AxisSharding& to, const ReshardOptions& options) {
  ReshardStep step{Kind::Chunks, from, to, {}, changed_dims(from, to), 0, 0, 0};
  int64_t largest = 0;
  for (const ChunkRound& round : chunk_rounds(dims, from, to)) {
    const int64_t elements = element_count(std::span(round.sizes));
    largest = std::max(largest, elements);
    step.elements += elements * std::ranges::count_if(round.transfers, [](const auto& one) {
                       return one.source != one.target;
                     });
    step.collectives += round.communicates();
  }
  step.peak = element_count(std::span<const int64_t>(local_dims(dims, from))) +
              element_count(std::span<const int64_t>(local_dims(dims, to))) + 2 * largest;
  ReshardPlan plan;
  add_step(std::move(step), plan);
  if (options.collective_elements == 0) return plan;
  const auto chain = plan_of_chain(dims, from, to, false, options);
  const auto cost = [&](const ReshardPlan& of) {
    return static_cast<double>(of.elements) / static_cast<double>(mesh_size(*from.mesh)) +
           options.collective_elements * static_cast<double>(of.collectives);
  };
  return chain && cost(*chain) < cost(plan) ? *chain : plan;
}

// Everything is summed, gathered along the one mesh, and sliced along the other.
ReshardPlan plan_of_gather(std::span<const int64_t> dims, const AxisSharding& from,
                           const AxisSharding& to, const ReshardOptions& options) {
  ReshardPlan plan;
  const auto add = [&](const AxisSharding& before, const AxisSharding& after) {
    auto part = plan_of_chain(dims, before, after, false, options);
    check(part.has_value(), "a gather or slice that is no chain");
    for (ReshardStep& step : part->steps) add_step(std::move(step), plan);
  };
  const auto whole = [&](AxisSharding sharding) {
    for (AxisSharding::Dim& dim : sharding.dims) dim.axes.clear();
    sharding.unreduced = to.unreduced;
    return sharding;
  };
  add(from, whole(from));
  add(whole(to), to);
  return plan;
}

}  // namespace

Result<ReshardPlan> plan_reshard(std::span<const int64_t> dims, const AxisSharding& source,
                                 const AxisSharding& target, const ReshardOptions& options) {
  AxisSharding from = source, to = target;
  if (mesh_size(*from.mesh) == mesh_size(*to.mesh)) share_mesh(dims, from, to);
  HILO_DO(check_pair(dims, from, to));
  ReshardPlan plan;
  if (element_count(dims) == 0) {
    add_step({Kind::Slice, from, to, {}, changed_dims(from, to), 0, 0, 0}, plan);
  } else {
    const bool can_chunk = from.unreduced == to.unreduced &&
                           transfers_at_most(dims, from, to) <= options.max_transfers;
    if (auto chain = plan_of_chain(dims, from, to, can_chunk, options)) plan = std::move(*chain);
    else if (can_chunk) plan = plan_of_chunks(dims, from, to, options);
    else plan = plan_of_gather(dims, from, to, options);
  }
  plan.devices = mesh_size(*from.mesh);
  return plan;
}

Result<int64_t> reshard_bound(std::span<const int64_t> dims, const AxisSharding& from,
                              const AxisSharding& to) {
  HILO_DO(check_pair(dims, from, to));
  if (*from.mesh == *to.mesh ? from.unreduced != to.unreduced : !from.unreduced.empty())
    return fail(ErrorKind::Unsupported, "a bound of what sums");
  if (*from.mesh == *to.mesh)
    if (const auto space = ReshardSpace::make(dims, from, to)) {
      int64_t looks = 0;
      return space->missing(space->source(), space->target(), looks);
    }
  const DeviceTiles held(from, dims), wanted(to, dims);
  int64_t out = 0;
  for (int64_t device = 0; device < held.devices(); ++device) {
    const ArrayBox box = wanted.box_of(device);
    out += box.elements() - intersection(held.box_of(device), box).elements();
  }
  return out;
}

}  // namespace hilo
