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

uint32_t OpPartition::rule() {
  if (!rule_) rule_ = *partitioner_.rule(global_);
  return *rule_;
}

RoleQuestion OpPartition::question(const LocalForm& form, std::span<const Shard> operands,
                                   std::span<const AxisSharding> wanted) {
  RoleQuestion out{factors(), {}, {}, partitioner_.mesh(), {}, form.reduction};
  for (size_t i = 0; i < operands.size(); ++i)
    out.operands.push_back(partitioner_.role_array(operands[i], factors().operands[i]));
  for (size_t i = 0; i < operands.size(); ++i)
    out.operands[i].is_left_out = form.leaves_out && form.leaves_out(i);
  if (leaves_.empty())
    for_each_leaf(shape(),
                  [&](const Shape& leaf, std::span<const int64_t>) { leaves_.push_back(leaf); });
  for (size_t i = 0; i < leaves_.size(); ++i)
    out.results.push_back({&leaves_[i], &factors().results[i],
                           partitioner_.is_read(global_, i) ? &wanted[i] : nullptr});
  // What depends on constants alone may be said to be in no region.
  for (const RoleArray& operand : out.operands)
    if (operand.sharding && !operand.sharding->manual.empty())
      out.manual = operand.sharding->manual;
  for (const AxisSharding& result : wanted)
    if (!result.manual.empty()) out.manual = result.manual;
  out.operations = form.operations ? *form.operations : operations_of(factors());
  for (size_t i = 0; i < factors().factors.size(); ++i) {
    const Kind kind = factors().factors[i].kind;
    out.may_shard.push_back(form.may_shard ? form.may_shard(i)
                                           : kind == Kind::Pass || kind == Kind::Reduction);
    out.even_alone.push_back(form.even_alone && form.even_alone(i));
    out.may_be_uneven.push_back(form.may_be_uneven && form.may_be_uneven(i));
  }
  out.sent_bytes = form.sent_bytes;
  return out;
}

Result<Shards> OpPartition::by_factors(const LocalForm& form) {
  return by_cheapest(std::span(&form, 1));
}

Result<Shards> OpPartition::by_cheapest(std::span<const LocalForm> forms) {
  const Shards operands = operand_leaves();
  HILO_TRY(const std::vector<AxisSharding> wanted, this->wanted());
  const LocalForm* best = nullptr;
  std::optional<RoleQuestion> asked;
  Roles roles;
  for (const LocalForm& form : forms) {
    RoleQuestion one = question(form, operands, wanted);
    Roles found = partitioner_.roles(rule(), one);
    if (found.sent > 0 && find_at_hand(one)) found = partitioner_.roles(rule(), one);
    if (best && found.seconds >= roles.seconds) continue;
    best = &form;
    asked.emplace(std::move(one));
    roles = std::move(found);
  }
  return emit(*best, {*asked, roles, operands, {}}, wanted);
}

Result<Shards> OpPartition::emit(const LocalForm& form, LocalOperands local,
                                 std::span<const AxisSharding> wanted) {
  for (size_t i = 0; i < local.operands.size(); ++i) {
    Shard& operand = local.operands[i];
    if (!operand.shape.is_array() || (form.leaves_out && form.leaves_out(i))) continue;
    AxisSharding to = operand_sharding(local.question, local.question.operands[i], local.roles);
    HILO_TRY(operand.id, partitioner_.resharded(operand, to));
    operand.sharding = std::move(to);
  }
  for (const RoleArray& result : local.question.results)
    local.results.push_back(result_sharding(local.question, result, local.roles));
  HILO_TRY(const std::vector<InstructionId> ids, form.emit ? form.emit(local) : emit_plain(local));
  Shards out;
  for (size_t i = 0; i < ids.size(); ++i) {
    out.push_back({ids[i], local.results[i], leaves_[i]});
    if (!partitioner_.is_read(global_, i)) continue;
    HILO_TRY(out[i].id, partitioner_.resharded(out[i], wanted[i]));
    out[i].sharding = wanted[i];
  }
  return form.finish ? form.finish(std::move(out)) : out;
}

Shards OpPartition::operand_leaves() {
  Shards out;
  for (size_t i = 0; i < operand_count(); ++i)
    out.insert(out.end(), operand_shards(i).begin(), operand_shards(i).end());
  return out;
}

Result<std::vector<AxisSharding>> OpPartition::wanted() {
  HILO_TRY(const auto stated, partitioner_.stated(global_));
  std::vector<AxisSharding> out;
  for_each_leaf(shape(), [&](const Shape& leaf, std::span<const int64_t>) {
    const auto& one = stated[out.size()];
    out.push_back(one ? *one : replicated_sharding(partitioner_.mesh(), leaf.dims.size()));
    if (!one) out.back().manual = manual();
  });
  return out;
}

Result<std::vector<InstructionId>> OpPartition::emit_plain(const LocalOperands& local) {
  std::vector<InstructionId> operands = local.ids();
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<size_t> reduced = dims_of(i, Kind::Reduction);
    if (reduced.empty() || !local.operands[i].shape.is_array()) continue;
    LocalCode here = code();
    operands[i] = masked(local.operands[i], reduced, here.zeros(local.operands[i].shape.type, {}));
  }
  return clone(operands, local.results);
}

Result<std::vector<InstructionId>> OpPartition::whole_operands() {
  std::vector<InstructionId> operands;
  for (size_t i = 0; i < operand_count(); ++i) {
    std::vector<InstructionId> leaves;
    for (const Shard& shard : Shards(operand_shards(i))) {
      AxisSharding whole = partitioner_.replicated(shard.shape.dims.size());
      whole.manual = shard.sharding.manual;
      HILO_TRY(const InstructionId id, partitioner_.resharded(shard, whole));
      leaves.push_back(id);
    }
    operands.push_back(partitioner_.joined(operand_shape(i), leaves));
  }
  return operands;
}

Result<Shards> OpPartition::whole_results(std::span<const InstructionId> leaves) {
  Shards out;
  for_each_leaf(shape(), [&](const Shape& leaf, std::span<const int64_t>) {
    out.push_back({leaves[out.size()], partitioner_.replicated(leaf.dims.size()), leaf});
  });
  return as_stated(std::move(out));
}

Result<Shards> OpPartition::replicated() {
  HILO_TRY(const std::vector<InstructionId> operands, whole_operands());
  std::vector<AxisSharding> results;
  for_each_leaf(shape(), [&](const Shape& leaf, std::span<const int64_t>) {
    results.push_back(partitioner_.replicated(leaf.dims.size()));
  });
  return whole_results(clone(operands, results));
}

Result<Shards> OpPartition::as_stated(Shards leaves) {
  HILO_TRY(const auto stated, partitioner_.stated(global_));
  for (size_t i = 0; i < leaves.size(); ++i) {
    AxisSharding to = stated[i] ? *stated[i] : leaves[i].sharding;
    if (!stated[i]) to.unreduced.clear(), to.unreduced_op.clear();
    HILO_TRY(leaves[i].id, partitioner_.resharded(leaves[i], to));
    leaves[i].sharding = std::move(to);
  }
  return leaves;
}

InstructionId OpPartition::clone_value(std::span<const InstructionId> operands,
                                       std::span<const AxisSharding> results) {
  const InstructionId out = partitioner_.clone(global_, operands);
  module().mutable_extra(out).sharding = nullptr;
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
                                              std::span<const AxisSharding> results) {
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
    const int64_t size = tile.shape.dims[dim];
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
