// Random programs with manual regions: local values and collectives between SPMDFullToShardShape
// and SPMDShardToFullShape.
#pragma once

#include "random_moves.h"
#include "random_shardings.h"

namespace hilo::test {

class RandomRegions final : public RandomMoves {
 public:
  RandomRegions(uint64_t seed, OpGroups groups, RandomShardings& shardings)
      : RandomMoves(seed, groups), shardings_(shardings), mesh_(shardings.mesh()) {}

 private:
  // A local value, and the axes along which devices may have others.
  struct Local {
    InstructionId value;
    SubAxes varies;
  };

  void region(Pool& pool) override {
    const InstructionId a = any(pool);
    const Shape of = shape(a);
    const AxisSharding outside = even(shardings_.axes(of.dims.size()), of.dims);
    const Shape tile = local_shape(of, outside);
    Pool inner{module_.add_computation("region"), {}};
    inner.values.push_back(parameter(inner.computation, tile));
    Local local{inner.values[0], outside.axes()};
    for (int i = 0; i < 4; ++i) {
      step(inner, 1);
      local.value = inner.values.back();
      if (dice_.below(2)) collective(inner, local);
      inner.values = {local.value};  // what was before it may vary along other axes
    }
    finish(inner.computation, local.value);
    const std::optional<AxisSharding> back = covering(local);
    if (!back) return;
    enclose(pool, a, tile, outside, inner.computation, *back);
  }

