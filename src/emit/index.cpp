#include "emit/index.h"

#include <algorithm>
#include <set>

#include "analysis/analysis.h"

namespace hilo {

llvm::Value* int64(Builder& b, int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); }

llvm::Value* add_index(Builder& b, llvm::Value* a, llvm::Value* c) { return b.CreateNSWAdd(a, c); }

llvm::Value* every_other(Builder& b, llvm::Value* i, int64_t count) {
  if (count % 2 > 0) return i;
  llvm::Value* half = int64(b, count / 2);
  return add_index(b, multiply_index(b, b.CreateURem(i, half), 2), b.CreateUDiv(i, half));
}

llvm::Value* multiply_index(Builder& b, llvm::Value* a, int64_t factor) {
  return factor == 1 ? a : b.CreateNSWMul(a, int64(b, factor));
}

llvm::Value* lesser_index(Builder& b, llvm::Value* a, llvm::Value* c) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, c);
}

llvm::Value* greater_index(Builder& b, llvm::Value* a, llvm::Value* c) {
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, c);
}

llvm::Value* as_index(Builder& b, ElementType type, llvm::Value* held) {
  if (type == ElementType::Pred) return b.CreateZExt(held, b.getInt64Ty());
  if (is_signed(type)) return b.CreateSExtOrTrunc(held, b.getInt64Ty());
  llvm::Value* wide = b.CreateZExtOrTrunc(held, b.getInt64Ty());
  if (bits_of(type) < 64) return wide;
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, wide, int64(b, INT64_MAX));
}

llvm::Value* clamp_index(Builder& b, llvm::Value* x, int64_t low, int64_t high) {
  if (low >= high) return int64(b, low);
  llvm::Value* raised = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, int64(b, low));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, raised, int64(b, high));
}

namespace {

// One more step of sums and products with constants below the base of `parts`, or false.
bool take_apart(Affine& parts) {
  const auto* step = llvm::dyn_cast<llvm::BinaryOperator>(parts.base);
  if (!step || !llvm::isa<llvm::OverflowingBinaryOperator>(step) || !step->hasNoSignedWrap())
    return false;
  const auto* left = llvm::dyn_cast<llvm::ConstantInt>(step->getOperand(0));
  const auto* right = llvm::dyn_cast<llvm::ConstantInt>(step->getOperand(1));
  if (!left == !right) return false;
  const int64_t value = (left ? left : right)->getSExtValue();
  const auto op = step->getOpcode();
  if (op == llvm::Instruction::Add) {
    parts.offset += parts.factor * value;
  } else if (op == llvm::Instruction::Mul) {
    parts.factor *= value;
  } else if (op == llvm::Instruction::Sub) {
    parts.offset += left ? parts.factor * value : -parts.factor * value;
    if (left) parts.factor = -parts.factor;
  } else {
    return false;
  }
  parts.base = step->getOperand(left ? 1 : 0);
  return true;
}

}  // namespace

Affine affine(llvm::Value* place) {
  Affine out = {place, 1, 0};
  while (take_apart(out)) {
  }
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(out.base))
    return {nullptr, 0, out.offset + out.factor * constant->getSExtValue()};
  return out;
}

llvm::Value* affine_index(Builder& b, const Affine& parts) {
  if (!parts.base || parts.factor == 0) return int64(b, parts.offset);
  llvm::Value* product = multiply_index(b, parts.base, parts.factor);
  return parts.offset == 0 ? product : add_index(b, product, int64(b, parts.offset));
}

llvm::Value* nearest_index(Builder& b, llvm::Value* place, const Bounds& bounds, int64_t size) {
  if (bounds.first < 0) place = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, place, int64(b, 0));
  if (bounds.last < size) return place;
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, place, int64(b, size - 1));
}

size_t innermost_dim(const Dims& dims) {
  size_t out = dims.empty() ? 0 : dims.size() - 1;
  while (out > 0 && dims[out] == 1) --out;
  return out;
}

