// Cuts long reductions with few results in two, so that many threads have something to do.
//   reduce(x, init) => reduce(reduce(reshape(x), identity), init)
// The first one gives some dozens of partial results for each result, by the outermost dimensions
// that are reduced, so that what it reads for each lies together; what a dimension that must be cut
// has beyond a multiple of their number is reduced for itself and combined with the rest.
// Assumes that the reducer may be regrouped: sums and products are then added in another order, one
// that follows from the shapes alone. Later passes may assume nothing. Stands after algebra, which
// makes one reduction of two, and before fusion, which puts the first one together with what makes
// x.
#include <algorithm>

#include "pass/fuse/groups.h"
#include "pass/pass.h"

namespace hilo {
namespace {

constexpr int64_t side_by_side = 256;       // columns that one loop takes at least
constexpr int64_t enough = 8, wanted = 64;  // loops of their own, before and afterwards
// Fewer elements one thread adds up before others have come, and nothing is stored between.
constexpr int64_t min_elements = 1 << 17;
// Fewer elements of a plain matrix have enough in two loops, and parts would take memory.
constexpr int64_t min_elements_of_two_loops = 1 << 19;
constexpr size_t max_cheap_ops = 8;  // ops that make an element in the time that it takes to add it
constexpr int64_t fewest_parts = 8, max_parts = 512, min_part_size = 4;
// Results of parts that are no burden.
constexpr int64_t max_unsplit_stored = 1 << 14;

// The op of a reducer that may be applied in any order, over types that do not round sums to less
// than what they are kept in; else nothing.
std::optional<Op> reducer_op(const Module& module, const ReduceAttributes& attributes) {
  const Computation& computation = module[attributes.to_apply];
  const Instruction& root = module[computation.root];
  if (computation.parameters.size() != 2 || !has_trait(root.op, TraitMonoid)) return std::nullopt;
  const auto operands = module.operands(computation.root);
  const auto& parameters = computation.parameters;
  if (!std::ranges::is_permutation(operands, parameters)) return std::nullopt;
  const ElementType type = module.shape(computation.root).type;
  const bool is_wide = bits_of(type) >= 32 && (is_floating(type) || is_integral(type));
  const bool is_choice = root.op != Op::Add && root.op != Op::Multiply;
  return is_wide || is_choice ? std::optional(root.op) : std::nullopt;
}

class Splitter {
 public:
  Splitter(Editor& editor, InstructionId id)
      : editor_(editor),
        module_(editor.module()),
        id_(id),
        x_(module_.operand(id, 0)),
        init_(module_.operand(id, 1)),
        attributes_(module_.attributes<ReduceAttributes>(id)),
        dims_(module_.shape(x_).dims) {
    std::ranges::sort(attributes_.dimensions);
  }

  bool run() {
    const auto op = reducer_op(module_, attributes_);
    if (!op || !is_long()) return false;
    // Maximum and its like may take the initial value twice.
    identity_ = init_;
    const ElementType type = module_.shape(init_).type;
    if (*op == Op::Add || *op == Op::Xor)
      identity_ = constant(scalar_of(type, is_floating(type) ? -0.0 : 0));
    if (*op == Op::Multiply) identity_ = constant(scalar_of(type, 1));
    const Cut cut = outermost_cut();
    InstructionId out;
    if (parts_of(cut) >= fewest_parts) {
      out = in_parts(x_, cut);
    } else {
      const size_t d = longest_kept_row_dim();
      const int64_t whole = dims_[d] / wanted_parts_ * wanted_parts_;
      const InstructionId first = in_parts(slice(d, 0, whole), {{}, d, wanted_parts_});
      const InstructionId rest =
          reduce(slice(d, whole, dims_[d]), identity_, attributes_.dimensions);
      out = editor_.add_inferred(id_, *op, std::array{first, rest});
    }
    editor_.replace(id_, out);
    return true;
  }

 private:
  // Few results, or columns that one loop takes side by side, of much.
  bool is_long() {
    int64_t results = 1, columns = 1, reduced = 1;
    bool inner = true;
    for (size_t d = dims_.size(); d-- > 0;) {
      const bool is_reduced = std::ranges::count(attributes_.dimensions, static_cast<int64_t>(d));
      if (dims_[d] != 1 && is_reduced) inner = false;
      (is_reduced ? reduced : results) *= dims_[d];
      if (!is_reduced && inner) columns *= dims_[d];
    }
    if (reduced <= longest_kept_row / std::min(columns, side_by_side) || results == 0) return false;
    const bool has_two_loops = columns >= side_by_side && is_plain_matrix();
    if (reduced * results < (has_two_loops ? min_elements_of_two_loops : min_elements))
      return false;
    const int64_t units = results / columns * ((columns + side_by_side - 1) / side_by_side);
    results_ = results;
    wanted_parts_ = std::max(fewest_parts, wanted / units);
    max_parts_ = std::min(max_parts, reduced / min_part_size);
    return units < enough && results <= longest_kept_row;
  }

