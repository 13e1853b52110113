// Cuts long reductions with few results in two, so that many threads have something to do.
//   reduce(x, init) => reduce(reduce(reshape(x), identity), init)
// The first one gives some dozens of partial results for each result; what the dimension has beyond
// a multiple of their number is reduced for itself and combined with the rest. Assumes that the
// reducer may be regrouped: sums and products are then added in another order, one that follows
// from the shapes alone. Later passes may assume nothing. Stands after algebra, which makes one
// reduction of two, and before fusion, which puts the first one together with what makes x.
#include <algorithm>

#include "pass/pass.h"

namespace hilo {
namespace {

constexpr int64_t longest = 65536;          // what stays whole: rows that fusions keep at hand
constexpr int64_t side_by_side = 256;       // columns that one loop takes at least
constexpr int64_t enough = 8, wanted = 64;  // loops of their own, before and afterwards
constexpr int64_t fewest_parts = 8, most_parts = 512;

// The op of a reducer that may be applied in any order, over types that do not round sums to less
// than what they are kept in; else nothing.
std::optional<Op> reducer_op(const Module& module, const ReduceAttributes& attributes) {
  static constexpr Op ops[] = {Op::Add, Op::Multiply, Op::Maximum, Op::Minimum, Op::And, Op::Or};
  const Computation& computation = module[attributes.to_apply];
  const Instruction& root = module[computation.root];
  if (computation.parameters.size() != 2 || std::ranges::count(ops, root.op) == 0)
    return std::nullopt;
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
    if (*op == Op::Add) identity_ = constant(scalar_of(type, is_floating(type) ? -0.0 : 0));
    if (*op == Op::Multiply) identity_ = constant(scalar_of(type, 1));
    const size_t d = cut_dim();
    const int64_t parts = parts_of(d);
    InstructionId out;
    if (parts > 0) {
      out = in_parts(x_, d, parts);
    } else {
      const int64_t whole = dims_[d] / wanted_parts_ * wanted_parts_;
      const InstructionId first = in_parts(slice(d, 0, whole), d, wanted_parts_);
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
    if (reduced <= longest / std::min(columns, side_by_side) || results == 0) return false;
    const int64_t units = results / columns * ((columns + side_by_side - 1) / side_by_side);
    wanted_parts_ = std::max(fewest_parts, wanted / units);
    return units < enough && results <= longest;
  }

  // The outermost of the reduced dimensions that has enough parts, whose elements then lie together
  // in memory; else the longest.
  size_t cut_dim() const {
    for (int64_t d : attributes_.dimensions)
      if (parts_of(static_cast<size_t>(d)) >= wanted_parts_) return static_cast<size_t>(d);
    return static_cast<size_t>(std::ranges::max(
        attributes_.dimensions, {}, [&](int64_t d) { return dims_[static_cast<size_t>(d)]; }));
  }

  // Of equal length: the least number of them that is wanted or more, else the greatest; 0: none.
  int64_t parts_of(size_t d) const {
    int64_t parts = 0;
    for (int64_t n = most_parts; n >= fewest_parts; --n)
      if (dims_[d] % n == 0 && (parts == 0 || n >= wanted_parts_)) parts = n;
    return parts;
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

  // Dimension d becomes `parts` times the rest of it; the parts are reduced last.
  InstructionId in_parts(InstructionId x, size_t d, int64_t parts) {
    Shape shape = Shape::array(module_.shape(x).type, module_.shape(x).dims);
    shape.dims[d] /= parts;
    shape.dims.insert(shape.dims.begin() + static_cast<int64_t>(d), parts);
    const Shape split = Shape::array(shape.type, shape.dims);
    const InstructionId reshaped = editor_.add(id_, Op::Reshape, split, std::array{x});
    Dims first;
    int64_t before = 0;
    for (int64_t reduced : attributes_.dimensions) {
      first.push_back(reduced < static_cast<int64_t>(d) ? reduced : reduced + 1);
      before += reduced < static_cast<int64_t>(d);
    }
    const InstructionId partial = reduce(reshaped, identity_, first);
    return reduce(partial, init_, {static_cast<int64_t>(d) - before});
  }

  Editor& editor_;
  Module& module_;
  InstructionId id_, x_, init_, identity_;
  ReduceAttributes attributes_;
  Dims dims_;
  int64_t wanted_parts_ = fewest_parts;
};

}  // namespace

Result<bool> split_reductions(Module& module, const PassOptions&) {
  Editor editor(module);
  bool changed = false;
  const auto is_usual = [&](InstructionId value) {
    return is_plain(module.shape(value)) && is_static(module.shape(value));
  };
  for (ComputationId computation : open_computations(module))
    for (InstructionId id : std::vector(module[computation].instructions)) {
      if (module[id].removed || module[id].op != Op::Reduce || module[id].operand_count != 2 ||
          editor.is_pinned(id) || !is_usual(id) || !is_usual(module.operand(id, 0)))
        continue;
      changed |= Splitter(editor, id).run();
    }
  return changed;
}

}  // namespace hilo
