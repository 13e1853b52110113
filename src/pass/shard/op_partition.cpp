#include "pass/shard/op_partition.h"

#include <algorithm>

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

#define HILO_ROW_Elementwise(name) partition_elementwise,
#define HILO_ROW_Structural(name) partition_##name,
constexpr PartitionFunction functions[] = {
#define OP(name, text, operands, attributes, op_class, types, ...) HILO_ROW_##op_class(name)
#include "ir/ops.def"
#undef OP
};

// Of all steps of the loop over the factors: a product and its sum are two.
double operations_of(const ShardingFactors& factors) {
  double out = 2;
  for (const ShardingFactor& factor : factors.factors) out *= static_cast<double>(factor.size);
  return out;
}

}  // namespace

PartitionFunction partition_function(Op op) { return functions[static_cast<size_t>(op)]; }

namespace {

SharedSharding without_summands(const SharedSharding& sharding) {
  if (sharding->unreduced.empty() && sharding->unreduced_op.empty()) return sharding;
  AxisSharding out = sharding;
  out.unreduced.clear();
  out.unreduced_op.clear();
  return out;
}

}  // namespace

uint32_t OpPartition::rule() {
  if (!rule_) rule_ = *partitioner_.rule(global_);
  return *rule_;
}

RoleQuestion OpPartition::question(const LocalForm& form, std::span<const Shard> operands,
                                   std::span<const SharedSharding> wanted) {
  const ShardingFactors& factors = this->factors();
  const std::vector<GlobalShape>& leaves = this->leaves();
  RoleQuestion out{factors, {}, {}, partitioner_.mesh(), {}, form.reduction};
  out.operands.reserve(operands.size());
  out.results.reserve(leaves.size());
  for (size_t i = 0; i < operands.size(); ++i)
    out.operands.push_back(partitioner_.role_array(operands[i], factors.operands[i]));
  for (size_t i = 0; i < operands.size(); ++i)
    out.operands[i].is_left_out = form.leaves_out && form.leaves_out(i);
  for (size_t i = 0; i < leaves.size(); ++i)
    out.results.push_back({&*leaves[i], &factors.results[i],
                           partitioner_.is_read(global_, i) ? &*wanted[i] : nullptr});
  // What depends on constants alone may be said to be in no region.
  for (const RoleArray& operand : out.operands)
    if (operand.sharding && !operand.sharding->manual.empty())
      out.manual = operand.sharding->manual;
  for (const SharedSharding& result : wanted)
    if (!result->manual.empty()) out.manual = result->manual;
  out.operations = form.operations ? *form.operations : operations_of(factors);
  const size_t count = factors.factors.size();
  for (std::vector<bool>* flags : {&out.may_shard, &out.even_alone, &out.may_be_uneven})
    flags->resize(count);
  for (size_t i = 0; i < count; ++i) {
    const Kind kind = factors.factors[i].kind;
    out.may_shard[i] =
        form.may_shard ? form.may_shard(i) : kind == Kind::Pass || kind == Kind::Reduction;
    out.even_alone[i] = form.even_alone && form.even_alone(i);
    out.may_be_uneven[i] = form.may_be_uneven && form.may_be_uneven(i);
  }
  out.sent_bytes = form.sent_bytes;
  return out;
}

Result<Shards> OpPartition::by_factors(const LocalForm& form) {
  return by_cheapest(std::span(&form, 1));
}

namespace {

// To which the leaves that the local form makes are brought.
std::span<const SharedSharding> ends_at(const LocalForm& form,
                                        std::span<const SharedSharding> wanted) {
  return form.before_finish.empty() ? wanted : form.before_finish;
}

}  // namespace

bool OpPartition::has_dynamic_dims() {
  for (const GlobalShape& leaf : leaves())
    if (leaf->has_dynamic_dims()) return true;
  for (size_t i = 0; i < operand_count(); ++i)
    for (const Shard& leaf : operand_shards(i))
      if (leaf.shape->has_dynamic_dims()) return true;
  return false;
}

