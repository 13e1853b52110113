// What keeps the elements of each dimension, and constants.
#include <algorithm>

#include "pass/shard/whole_arrays.h"

namespace hilo {
namespace {

// The one number that all elements are, where they are.
std::optional<Literal> splat_of(const Literal& literal) {
  const auto bytes = literal.raw();
  if (literal.count() == 0) return std::nullopt;
  const auto size = static_cast<ptrdiff_t>(bytes.size()) / literal.count();
  if (!std::equal(bytes.begin() + size, bytes.end(), bytes.begin())) return std::nullopt;
  Literal out = Literal::zeros(Shape::scalar(literal.type()));
  std::copy_n(bytes.begin(), size, out.mutable_raw().begin());
  return out;
}

bool is_over_mesh(OpPartition& op, const AxisSharding& sharding) {
  const SharedMesh& mesh = op.partitioner().mesh();
  return sharding.mesh == mesh || *sharding.mesh == *mesh;
}

// Whether all arrays are cut as the result is to be: then no other roles cost less.
bool lie_alike(OpPartition& op, const SharedSharding& wanted) {
  if (!wanted->unreduced.empty() || !is_over_mesh(op, wanted)) return false;
  for (size_t i = 0; i < op.operand_count(); ++i) {
    const Shard& operand = op.operand_shards(i)[0];
    if (operand.shape->is_scalar() ? !operand.sharding->unreduced.empty()
                                   : operand.sharding != wanted)
      return false;
  }
  return true;
}

bool are_whole(OpPartition& op, const SharedSharding& wanted) {
  const auto is_whole = [&](const AxisSharding& sharding) {
    return !sharding.is_sharded() && sharding.unreduced.empty() && sharding.manual == op.manual() &&
           is_over_mesh(op, sharding);
  };
  for (size_t i = 0; i < op.operand_count(); ++i)
    if (!is_whole(op.operand_shards(i)[0].sharding)) return false;
  return is_whole(wanted);
}

Shards on_tiles(OpPartition& op, std::span<const SharedSharding> wanted) {
  std::vector<InstructionId> operands;
  operands.reserve(op.operand_count());
  for (size_t i = 0; i < op.operand_count(); ++i) operands.push_back(op.operand_shards(i)[0].id);
  Shards out;
  out.push_back({op.clone(operands, wanted)[0], wanted[0], op.leaves()[0]});
  return out;
}

Result<Shards> by_factors_unless_whole(OpPartition& op) {
  HILO_TRY(std::optional<Shards> whole, on_whole_arrays(op));
  return whole ? *std::move(whole) : op.by_factors();
}

}  // namespace

Result<std::optional<Shards>> on_whole_arrays(OpPartition& op) {
  HILO_TRY(const std::vector<SharedSharding> wanted, op.wanted());
  if (!are_whole(op, wanted[0])) return std::nullopt;
  return on_tiles(op, wanted);
}

Result<Shards> partition_elementwise(OpPartition& op) {
  HILO_TRY(const std::vector<SharedSharding> wanted, op.wanted());
  return lie_alike(op, wanted[0]) ? on_tiles(op, wanted) : op.by_factors();
}

Result<Shards> partition_BitcastConvert(OpPartition& op) { return by_factors_unless_whole(op); }
Result<Shards> partition_Broadcast(OpPartition& op) { return by_factors_unless_whole(op); }
Result<Shards> partition_Map(OpPartition& op) { return op.by_factors(); }
Result<Shards> partition_Transpose(OpPartition& op) { return by_factors_unless_whole(op); }

// A bitcast is about layouts, which tiles do not share with the array.
Result<Shards> partition_Bitcast(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_DynamicReshape(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_GetDimensionSize(OpPartition& op) { return op.replicated(); }
Result<Shards> partition_SetDimensionSize(OpPartition& op) { return op.replicated(); }

Result<Shards> partition_Copy(OpPartition& op) { return op.as_stated(op.operand_shards(0)); }

// One number everywhere is so in each tile.
Result<Shards> partition_Constant(OpPartition& op) {
  const Literal* literal = op.attributes<ConstantAttributes>().literal.literal.get();
  HILO_TRY(const auto stated, op.partitioner().stated(op.id()));
  if (!literal || stated.empty() || !stated[0]->is_sharded() || !stated[0]->unreduced.empty())
    return op.replicated();
  const std::optional<Literal> scalar = splat_of(*literal);
  if (!scalar) return op.replicated();
  Dims local = local_dims(op.shape().dims, stated[0]);
  return Shards{{op.code().splat(std::move(local), *scalar), stated[0], op.leaves()[0]}};
}

Result<Shards> partition_Iota(OpPartition& op) {
  const auto dim = static_cast<size_t>(op.attributes<IotaAttributes>().iota_dimension);
  LocalForm form;
  // Floats are rounded once: as integers first.
  form.emit = [&op, dim](const LocalOperands& local) -> Result<std::vector<InstructionId>> {
    const AxisSharding& sharding = local.results[0];
    std::vector<InstructionId> out = op.clone({}, local.results);
    if (tile_count(sharding, dim) == 1) return out;
    LocalCode code = op.code();
    const ElementType type = op.shape().type;
    const ElementType counted = is_integral(type) ? type : ElementType::S32;
    const Dims dims = code.dims(out[0]);
    const InstructionId local_index =
        counted == type ? out[0] : code.iota(counted, dims, static_cast<int64_t>(dim));
    const InstructionId offset = code.convert(op.offset(sharding, op.shape(), dim), counted);
    const InstructionId index = code.binary(Op::Add, local_index, code.broadcast(offset, dims, {}));
    return std::vector{code.convert(index, type)};
  };
  return op.by_factors(form);
}

}  // namespace hilo