Index::Index(Builder& b, Dims dims, std::vector<llvm::Value*> at)
    : dims_(std::move(dims)), at_(std::move(at)) {
  check(at_.size() == dims_.size(), "Index: one value for each dimension");
  for (size_t d = 0; d < dims_.size(); ++d)
    if (dims_[d] == 1) at_[d] = int64(b, 0);
  if (dims_.empty()) position_ = int64(b, 0);
}

Index Index::linear(Builder& b, Dims dims, llvm::Value* position) {
  Index out;
  out.dims_ = std::move(dims);
  out.position_ = element_count(out.dims_) == 1 ? int64(b, 0) : position;
  return out;
}

namespace {

// Whether a position is the same one of `size` elements in every round of a loop over groups.
bool is_in_turns(const Affine& parts, int64_t size) {
  return size > 0 && parts.base && parts.factor > 0 && parts.factor % size == 0 &&
         parts.offset >= 0;
}

}  // namespace

void Index::find_parts(Builder& b) const {
  if (!at_.empty() || dims_.empty()) return;
  at_.resize(dims_.size());
  if (!join_parts(b)) divide(b, position_, dims_.size());
}

// The parts before `end` of a position in these dimensions.
void Index::divide(Builder& b, llvm::Value* position, size_t end) const {
  llvm::Value* rest = position;
  size_t outermost = 0;
  while (outermost < end && dims_[outermost] == 1) ++outermost;
  for (size_t d = end; d-- > 0;) {
    if (dims_[d] == 1) at_[d] = int64(b, 0);
    else if (d == outermost) at_[d] = rest;
    else if (const Affine parts = affine(rest); is_in_turns(parts, dims_[d])) {
      at_[d] = int64(b, parts.offset % dims_[d]);
      rest = affine_index(b, {parts.base, parts.factor / dims_[d], parts.offset / dims_[d]});
    } else {
      at_[d] = b.CreateURem(rest, int64(b, dims_[d]));
      rest = b.CreateUDiv(rest, int64(b, dims_[d]));
    }
  }
}

// Where innermost dimensions of the source make up the innermost one here, that is a sum of their
// places and of what is left of the others, which do not move with them. Whether it is so.
bool Index::join_parts(Builder& b) const {
  size_t from = source_.size(), here = innermost_dim(dims_);
  int64_t joined = 1;
  llvm::Value* sum = nullptr;
  for (; from > 0 && joined * source_dims_[from - 1] <= dims_[here] &&
         dims_[here] % (joined * source_dims_[from - 1]) == 0;
       --from) {
    const int64_t size = source_dims_[from - 1];
    if (size == 1) continue;
    llvm::Value* moved = multiply_index(b, source_[from - 1], joined);
    sum = sum ? add_index(b, moved, sum) : moved;
    joined *= size;
  }
  const int64_t runs = dims_[here] / joined;
  if (!sum || from == 0 || runs == 1) return false;
  const Index others(b, Dims(source_dims_.begin(), source_dims_.begin() + from),
                     {source_.begin(), source_.begin() + from});
  llvm::Value* position = others.position(b);
  for (size_t d = here + 1; d < dims_.size(); ++d) at_[d] = int64(b, 0);
  at_[here] = add_index(b, multiply_index(b, b.CreateURem(position, int64(b, runs)), joined), sum);
  divide(b, b.CreateUDiv(position, int64(b, runs)), here);
  return true;
}

llvm::Value* Index::at(Builder& b, size_t dim) const {
  find_parts(b);
  return at_[dim];
}

llvm::Value* Index::position(Builder& b) const {
  if (position_) return position_;
  // As others compute it who have the source alone: where the same is written, LLVM sees it.
  if (!source_.empty()) return position_ = Index(b, source_dims_, source_).position(b);
  llvm::Value* sum = nullptr;
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (dims_[d] == 1) continue;
    sum = sum ? add_index(b, multiply_index(b, sum, dims_[d]), at_[d]) : at_[d];
  }
  return position_ = sum ? sum : int64(b, 0);
}

