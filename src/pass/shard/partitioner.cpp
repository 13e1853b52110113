#include "pass/shard/partitioner.h"

#include <algorithm>
#include <unordered_set>

#include "pass/collective/device_groups.h"
#include "pass/shard/dynamic_arrays.h"
#include "pass/shard/given_shardings.h"
#include "pass/shard/new_summands.h"
#include "pass/shard/op_partition.h"
#include "pass/shard/reshard_emit.h"
#include "pass/shard/sharding_text.h"

namespace hilo {
namespace {

// Computations whose values are of the whole program: not those over scalars that reductions,
// sorts and maps call.
bool calls_program(Op op) { return op == Op::Call || op == Op::While || op == Op::Conditional; }

// What passes work on: neither openness nor priorities; an array that one device has to hold may as
// well be on all.
AxisSharding settled(AxisSharding sharding, const SharedMesh& mesh) {
  if (is_single_device(*sharding.mesh)) return replicated_sharding(mesh, sharding.dims.size());
  sharding.replicated.clear();
  for (AxisSharding::Dim& dim : sharding.dims) dim.is_open = false, dim.priority = 0;
  return sharding;
}

}  // namespace

Partitioner::Partitioner(Module& module, const PassOptions& options, SharedMesh mesh)
    : mesh_(std::move(mesh)),
      editor_((order_ = module.post_order(), module)),
      costs_(options.machine),
      rules_(module) {
  find_computations();
  find_elements_read();
}

// Tuples of arrays that only get-tuple-elements read.
void Partitioner::find_elements_read() {
  const Module& module = editor_.module();
  std::unordered_map<uint32_t, uint32_t> reads;
  for (ComputationId computation : order_)
    for (InstructionId id : module[computation].instructions) {
      if (module[id].removed || module[id].op != Op::GetTupleElement) continue;
      const InstructionId tuple = module.operand(id, 0);
      if (leaf_count(module.shape(tuple)) != std::ssize(module.shape(tuple).elements)) continue;
      read_[tuple.value].insert(module.attributes<GetTupleElementAttributes>(id).index);
      ++reads[tuple.value];
    }
  for (const auto& [tuple, count] : reads) {
    const InstructionId id{tuple};
    if (editor_.use_count(id) != count || module[module[id].computation].root == id)
      read_.erase(tuple);
  }
}

bool Partitioner::is_read(InstructionId global, size_t leaf) const {
  const auto elements = read_.find(global.value);
  return elements == read_.end() || elements->second.contains(static_cast<int64_t>(leaf));
}

// The new computations come first, each with an instruction behind which code can be written.
void Partitioner::find_computations() {
  Module& module = editor_.module();
  std::vector<bool> is_program(module.computations.size());
  is_program[module.entry.value] = true;
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    for (InstructionId id : module[*at].instructions)
      if (is_program[at->value] && !module[id].removed && calls_program(module[id].op))
        for (ComputationId callee : module.called(module[id])) is_program[callee.value] = true;
  std::erase_if(order_, [&](ComputationId id) { return !is_program[id.value]; });
  for (ComputationId id : order_) {
    const ComputationId local = module.add_computation(module[id].name);
    module[local].execution_thread = module[id].execution_thread;
    locals_[id.value] = local;
    const InstructionId like = module[id].root;
    const InstructionId token = editor_.clone(like, local, {});
    module[token].op = Op::AfterAll;
    module[token].attributes = module.default_attributes(Op::AfterAll);
    module[token].extra = {};
    editor_.set_shape(token, Shape::token());
    anchors_[local.value] = token;
  }
}

Result<void> Partitioner::find_boundaries() {
  HILO_DO(find_manual_axes());
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    for (InstructionId id : module()[*at].instructions)
      if (calls_program(module()[id].op)) HILO_DO(agree(id));
  return {};
}

// From what the borders of regions state.
Result<void> Partitioner::find_manual_axes() {
  GivenShardings given;
  given.mesh = mesh_;
  given.computations.assign(order_.rbegin(), order_.rend());
  for (ComputationId computation : given.computations)
    for (InstructionId id : module()[computation].instructions) {
      HILO_TRY(const auto leaves, stated(id));
      if (id == module()[module().entry].root ||
          std::ranges::any_of(leaves, [](const auto& leaf) { return !leaf->manual.empty(); }))
        given.of[id].assign(leaves.begin(), leaves.end());
    }
  HILO_TRY(manual_axes_, hilo::find_manual_axes(module(), given));
  return {};
}

// What a loop carries has one sharding in all that it passes, and so has the result of branches.
Result<void> Partitioner::agree(InstructionId caller) {
  const std::vector<ComputationId> callees = module().called(module()[caller]);
  const Op op = module()[caller].op;
  if (op == Op::Call) return {};
  HILO_TRY(auto leaves, stated_leaves(caller));
  for (ComputationId callee : callees) {
    if (op == Op::While) HILO_DO(fill(module()[callee].parameters[0], leaves));
    if (op == Op::Conditional || callee == callees.back())
      HILO_DO(fill(module()[callee].root, leaves));
  }
  size_t next = 0;
  for_each_leaf(module().shape(caller), [&](const Shape& leaf, std::span<const int64_t>) {
    auto& known = leaves[next++];
    if (known) return;
    AxisSharding sharding = replicated_sharding(mesh_, leaf.dims.size());
    sharding.manual = manual(caller);
    known = std::move(sharding);
  });
  for (ComputationId callee : callees) {
    Boundary& boundary = boundaries_[callee.value];
    if (op == Op::While) boundary.parameter = leaves;
    if (module().shape(module()[callee].root) == module().shape(caller)) boundary.result = leaves;
  }
  return {};
}

Result<Partitioner::StatedLeaves> Partitioner::stated_leaves(InstructionId global) const {
  HILO_TRY(const auto leaves, stated(global));
  if (!leaves.empty()) return StatedLeaves(leaves.begin(), leaves.end());
  return StatedLeaves(static_cast<size_t>(leaf_count(module().shape(global))));
}

Result<void> Partitioner::fill(InstructionId from, StatedLeaves& into) const {
  HILO_TRY(auto leaves, stated_leaves(from));
  if (leaves.size() != into.size()) return {};
  for (size_t i = 0; i < into.size(); ++i)
    if (!into[i]) into[i] = std::move(leaves[i]);
  return {};
}

// All that the roles depend on beside the rule.
std::vector<uint64_t> Partitioner::key_of(const RoleQuestion& question) {
  std::vector<uint64_t> key;
  for (const SubAxis& axis : question.manual)
    key.insert(key.end(), {uint64_t{axis.axis}, static_cast<uint64_t>(axis.pre_size),
                           static_cast<uint64_t>(axis.size)});
  for (const std::vector<bool>* flags : {&question.may_shard, &question.even_alone}) {
    uint64_t bits = 1;
    for (bool flag : *flags) bits = bits * 2 + flag;
    key.push_back(bits);
  }
  const auto number = [&](const AxisSharding* sharding) -> uint64_t {
    return sharding ? table_.intern(*sharding) + uint64_t{1} : 0;
  };
  for (const auto* list : {&question.operands, &question.results})
    for (const RoleArray& array : *list) {
      key.push_back(number(array.sharding));
      key.push_back(4 * number(array.other) + 2 * array.is_free + array.is_left_out);
      for (const AxisSharding& one : array.at_hand) key.push_back(number(&one));
    }
  return key;
}

const Partitioner::Choice& Partitioner::roles(uint32_t rule, const RoleQuestion& question) {
  std::vector<uint64_t> key = key_of(question);
  key.push_back(rule);
  if (&question.factors != &factors(rule)) {
    for (const ShardingFactor& factor : question.factors.factors)
      key.insert(key.end(),
                 {static_cast<uint64_t>(factor.size), static_cast<uint64_t>(factor.kind)});
    for (const auto* list : {&question.operands, &question.results})
      for (const RoleArray& array : *list)
        for (const auto& dim : *array.factors) key.insert(key.end(), dim.begin(), dim.end());
  }
  const auto known = roles_.find(key);
  if (known != roles_.end()) return known->second;
  Choice& out = roles_[std::move(key)];
  out.roles = choose_roles(question, costs_);
  for (const RoleArray& operand : question.operands)
    out.operands.push_back(operand_sharding(question, operand, out.roles));
  for (const RoleArray& result : question.results)
    out.results.push_back(result_sharding(question, result, out.roles));
  return out;
}

AxisSharding Partitioner::replicated(size_t rank) const {
  AxisSharding out = replicated_sharding(mesh_, rank);
  out.manual = manual(visited_);
  return out;
}

Result<std::span<const SharedSharding>> Partitioner::stated(InstructionId global) const {
  const auto& sharding = module().extra(module()[global]).sharding;
  if (!sharding || sharding->kind == Sharding::Kind::Unknown) return {};
  const Shape& shape = module().shape(global);  // of an array the rank says all
  const uint32_t like =
      shape.is_array() ? static_cast<uint32_t>(shape.dims.size()) : ~module()[global].shape.value;
  const auto [known, is_new] = stated_.try_emplace({sharding.get(), like});
  if (is_new) {
    auto leaves = stated_shardings(module(), global, mesh_);
    if (!leaves) {
      stated_.erase(known);
      leaves.error().place = module().place(global);
      return std::unexpected(std::move(leaves).error());
    }
    for (AxisSharding& leaf : *leaves) known->second.push_back(settled(std::move(leaf), mesh_));
  }
  return known->second;
}

const std::vector<GlobalShape>& Partitioner::leaves(InstructionId global) {
  const auto [known, is_new] = leaves_.try_emplace(module()[global].shape.value);
  if (is_new)
    for_each_leaf(module().shape(global), [&](const Shape& leaf, std::span<const int64_t>) {
      known->second.push_back(leaf);
    });
  return known->second;
}

bool Partitioner::is_splat(const Shard& tile) const {
  return tile.id && tile.sharding->unreduced.empty() && module()[tile.id].op == Op::Broadcast &&
         module().shape(module().operand(tile.id, 0)).dims.empty();
}

RoleArray Partitioner::role_array(const Shard& tile, const DimensionFactors& factors) const {
  const Shard* const origin = origin_of(tile);
  return {&*tile.shape, &factors, &*tile.sharding, origin ? &*origin->sharding : nullptr,
          is_splat(tile)};
}

const Shard* Partitioner::origin_of(const Shard& tile) const {
  const auto found = origins_.find(tile.id.value);
  if (found == origins_.end()) return nullptr;
  const auto& [sharding, origin] = found->second;
  return sharding == tile.sharding && origin.shape == tile.shape ? &origin : nullptr;
}

double Partitioner::bytes_to_bring(const Shard& tile, const AxisSharding& to) {
  if (is_splat(tile)) return 0;
  const auto& plan = costs_.plan(tile.shape->dims, tile.sharding,
                                 before_new_summands(tile.shape->dims, tile.sharding, to));
  return plan ? plan->bytes_per_device(tile.shape->type) : INFINITY;
}

Result<InstructionId> Partitioner::resharded(const Shard& shard, const AxisSharding& to) {
  if (!shard.shape->is_array() || shard.sharding == to) return shard.id;
  if (shard.shape->has_dynamic_dims()) {
    HILO_DO(check_whole(shard.shape, shard.sharding));
    HILO_DO(check_whole(shard.shape, to));
    return shard.id;
  }
  if (is_splat(shard) && to.unreduced.empty())
    return LocalCode(editor_, shard.id)
        .broadcast(module().operand(shard.id, 0), local_dims(shard.shape->dims, to), {});
  for (const Known& known : resharded_[shard.id.value])
    if (known.other.sharding == to && known.sharding == shard.sharding &&
        known.other.shape == shard.shape)
      return known.other.id;
  AxisSharding from = shard.sharding;
  if (!from.is_sharded() && from.unreduced.empty()) from.manual = to.manual;
  if (from.manual.empty() && !to.manual.empty()) {  // the same everywhere along manual axes
    AxisSharding outside = to;
    outside.manual.clear();
    return resharded(shard, outside);
  }
  const auto cost = [&](const AxisSharding& of) { return costs_.seconds(shard.shape, of, to); };
  const Shard* const found = origin_of(shard);
  const Shard origin = found ? *found : Shard{shard.id, from, shard.shape};
  if (found && cost(origin.sharding) < cost(from)) return resharded(origin, to);
  const AxisSharding before = before_new_summands(shard.shape->dims, from, to);
  const Result<ReshardPlan>& plan = costs_.plan(shard.shape->dims, from, before);
  if (!plan) return std::unexpected(plan.error());
  const auto first = static_cast<uint32_t>(module().instructions.size());
  HILO_TRY(InstructionId out, emit_reshard(editor_, shard.id, shard.shape->dims, *plan, channel_));
  note_reason(first, shard, to);
  HILO_TRY(out, as_summands(code(), out, shard.shape->dims, before, to));
  resharded_[shard.id.value].push_back({shard.sharding, {out, to, shard.shape}});
  if (plan->elements == 0 && out != shard.id && from.unreduced.empty() && to.unreduced.empty())
    origins_.insert_or_assign(out.value, Known{to, origin});
  return out;
}

// Each collective says for which instruction it is and which shardings met there.
void Partitioner::note_reason(uint32_t first, const Shard& shard, const AxisSharding& to) {
  for (uint32_t i = first; i < module().instructions.size(); ++i) {
    if (!has_trait(module().instructions[i].op, TraitCollective)) continue;
    FrontendAttributes& said = module().mutable_extra({i}).frontend_attributes;
    said["hilo.reshard.array"].text = to_string_without_layout(shard.shape);
    said["hilo.reshard.for"].text = module()[visited_].name;
    said["hilo.reshard.from"].text = axes_text(shard.sharding);
    said["hilo.reshard.to"].text = axes_text(to);
  }
}

InstructionId Partitioner::joined(const Shape& global, std::span<const InstructionId> leaves) {
  size_t next = 0;
  return joined(global, leaves, next);
}

InstructionId Partitioner::joined(const Shape& global, std::span<const InstructionId> leaves,
                                  size_t& next) {
  if (!global.is_tuple()) return leaves[next++];
  std::vector<InstructionId> elements;
  for (const Shape& element : global.elements) elements.push_back(joined(element, leaves, next));
  return editor_.add_tuple(anchors_.at(local_.value), elements);
}

std::vector<InstructionId> Partitioner::split(InstructionId local) {
  std::vector<InstructionId> out;
  split(local, out);
  return out;
}

void Partitioner::split(InstructionId local, std::vector<InstructionId>& out) {
  if (!module().shape(local).is_tuple()) return out.push_back(local);
  const Shape shape = module().shape(local);
  for (int64_t i = 0; i < std::ssize(shape.elements); ++i)
    split(editor_.add_element(local, local, i), out);
}

Result<void> Partitioner::run() {
  channel_ = hilo::next_channel(module());
  tiles_.resize(module().instructions.size());
  HILO_DO(find_boundaries());
  for (ComputationId id : order_) HILO_DO(partition(id));
  HILO_DO(keep_aliases());
  finish_entry();
  remove_unused();
  return {};
}

// Collectives are effects to all passes: what an op has been found to need no more is not sent.
void Partitioner::remove_unused() {
  Module& module = editor_.module();
  const Effects effects(module);
  std::unordered_set<uint32_t> locals;
  for (const auto& [global, local] : locals_) locals.insert(local.value);
  for (auto i = static_cast<uint32_t>(module.instructions.size()); i-- > 0;) {
    const InstructionId id{i};
    const Instruction& one = module[id];
    if (one.removed || !locals.contains(one.computation.value) || module.has_users(id) ||
        module[one.computation].root == id || one.op == Op::Parameter)
      continue;
    if (has_trait(one.op, TraitCollective) || !effects.has(id)) module.remove(id);
  }
  for (uint32_t local : locals)
    std::erase_if(module[ComputationId{local}].instructions,
                  [&](InstructionId id) { return module[id].removed; });
}

Result<void> Partitioner::partition(ComputationId global) {
  local_ = locals_.at(global.value);
  Callee& callee = callees_[global.value];
  callee.local = local_;
  for (InstructionId id : std::vector(module()[global].parameters)) {
    HILO_TRY(tiles_[id.value], visit(id));
    callee.parameters.push_back(shards(id));
  }
  for (InstructionId id : operands_first(module(), global)) {
    if (module()[id].op == Op::Parameter) continue;
    const auto first = static_cast<uint32_t>(module().instructions.size());
    auto tiles = visit(id);
    if (!tiles) {
      if (tiles.error().place.instruction.empty()) tiles.error().place = module().place(id);
      return std::unexpected(std::move(tiles).error());
    }
    tiles_[id.value] = *std::move(tiles);
    for (uint32_t i = first; i < module().instructions.size(); ++i)
      module().instructions[i].metadata = module()[id].metadata;
  }
  const InstructionId root = module()[global].root;
  std::vector<InstructionId> leaves;
  callee.result = shards(root);
  const auto& result = boundaries_[global.value].result;
  for (size_t i = 0; i < callee.result.size(); ++i) {
    Shard& tile = callee.result[i];
    if (!result.empty()) {
      HILO_TRY(tile.id, resharded(tile, *result[i]));
      tile.sharding = *result[i];
    }
    leaves.push_back(tile.id);
  }
  module()[local_].root = joined(module().shape(root), leaves);
  module()[local_].name = module().strings.copy(fmt::format("{}_spmd", module()[global].name));
  return {};
}

InstructionId Partitioner::clone(InstructionId global, std::span<const InstructionId> operands) {
  const InstructionId out = editor_.clone(global, local_, operands);
  is_cloned_.resize(module().instructions.size());
  if (!is_cloned_[global.value]) module()[out].name = module()[global].name;
  is_cloned_[global.value] = true;
  return out;
}

Result<Shards> Partitioner::parameter(InstructionId global) {
  HILO_TRY(auto said, stated_leaves(global));
  const auto& agreed = boundaries_[module()[global].computation.value].parameter;
  if (!agreed.empty()) said = agreed;
  const std::vector<GlobalShape>& shapes = leaves(global);
  Shards out;
  Shape local = module().shape(global);
  size_t next = 0;
  const std::function<void(Shape&)> cut = [&](Shape& shape) {
    for (Shape& element : shape.elements) cut(element);
    if (shape.is_tuple()) return;
    const SharedSharding sharding =
        said[next] ? *said[next] : SharedSharding(replicated(shape.dims.size()));
    ++next;
    if (shape.is_array()) shape = local_shape(shape, sharding);
    out.push_back({{}, sharding, shapes[next - 1]});
  };
  cut(local);
  const InstructionId parameter = clone(global, {});
  editor_.set_shape(parameter, local);
  module()[local_].parameters.push_back(parameter);
  const std::vector<InstructionId> ids = split(parameter);
  for (size_t i = 0; i < ids.size(); ++i) out[i].id = ids[i];
  return out;
}

Result<Shards> Partitioner::visit(InstructionId global) {
  visited_ = global;
  // A rule of the user's own may not fit.
  if (module()[global].op == Op::CustomCall) HILO_DO(rules_.of_instruction(global));
  OpPartition op(*this, global);
  const auto first = static_cast<uint32_t>(module().instructions.size());
  HILO_TRY(Shards out, partition_function(module()[global].op)(op));
  HILO_DO(check_groups(global, first));
  for (const Shard& leaf : out)
    if (auto whole = check_whole(leaf.shape, leaf.sharding); !whole)
      return fault_at(module(), global, std::move(whole).error());
  return out;
}

}  // namespace hilo
