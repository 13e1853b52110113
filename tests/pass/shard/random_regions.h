// Random programs with manual regions, of all axes of the mesh or of some, one in another, with
// control flow in them and around them, in both notations.
#pragma once

#include "random_calls.h"
#include "random_shardings.h"

namespace hilo::test {

class RandomRegions final : public RandomCalls {
 public:
  RandomRegions(uint64_t seed, OpGroups groups, RandomShardings& shardings)
      : RandomCalls(seed, groups), shardings_(shardings), mesh_(shardings.mesh()) {}

 private:
  void annotate() override { shardings_.annotate(module_, of_); }

  void constrain(Pool& pool) override {
    if (shardings_.notation() == Notation::Shardy && dice_.below(4) == 0) return barrier_of(pool);
    if (!shardings_.agrees() || !manual_.empty() || dice_.below(3) > 0)
      return RandomCalls::constrain(pool);
    const InstructionId a = any(pool);
    const int64_t rank = shape(a).rank(), known = std::ssize(ranks_of_groups_);
    int64_t group = dice_.below(known + 1);
    while (group < known && ranks_of_groups_[group] != rank) ++group;
    if (group == known) ranks_of_groups_.push_back(rank);
    put_in_group(pool, a, group);
    put_in_group(pool, partner(pool, Shape(shape(a))), group);
  }
  // Shardings go through it in one direction, or in none.
  void barrier_of(Pool& pool) {
    static const std::vector<std::string> directions = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
    const InstructionId a = any(pool);
    CustomCallAttributes call;
    call.custom_call_target = "xla.sdy.PropagationBarrier";
    pool.values.push_back(module_.add_instruction(pool.computation, Op::CustomCall, Shape(shape(a)),
                                                  std::array{a}, call));
    module_.mutable_extra(pool.values.back()).frontend_attributes["xla.sdy.allowed_direction"] = {
        dice_.pick(directions), false};
  }
  // A copy of the value: it is to be sharded as others of the group are.
  void put_in_group(Pool& pool, InstructionId value, int64_t group) {
    const Shape of = shape(value);
    const bool is_shardy = shardings_.notation() == Notation::Shardy;
    CustomCallAttributes call;
    call.custom_call_target = is_shardy ? "xla.sdy.ShardingGroup" : "Sharding";
    if (!is_shardy) {
      const InstructionId out =
          module_.add_instruction(pool.computation, Op::CustomCall, of, std::array{value}, call);
      pool.values.push_back(out);
      Sharding sharding;
      sharding.kind = Sharding::Kind::Unknown;
      (dice_.below(4) ? sharding.shard_as : sharding.shard_like) = group;
      module_.mutable_extra(out).sharding = std::make_shared<const Sharding>(std::move(sharding));
      return;
    }
    const InstructionId copy =
        module_.add_instruction(pool.computation, Op::Copy, of, std::array{value});
    pool.values.push_back(copy);
    call.custom_call_has_side_effect = true;
    const InstructionId mark = module_.add_instruction(pool.computation, Op::CustomCall,
                                                       Shape::tuple({}), std::array{copy}, call);
    module_.mutable_extra(mark).frontend_attributes["xla.sdy.sharding_group_id"] = {
        std::to_string(group), false};
  }

  using Lists = std::vector<SubAxes>;  // of each dimension

  void region(Pool& pool) override {
    const SubAxes begun = some_axes(axes_outside(*mesh_, all_axes(), manual_));
    if (begun.empty()) return;
    const bool is_called = shardings_.notation() == Notation::Shardy || dice_.below(3) > 0;
    const std::vector<InstructionId> locals = enter(pool, begun);
    Pool inner{is_called ? module_.add_computation("region") : pool.computation, locals};
    if (is_called)
      for (InstructionId& local : inner.values)
        local = parameter(inner.computation, Shape(shape(local)));
    const auto functions = std::exchange(functions_, {});
    const SubAxes around = std::exchange(manual_, with(manual_, begun));
    const auto first = static_cast<uint32_t>(module_.instructions.size());
    for (int i = 0; i < 5; ++i)
      if (dice_.below(3)) step(inner, 1);
      else collective(inner);
    std::vector<Lists> lists;
    std::vector<InstructionId> results;
    for (int64_t i = 1 + dice_.below(2); i > 0; --i) {
      const InstructionId value = i == 1 ? inner.values.back() : any(inner);
      results.push_back(
          prepared(inner, dice_.below(6) ? value : one_number(inner, value), begun, lists));
    }
    note_manual(inner.computation, first, is_called);
    const SubAxes inside = std::exchange(manual_, around);
    functions_ = functions;
    if (is_called) results = called(pool, inner.computation, locals, results, inside);
    leave(pool, results, begun, lists);
  }