Result<Shards> OpPartition::by_cheapest(std::span<const LocalForm> forms) {
  if (has_dynamic_dims()) return replicated();
  Shards operands = operand_leaves();
  HILO_TRY(const std::vector<SharedSharding> wanted, this->wanted());
  const LocalForm* best = nullptr;
  std::optional<RoleQuestion> asked;
  const Partitioner::Choice* choice = nullptr;
  for (const LocalForm& form : forms) {
    RoleQuestion one = question(form, operands, ends_at(form, wanted));
    const Partitioner::Choice* found = &partitioner_.roles(rule(), one);
    if (found->roles.sent > 0 && find_at_hand(one)) found = &partitioner_.roles(rule(), one);
    if (best && found->roles.seconds >= choice->roles.seconds) continue;
    best = &form;
    asked.emplace(std::move(one));
    choice = found;
  }
  return emit(*best, {*asked, choice->roles, std::move(operands), choice->results},
              choice->operands, wanted);
}

Result<Shards> OpPartition::emit(const LocalForm& form, LocalOperands local,
                                 std::span<const SharedSharding> needed,
                                 std::span<const SharedSharding> wanted) {
  for (size_t i = 0; i < local.operands.size(); ++i) {
    Shard& operand = local.operands[i];
    if (!operand.shape->is_array() || (form.leaves_out && form.leaves_out(i))) continue;
    HILO_TRY(operand.id, partitioner_.resharded(operand, needed[i]));
    operand.sharding = needed[i];
  }
  HILO_TRY(const std::vector<InstructionId> ids, form.emit ? form.emit(local) : emit_plain(local));
  Shards out;
  for (size_t i = 0; i < ids.size(); ++i) out.push_back({ids[i], local.results[i], leaves()[i]});
  HILO_DO(bring(out, ends_at(form, wanted)));
  if (!form.finish) return out;
  HILO_TRY(out, form.finish(std::move(out)));
  HILO_DO(bring(out, wanted));
  return out;
}

// Leaves that anybody reads.
Result<void> OpPartition::bring(Shards& leaves, std::span<const SharedSharding> to) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!partitioner_.is_read(global_, i)) continue;
    HILO_TRY(leaves[i].id, partitioner_.resharded(leaves[i], to[i]));
    leaves[i].sharding = to[i];
  }
  return {};
}

Shards OpPartition::operand_leaves() {
  Shards out;
  for (size_t i = 0; i < operand_count(); ++i)
    out.insert(out.end(), operand_shards(i).begin(), operand_shards(i).end());
  return out;
}

Result<std::vector<SharedSharding>> OpPartition::wanted() {
  HILO_TRY(const auto stated, partitioner_.stated(global_));
  std::vector<SharedSharding> out(stated.begin(), stated.end());
  if (!out.empty()) return out;
  for (const GlobalShape& leaf : leaves()) {
    AxisSharding whole = replicated_sharding(partitioner_.mesh(), leaf->dims.size());
    whole.manual = manual();
    out.push_back(std::move(whole));
  }
  return out;
}

Result<std::vector<InstructionId>> OpPartition::emit_plain(const LocalOperands& local) {
  std::vector<InstructionId> operands = local.ids();
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<size_t> reduced = dims_of(i, Kind::Reduction);
    if (reduced.empty() || !local.operands[i].shape->is_array()) continue;
    LocalCode here = code();
    operands[i] = masked(local.operands[i], reduced, here.zeros(local.operands[i].shape->type, {}));
  }
  return clone(operands, local.results);
}

Result<std::vector<InstructionId>> OpPartition::whole_operands() {
  std::vector<InstructionId> operands;
  for (size_t i = 0; i < operand_count(); ++i) {
    std::vector<InstructionId> leaves;
    for (const Shard& shard : Shards(operand_shards(i))) {
      AxisSharding whole = partitioner_.replicated(shard.shape->dims.size());
      whole.manual = shard.sharding->manual;
      HILO_TRY(const InstructionId id, partitioner_.resharded(shard, whole));
      leaves.push_back(id);
    }
    operands.push_back(partitioner_.joined(operand_shape(i), leaves));
  }
  return operands;
}

Result<Shards> OpPartition::whole_results(std::span<const InstructionId> ids) {
  Shards out;
  for (const GlobalShape& leaf : leaves())
    out.push_back({ids[out.size()], partitioner_.replicated(leaf->dims.size()), leaf});
  return as_stated(std::move(out));
}

