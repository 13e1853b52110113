#include "pass/shard/local_summands.h"

#include <algorithm>

#include "pass/contained_types.h"
#include "pass/shard/axis_lists.h"
#include "pass/shard/given_shardings.h"
#include "pass/shard/identity_element.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;

bool says_summands(const Sharding& sharding) {
  return sharding.kind == Kind::Unreduced || !sharding.unreduced_axes.empty() ||
         std::ranges::count(sharding.last_tile_dims, Kind::Unreduced) > 0;
}

// The same array inside of a region along the axes, and axes that it does not have.
AxisSharding without_axes(AxisSharding sharding, const SubAxes& axes) {
  for (AxisSharding::Dim& dim : sharding.dims)
    dim.axes = merge_axes(axes_outside(*sharding.mesh, dim.axes, axes));
  sharding.unreduced = axes_outside(*sharding.mesh, sharding.unreduced, axes);
  if (sharding.unreduced.empty()) sharding.unreduced_op.clear();
  sharding.replicated.clear();
  return sharding;
}
void add_axes(const SubAxes& axes, SubAxes& to) {
  to.insert(to.end(), axes.begin(), axes.end());
  std::ranges::sort(to);
  to = merge_axes(to);
}

class LocalSummands {
 public:
  LocalSummands(Module& module, const SharedMesh& mesh)
      : editor_(module), module_(module), mesh_(mesh) {}

  void run() {
    for (ComputationId computation : module_.post_order())
      for (InstructionId id : operands_first(module_, computation))
        if (const auto result = summands_of(id)) visit(id, *result);
  }

 private:
  std::optional<AxisSharding> stated(InstructionId id) const {
    if (!module_.extra(module_[id]).sharding || !module_.shape(id).is_array()) return std::nullopt;
    auto leaves = stated_shardings(module_, id, mesh_);
    if (!leaves || *(*leaves)[0].mesh != *mesh_) return std::nullopt;
    return std::move((*leaves)[0]);
  }
  // What it states, if devices are to hold summands of a sum.
  std::optional<AxisSharding> summands_of(InstructionId id) const {
    const auto& text = module_.extra(module_[id]).sharding;
    if (!text || !says_summands(*text)) return std::nullopt;
    auto out = stated(id);
    if (!out || out->unreduced.empty() || reduction_of(out->unreduced_op) != Op::Add)
      return std::nullopt;
    return out;
  }
  bool is_float(InstructionId id) const {
    const Shape& shape = module_.shape(id);
    return shape.is_array() && is_static(shape) && is_floating(shape.type);
  }
  bool rounds_nothing(InstructionId convert) const {
    return is_contained(module_.shape(module_.operand(convert, 0)).type,
                        module_.shape(convert).type);
  }
  bool gives_sum(InstructionId id) const {
    const auto combiner = find_combiner(module_, module_.attributes<ReduceAttributes>(id).to_apply);
    return combiner && module_[combiner->instruction].op == Op::Add;
  }

  // Operands in which the instruction is a sum of what it is of summands of them together. Of what
  // moves elements those that are elements: offsets and conditions are of other types.
  std::vector<bool> summed_operands(InstructionId id) const {
    const Op op = module_[id].op;
    const auto operands = module_.operands(id);
    std::vector<bool> out(operands.size());
    if (!is_float(id) || op == Op::Copy || has_trait(op, TraitCollective | TraitEffect)) return out;
    if (op == Op::Multiply) {
      for (size_t i = 0; i < 2; ++i)
        out[i] = summands_of(operands[i]) && !summands_of(operands[!i]);
      return out;
    }
    const bool adds = op == Op::Add || op == Op::Subtract || op == Op::Negate ||
                      has_trait(op, TraitMoves) || (op == Op::Convert && rounds_nothing(id)) ||
                      (op == Op::Reduce && gives_sum(id));
    for (size_t i = 0; i < out.size(); ++i) out[i] = adds && is_float(operands[i]);
    return out;
  }

  void visit(InstructionId id, const AxisSharding& result) {
    const std::vector<bool> is_summed = summed_operands(id);
    SubAxes axes;
    for (size_t i = 0; i < is_summed.size(); ++i) {
      const auto operand = is_summed[i] ? summands_of(module_.operand(id, i)) : std::nullopt;
      if (!operand || overlap_in_part(operand->unreduced, result.unreduced)) continue;
      const SubAxes both = axes_within(*mesh_, operand->unreduced, result.unreduced);
      if (!overlap_in_part(both, axes)) add_axes(axes_outside(*mesh_, both, axes), axes);
    }
    if (axes.empty()) return;
    std::vector<InstructionId> operands;
    for (size_t i = 0; i < is_summed.size(); ++i)
      operands.push_back(entered(id, module_.operand(id, i), is_summed[i], axes, result.manual));
    const InstructionId local = editor_.clone(id, module_[id].computation, operands);
    state(local, inside(result, axes));
    editor_.replace(id, crossed(id, local, "SPMDShardToFullShape", result));
  }

  InstructionId entered(InstructionId user, InstructionId operand, bool is_summed,
                        const SubAxes& axes, const SubAxes& manual) {
    AxisSharding around = replicated_sharding(mesh_, module_.shape(operand).dims.size());
    around.manual = manual;
    if (auto said = stated(operand)) {
      const AxisSharding& one = *said;
      if (!overlap_in_part(one.axes(), axes) && !overlap_in_part(one.unreduced, axes))
        around = std::move(*said);
    }
    if (reduction_of(around.unreduced_op) != Op::Add) around.unreduced.clear();
    around = without_axes(std::move(around), axes);
    if (is_summed) add_axes(axes, around.unreduced);
    const Shape shape = module_.shape(operand);
    const InstructionId copy = editor_.add(user, Op::Copy, shape, std::array{operand});
    state(copy, around);
    return crossed(user, copy, "SPMDFullToShardShape", inside(around, axes));
  }

  static AxisSharding inside(AxisSharding sharding, const SubAxes& axes) {
    sharding = without_axes(std::move(sharding), axes);
    add_axes(axes, sharding.manual);
    return sharding;
  }
  InstructionId crossed(InstructionId like, InstructionId value, std::string target,
                        const AxisSharding& sharding) {
    CustomCallAttributes call;
    call.custom_call_target = std::move(target);
    const Shape shape = module_.shape(value);
    const InstructionId out =
        editor_.add(like, Op::CustomCall, shape, std::array{value}, std::move(call));
    state(out, sharding);
    return out;
  }
  void state(InstructionId id, const AxisSharding& sharding) {
    module_.mutable_extra(id).sharding = std::make_shared<const Sharding>(tile_sharding(sharding));
  }

  Editor editor_;
  Module& module_;
  const SharedMesh& mesh_;
};

}  // namespace

void work_on_summands(Module& module, const SharedMesh& mesh) {
  const bool any = std::ranges::any_of(module.instructions, [&](const Instruction& one) {
    if (one.removed || !one.extra) return false;
    const auto& sharding = module.extra(one).sharding;
    return sharding && says_summands(*sharding);
  });
  if (any) LocalSummands(module, mesh).run();
}

}  // namespace hilo
