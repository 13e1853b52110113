// What the program says to its callers: of its parameters and result, and of buffers that they
// share.
#include <algorithm>

#include "pass/shard/given_shardings.h"
#include "pass/shard/partitioner.h"

namespace hilo {
namespace {

// Layouts stay.
void take_dims(const Shape& from, Shape& to) {
  to.dims = from.dims;
  for (size_t i = 0; i < to.elements.size(); ++i) take_dims(from.elements[i], to.elements[i]);
}

// Nothing where all leaves are whole.
std::shared_ptr<const Sharding> sharding_of(const Shape& shape, const Shards& leaves) {
  const auto is_sharded = [](const Shard& leaf) { return leaf.sharding->is_sharded(); };
  if (std::ranges::none_of(leaves, is_sharded)) return nullptr;
  Sharding out;
  for (const Shard& leaf : leaves) out.elements.push_back(tile_sharding(leaf.sharding));
  if (!shape.is_tuple()) out = Sharding(out.elements[0]);
  else out.kind = Sharding::Kind::Tuple;
  return std::make_shared<const Sharding>(std::move(out));
}

}  // namespace

// The new program's parameters and result keep what they say of the whole arrays.
void Partitioner::finish_entry() {
  Module& module = editor_.module();
  const ComputationId old = module.entry, entry = callees_.at(old.value).local;
  module.entry = entry;
  module.header.frontend_attributes.erase("xla.sdy.meshes");
  const auto said = module.extra(module[module[old].root]).sharding;
  if (const InstructionId root = module[entry].root;
      module[root].op == Op::Parameter && module[module[old].root].op != Op::Parameter)
    module[entry].root = editor_.add(root, Op::Copy, Shape(module.shape(root)), std::array{root});
  const InstructionId root = module[entry].root;
  module.mutable_extra(root).sharding =
      said && said->kind != Sharding::Kind::Unknown
          ? said
          : sharding_of(module.shape(root), callees_.at(old.value).result);
  if (auto& layout = module.header.entry_computation_layout) {
    for (size_t i = 0; i < layout->parameters.size(); ++i)
      take_dims(module.shape(module[entry].parameters[i]), layout->parameters[i]);
    take_dims(module.shape(module[entry].root), layout->result);
  }
}

// What is donated must have the same size on each device.
Result<void> Partitioner::keep_aliases() {
  Module& module = editor_.module();
  const ComputationId global = module.entry, local = callees_.at(global.value).local;
  const auto leaf = [&](InstructionId id, const Dims& index) -> const Shape& {
    const Shape* out = &module.shape(id);
    for (int64_t i : index) out = &out->elements[i];
    return *out;
  };
  std::vector<BufferAlias> kept;
  for (const BufferAlias& alias : module.header.input_output_alias) {
    const Shape& from = leaf(module[local].parameters[alias.parameter], alias.parameter_index);
    const Shape& to = leaf(module[local].root, alias.output_index);
    if (from == to) kept.push_back(alias);
    else if (alias.must_alias)
      return fault_at(module, module[global].parameters[alias.parameter],
                      fail(ErrorKind::Structure,
                           "must-alias of a parameter and a result that devices hold differently: "
                           "{} and {}",
                           to_string_without_layout(from), to_string_without_layout(to))
                          .error());
  }
  module.header.input_output_alias = std::move(kept);
  return {};
}

}  // namespace hilo