  SubAxes all_axes() const {
    SubAxes out;
    for (size_t i = 0; i < mesh_->axes.size(); ++i) out.push_back({i, 1, mesh_->axes[i].size});
    return out;
  }
  SubAxes some_axes(const SubAxes& from) {
    if (dice_.below(4) == 0) return from;
    SubAxes out;
    for (const SubAxis& axis : from)
      if (dice_.below(2)) out.push_back(axis);
    return out;
  }
  SubAxes with(SubAxes a, const SubAxes& b) const {
    a.insert(a.end(), b.begin(), b.end());
    std::ranges::sort(a);
    return a;
  }
  void note_manual(ComputationId in, uint32_t first, bool is_called) {
    if (is_called) of_.computations[in.value] = manual_;
    for (auto i = first; i < module_.instructions.size(); ++i)
      if (!module_[InstructionId{i}].removed && module_[InstructionId{i}].computation == in)
        of_.instructions.try_emplace(i, manual_);
  }

  // Axes that begin to be manual, in front of dimensions that they divide; others are for none.
  Lists cut(const Dims& dims, const SubAxes& begun) {
    Lists out(dims.size());
    for (const SubAxis& axis : begun) {
      if (dims.empty() || dice_.below(4) == 0) continue;
      const auto dim = static_cast<size_t>(dice_.below(std::ssize(dims)));
      if (dims[dim] % (axes_size(out[dim]) * axis.size) == 0) out[dim].push_back(axis);
    }
    return out;
  }
  static Dims divided(Dims dims, const Lists& by) {
    for (size_t dim = 0; dim < dims.size(); ++dim) dims[dim] /= axes_size(by[dim]);
    return dims;
  }
  static Dims multiplied(Dims dims, const Lists& by) {
    for (size_t dim = 0; dim < dims.size(); ++dim) dims[dim] *= axes_size(by[dim]);
    return dims;
  }

  // The same tiles, seen from outside and from inside: axes of the border's dimensions in front,
  // others behind them. Of propagation some may be left open.
  struct Edge {
    AxisSharding outside, inside;
  };
  Edge edge(size_t rank, const Lists& lists, const SubAxes& begun) {
    Edge out;
    out.inside = shardings_.axes(rank, with(manual_, begun));
    if (out.inside.mesh != mesh_) out.inside = replicated_sharding(mesh_, rank);
    const bool is_open = shardings_.agrees() && dice_.below(3) > 0;
    for (AxisSharding::Dim& dim : out.inside.dims) {
      dim.is_open = is_open, dim.priority = 0;
      if (is_open && dice_.below(2)) dim.axes.clear();
    }
    out.inside.manual = with(manual_, begun);
    out.inside.replicated.clear();
    out.outside = out.inside;
    out.outside.manual = manual_;
    for (size_t dim = 0; dim < rank; ++dim) {
      SubAxes& axes = out.outside.dims[dim].axes;
      axes.insert(axes.begin(), lists[dim].begin(), lists[dim].end());
    }
    out.inside = *canonical_sharding(out.inside);
    out.outside = *canonical_sharding(out.outside);
    return out;
  }

  std::vector<InstructionId> enter(Pool& pool, const SubAxes& begun) {
    std::vector<InstructionId> values;
    std::vector<Lists> lists;
    for (int64_t i = 1 + dice_.below(3); i > 0; --i) {
      values.push_back(any(pool));
      lists.push_back(cut(shape(values.back()).dims, begun));
    }
    return cross(pool, values, begun, lists, true);
  }
  void leave(Pool& pool, const std::vector<InstructionId>& results, const SubAxes& begun,
             const std::vector<Lists>& lists) {
    for (InstructionId out : cross(pool, results, begun, lists, false)) pool.values.push_back(out);
  }