  // Of two dimensions, and not computed by much while it is reduced.
  bool is_plain_matrix() const {
    if (std::ranges::count_if(dims_, [](int64_t d) { return d > 1; }) != 2) return false;
    std::vector<InstructionId> producers = {x_};
    for (size_t i = 0; i < producers.size(); ++i) {
      const Op op = module_[producers[i]].op;
      if (!is_elementwise(op)) continue;
      if (!has_trait(op, TraitCheap) || producers.size() > max_cheap_ops) return false;
      for (InstructionId operand : module_.operands(producers[i]))
        if (std::ranges::count(producers, operand) == 0) producers.push_back(operand);
    }
    return true;
  }

  // The parts: the places of some reduced dimensions, and of dimension d in so many pieces.
  struct Cut {
    Dims whole;
    size_t d = 0;
    int64_t pieces = 1;
  };

  int64_t parts_of(const Cut& cut) const {
    int64_t out = cut.pieces;
    for (int64_t d : cut.whole) out *= dims_[static_cast<size_t>(d)];
    return out;
  }

  // The least number of parts that is wanted or more, of the outermost of the reduced dimensions,
  // else the greatest.
  Cut outermost_cut() const {
    Cut out;
    for (int64_t d : attributes_.dimensions) {
      const int64_t parts = parts_of(out);
      if (parts >= wanted_parts_) break;
      out.d = static_cast<size_t>(d);
      const bool are_too_many = parts * dims_[out.d] > max_parts_;
      const int64_t pieces = slices_of_dim(out.d, parts);
      const bool is_stored = parts * dims_[out.d] * results_ > max_unsplit_stored;
      if (are_too_many || (is_stored && pieces > 1 && parts * dims_[out.d] >= 2 * wanted_parts_)) {
        out.pieces = pieces;
        break;
      }
      out.whole.push_back(d);
    }
    return out;
  }

  // Of equal length, and each of them so many parts.
  int64_t slices_of_dim(size_t d, int64_t parts) const {
    int64_t out = 1;
    for (int64_t n = max_parts_ / parts; n > 1; --n)
      if (dims_[d] % n == 0 && (out == 1 || n * parts >= wanted_parts_)) out = n;
    return out;
  }

  size_t longest_kept_row_dim() const {
    return static_cast<size_t>(std::ranges::max(
        attributes_.dimensions, {}, [&](int64_t d) { return dims_[static_cast<size_t>(d)]; }));
  }

  InstructionId constant(Literal value) { return editor_.add_constant(id_, std::move(value)); }

  InstructionId reduce(InstructionId x, InstructionId init, Dims dimensions) {
    return editor_.add_inferred(id_, Op::Reduce, std::array{x, init},
                                ReduceAttributes{std::move(dimensions), attributes_.to_apply});
  }

  InstructionId slice(size_t d, int64_t begin, int64_t end) {
    SliceAttributes attributes;
    for (size_t i = 0; i < dims_.size(); ++i)
      attributes.slice.dims.push_back(i == d ? SliceDim{begin, end, 1} : SliceDim{0, dims_[i], 1});
    return editor_.add_inferred(id_, Op::Slice, std::array{x_}, attributes);
  }

  // The dimension that is cut becomes its pieces times the rest of it; the parts are reduced last.
  InstructionId in_parts(InstructionId x, const Cut& cut) {
    const auto d = static_cast<int64_t>(cut.d);
    const bool is_cut = cut.pieces > 1;
    if (is_cut) {
      Shape split = Shape::array(module_.shape(x).type, module_.shape(x).dims);
      split.dims[cut.d] /= cut.pieces;
      split.dims.insert(split.dims.begin() + d, cut.pieces);
      x = editor_.add(id_, Op::Reshape, Shape::array(split.type, split.dims), std::array{x});
    }
    Dims first, parts;
    int64_t before = 0;  // dimensions that the first one reduces
    for (int64_t reduced : attributes_.dimensions) {
      if (std::ranges::count(cut.whole, reduced) > 0) {
        parts.push_back(reduced - before);
        continue;
      }
      if (is_cut && reduced == d) parts.push_back(d - before);
      first.push_back(is_cut && reduced >= d ? reduced + 1 : reduced);
      ++before;
    }
    return reduce(reduce(x, identity_, first), init_, parts);
  }

  Editor& editor_;
  Module& module_;
  InstructionId id_, x_, init_, identity_;
  ReduceAttributes attributes_;
  Dims dims_;
  int64_t results_ = 1, wanted_parts_ = fewest_parts, max_parts_ = max_parts;
};

}  // namespace

Result<bool> split_reductions(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  const auto is_dense_static_array = [&](InstructionId value) {
    return is_plain(module.shape(value)) && is_static(module.shape(value));
  };
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : std::vector(module[computation].instructions)) {
      if (module[id].removed || module[id].op != Op::Reduce || module[id].operand_count != 2 ||
          editor.is_pinned(id) || !is_dense_static_array(id) ||
          !is_dense_static_array(module.operand(id, 0)))
        continue;
      changed |= Splitter(editor, id).run();
    }
  return changed;
}

}  // namespace hilo
