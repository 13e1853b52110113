// Computes before collectives what can be, so that one array travels for two.
//   all-reduce(x) + all-reduce(y) => all-reduce(x + y), of sums; a difference likewise
//   max(all-reduce(x), all-reduce(y)) => all-reduce(max(x, y)), of maxima; and so of others
//   f(all-gather(x), all-gather(y)) => all-gather(f(x, y)), f elementwise; so of permutes, of other
//     movements, and of reduce-scatters as of all-reduces
//   convert(all-gather(x)), to a narrower type => all-gather(convert(x))
//   all-gather(convert(x)), from a narrower type => convert(all-gather(x))
// Where nobody else uses what the collectives gave. Assumes nothing. Later passes may assume
// nothing. Before collectives are combined.
#include <algorithm>

#include "pass/collective/device_groups.h"

namespace hilo {
namespace {

class Reassociator {
 public:
  Reassociator(Module& module, const PassOptions& options)
      : module_(module),
        keeps_(options.rewrite.keeps),
        editor_(module),
        devices_(count_devices(module)) {}

  bool run() {
    if (devices_ < 2) return false;
    bool changed = false;
    for (ComputationId id : open_computations(module_))
      for (InstructionId one : operands_first(module_, id)) {
        if (module_[one].removed || editor_.is_pinned(one)) continue;
        if (is_elementwise(module_[one].op)) changed |= combine(one);
        else if (moves(one)) changed |= widen_behind(one);
      }
    return changed;
  }

 private:
  // A collective that gives elements of its operand, each as it is, or zeros.
  bool moves(InstructionId id) const {
    const Op op = module_[id].op;
    if (!has_trait(op, TraitCollective) || module_[id].operand_count != 1 ||
        !module_.shape(id).is_array() || !is_static(module_.shape(id)) || editor_.is_pinned(id))
      return false;
    return op == Op::AllGather || op == Op::AllToAll || op == Op::CollectivePermute ||
           op == Op::CollectiveBroadcast;
  }
  bool reduces(InstructionId id) const {
    const Op op = module_[id].op;
    return (op == Op::AllReduce || op == Op::ReduceScatter) && module_[id].operand_count == 1 &&
           module_.shape(id).is_array() && !editor_.is_pinned(id);
  }
  // Others may give something else on devices that are sent nothing.
  bool reaches_all(InstructionId id) const {
    const Op op = module_[id].op;
    if (op == Op::CollectivePermute)
      return std::ssize(
                 module_.attributes<CollectivePermuteAttributes>(id).source_target_pairs.pairs) ==
             devices_;
    return op != Op::CollectiveBroadcast;
  }

  double bytes_of(InstructionId id) const {
    return static_cast<double>(literal_bytes(module_.shape(id)));
  }
  bool is_splat_number(InstructionId id) const {
    if (module_[id].op == Op::Broadcast) id = module_.operand(id, 0);
    return module_[id].op == Op::Constant && element_count(module_.shape(id)) == 1;
  }

  bool combine(InstructionId id) {
    if (!module_.shape(id).is_array() || !is_static(module_.shape(id)) ||
        module_.extra(module_[id]).sharding)
      return false;
    InstructionId first;
    double sent = 0;
    std::vector<InstructionId> collectives;
    for (InstructionId operand : module_.operands(id)) {
      if (is_splat_number(operand)) continue;
      if (!moves(operand) && !reduces(operand)) return false;
      if (std::ranges::find(collectives, operand) != collectives.end()) continue;
      if (!is_used_by(operand, id)) return false;
      if (!first) first = operand;
      else if (module_.shape(first).dims != module_.shape(operand).dims ||
               !do_the_same(module_, first, operand, devices_))
        return false;
      collectives.push_back(operand);
      sent += bytes_of(operand);
    }
    if (!first) return false;
    if (reduces(first)) {
      if (collectives.size() != 2 || module_[id].operand_count != 2 || !may_sum(id, first))
        return false;
    } else if (!reaches_all(first) || bytes_of(id) >= sent) {
      return false;
    }
    emit(id, first, collectives);
    return true;
  }

  bool is_used_by(InstructionId value, InstructionId user) const {
    return module_[module_[value].computation].root != value &&
           std::ranges::all_of(module_.users(value),
                               [&](InstructionId one) { return one == user; });
  }

  // Whether an op of two reductions is a reduction of the op.
  bool may_sum(InstructionId id, InstructionId reduction) const {
    const ComputationId reducer =
        module_[reduction].op == Op::AllReduce
            ? module_.attributes<AllReduceAttributes>(reduction).to_apply
            : module_.attributes<ReduceScatterAttributes>(reduction).to_apply;
    const auto combiner = find_combiner(module_, reducer);
    if (!combiner) return false;
    const Op with = module_[combiner->instruction].op, op = module_[id].op;
    const bool is_difference = with == Op::Add && op == Op::Subtract;
    return (op == with || is_difference) &&
           may_reorder(with, module_.shape(reduction).type, keeps_);
  }

  void emit(InstructionId id, InstructionId like, const std::vector<InstructionId>& collectives) {
    const Dims dims = module_.shape(module_.operand(like, 0)).dims;
    const Shape shape = module_.shape(id);
    std::vector<InstructionId> operands;
    const std::vector<InstructionId> given(module_.operands(id).begin(),
                                           module_.operands(id).end());
    for (InstructionId operand : given)
      if (std::ranges::find(collectives, operand) != collectives.end())
        operands.push_back(module_.operand(operand, 0));
      else operands.push_back(smaller_splat(operand, dims));
    const InstructionId before = editor_.clone(id, module_[id].computation, operands);
    editor_.set_shape(before, Shape::array(shape.type, dims));
    const InstructionId value = editor_.clone(like, module_[id].computation, std::array{before});
    editor_.set_shape(value, shape);
    editor_.replace(id, value);
    for (InstructionId collective : collectives) remove_collective(editor_, collective);
  }

  InstructionId smaller_splat(InstructionId operand, const Dims& dims) {
    if (module_.shape(operand).is_scalar() && module_[operand].op == Op::Constant) return operand;
    const InstructionId scalar =
        module_[operand].op == Op::Broadcast ? module_.operand(operand, 0) : operand;
    const InstructionId number =
        module_.shape(scalar).is_scalar()
            ? scalar
            : editor_.add(operand, Op::Reshape, Shape::scalar(module_.shape(scalar).type),
                          std::array{scalar});
    return editor_.add(operand, Op::Broadcast, Shape::array(module_.shape(operand).type, dims),
                       std::array{number}, DimensionsAttributes{});
  }

  bool widen_behind(InstructionId id) {
    const InstructionId convert = module_.operand(id, 0);
    if (module_[convert].op != Op::Convert || module_.extra(module_[id]).sharding) return false;
    const InstructionId narrow = module_.operand(convert, 0);
    const Shape from = module_.shape(narrow), to = module_.shape(id);
    if (bits_of(from.type) >= bits_of(to.type)) return false;
    const InstructionId moved = editor_.clone(id, module_[id].computation, std::array{narrow});
    editor_.set_shape(moved, Shape::array(from.type, to.dims));
    const InstructionId wide = editor_.add(id, Op::Convert, to, std::array{moved});
    editor_.replace_moved(id, wide);
    return true;
  }

  Module& module_;
  Keeps keeps_;
  Editor editor_;
  int64_t devices_;
};

}  // namespace

Result<bool> reassociate_collectives(Module& module, const PassOptions& options) {
  return Reassociator(module, options).run();
}

}  // namespace hilo
