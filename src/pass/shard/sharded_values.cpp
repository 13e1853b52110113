#include "pass/shard/sharded_values.h"

#include <algorithm>
#include <numeric>

#include "pass/shard/dynamic_arrays.h"
#include "pass/shard/sharding_text.h"

namespace hilo {

AxisSharding ShardedValues::shown(size_t leaf, AxisSharding out) const {
  const RegionEdge* const edge = edge_of[leaf];
  if (!edge) return out;
  for (size_t d = 0; d < edge->prefix.size(); ++d) {
    SubAxes& axes = out.dims[d].axes;
    axes.insert(axes.begin(), edge->prefix[d].begin(), edge->prefix[d].end());
    axes = merge_axes(axes);
  }
  out.manual = edge->manual;
  if (edge->unreduced.empty()) return out;
  out.unreduced.insert(out.unreduced.end(), edge->unreduced.begin(), edge->unreduced.end());
  std::ranges::sort(out.unreduced);
  out.unreduced = merge_axes(out.unreduced);
  out.unreduced_op = edge->unreduced_op;
  return out;
}

namespace {

class ValueNumbering {
 public:
  ValueNumbering(const Module& module, const GivenShardings& given, const ManualAxes& manual)
      : module_(module), given_(given), manual_(manual) {}

  Result<ShardedValues> run() {
    count();
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions)
        if (!module_[id].removed) join(id);
    HILO_DO(join_groups());
    number();
    for (InstructionId id : module_[module_.entry].parameters)
      for (size_t i = 0; i < out_.leaf_count(id); ++i)
        is_argument_[out_.value_of[out_.leaf(id, i)]] = true;
    for (bool wished : {false, true})
      for (ComputationId computation : given_.computations)
        for (InstructionId id : module_[computation].instructions) {
          if (module_[id].removed || given_.wished.contains(id) != wished) continue;
          if (wished && out_.said_by[out_.value_of[out_.leaf(id, 0)]]) continue;
          if (auto done = take_given(id); !done)
            return fault_at(module_, id, std::move(done).error());
        }
    for (size_t i = given_.computations.size(); i-- > 0;)
      for (InstructionId id : module_[given_.computations[i]].instructions)
        if (!module_[id].removed && module_[id].op == Op::Tuple) take_summands(id);
    HILO_DO(check_dynamic());
    return std::move(out_);
  }

 private:
  void count() {
    out_.first_leaf.assign(module_.instructions.size() + 1, 0);
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions)
        if (!module_[id].removed)
          out_.first_leaf[id.value + 1] = static_cast<uint32_t>(leaf_count(module_.shape(id)));
    std::partial_sum(out_.first_leaf.begin(), out_.first_leaf.end(), out_.first_leaf.begin());
    parent_.resize(out_.first_leaf.back());
    std::iota(parent_.begin(), parent_.end(), 0);
    out_.edge_of.resize(parent_.size());
    out_.shapes.resize(parent_.size());
  }

  uint32_t root_of(uint32_t leaf) {
    while (parent_[leaf] != leaf) leaf = parent_[leaf] = parent_[parent_[leaf]];
    return leaf;
  }
  void unite(size_t a, size_t b) {
    const uint32_t x = root_of(static_cast<uint32_t>(a)), y = root_of(static_cast<uint32_t>(b));
    parent_[std::max(x, y)] = std::min(x, y);
  }
  void unite_all(InstructionId a, InstructionId b) {
    for (size_t i = 0; i < std::min(out_.leaf_count(a), out_.leaf_count(b)); ++i)
      unite(out_.leaf(a, i), out_.leaf(b, i));
  }

  void join(InstructionId id) {
    const Op op = module_[id].op;
    if (op == Op::GetTupleElement) return join_element(id);
    if (op == Op::While) return join_loop(id);
    if (op == Op::Conditional) return join_branches(id);
    if (op == Op::Call) return join_call(id);
    if (op == Op::OptimizationBarrier || op == Op::AddDependency || op == Op::Domain)
      return unite_all(id, module_.operand(id, 0));
    if (is_call_of(module_, id, "SPMDFullToShardShape")) return join_region(id, true);
    if (is_call_of(module_, id, "SPMDShardToFullShape")) return join_region(id, false);
  }