Result<Shards> OpPartition::replicated() {
  HILO_TRY(const std::vector<InstructionId> operands, whole_operands());
  std::vector<SharedSharding> results;
  for (const GlobalShape& leaf : leaves())
    results.push_back(partitioner_.replicated(leaf->dims.size()));
  return whole_results(clone(operands, results));
}

Result<Shards> OpPartition::as_stated(Shards leaves) {
  HILO_TRY(const auto stated, partitioner_.stated(global_));
  for (size_t i = 0; i < leaves.size(); ++i) {
    const SharedSharding to = stated.empty() ? without_summands(leaves[i].sharding) : stated[i];
    HILO_TRY(leaves[i].id, partitioner_.resharded(leaves[i], to));
    leaves[i].sharding = to;
  }
  return leaves;
}

namespace {

// Whether it says of a clone, which has neither, no more than a sharding and what comes before.
bool says_nothing_else(const Extra& extra) {
  const auto& [sharding, attributes, predecessors, statistics, accuracy, origin, replication,
               config, is_json, unknown] = extra;
  return attributes.empty() && statistics.empty() && accuracy.empty() && origin.empty() &&
         replication.empty() && config.empty() && !is_json && unknown.empty();
}

}  // namespace

InstructionId OpPartition::clone_value(std::span<const InstructionId> operands,
                                       std::span<const SharedSharding> results) {
  const ExtraId said = module()[global_].extra;
  if (said && says_nothing_else(module().extras[said.value])) module()[global_].extra = {};
  const InstructionId out = partitioner_.clone(global_, operands);
  module()[global_].extra = said;
  if (module()[out].extra) module().mutable_extra(out).sharding = nullptr;
  const auto is_cut = [](const SharedSharding& result) { return result->is_sharded(); };
  if (std::ranges::none_of(results, is_cut)) return out;
  if (shape().is_array()) {
    editor().set_shape(out, local_shape(shape(), results[0]));
    return out;
  }
  Shape local = shape();
  size_t next = 0;
  const std::function<void(Shape&)> cut = [&](Shape& one) {
    for (Shape& element : one.elements) cut(element);
    if (one.is_tuple()) return;
    if (one.is_array()) one = local_shape(one, results[next]);
    ++next;
  };
  cut(local);
  editor().set_shape(out, local);
  return out;
}

std::vector<InstructionId> OpPartition::clone(std::span<const InstructionId> operands,
                                              std::span<const SharedSharding> results) {
  return partitioner_.split(clone_value(operands, results));
}

InstructionId OpPartition::offset(const AxisSharding& sharding, const Shape& global, size_t dim) {
  LocalCode here = code();
  return here.scaled(here.coordinate(*sharding.mesh, sharding.dims[dim].axes),
                     local_dims(global.dims, sharding)[dim]);
}

InstructionId OpPartition::masked(const Shard& tile, std::span<const size_t> dims,
                                  InstructionId value) {
  LocalCode here = code();
  InstructionId out = tile.id;
  const Dims local = here.dims(tile.id);
  for (size_t dim : dims) {
    const int64_t size = tile.shape->dims[dim];
    if (local[dim] * tile_count(tile.sharding, dim) == size) continue;
    const InstructionId index =
        here.binary(Op::Add, here.iota(ElementType::S32, local, static_cast<int64_t>(dim)),
                    here.broadcast(offset(tile.sharding, tile.shape, dim), local, {}));
    const InstructionId is_inside =
        here.compare(index, here.broadcast(here.number(size), local, {}), ComparisonDirection::Lt);
    out = here.select_each(is_inside, out, here.broadcast(value, local, {}));
  }
  return out;
}

std::vector<size_t> OpPartition::dims_of(size_t leaf, Kind kind) {
  std::vector<size_t> out;
  const DimensionFactors& dims = factors().operands[leaf];
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (std::ranges::any_of(dims[dim], [&](size_t f) { return factors().factors[f].kind == kind; }))
      out.push_back(dim);
  return out;
}

}  // namespace hilo
