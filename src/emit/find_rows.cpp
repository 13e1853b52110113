// Which fusions work row by row. A fusion may come from anybody, so that each way from a reduction
// to what uses it is looked at.
#include <algorithm>
#include <bit>
#include <unordered_map>

#include "analysis/analysis.h"
#include "emit/cache_sizes.h"
#include "emit/loop_limits.h"
#include "emit/rows.h"

namespace hilo {
namespace {

constexpr size_t max_reductions = 32;
// Lanes of rows in slabs: as few as are worth it, a whole number of vectors, which hold no more
// numbers of less than 32 bits than of 32, and what another group of lanes costs in lanes.
constexpr int64_t min_lanes = KernelLimits::min_lanes, max_lanes = KernelLimits::tile;
constexpr int64_t narrowest_bytes = sizeof(float);
constexpr int64_t lanes_of_group = 8;
// Columns that are too few to be lanes, or to be those of costly steps, and slabs that are lanes
// then.
constexpr int64_t min_columns = KernelLimits::min_lanes,
                  min_costly_columns = KernelLimits::widest_lanes,
                  min_slabs = KernelLimits::whole_lanes;

// Which dimensions of its elements a reduction keeps.
std::vector<size_t> kept_dims(const Module& module, InstructionId reduce) {
  const Dims& reduced = module.attributes<ReduceAttributes>(reduce).dimensions;
  std::vector<size_t> out;
  for (size_t d = 0; d < module.shape(module.operand(reduce, 0)).dims.size(); ++d)
    if (std::ranges::count(reduced, static_cast<int64_t>(d)) == 0) out.push_back(d);
  return out;
}

Dims without_ones(Dims dims) {
  std::erase(dims, 1);
  return dims;
}

// Of so many rows side by side of these bytes, whose elements take no more than max_bytes; 0 where
// they are too few.
int64_t lanes_of(int64_t rows, int64_t bytes, int64_t whole, int64_t max_bytes) {
  if (rows < whole) return rows < min_lanes ? 0 : min_lanes;
  const auto cost = [&](int64_t lanes) {
    return (rows + lanes - 1) / lanes * (lanes + lanes_of_group);
  };
  int64_t out = whole;
  for (int64_t lanes = 2 * whole; lanes <= std::min(max_lanes, rows); lanes += whole)
    if (bytes * lanes <= max_bytes && cost(lanes) <= cost(out)) out = lanes;
  return out;
}

class RowFinder {
 public:
  RowFinder(const Module& module, InstructionId fusion, int64_t register_bytes, int64_t cache_bytes)
      : module_(module),
        register_bytes_(register_bytes),
        cache_bytes_(cache_bytes),
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
      if (!is_reduction && !is_of_rows(root)) return std::nullopt;
      waits_ |= !is_reduction;
      if (!is_reduction) steps_[place(root)] |= uint64_t{1} << out_.reductions.size();
    }
    if (roots.size() == 1 && out_.reductions.size() == 1 && roots[0] == out_.reductions[0])
      return std::nullopt;
    if (out_.slab && !waits_) return std::nullopt;
    find_kept();
    return std::move(out_);
  }

 private:
  // Computations are in an order with operands before users, or this is none.
  size_t place(InstructionId id) const { return places_.at(id.value); }

  bool find_reductions() {
    for (InstructionId id : order_) {
      if (module_[id].removed || module_[id].op != Op::Reduce) continue;
      if (element_count(module_.shape(module_.operand(id, 0))) == 0) return false;
      if (out_.reductions.empty() ? !begin(id) : !is_alike(id)) return false;
      out_.reductions.push_back(id);
    }
    return !out_.reductions.empty() && out_.reductions.size() <= max_reductions;
  }