  void join_element(InstructionId id) {
    const InstructionId tuple = module_.operand(id, 0);
    const auto index = module_.attributes<GetTupleElementAttributes>(id).index;
    size_t first = 0;
    for (int64_t i = 0; i < index; ++i) first += leaf_count(module_.shape(tuple).elements[i]);
    for (size_t i = 0; i < out_.leaf_count(id); ++i)
      unite(out_.leaf(id, i), out_.leaf(tuple, first + i));
  }

  void join_loop(InstructionId id) {
    const auto& loop = module_.attributes<WhileAttributes>(id);
    unite_all(id, module_.operand(id, 0));
    unite_all(id, module_[loop.body].parameters[0]);
    unite_all(id, module_[loop.condition].parameters[0]);
    unite_all(id, module_[loop.body].root);
  }

  void join_branches(InstructionId id) {
    const std::vector<ComputationId> branches = module_.called(module_[id]);
    for (size_t i = 0; i < branches.size(); ++i)
      unite_all(module_.operand(id, i + 1), module_[branches[i]].parameters[0]);
    for (ComputationId branch : branches) unite_all(id, module_[branch].root);
  }

  void join_call(InstructionId id) {
    const ComputationId callee = module_.attributes<CallAttributes>(id).to_apply;
    for (size_t i = 0; i < module_.operands(id).size(); ++i)
      unite_all(module_.operand(id, i), module_[callee].parameters[i]);
    unite_all(id, module_[callee].root);
  }

  // The array outside, as a value inside: its manual axes stand in front.
  void join_region(InstructionId id, bool begins) {
    const InstructionId inner = begins ? id : module_.operand(id, 0);
    const InstructionId outer = begins ? module_.operand(id, 0) : id;
    unite(out_.leaf(inner, 0), out_.leaf(outer, 0));
    const AxisSharding* const said = given_.find(outer);
    const SubAxes ended = axes_outside(*given_.mesh, manual_.of(inner), manual_.of(outer));
    RegionEdge& edge = out_.edges.emplace_back();
    edge.prefix.resize(module_.shape(id).dims.size());
    edge.manual = manual_.of(outer);
    if (said && *said->mesh == *given_.mesh && said->dims.size() == edge.prefix.size())
      for (size_t d = 0; d < edge.prefix.size(); ++d)
        edge.prefix[d] = axes_within(*given_.mesh, said->dims[d].axes, ended);
    if (said && *said->mesh == *given_.mesh) {
      edge.unreduced = axes_within(*given_.mesh, said->unreduced, ended);
      edge.unreduced_op = said->unreduced_op;
    }
    out_.edge_of[out_.leaf(outer, 0)] = &edge;
  }

  Result<void> join_groups() {
    std::unordered_map<int64_t, InstructionId> first;
    for (const GivenShardings::Group& group : given_.groups) {
      if (group.is_hint || module_[group.value].removed) continue;
      const auto [found, is_new] = first.try_emplace(group.number, group.value);
      if (is_new) continue;
      HILO_DO(can_be_alike(found->second, group.value));
      unite_all(found->second, group.value);
    }
    return {};
  }
  Result<void> can_be_alike(InstructionId first, InstructionId value) const {
    const auto same_rank = [](const Shape& a, const Shape& b) {
      return a.is_array() == b.is_array() && a.dims.size() == b.dims.size();
    };
    const std::vector<Shape> a = leaf_shapes(module_.shape(first)),
                             b = leaf_shapes(module_.shape(value));
    const auto fault = [&](ErrorKind kind, const std::string& of_first, const std::string& found) {
      return fault_at(
          module_, value,
          fail(kind, "one sharding group has '{}' with {} and this with {}: they cannot be alike",
               module_[first].name, of_first, found)
              .error());
    };
    if (!std::ranges::equal(a, b, same_rank))
      return fault(ErrorKind::Shape, to_string_without_layout(module_.shape(first)),
                   to_string_without_layout(module_.shape(value)));
    if (manual_.of(first) != manual_.of(value))
      return fault(ErrorKind::Structure, "manual " + list_text(*given_.mesh, manual_.of(first)),
                   "manual " + list_text(*given_.mesh, manual_.of(value)));
    return {};
  }