  std::vector<InstructionId> cross(Pool& pool, const std::vector<InstructionId>& values,
                                   const SubAxes& begun, const std::vector<Lists>& lists,
                                   bool begins) {
    std::vector<Edge> edges;
    std::vector<Shape> to;
    for (size_t i = 0; i < values.size(); ++i) {
      const Shape& of = shape(values[i]);
      edges.push_back(edge(of.dims.size(), lists[i], begun));
      to.push_back(Shape::array(
          of.type, begins ? divided(of.dims, lists[i]) : multiplied(of.dims, lists[i])));
    }
    if (shardings_.notation() == Notation::Shardy)
      return cross_as_shardy(pool, values, begun, edges, to, begins);
    std::vector<InstructionId> out;
    for (size_t i = 0; i < values.size(); ++i) {
      const Shape from = shape(values[i]);
      const auto& [outside, inside] = edges[i];
      const InstructionId marked =
          mark(pool, "Sharding", from, values[i], begins ? outside : inside);
      out.push_back(mark(pool, begins ? "SPMDFullToShardShape" : "SPMDShardToFullShape", to[i],
                         marked, begins ? inside : outside));
    }
    return out;
  }
  std::vector<InstructionId> cross_as_shardy(Pool& pool, const std::vector<InstructionId>& values,
                                             const SubAxes& begun, const std::vector<Edge>& edges,
                                             const std::vector<Shape>& to, bool begins) {
    std::vector<AxisSharding> outside;
    for (const Edge& edge : edges) {
      outside.push_back(edge.outside);
      outside.back().manual.clear();
    }
    CustomCallAttributes call;
    call.custom_call_target = begins ? "xla.sdy.GlobalToLocalShape" : "xla.sdy.LocalToGlobalShape";
    call.custom_call_has_side_effect = true;
    const bool is_one = to.size() == 1 && dice_.below(2);
    const InstructionId all =
        module_.add_instruction(pool.computation, Op::CustomCall, is_one ? to[0] : Shape::tuple(to),
                                values, std::move(call));
    FrontendAttributes& said = module_.mutable_extra(all).frontend_attributes;
    said[begins ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings"] = {
        print_shardy(outside, shardings_.meshes()), false};
    std::string names;
    for (const SubAxis& axis : begun)
      names += (names.empty() ? "\"" : ", \"") + mesh_->axes[axis.axis].name + "\"";
    said["xla.sdy.manual_axes"] = {"#sdy<manual_axes{" + names + "}>", false};
    if (is_one) return {all};
    std::vector<InstructionId> out;
    for (size_t i = 0; i < to.size(); ++i)
      out.push_back(element(pool.computation, all, static_cast<int64_t>(i)));
    return out;
  }
  InstructionId mark(Pool& pool, const char* target, const Shape& of, InstructionId a,
                     const AxisSharding& sharding) {
    CustomCallAttributes call;
    call.custom_call_target = target;
    const InstructionId out =
        module_.add_instruction(pool.computation, Op::CustomCall, of, std::array{a}, call);
    Extra& extra = module_.mutable_extra(out);
    extra.sharding = std::make_shared<const Sharding>(shardings_.text_form(sharding));
    std::string open;
    for (size_t dim = 0; dim < sharding.dims.size(); ++dim)
      if (sharding.dims[dim].is_open) open += (open.empty() ? "" : ",") + std::to_string(dim);
    if (open.empty()) return out;
    extra.backend_config = module_.strings.copy("unspecified_dims=[" + open + "]");
    return out;
  }

  // The same everywhere on a device.
  InstructionId one_number(Pool& inner, InstructionId value) {
    const Shape of = shape(value);
    Dims dims;
    for (int64_t dim = 0; dim < of.rank(); ++dim) dims.push_back(dim);
    const std::array operands{value, partner(inner, Shape::scalar(of.type))};
    const InstructionId number =
        add(inner, Op::Reduce, of, operands, ReduceAttributes{dims, sure_combiner(of.type)});
    return add(inner, Op::Broadcast, of, std::array{number}, DimensionsAttributes{});
  }

  // Devices along axes that cut no dimension of what leaves have the same: by a reduction.
  InstructionId prepared(Pool& inner, InstructionId value, const SubAxes& begun,
                         std::vector<Lists>& lists) {
    const Shape of = shape(value);
    Lists& out = lists.emplace_back(of.dims.size());
    SubAxes rest;
    int64_t elements = element_count(of);
    for (const SubAxis& axis : begun)
      if (of.is_scalar() || dice_.below(4) == 0 || elements * axis.size > max_elements_) {
        rest.push_back(axis);
      } else {
        out[static_cast<size_t>(dice_.below(of.rank()))].push_back(axis);
        elements *= axis.size;
      }
    return rest.empty() ? value : all_reduced(inner, value, rest, sure_combiner(of.type));
  }
  ComputationId sure_combiner(ElementType type) {
    const Shape scalar = Shape::scalar(type);
    const ComputationId body = module_.add_computation("combine");
    Pool inner{body, {parameter(body, scalar), parameter(body, scalar)}};
    const Op op = is_complex(type) ? Op::Add : Op::Maximum;
    finish(body, add(inner, op, std::array{inner.values[0], inner.values[1]}));
    return body;
  }
  InstructionId all_reduced(Pool& pool, InstructionId value, const SubAxes& axes,
                            ComputationId reducer) {
    AllReduceAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.to_apply = reducer;
    const InstructionId out = module_.add_instruction(
        pool.computation, Op::AllReduce, Shape(shape(value)), std::array{value}, attributes);
    pool.values.push_back(out);
    return out;
  }