  // What the first reduction says of the rows.
  bool begin(InstructionId reduce) {
    const Dims& elements = module_.shape(module_.operand(reduce, 0)).dims;
    const std::vector<size_t> kept = kept_dims(module_, reduce);
    for (size_t d : kept) out_.dims.push_back(elements[d]);
    if (kept.empty() || kept.back() + 1 == kept.size()) return true;
    Rows::Slab slab = {elements, kept, 0, 0, has_costly_steps(elements)};
    const ElementType type = module_.shape(module_.operand(reduce, 0)).type;
    if (slab.lines() == 1 || !find_lanes(slab, storage_bytes(type))) return false;
    out_.slab = std::move(slab);
    return true;
  }
  // Columns, or slabs of a few columns.
  bool find_lanes(Rows::Slab& slab, int64_t bytes) const {
    const int64_t whole = std::max(min_lanes, register_bytes_ / std::max(narrowest_bytes, bytes));
    const size_t first_line = first_reduced(slab);
    size_t i = slab.numbered.size();
    while (i > 1 && out_.dims[i - 1] == 1) --i;
    slab.along = i - 1;
    int64_t rows = out_.dims[slab.along];
    if (innermost_dim(slab.elements) != slab.numbered[slab.along]) return false;
    if (rows < min_columns ||
        (rows < min_costly_columns && rows != min_columns && slab.is_costly)) {
      size_t outer = slab.numbered.size();
      while (outer > 0 && (slab.numbered[outer - 1] > first_line || out_.dims[outer - 1] == 1))
        --outer;
      if (outer > 0 && out_.dims[outer - 1] >= min_slabs) {
        slab.along = outer - 1;
        slab.lanes = lanes_of(out_.dims[slab.along], slab.size() * bytes, whole, max_group_bytes());
        if (slab.size() * slab.lanes * bytes <= max_group_bytes()) return true;
        slab.along = i - 1;
      }
    }
    slab.lanes = lanes_of(rows, slab.lines() * bytes, whole, max_group_bytes());
    return slab.lanes > 0;
  }
  bool has_costly_steps(const Dims& elements) const {
    return std::ranges::any_of(order_, [&](InstructionId id) {
      const Op op = module_[id].op;
      return is_elementwise(op) && !has_trait(op, TraitCheap) && module_.shape(id).dims == elements;
    });
  }
  static size_t first_reduced(const Rows::Slab& slab) {
    size_t out = 0;
    while (out < slab.numbered.size() && slab.numbered[out] == out) ++out;
    return out;
  }
  bool is_alike(InstructionId reduce) const {
    const Dims& elements = module_.shape(module_.operand(reduce, 0)).dims;
    const std::vector<size_t> kept = kept_dims(module_, reduce);
    if (out_.slab) return elements == out_.slab->elements && kept == out_.slab->numbered;
    return (kept.empty() || kept.back() + 1 == kept.size()) && kept.size() == out_.dims.size() &&
           begins_with(elements, out_.dims);
  }

  // One number for each row of slabs.
  bool is_number(InstructionId id) const {
    return without_ones(module_.shape(id).dims) == without_ones(out_.dims);
  }
  // Whether the leading dimensions number the rows; of slabs, whether those of elements do.
  bool is_of_rows(InstructionId id) const {
    const Shape& shape = module_.shape(id);
    if (!shape.is_array()) return false;
    if (!out_.slab) return begins_with(shape.dims, out_.dims);
    return shape.dims == out_.slab->elements || is_number(id);
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
    waits_ |= depends && module_.shape(id).is_array() && !is_number(id);
    if (!depends || op == Op::Reduce || (op == Op::Tuple && id == fused_.root)) return true;
    if (!is_of_rows(id)) return false;
    if (is_elementwise(op)) return true;
    if (is_lookup(module_, id)) return !depends_[place(operands[0])];
    const InstructionId from = operands[0];
    if (op == Op::BitcastConvert) return module_.shape(from).dims == module_.shape(id).dims;
    if (op == Op::GetTupleElement) return module_[from].op == Op::Reduce;
    if (!is_of_rows(from)) return false;
    if (op == Op::Broadcast) return keeps_rows(id);
    return (op == Op::Reshape && (!out_.slab || is_number(id) == is_number(from))) ||
           op == Op::Copy;
  }

  // Whether a broadcast gives each row what was its own.
  bool keeps_rows(InstructionId broadcast) const {
    const Dims& to = module_.attributes<DimensionsAttributes>(broadcast).dimensions;
    if (out_.slab)
      return module_.shape(module_.operand(broadcast, 0)).dims == out_.dims &&
             !is_number(broadcast) &&
             std::ranges::equal(to, out_.slab->numbered,
                                [](auto a, auto c) { return a == static_cast<int64_t>(c); });
    for (size_t d = 0; d < out_.dims.size(); ++d)
      if (to[d] != static_cast<int64_t>(d)) return false;
    return true;
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
    if (shape.dims == out_.dims || bytes + more > frame_bytes(cache_bytes_, 2)) return false;
    if (out_.slab && (bytes + more) * out_.slab->lanes > frame_bytes(cache_bytes_, 4)) return false;
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

  // Of the elements of lanes together.
  int64_t max_group_bytes() const { return frame_bytes(cache_bytes_, 8); }

  const Module& module_;
  const int64_t register_bytes_, cache_bytes_;
  const Computation& fused_;
  const std::vector<InstructionId>& order_;
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<bool> depends_;
  bool waits_ = false;           // something else than numbers of rows, for a reduction
  std::vector<uint64_t> steps_;  // a bit for each reduction, and one for the results
  Rows out_;
};

}  // namespace

int64_t Rows::Slab::size() const {
  const auto behind = elements.begin() + static_cast<std::ptrdiff_t>(numbered[along]) + 1;
  return element_count(Dims(behind, elements.end()));
}

int64_t Rows::Slab::lines() const {
  int64_t out = element_count(elements);
  for (size_t d : numbered) out /= elements[d];
  return out;
}

std::optional<Rows> find_rows(const Module& module, InstructionId fusion, int64_t register_bytes,
                              int64_t cache_bytes) {
  return RowFinder(module, fusion, register_bytes, cache_bytes).find();
}

}  // namespace hilo
