#include "emit/seams.h"

#include <algorithm>
#include <set>

namespace hilo {
namespace {

constexpr size_t most_seams = 3, most_seen = 200;

// An element at place i of the loop is the value's at i + shift.
struct Seen {
  InstructionId id;
  size_t dim;
  int64_t shift;
  auto operator<=>(const Seen&) const = default;
};

class Walk {
 public:
  Walk(const Module& module, int64_t size) : module_(module), size_(size) {}

  std::vector<int64_t> from(Seen root) {
    add(root);
    while (!waiting_.empty() && seen_.size() < most_seen && seams_.size() <= most_seams) {
      const Seen value = waiting_.back();
      waiting_.pop_back();
      visit(value);
    }
    if (!waiting_.empty()) return {};
    return {seams_.begin(), seams_.end()};
  }

 private:
  void add(Seen value) {
    if (seen_.insert(value).second) waiting_.push_back(value);
  }

  void visit(const Seen& value) {
    const auto [id, dim, shift] = value;
    const Op op = module_[id].op;
    if (op == Op::Fusion) {
      const InstructionId root = module_[module_.attributes<FusionAttributes>(id).calls].root;
      if (module_.shape(root).is_array()) add({root, dim, shift});
    } else if (op == Op::Slice) {
      const SliceDim& slice = module_.attributes<SliceAttributes>(id).slice.dims[dim];
      if (slice.stride == 1) add({module_.operand(id, 0), dim, shift + slice.start});
    } else if (op == Op::Concatenate) {
      visit_concatenate(value);
    } else if (is_elementwise(op)) {
      for (InstructionId operand : module_.operands(id))
        if (module_.shape(operand).dims.size() > dim) add({operand, dim, shift});
    }
  }

  void visit_concatenate(const Seen& value) {
    const auto& along = module_.attributes<DimensionsAttributes>(value.id).dimensions;
    const bool is_along = static_cast<size_t>(along[0]) == value.dim;
    int64_t start = 0;
    for (InstructionId operand : module_.operands(value.id)) {
      add({operand, value.dim, value.shift - start});
      if (!is_along) continue;
      if (const int64_t at = start - value.shift; at > 0 && at < size_) seams_.insert(at);
      start += module_.shape(operand).dims[value.dim];
    }
  }

  const Module& module_;
  int64_t size_;
  std::set<Seen> seen_;
  std::vector<Seen> waiting_;
  std::set<int64_t> seams_;
};

}  // namespace

std::vector<int64_t> seams(const Module& module, InstructionId id, size_t dim) {
  const Shape& shape = module.shape(id);
  if (!shape.is_array()) return {};
  std::vector<int64_t> out = Walk(module, shape.dims[dim]).from({id, dim, 0});
  if (out.size() > most_seams) out.clear();
  return out;
}

}  // namespace hilo
