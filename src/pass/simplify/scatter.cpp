// scatter of nothing, and of one window: dynamic-update-slice, which fusion makes in place together
// with what the update is made of. Sums that are scattered over zeros and added to an array, as
// gradients of what is looked up are, are scattered over the array. Dimensions that windows hold
// whole become one.
#include <algorithm>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

bool scatters_nothing(const Match& match) { return element_count(match.shape('u')) == 0; }

InstructionId make_array(Editor& editor, const Match& match, InstructionId value, Dims dims) {
  const Shape from = editor.module().shape(value);
  if (from.dims == dims) return value;
  return editor.add(match.root(), Op::Reshape, Shape::array(from.type, std::move(dims)),
                    std::array{value});
}

// Of the one window, in dimensions of the array; nothing where there are several.
std::optional<Dims> sizes_of_one_window(const Match& match) {
  const auto& a = match.attributes<ScatterAttributes>();
  const Shape& indices = match.shape('i');
  if (!a.input_batching_dims.empty()) return std::nullopt;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != a.index_vector_dim && indices.dims[d] != 1) return std::nullopt;
  Dims sizes;
  size_t next = 0;
  for (int64_t d = 0; d < match.shape().rank(); ++d) {
    const bool inserted = contains_dim(a.inserted_window_dims, d);
    sizes.push_back(inserted ? 1 : match.shape('u').dims[a.update_window_dims[next++]]);
    if (sizes.back() > match.shape().dims[d]) return std::nullopt;
  }
  return sizes;
}

// Where the window starts: scalars of the indices' type. A window that does not lie wholly inside
// is left out, where dynamic-update-slice moves it.
class Starts {
 public:
  Starts(Editor& editor, const Match& match, const Dims& sizes)
      : editor_(editor), match_(match), a_(match.attributes<ScatterAttributes>()) {
    for (size_t d = 0; d < sizes.size(); ++d) last_.push_back(match.shape().dims[d] - sizes[d]);
  }

  bool is_outside() const {
    for (size_t d = 0; d < last_.size(); ++d)
      if (const auto start = known(d); start && (*start < 0 || *start > last_[d])) return true;
    return false;
  }

  std::vector<InstructionId> make() {
    std::vector<InstructionId> out;
    for (size_t d = 0; d < last_.size(); ++d) {
      if (const auto start = known(d)) {
        const Literal literal = scalar_of(type(), static_cast<double>(*start));
        out.push_back(editor_.add_constant(match_.root(), literal));
        continue;
      }
      out.push_back(component(component_of(d)));
      require(out.back(), ComparisonDirection::Ge, 0);
      require(out.back(), ComparisonDirection::Le, last_[d]);
    }
    return out;
  }

  // A pred scalar, after make(); none where the window is known to lie inside.
  InstructionId inside() const { return inside_; }

 private:
  ElementType type() const { return match_.shape('i').type; }

  // Of the index vector; its length where the windows start at 0.
  int64_t component_of(size_t d) const {
    return std::ranges::find(a_.scatter_dims_to_operand_dims, static_cast<int64_t>(d)) -
           a_.scatter_dims_to_operand_dims.begin();
  }

  std::optional<int64_t> known(size_t d) const {
    const Module& module = editor_.module();
    const int64_t k = component_of(d);
    if (k == static_cast<int64_t>(a_.scatter_dims_to_operand_dims.size())) return 0;
    if (const Literal* all = constant_of(module, match_['i'])) return all->integer_at(k);
    if (module[match_['i']].op != Op::Broadcast) return std::nullopt;
    const Literal* one = constant_of(module, module.operand(match_['i'], 0));
    return one && one->shape().is_scalar() ? std::optional(one->integer_at(0)) : std::nullopt;
  }

  InstructionId component(int64_t k) {
    const Shape shape = match_.shape('i');
    const InstructionId vector = make_array(editor_, match_, match_['i'], {element_count(shape)});
    const InstructionId part = editor_.add(match_.root(), Op::Slice, Shape::array(shape.type, {1}),
                                           std::array{vector}, SliceAttributes{{{{k, k + 1, 1}}}});
    return make_array(editor_, match_, part, {});
  }

  void require(InstructionId start, ComparisonDirection direction, int64_t limit) {
    const Shape wide = Shape::scalar(ElementType::S64), pred = Shape::scalar(ElementType::Pred);
    const InstructionId like = match_.root();
    const InstructionId place = editor_.add(like, Op::Convert, wide, std::array{start});
    const InstructionId bound = editor_.add_constant(like, Literal::scalar(limit));
    const InstructionId holds = editor_.add(like, Op::Compare, pred, std::array{place, bound},
                                            CompareAttributes{.direction = direction});
    inside_ = inside_ ? editor_.add(like, Op::And, pred, std::array{inside_, holds}) : holds;
  }

  Editor& editor_;
  const Match& match_;
  const ScatterAttributes a_;
  Dims last_;  // start of a window that lies inside
  InstructionId inside_;
};

bool gives_update(const Module& module, ComputationId computation) {
  return module[computation].root == module[computation].parameters[1];
}

bool combines_simply(const Match& match) {
  const ComputationId computation = match.attributes<ScatterAttributes>().to_apply;
  return match.shape('u').type == match.shape().type && match.shape().rank() > 0 &&
         (gives_update(match.module(), computation) || monoid_of(match.module(), computation));
}