namespace {

// A position in an array whose bounds lie in one run of the innermost dimension.
std::optional<Index> in_one_run(Builder& b, const Dims& dims, llvm::Value* position,
                                const Bounds& bounds) {
  const int64_t run = dims.back();
  if (dims.size() < 2 || run < 2 || bounds.first / run != bounds.last / run) return std::nullopt;
  std::vector<llvm::Value*> at(dims.size());
  int64_t number = bounds.first / run;
  at.back() = add_index(b, position, int64(b, -number * run));
  for (size_t d = dims.size() - 1; d-- > 0; number /= dims[d]) at[d] = int64(b, number % dims[d]);
  return Index(b, dims, std::move(at));
}

}  // namespace

// Both lists of dimensions fall into groups of equal products, walked from the left; a group of one
// and one is the same dimension.
Index Index::reshaped(Builder& b, const Dims& dims, FindBounds bounds) const {
  if (dims == dims_) return *this;
  if (at_.empty() || std::ranges::count(dims_, 0) > 0) return linear(b, dims, position(b));
  std::vector<llvm::Value*> out(dims.size(), int64(b, 0));
  size_t from = 0, to = 0;
  while (from < dims_.size() || to < dims.size()) {
    const size_t from_begin = from, to_begin = to;
    int64_t left = 1, right = 1;
    if (from < dims_.size()) left = dims_[from++];
    if (to < dims.size()) right = dims[to++];
    while (left != right) {
      if (left < right) left *= dims_[from++];
      else right *= dims[to++];
    }
    if (left == 1) continue;
    const Dims inner(dims_.begin() + from_begin, dims_.begin() + from);
    const Dims outer(dims.begin() + to_begin, dims.begin() + to);
    const Index group(b, inner, {at_.begin() + from_begin, at_.begin() + from});
    const auto run = in_one_run(b, outer, group.position(b), bounds(group.position(b), left));
    Index split = run ? *run : linear(b, outer, group.position(b));
    split.source_dims_ = inner;
    split.source_ = group.at_;
    if (!run && left == element_count(dims)) {
      split.dims_ = dims;
      return split;
    }
    for (size_t d = to_begin; d < to; ++d) out[d] = split.at(b, d - to_begin);
  }
  Index place(b, dims, std::move(out));
  place.source_dims_ = dims_;
  place.source_ = at_;
  return place;
}

std::vector<llvm::Value*> Index::key() const {
  if (!at_.empty() || dims_.empty()) return at_;
  return {position_};
}

namespace {

// What a value is made of, itself among it; nothing where that is more than can be looked at.
std::optional<std::set<const llvm::Value*>> operand_closure(const llvm::Value* value) {
  std::set<const llvm::Value*> seen = {value};
  std::vector<const llvm::Value*> waiting = {value};
  while (!waiting.empty()) {
    const auto* step = llvm::dyn_cast<llvm::Instruction>(waiting.back());
    waiting.pop_back();
    if (!step) continue;
    if (seen.size() > SearchBudget::max_visited) return std::nullopt;
    for (const llvm::Value* operand : step->operands())
      if (seen.insert(operand).second) waiting.push_back(operand);
  }
  return seen;
}

}  // namespace

bool share_a_counter(llvm::Value* a, llvm::Value* c) {
  const auto left = operand_closure(a), right = operand_closure(c);
  if (!left || !right) return true;
  return std::ranges::any_of(*left, [&](const llvm::Value* value) {
    return llvm::isa<llvm::PHINode>(value) && right->contains(value);
  });
}

// Unsigned, so that places before the first are beyond the last.
llvm::Value* is_in_bounds(Builder& b, llvm::Value* place, int64_t size) {
  return b.CreateICmpULT(place, int64(b, size));
}

llvm::Value* window_element_index(Builder& b, const WindowDim& dim, llvm::Value* window,
                                  llvm::Value* k) {
  llvm::Value* from_first = add_index(b, multiply_index(b, window, dim.stride),
                                      multiply_index(b, k, dim.window_dilation));
  return add_index(b, from_first, int64(b, -dim.padding_low));
}

}  // namespace hilo