  std::vector<InstructionId> called(Pool& pool, ComputationId body,
                                    const std::vector<InstructionId>& operands,
                                    const std::vector<InstructionId>& results,
                                    const SubAxes& inside) {
    const bool is_one = results.size() == 1 && dice_.below(2);
    finish(body, is_one ? results[0] : tuple(body, results));
    of_.instructions.try_emplace(module_[body].root.value, inside);
    const InstructionId call =
        module_.add_instruction(pool.computation, Op::Call, Shape(shape(module_[body].root)),
                                operands, CallAttributes{body});
    of_.instructions[call.value] = inside;
    if (!shardings_.agrees()) state_manual(body, inside);
    if (is_one) return {call};
    std::vector<InstructionId> out;
    for (size_t i = 0; i < results.size(); ++i) {
      out.push_back(element(pool.computation, call, static_cast<int64_t>(i)));
      of_.instructions[out.back().value] = inside;
    }
    return out;
  }
  // The partitioner alone knows of regions what their borders say.
  void state_manual(ComputationId body, const SubAxes& inside) {
    std::vector<InstructionId> border = module_[body].parameters;
    border.push_back(module_[body].root);
    for (InstructionId id : border)
      if (!module_.extra(module_[id]).sharding)
        module_.mutable_extra(id).sharding =
            std::make_shared<const Sharding>(shardings_.sharding(Shape(shape(id)), inside));
  }

  bool may_look_at_arrays() const override { return manual_.empty(); }
  std::optional<int64_t> some_device() override {
    if (!manual_.empty() || shardings_.notation() == Notation::Shardy ||
        shardings_.are_replicated())
      return std::nullopt;
    return dice_.below(shardings_.devices());
  }

  // Devices of a region take the same branches, or they would wait for each other.
  InstructionId decider(Pool& pool) override {
    const InstructionId out = RandomCalls::decider(pool);
    if (manual_.empty() || module_[out].op == Op::Constant) return out;
    return all_reduced(pool, out, manual_, sure_combiner(ElementType::S32));
  }

  void collective(Pool& pool) {
    const InstructionId a = any(pool);
    SubAxes axes = some_axes(manual_);
    for (int64_t i = std::ssize(axes); i > 1; --i) std::swap(axes[i - 1], axes[dice_.below(i)]);
    const int64_t group = axes_size(axes);
    const Shape of = shape(a);
    const int64_t dim = of.is_scalar() ? 0 : dice_.below(of.rank());
    const bool divides = !of.is_scalar() && of.dims[dim] % group == 0;
    switch (dice_.below(8)) {
      case 0: return all_reduce(pool, a, axes);
      case 1:
        if (!of.is_scalar()) all_gather(pool, a, axes, dim);
        return;
      case 2:
        if (divides) reduce_scatter(pool, a, axes, dim);
        return;
      case 3:
        if (divides) all_to_all(pool, a, axes, dim);
        return;
      case 4: return permute(pool, a, axes);
      case 5: return broadcast_first(pool, a, axes);
      case 6: return reduce_many(pool, a, axes);
      default: return add_number(pool, a, axes);
    }
  }
  ReplicaGroups groups_along(const SubAxes& axes) {
    if (dice_.below(2) && !axes.empty()) return replica_groups(*mesh_, axes);
    ReplicaGroups out;
    out.groups = device_groups(*mesh_, axes);
    return out;
  }