InstructionId scatter_of_one(Editor& editor, const Match& match) {
  const auto sizes = sizes_of_one_window(match);
  if (!sizes || !all_plain(match, "xiu")) return {};
  Starts starts(editor, match, *sizes);
  if (starts.is_outside()) return match['x'];
  const InstructionId root = match.root();
  const ComputationId computation = match.attributes<ScatterAttributes>().to_apply;
  const bool gives = gives_update(editor.module(), computation);
  const Shape part = Shape::array(match.shape().type, *sizes);
  std::vector<InstructionId> operands = starts.make();
  operands.insert(operands.begin(), match['x']);
  InstructionId now, next = make_array(editor, match, match['u'], *sizes);
  if (!gives || starts.inside())
    now = editor.add(root, Op::DynamicSlice, part, operands, DynamicSliceAttributes{*sizes});
  if (!gives)
    next = editor.add(root, *monoid_of(editor.module(), computation), part, std::array{now, next});
  if (starts.inside()) {
    const Shape pred = Shape::array(ElementType::Pred, *sizes);
    const InstructionId inside =
        editor.add(root, Op::Broadcast, pred, std::array{starts.inside()}, DimensionsAttributes{});
    next = editor.add(root, Op::Select, part, std::array{inside, next, now});
  }
  operands.insert(operands.begin() + 1, next);
  return editor.add(root, Op::DynamicUpdateSlice, match.shape(), operands);
}

// Of numbers of few bits many small ones would be lost beside a large one.
bool adds_wide_numbers(const Match& match) {
  const ScatterAttributes& a = match.attributes<ScatterAttributes>('s');
  return monoid_of(match.module(), a.to_apply) == Op::Add && bits_of(match.shape().type) >= 32 &&
         match.shape('u').type == match.shape().type && all_plain(match, "siuy");
}
// Perhaps in other dimensions than the sum.
InstructionId scatter_over_addend(Editor& editor, const Match& match) {
  const ScatterAttributes a = match.attributes<ScatterAttributes>('s');
  const Shape shape = match.shape('s');
  const InstructionId addend = make_array(editor, match, match['y'], shape.dims);
  const InstructionId sum =
      editor.add(match['s'], Op::Scatter, shape, std::array{addend, match['i'], match['u']}, a);
  return make_reshape(editor, match, sum);
}

// Dimensions at the end of the array that are wholly in each window, as they stand there.
int64_t whole_dims(const Match& match, const ScatterAttributes& a) {
  const Dims &array = match.shape().dims, &update = match.shape('u').dims;
  int64_t count = 0;
  while (count < std::ssize(a.update_window_dims)) {
    const int64_t d = std::ssize(array) - 1 - count, from = std::ssize(update) - 1 - count;
    const int64_t k = std::ssize(a.update_window_dims) - 1 - count;
    if (a.update_window_dims[static_cast<size_t>(k)] != from ||
        contains_dim(a.inserted_window_dims, d) || contains_dim(a.input_batching_dims, d) ||
        contains_dim(a.scatter_dims_to_operand_dims, d) ||
        array[static_cast<size_t>(d)] != update[static_cast<size_t>(from)])
      break;
    ++count;
  }
  return count;
}

Dims with_last_as_one(Dims dims, int64_t count) {
  for (; count > 1; --count) {
    const int64_t last = dims.back();
    dims.pop_back();
    dims.back() *= last;
  }
  return dims;
}

// Windows are then lines of memory.
InstructionId scatter_of_lines(Editor& editor, const Match& match) {
  ScatterAttributes a = match.attributes<ScatterAttributes>();
  const int64_t count = whole_dims(match, a);
  if (count < 2 || !all_plain(match, "xiu")) return {};
  const Dims dims = with_last_as_one(match.shape().dims, count);
  const InstructionId array = make_array(editor, match, match['x'], dims);
  const InstructionId update =
      make_array(editor, match, match['u'], with_last_as_one(match.shape('u').dims, count));
  a.update_window_dims.resize(a.update_window_dims.size() - static_cast<size_t>(count) + 1);
  const InstructionId scatter =
      editor.add(match.root(), Op::Scatter, Shape::array(match.shape().type, dims),
                 std::array{array, match['i'], update}, std::move(a));
  return make_reshape(editor, match, scatter);
}

constexpr RewriteRule rules[] = {
    {"add-scattered", Number, Reals, "add(y, s:scatter!(0, i, u))", scatter_over_addend,
     adds_wide_numbers},
    {"add-reshaped-scattered", Number, Reals, "add(y, r:reshape!(s:scatter!(0, i, u)))",
     scatter_over_addend, adds_wide_numbers},
    {"add-scattered-over-negative-zero", Float, Reals, "add(y, s:scatter!(-0, i, u))",
     scatter_over_addend, adds_wide_numbers},
    {"add-reshaped-scattered-over-negative-zero", Float, Reals,
     "add(y, r:reshape!(s:scatter!(-0, i, u)))", scatter_over_addend, adds_wide_numbers},
    {"scatter-of-nothing", Any, Bits, "scatter(x, i, u)", "x", scatters_nothing},
    {"scatter-of-one-window", Any, Bits, "scatter(x, i, u)", scatter_of_one, combines_simply},
    {"scatter-of-lines", Any, Bits, "scatter(x, i, u)", scatter_of_lines},
};

}  // namespace

RuleTable scatter_rules() { return rules; }

}  // namespace hilo
