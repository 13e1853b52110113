// Dimensions under reshapes, broadcasts and transposes, and what reductions combine with.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pass/simplify/simplify.h"

namespace hilo {

Dims inverse_of(const Dims& permutation) {
  Dims out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) out[permutation[i]] = static_cast<int64_t>(i);
  return out;
}

Dims long_dims(const Shape& shape) {
  Dims out;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (shape.dims[i] != 1) out.push_back(i);
  return out;
}

std::optional<Dims> map_long_dims(const Shape& from, const Shape& to) {
  const Dims in = long_dims(from), out = long_dims(to);
  if (in.size() != out.size()) return std::nullopt;
  Dims map(from.dims.size(), -1);
  for (size_t i = 0; i < in.size(); ++i) {
    if (from.dims[in[i]] != to.dims[out[i]]) return std::nullopt;
    map[in[i]] = out[i];
  }
  return map;
}

namespace {

Dims sizes_of(const std::vector<SliceDim>& slice) {
  Dims out;
  for (const SliceDim& dim : slice)
    out.push_back(std::max<int64_t>(0, (dim.limit - dim.start + dim.stride - 1) / dim.stride));
  return out;
}

bool is_ascending(const Dims& dims) {
  return std::adjacent_find(dims.begin(), dims.end(), std::greater_equal<>()) == dims.end();
}

}  // namespace

InstructionId make_slice(Editor& editor, InstructionId like, InstructionId value,
                         std::vector<SliceDim> slice) {
  const Shape& from = editor.module().shape(value);
  const Shape shape = Shape::array(from.type, sizes_of(slice));
  if (shape.dims == from.dims) return value;
  return editor.add(like, Op::Slice, shape, std::array{value}, SliceAttributes{{std::move(slice)}});
}

InstructionId make_reshape(Editor& editor, const Match& match, InstructionId value) {
  return editor.add(match.root(), Op::Reshape, match.shape(), std::array{value});
}

// Operand dimensions of the result's order; others are transposed before, where the array is
// smaller.
InstructionId make_broadcast(Editor& editor, const Match& match, InstructionId value, Dims dims) {
  if (!is_ascending(dims)) {
    Dims order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int64_t i) { return dims[i]; });
    const Shape from = editor.module().shape(value);
    Dims sizes;
    for (int64_t i : order) sizes.push_back(from.dims[i]);
    value = editor.add(match.root(), Op::Transpose, Shape::array(from.type, sizes),
                       std::array{value}, DimensionsAttributes{order});
    std::ranges::sort(dims);
  }
  return editor.add(match.root(), Op::Broadcast, match.shape(), std::array{value},
                    DimensionsAttributes{std::move(dims)});
}

InstructionId make_transpose(Editor& editor, const Match& match, InstructionId value, Dims dims) {
  return editor.add(match.root(), Op::Transpose, match.shape(), std::array{value},
                    DimensionsAttributes{std::move(dims)});
}

std::optional<Op> monoid_of(const Module& module, ComputationId computation) {
  const Computation& body = module[computation];
  const Instruction& root = module[body.root];
  if (body.parameters.size() != 2 || !has_trait(root.op, TraitMonoid) || root.op == Op::Xor)
    return std::nullopt;
  const auto operands = module.operands(root);
  const bool straight = operands[0] == body.parameters[0] && operands[1] == body.parameters[1];
  const bool swapped = operands[0] == body.parameters[1] && operands[1] == body.parameters[0];
  if (!straight && !swapped) return std::nullopt;
  if (!module.shape(root).is_scalar()) return std::nullopt;
  return root.op;
}

bool is_identity(const Module& module, Op monoid, InstructionId value) {
  const Literal* literal = constant_of(module, value);
  if (!literal || !literal->shape().is_scalar() || is_complex(literal->type())) return false;
  const double number = literal->number_at(0);
  const ElementType type = literal->type();
  if (monoid == Op::Add || monoid == Op::Or) return number == 0;
  if (monoid == Op::Multiply) return number == 1;
  if (monoid == Op::And)
    return is_splat(module, value, is_signed(type) ? -1 : 1) &&
           (is_signed(type) || type == ElementType::Pred);
  if (is_floating(type)) return number == (monoid == Op::Maximum ? -INFINITY : INFINITY);
  if (type == ElementType::Pred) return number == (monoid == Op::Maximum ? 0 : 1);
  const int bits = bits_of(type);
  const int64_t integer = literal->integer_at(0);
  if (is_unsigned(type))
    return monoid == Op::Maximum ? integer == 0
                                 : static_cast<uint64_t>(integer) == ~uint64_t{0} >> (64 - bits);
  const int64_t least = INT64_MIN >> (64 - bits);
  return integer == (monoid == Op::Maximum ? least : ~least);
}

}  // namespace hilo