  // Axes go where they do not divide.
  AxisSharding even(AxisSharding sharding, const Dims& dims) const {
    if (sharding.mesh != mesh_) return replicated_sharding(mesh_, dims.size());
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] % tile_count(sharding, d) != 0) sharding.dims[d].axes.clear();
    for (AxisSharding::Dim& dim : sharding.dims) dim.is_open = false, dim.priority = 0;
    return sharding;
  }
  // The axes along which tiles differ, each for some dimension.
  std::optional<AxisSharding> covering(const Local& local) {
    const Shape of = shape(local.value);
    AxisSharding out = replicated_sharding(mesh_, of.dims.size());
    if (of.is_scalar() && !local.varies.empty()) return std::nullopt;
    for (const SubAxis& axis : local.varies) out.dims[dice_.below(of.rank())].axes.push_back(axis);
    if (element_count(of) * axes_size(local.varies) > max_elements_) return std::nullopt;
    const Result<AxisSharding> canonical = canonical_sharding(std::move(out));
    return canonical ? std::optional(*canonical) : std::nullopt;
  }

  void collective(Pool& pool, Local& local) {
    SubAxes axes;
    for (size_t i = 0; i < mesh_->axes.size(); ++i)
      if (dice_.below(2)) axes.push_back({i, 1, mesh_->axes[i].size});
    const int64_t group = axes_size(axes);
    const Shape of = shape(local.value);
    const int64_t dim = of.is_scalar() ? 0 : dice_.below(of.rank());
    const bool divides = !of.is_scalar() && of.dims[dim] % group == 0;
    switch (dice_.below(6)) {
      case 0: all_reduce(pool, local, axes); break;
      case 1:
        if (!of.is_scalar()) all_gather(pool, local, axes, dim);
        break;
      case 2:
        if (divides) reduce_scatter(pool, local, axes, dim);
        break;
      case 3:
        if (divides) all_to_all(pool, local, axes, dim);
        break;
      case 4: permute(pool, local); break;
      default: add_number(pool, local);
    }
  }
  void lose(Local& local, const SubAxes& axes) const {
    local.varies = axes_outside(*mesh_, local.varies, axes);
  }
  void gain(Local& local, const SubAxes& axes) const {
    lose(local, axes);
    local.varies.insert(local.varies.end(), axes.begin(), axes.end());
  }
  SubAxes all_axes() const {
    SubAxes out;
    for (size_t i = 0; i < mesh_->axes.size(); ++i) out.push_back({i, 1, mesh_->axes[i].size});
    return out;
  }
  ReplicaGroups groups_along(const SubAxes& axes) {
    if (dice_.below(2) && !axes.empty()) return replica_groups(*mesh_, axes);
    ReplicaGroups out;
    out.groups = device_groups(*mesh_, axes);
    return out;
  }

  void all_reduce(Pool& pool, Local& local, const SubAxes& axes) {
    const Shape of = shape(local.value);
    AllReduceAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.to_apply = combiner(of.type);
    const InstructionId out = add(pool, Op::AllReduce, of, std::array{local.value}, attributes);
    if (!out) return;
    tame(pool, out, false);
    local.value = pool.values.back();
    lose(local, axes);
  }
  void reduce_scatter(Pool& pool, Local& local, const SubAxes& axes, int64_t dim) {
    Shape of = shape(local.value);
    ReduceScatterAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.dimensions = {dim};
    attributes.to_apply = combiner(of.type);
    of.dims[dim] /= axes_size(axes);
    const InstructionId out = add(pool, Op::ReduceScatter, of, std::array{local.value}, attributes);
    if (!out) return;
    tame(pool, out, false);
    local.value = pool.values.back();
    gain(local, axes);
  }
  void all_gather(Pool& pool, Local& local, const SubAxes& axes, int64_t dim) {
    Shape of = shape(local.value);
    AllGatherAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.dimensions = {dim};
    of.dims[dim] *= axes_size(axes);
    const InstructionId out = add(pool, Op::AllGather, of, std::array{local.value}, attributes);
    if (!out) return;
    local.value = out;
    lose(local, axes);
  }
  void all_to_all(Pool& pool, Local& local, const SubAxes& axes, int64_t dim) {
    AllToAllAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.dimensions = Dims{dim};
    const InstructionId out =
        add(pool, Op::AllToAll, Shape(shape(local.value)), std::array{local.value}, attributes);
    if (!out) return;
    local.value = out;
    gain(local, axes);
  }
  void permute(Pool& pool, Local& local) {
    CollectivePermuteAttributes attributes;
    attributes.channel_id = channel_++;
    const int64_t devices = mesh_size(*mesh_), by = 1 + dice_.below(devices);
    for (int64_t i = 0; i < devices; ++i)
      if (dice_.below(8)) attributes.source_target_pairs.pairs.push_back({i, (i + by) % devices});
    if (attributes.source_target_pairs.pairs.empty()) return;
    const InstructionId out = add(pool, Op::CollectivePermute, Shape(shape(local.value)),
                                  std::array{local.value}, attributes);
    if (!out) return;
    local.value = out;
    local.varies = all_axes();
  }
  void add_number(Pool& pool, Local& local) {
    const Shape of = shape(local.value);
    if (of.type == ElementType::Pred) return;
    const InstructionId own = module_.add_instruction(pool.computation, Op::PartitionId,
                                                      Shape::scalar(ElementType::U32), {});
    const InstructionId number = module_.add_instruction(pool.computation, Op::Convert,
                                                         Shape::scalar(of.type), std::array{own});
    const InstructionId everywhere = module_.add_instruction(
        pool.computation, Op::Broadcast, of, std::array{number}, DimensionsAttributes{});
    tame(pool, add(pool, Op::Add, std::array{local.value, everywhere}), false);
    local.value = pool.values.back();
    local.varies = all_axes();
  }

  // The region's calls, with the shardings that frameworks write.
  void enclose(Pool& pool, InstructionId a, const Shape& tile, const AxisSharding& outside,
               ComputationId body, const AxisSharding& back) {
    Sharding manual;
    manual.kind = Sharding::Kind::Manual;
    const Shape inner = shape(module_[body].root);
    for (InstructionId id : {module_[body].parameters[0], module_[body].root})
      module_.mutable_extra(id).sharding = std::make_shared<const Sharding>(manual);
    Shape full = inner;
    for (size_t d = 0; d < full.dims.size(); ++d) full.dims[d] *= tile_count(back, d);
    a = mark(pool, "Sharding", Shape(shape(a)), a, shardings_.text_form(outside));
    a = mark(pool, "SPMDFullToShardShape", tile, a, manual);
    a = module_.add_instruction(pool.computation, Op::Call, inner, std::array{a},
                                CallAttributes{body});
    module_.mutable_extra(a).sharding = std::make_shared<const Sharding>(manual);
    a = mark(pool, "Sharding", inner, a, manual);
    pool.values.push_back(mark(pool, "SPMDShardToFullShape", full, a, shardings_.text_form(back)));
  }
  InstructionId mark(Pool& pool, const char* target, const Shape& of, InstructionId a,
                     const Sharding& sharding) {
    CustomCallAttributes call;
    call.custom_call_target = target;
    const InstructionId out =
        module_.add_instruction(pool.computation, Op::CustomCall, of, std::array{a}, call);
    module_.mutable_extra(out).sharding = std::make_shared<const Sharding>(sharding);
    return out;
  }

  RandomShardings& shardings_;
  SharedMesh mesh_;
  int64_t channel_ = 1;
};

}  // namespace hilo::test
