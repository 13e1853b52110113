// A small part of an array that is spread over that array again, as its first line that is taken
// from all, is computed of parts, so that no loop waits for the array to be stored:
//
//   x = f(y), broadcast(slice(x))  =>  broadcast(f(slice(y)))
//
// f is elementwise ops and what they read of broadcasts. Only where the other readers of x are
// elementwise: one loop then computes x and them. The part, an eighth of x at most, is computed
// twice. Assumes plain layouts. Later passes may assume nothing. Stands behind simplify, which
// leaves out what the slices meet, and before fusion.
#include "pass/pass.h"

#include <algorithm>
#include <unordered_map>

#include "pass/dense_arrays.h"

namespace hilo {
namespace {

constexpr int64_t min_broadcast_factor = 8;  // elements of the array for one of the part

class HoistBroadcastSlices {
 public:
  explicit HoistBroadcastSlices(Module& module) : module_(module), editor_(module) {}

  bool run() {
    bool changed = false;
    for (ComputationId computation : open_computations(module_))
      for (InstructionId id : operands_first(module_, computation))
        if (is_broadcast_slice(id)) changed |= compute_of_parts(id);
    return changed;
  }

 private:
  bool compute_of_parts(InstructionId slice) {
    part_ = module_.attributes<SliceAttributes>(slice).slice;
    parts_.clear();
    const InstructionId part = part_of(module_.operand(slice, 0));
    if (!editor_.can_replace(slice, part)) return false;
    editor_.replace(slice, part);
    return true;
  }

  bool is_broadcast_slice(InstructionId id) const {
    if (module_[id].removed || module_[id].op != Op::Slice || !is_unpinned_dense_array(editor_, id))
      return false;
    const InstructionId whole = module_.operand(id, 0);
    const Shape& shape = module_.shape(whole);
    return is_elementwise(module_[whole].op) && is_unpinned_dense_array(editor_, whole) &&
           element_count(module_.shape(id)) * min_broadcast_factor <= element_count(shape) &&
           is_broadcast(id, element_count(shape)) && is_read_by_loops(whole, id) &&
           count_ops(whole) <= SearchBudget::max_visited;
  }

  // By reshapes and broadcasts alone, over so many places.
  bool is_broadcast(InstructionId id, int64_t places) const {
    const auto users = module_.users(id);
    return !users.empty() && std::ranges::all_of(users, [&](InstructionId user) {
      if (module_[user].op == Op::Reshape) return is_broadcast(user, places);
      return module_[user].op == Op::Broadcast && element_count(module_.shape(user)) == places;
    });
  }

  // Whether there are readers beside the slice, and loops over the array may compute it for them.
  bool is_read_by_loops(InstructionId whole, InstructionId slice) const {
    const auto users = module_.users(whole);
    return users.size() > 1 && module_[module_[whole].computation].root != whole &&
           std::ranges::all_of(users, [&](InstructionId user) {
             return user == slice || is_elementwise(module_[user].op);
           });
  }

  // That stand behind the value, as far as they are computed of parts.
  size_t count_ops(InstructionId whole) const {
    std::vector<InstructionId> seen = {whole};
    for (size_t i = 0; i < seen.size() && seen.size() <= SearchBudget::max_visited; ++i)
      for (InstructionId operand : module_.operands(seen[i]))
        if (is_computed(operand) && std::ranges::count(seen, operand) == 0) seen.push_back(operand);
    return seen.size();
  }

  bool is_computed(InstructionId id) const {
    return is_elementwise(module_[id].op) && is_unpinned_dense_array(editor_, id);
  }

  Shape shape_of_part(InstructionId whole) const {
    Dims dims;
    for (const auto& [begin, end, stride] : part_.dims)
      dims.push_back((end - begin + stride - 1) / stride);
    return Shape::array(module_.shape(whole).type, std::move(dims));
  }

  // Scalars beside arrays (of clamp and select) stand for all elements.
  InstructionId part_of(InstructionId whole) {
    if (module_.shape(whole).is_scalar()) return whole;
    if (const auto known = parts_.find(whole); known != parts_.end()) return known->second;
    return parts_[whole] = make_part(whole);
  }

  InstructionId make_part(InstructionId whole) {
    const Shape shape = shape_of_part(whole);
    const auto given = module_.operands(whole);
    if (module_[whole].op == Op::Broadcast && module_.shape(given[0]).is_scalar())
      return editor_.add(whole, Op::Broadcast, shape, std::array{given[0]}, DimensionsAttributes{});
    if (!is_computed(whole))
      return editor_.add(whole, Op::Slice, shape, std::array{whole}, SliceAttributes{part_});
    std::vector<InstructionId> operands(given.begin(), given.end());
    for (InstructionId& operand : operands) operand = part_of(operand);
    const InstructionId out = editor_.clone(whole, module_[whole].computation, operands);
    editor_.set_shape(out, shape);
    return out;
  }

  Module& module_;
  Editor editor_;
  SliceDims part_;  // that is computed
  std::unordered_map<InstructionId, InstructionId> parts_;
};

}  // namespace

Result<bool> hoist_broadcast_slices(Module& module, const PassOptions&) {
  return HoistBroadcastSlices(module).run();
}

}  // namespace hilo