  void number() {
    std::vector<uint32_t> number(parent_.size(), UINT32_MAX);
    out_.value_of.resize(parent_.size());
    size_t values = 0;
    for (uint32_t leaf = 0; leaf < parent_.size(); ++leaf) values += parent_[leaf] == leaf;
    out_.shardings.reserve(values);
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions) {
        if (module_[id].removed) continue;
        size_t leaf = out_.first_leaf[id.value];
        const auto number_leaf = [&](const Shape& shape, auto) {
          uint32_t& value = number[root_of(static_cast<uint32_t>(leaf))];
          if (value == UINT32_MAX) add_value(value, shape);
          set_manual(value, leaf, id);
          if (shape.has_dynamic_dims()) out_.is_foreign[value] = true;
          out_.shapes[leaf] = &shape;
          out_.value_of[leaf++] = value;
        };
        for_each_leaf(module_.shape(id), std::ref(number_leaf));
      }
    out_.said_by.resize(out_.shardings.size());
    is_argument_.resize(out_.shardings.size());
  }

  void set_manual(uint32_t value, size_t leaf, InstructionId id) {
    SubAxes& axes = out_.shardings[value].manual;
    if (!out_.edge_of[leaf] && axes_size(manual_.of(id)) > axes_size(axes)) axes = manual_.of(id);
  }

  void add_value(uint32_t& value, const Shape& shape) {
    value = static_cast<uint32_t>(out_.shardings.size());
    const size_t rank = shape.is_array() ? shape.dims.size() : 0;
    out_.shardings.push_back(replicated_sharding(given_.mesh, rank, true));
    out_.is_foreign.push_back(false);
  }

  Result<void> take_given(InstructionId id) {
    for (size_t i = 0; i < out_.leaf_count(id); ++i) {
      if (const AxisSharding* const said = given_.find(id, i))
        HILO_DO(merge(id, out_.leaf(id, i), of_argument(id, out_.leaf(id, i), *said)));
    }
    return {};
  }

  // What a constraint wishes of arguments, who are no summands unless that is said of themselves.
  AxisSharding of_argument(InstructionId id, size_t leaf, AxisSharding said) const {
    if (given_.wished.contains(id) && is_argument_[out_.value_of[leaf]])
      said.unreduced.clear(), said.unreduced_op.clear();
    return said;
  }

  Result<void> merge(InstructionId id, size_t leaf, const AxisSharding& said) {
    HILO_DO(check_whole(*out_.shapes[leaf], said));
    const uint32_t number = out_.value_of[leaf];
    AxisSharding& value = out_.shardings[number];
    const bool is_first = !out_.said_by[number];
    const AxisSharding before = is_first ? AxisSharding() : value;
    if (said.dims.size() != value.dims.size())
      return fail(ErrorKind::Shape, "expected a sharding of {} dimensions, found {}",
                  value.dims.size(), said.dims.size());
    if (*said.mesh != *given_.mesh) return merge_foreign(id, number, said);
    AxisSharding own = said;
    if (const RegionEdge* const edge = out_.edge_of[leaf]) {
      for (size_t d = 0; d < own.dims.size(); ++d) {
        if (!is_prefix(edge->prefix[d], own.dims[d].axes))
          return fail(ErrorKind::Structure, "expected manual axes in front of others in {}",
                      quoted_sharding(print_shardy(said, given_.meshes)));
        own.dims[d].axes = merge_axes(behind_prefix(own.dims[d].axes, edge->prefix[d]));
      }
      own.unreduced = axes_outside(*said.mesh, own.unreduced, edge->unreduced);
    }
    for (size_t d = 0; d < own.dims.size(); ++d)
      if (is_first) value.dims[d] = own.dims[d];
      else if (!merge_dim(own.dims[d], value.dims[d])) return contradiction(number, before, said);
    if (is_first) out_.said_by[number] = speaker(id);
    for (const SubAxis& axis : axes_outside(*said.mesh, said.replicated, value.manual))
      if (!overlaps_any(axis, value.replicated)) value.replicated.push_back(axis);
    if (value.unreduced.empty()) value.unreduced = own.unreduced;
    if (value.unreduced_op.empty()) value.unreduced_op = own.unreduced_op;
    const auto sound = check_value(value, said);
    return sound || is_first ? sound : contradiction(number, before, said);
  }

  // Elements of which nothing is said are summands where what is put in is: nothing is added there.
  void take_summands(InstructionId tuple) {
    size_t leaf = out_.leaf(tuple, 0);
    for (InstructionId operand : module_.operands(tuple))
      for (size_t i = 0; i < out_.leaf_count(operand); ++i, ++leaf) {
        const AxisSharding from = out_.sharding_of(out_.leaf(operand, i));
        const uint32_t number = out_.value_of[leaf];
        AxisSharding& to = out_.shardings[number];
        if (from.unreduced.empty() || out_.said_by[number] || *from.mesh != *to.mesh) continue;
        to.unreduced = from.unreduced;
        to.unreduced_op = from.unreduced_op;
      }
  }

  // Those of which nothing is said may be one value with others.
  Result<void> check_dynamic() const {
    for (ComputationId computation : given_.computations)
      for (InstructionId id : module_[computation].instructions)
        for (size_t i = 0; !module_[id].removed && i < out_.leaf_count(id); ++i) {
          const size_t leaf = out_.leaf(id, i);
          if (!out_.shapes[leaf]->has_dynamic_dims()) continue;
          if (auto whole = check_whole(*out_.shapes[leaf], out_.sharding_of(leaf)); !whole)
            return fault_at(module_, id, std::move(whole).error());
        }
    return {};
  }

  // Who said what is given of an instruction.
  InstructionId speaker(InstructionId id) const {
    if (const auto wish = given_.wished.find(id); wish != given_.wished.end()) id = wish->second;
    const auto annotation = given_.annotations.find(id);
    return annotation == given_.annotations.end() ? id : annotation->second;
  }

  Result<void> merge_foreign(InstructionId id, uint32_t number, const AxisSharding& said) {
    AxisSharding& value = out_.shardings[number];
    if (out_.said_by[number] && !(value == said)) return contradiction(number, value, said);
    out_.said_by[number] = id;
    value = said;
    out_.is_foreign[number] = true;
    return {};
  }

  // Both hold where one is open and the other goes on from it.
  static bool merge_dim(const AxisSharding::Dim& own, AxisSharding::Dim& dim) {
    const bool fits_own = own.is_open ? is_prefix(own.axes, dim.axes) : own.axes == dim.axes;
    const bool fits_dim = dim.is_open ? is_prefix(dim.axes, own.axes) : own.axes == dim.axes;
    if (fits_own && fits_dim) dim.is_open &= own.is_open;
    else if (fits_dim) dim = own;
    return fits_own || fits_dim;
  }

  std::unexpected<Error> contradiction(uint32_t value, const AxisSharding& before,
                                       const AxisSharding& said) const {
    return fail(ErrorKind::Structure, "one value is to be sharded {} here and {} at '{}'",
                quoted_sharding(print_shardy(said, given_.meshes)),
                quoted_sharding(print_shardy(before, given_.meshes)),
                module_[out_.said_by[value]].name);
  }

  Result<void> check_value(const AxisSharding& value, const AxisSharding& said) {
    SubAxes all = value.axes();
    for (const SubAxes* more : {&value.replicated, &value.unreduced, &value.manual})
      all.insert(all.end(), more->begin(), more->end());
    if (const auto sound = check_axes(*value.mesh, all); !sound)
      return fail(ErrorKind::Structure, "{} does not fit where {} are manual: {}",
                  quoted_sharding(print_shardy(said, given_.meshes)),
                  list_text(*given_.mesh, value.manual), sound.error().message);
    return {};
  }

  const Module& module_;
  const GivenShardings& given_;
  const ManualAxes& manual_;
  ShardedValues out_;
  std::vector<uint32_t> parent_;   // by leaf
  std::vector<bool> is_argument_;  // by value: of the program
};

}  // namespace

Result<ShardedValues> number_values(const Module& module, const GivenShardings& given,
                                    const ManualAxes& manual) {
  return ValueNumbering(module, given, manual).run();
}

}  // namespace hilo