  void all_reduce(Pool& pool, InstructionId a, const SubAxes& axes) {
    if (is_complex(shape(a).type)) return;
    tame(pool, all_reduced(pool, a, axes, combiner(shape(a).type)), false);
  }
  // Several arrays at once.
  void reduce_many(Pool& pool, InstructionId a, const SubAxes& axes) {
    const Shape of = shape(a);
    if (is_complex(of.type)) return;
    std::vector<InstructionId> operands = {a};
    for (InstructionId other : pool.values)
      if (shape(other).type == of.type && operands.size() < 3) operands.push_back(other);
    std::vector<Shape> shapes;
    for (InstructionId one : operands) shapes.push_back(shape(one));
    AllReduceAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.to_apply = sure_combiner(of.type);
    const InstructionId all = module_.add_instruction(
        pool.computation, Op::AllReduce, operands.size() == 1 ? of : Shape::tuple(shapes), operands,
        attributes);
    if (operands.size() == 1) return pool.values.push_back(all);
    for (size_t i = 0; i < operands.size(); ++i)
      pool.values.push_back(element(pool.computation, all, static_cast<int64_t>(i)));
  }
  void reduce_scatter(Pool& pool, InstructionId a, const SubAxes& axes, int64_t dim) {
    Shape of = shape(a);
    if (is_complex(of.type)) return;
    ReduceScatterAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.dimensions = {dim};
    attributes.to_apply = combiner(of.type);
    of.dims[dim] /= axes_size(axes);
    tame(pool, add(pool, Op::ReduceScatter, of, std::array{a}, attributes), false);
  }
  void all_gather(Pool& pool, InstructionId a, const SubAxes& axes, int64_t dim) {
    Shape of = shape(a);
    AllGatherAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.use_global_device_ids = true;
    attributes.dimensions = {dim};
    of.dims[dim] *= axes_size(axes);
    add(pool, Op::AllGather, of, std::array{a}, attributes);
  }
  void all_to_all(Pool& pool, InstructionId a, const SubAxes& axes, int64_t dim) {
    AllToAllAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups = groups_along(axes);
    attributes.dimensions = Dims{dim};
    add(pool, Op::AllToAll, Shape(shape(a)), std::array{a}, attributes);
  }
  // Those that differ along other axes alone do the same.
  void permute(Pool& pool, InstructionId a, const SubAxes& axes) {
    const int64_t size = axes_size(axes), by = 1 + dice_.below(size);
    CollectivePermuteAttributes attributes;
    attributes.channel_id = channel_++;
    std::vector<bool> sends;
    for (int64_t i = 0; i < size; ++i) sends.push_back(dice_.below(8) > 0);
    for (const Dims& group : device_groups(*mesh_, axes))
      for (int64_t i = 0; i < size; ++i)
        if (sends[static_cast<size_t>(i)])
          attributes.source_target_pairs.pairs.push_back(
              {group[static_cast<size_t>(i)], group[static_cast<size_t>((i + by) % size)]});
    if (attributes.source_target_pairs.pairs.empty()) return;
    add(pool, Op::CollectivePermute, Shape(shape(a)), std::array{a}, attributes);
  }
  void broadcast_first(Pool& pool, InstructionId a, const SubAxes& axes) {
    CollectiveBroadcastAttributes attributes;
    attributes.channel_id = channel_++;
    attributes.replica_groups.groups = device_groups(*mesh_, axes);
    add(pool, Op::CollectiveBroadcast, Shape(shape(a)), std::array{a}, attributes);
  }
  // The device's own number along the axes.
  void add_number(Pool& pool, InstructionId a, const SubAxes& axes) {
    const Shape of = shape(a);
    if (of.type == ElementType::Pred || is_complex(of.type) || axes.empty()) return;
    if (!mesh_->device_ids.empty() || mesh_->device_iota) return;
    const Shape scalar = Shape::scalar(ElementType::U32);
    const auto arithmetic = [&](Op op, InstructionId x, int64_t y) {
      const InstructionId by = literal(pool, scalar_of(ElementType::U32, static_cast<double>(y)));
      return module_.add_instruction(pool.computation, op, scalar, std::array{x, by});
    };
    InstructionId number = module_.add_instruction(pool.computation, Op::PartitionId, scalar, {});
    number = arithmetic(Op::Divide, number, stride_of(*mesh_, axes[0]));
    number = arithmetic(Op::Remainder, number, axes[0].size);
    number = module_.add_instruction(pool.computation, Op::Convert, Shape::scalar(of.type),
                                     std::array{number});
    const InstructionId everywhere = module_.add_instruction(
        pool.computation, Op::Broadcast, of, std::array{number}, DimensionsAttributes{});
    tame(pool, add(pool, Op::Add, std::array{a, everywhere}), false);
  }

  RandomShardings& shardings_;
  SharedMesh mesh_;
  SubAxes manual_;  // around what is made
  Dims ranks_of_groups_;
  ManualOf of_;
  int64_t channel_ = 1;
};

}  // namespace hilo::test
