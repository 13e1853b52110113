// Which fusions work row by row. A fusion may come from anybody, so that each way from a reduction
// to what uses it is looked at.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "analysis/analysis.h"
#include "emit/rows.h"

namespace hilo {
namespace {

constexpr size_t most_reductions = 32;
constexpr int64_t most_kept_bytes = 1 << 19;  // of a row

// The dimensions that a reduction over the last ones keeps.
std::optional<Dims> kept_dims(const Module& module, InstructionId reduce) {
  const Dims& from = module.shape(module.operand(reduce, 0)).dims;
  const Dims& reduced = module.attributes<ReduceAttributes>(reduce).dimensions;
  const size_t kept = from.size() - reduced.size();
  for (int64_t d : reduced)
    if (static_cast<size_t>(d) < kept) return std::nullopt;
  return Dims(from.begin(), from.begin() + static_cast<int64_t>(kept));
}

class RowFinder {
 public:
  RowFinder(const Module& module, InstructionId fusion)
      : module_(module),
        fused_(module[module.attributes<FusionAttributes>(fusion).calls]),
        order_(fused_.instructions),
        depends_(order_.size()),
        steps_(order_.size()) {}

  std::optional<Rows> find() {
    if (!find_reductions()) return std::nullopt;
    for (size_t i = 0; i < order_.size(); ++i) places_[order_[i].value] = i;
    for (size_t i = 0; i < order_.size(); ++i)
      if (!module_[order_[i]].removed && !follow(i)) return std::nullopt;
    std::vector<InstructionId> roots = {fused_.root};
    if (module_[fused_.root].op == Op::Tuple) {
      const auto elements = module_.operands(fused_.root);
      roots.assign(elements.begin(), elements.end());
    }
    for (InstructionId& root : roots) {
      if (module_[root].op == Op::GetTupleElement) root = module_.operand(root, 0);
      const bool is_reduction = std::ranges::count(out_.reductions, root) > 0;
      if (!is_reduction &&
          (!module_.shape(root).is_array() || !begins_with(module_.shape(root).dims, out_.dims)))
        return std::nullopt;
      if (!is_reduction) steps_[place(root)] |= uint64_t{1} << out_.reductions.size();
    }
    if (roots.size() == 1 && out_.reductions.size() == 1 && roots[0] == out_.reductions[0])
      return std::nullopt;
    find_kept();
    return std::move(out_);
  }

 private:
  // Computations are in an order with operands before users, or this is none.
  size_t place(InstructionId id) const { return places_.at(id.value); }

  bool find_reductions() {
    for (InstructionId id : order_) {
      if (module_[id].removed || module_[id].op != Op::Reduce) continue;
      const auto rows = kept_dims(module_, id);
      if (!rows || element_count(module_.shape(module_.operand(id, 0))) == 0) return false;
      if (!out_.reductions.empty() && *rows != out_.dims) return false;
      out_.dims = *rows;
      out_.reductions.push_back(id);
    }
    return !out_.reductions.empty() && out_.reductions.size() <= most_reductions;
  }

  // Whether what comes from a reduction is asked for rows of the same number only.
  bool follow(size_t i) {
    const InstructionId id = order_[i];
    const Op op = module_[id].op;
    bool depends = false;
    const auto operands = module_.operands(id);
    for (size_t k = 0; k < operands.size(); ++k) {
      const size_t at = place(operands[k]);
      if (at >= i) return false;
      depends = depends || depends_[at];
      if (op == Op::Reduce && k >= operands.size() / 2 && depends_[at]) return false;
    }
    depends_[i] = depends || op == Op::Reduce;
    if (!depends || op == Op::Reduce || (op == Op::Tuple && id == fused_.root)) return true;
    if (!module_.shape(id).is_array() || !begins_with(module_.shape(id).dims, out_.dims))
      return false;
    if (is_elementwise(op)) return true;
    if (is_lookup(module_, id)) return !depends_[place(operands[0])];
    const InstructionId from = operands[0];
    if (op == Op::BitcastConvert) return module_.shape(from).dims == module_.shape(id).dims;
    if (op == Op::GetTupleElement) return module_[from].op == Op::Reduce;
    if (!module_.shape(from).is_array() || !begins_with(module_.shape(from).dims, out_.dims))
      return false;
    if (op == Op::Broadcast) {
      const Dims& to = module_.attributes<DimensionsAttributes>(id).dimensions;
      for (size_t d = 0; d < out_.dims.size(); ++d)
        if (to[d] != static_cast<int64_t>(d)) return false;
      return true;
    }
    return op == Op::Reshape || op == Op::Copy;
  }

  // Steps that read each value, users first; a value that is kept is computed in the first of them.
  void find_kept() {
    int64_t bytes = 0;
    for (size_t i = order_.size(); i-- > 0;) {
      const InstructionId id = order_[i];
      if (module_[id].removed) continue;
      const auto reduction = std::ranges::find(out_.reductions, id);
      uint64_t steps = steps_[i];
      if (reduction != out_.reductions.end())
        steps = uint64_t{1} << (reduction - out_.reductions.begin());
      else if (is_kept(id, steps, bytes)) {
        const auto first = static_cast<size_t>(std::countr_zero(steps));
        out_.kept.push_back({id, first});
        steps = uint64_t{1} << first;
      }
      for (InstructionId operand : module_.operands(id)) steps_[place(operand)] |= steps;
    }
  }

  bool is_kept(InstructionId id, uint64_t steps, int64_t& bytes) const {
    const Instruction& instruction = module_[id];
    const bool is_computed = is_elementwise(instruction.op) || is_lookup(module_, id);
    if (std::popcount(steps) < 2 || !is_computed || is_cheap(id)) return false;
    const InstructionId first = out_.reductions[static_cast<size_t>(std::countr_zero(steps))];
    const Shape& shape = module_.shape(id);
    if (shape.dims != module_.shape(module_.operand(first, 0)).dims) return false;
    const int64_t more = literal_bytes(shape) / std::max<int64_t>(1, rows_count());
    if (shape.dims == out_.dims || bytes + more > most_kept_bytes) return false;
    bytes += more;
    return true;
  }
  // Halves of f32 are widened before what is done to them, and rounded after it.
  bool is_cheap(InstructionId id) const {
    const ElementType type = module_.shape(id).type;
    return has_trait(module_[id].op, TraitCheap) && type != ElementType::BF16 &&
           type != ElementType::F16;
  }
  int64_t rows_count() const {
    int64_t out = 1;
    for (int64_t size : out_.dims) out *= size;
    return out;
  }

  const Module& module_;
  const Computation& fused_;
  const std::vector<InstructionId>& order_;
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<bool> depends_;
  std::vector<uint64_t> steps_;  // a bit for each reduction, and one for the results
  Rows out_;
};

}  // namespace

std::optional<Rows> find_rows(const Module& module, InstructionId fusion) {
  return RowFinder(module, fusion).find();
}

}  // namespace hilo
