// reshape, transpose, broadcast, iota: one of a kind where there were two.
#include <algorithm>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

bool is_identity_permutation(const Match& match) {
  return std::ranges::is_sorted(dimensions_of(match)) &&
         dimensions_of(match).size() == match.shape().dims.size();
}

InstructionId reshape_once(Editor& editor, const Match& match) {
  return all_plain(match, "xr") ? make_reshape(editor, match, match['x']) : InstructionId{};
}

// Only dimensions of size 1 come and go, so that each of x's still is one of the result's.
InstructionId reshape_of_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  const Shape from = match.shape('x');
  if (from.is_scalar()) return make_broadcast(editor, match, match['x'], {});
  const auto map = map_long_dims(match.shape('b'), match.shape());
  if (!map) return {};
  Dims sizes, dims;
  for (int64_t i = 0; i < from.rank(); ++i)
    if (from.dims[i] != 1) {
      sizes.push_back(from.dims[i]);
      dims.push_back((*map)[dimensions_of(match, 'b')[i]]);
    }
  InstructionId value = match['x'];
  if (sizes.size() < from.dims.size())
    value =
        editor.add(match.root(), Op::Reshape, Shape::array(from.type, sizes), std::array{value});
  return make_broadcast(editor, match, value, dims);
}

InstructionId transpose_once(Editor& editor, const Match& match) {
  if (!all_plain(match, "xt")) return {};
  Dims dims;
  for (int64_t dim : dimensions_of(match)) dims.push_back(dimensions_of(match, 't')[dim]);
  return make_transpose(editor, match, match['x'], dims);
}

InstructionId transpose_of_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  const Dims place = inverse_of(dimensions_of(match));
  Dims dims;
  for (int64_t dim : dimensions_of(match, 'b')) dims.push_back(place[dim]);
  return make_broadcast(editor, match, match['x'], dims);
}

// The order of dimensions longer than 1 stays.
InstructionId transpose_to_reshape(Editor& editor, const Match& match) {
  if (!all_plain(match, "x")) return {};
  int64_t last = -1;
  for (int64_t dim : dimensions_of(match)) {
    if (match.shape('x').dims[dim] == 1) continue;
    if (dim < last) return {};
    last = dim;
  }
  return make_reshape(editor, match, match['x']);
}

InstructionId make_iota(Editor& editor, const Match& match, int64_t dim) {
  return editor.add(match.root(), Op::Iota, match.shape(), {}, IotaAttributes{dim});
}

InstructionId transpose_of_iota(Editor& editor, const Match& match) {
  const int64_t dim = match.attributes<IotaAttributes>('i').iota_dimension;
  return make_iota(editor, match, inverse_of(dimensions_of(match))[dim]);
}

InstructionId broadcast_of_iota(Editor& editor, const Match& match) {
  const int64_t dim = match.attributes<IotaAttributes>('i').iota_dimension;
  return make_iota(editor, match, dimensions_of(match)[dim]);
}

InstructionId reshape_of_iota(Editor& editor, const Match& match) {
  const auto map = map_long_dims(match.shape('i'), match.shape());
  const int64_t dim = match.attributes<IotaAttributes>('i').iota_dimension;
  return map && (*map)[dim] >= 0 ? make_iota(editor, match, (*map)[dim]) : InstructionId{};
}

InstructionId broadcast_once(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  Dims dims;
  for (int64_t dim : dimensions_of(match, 'b')) dims.push_back(dimensions_of(match)[dim]);
  return make_broadcast(editor, match, match['x'], dims);
}

InstructionId broadcast_to_reshape(Editor& editor, const Match& match) {
  const Shape& from = match.shape('x');
  if (!all_plain(match, "x") || from.is_scalar() || element_count(from) == 0 ||
      element_count(from) != element_count(match.shape()) ||
      !std::ranges::is_sorted(dimensions_of(match)))
    return {};
  return make_reshape(editor, match, match['x']);
}

// A dimension of size 1 that a reshape put there only to be broadcast.
InstructionId broadcast_of_reshape(Editor& editor, const Match& match) {
  if (!all_plain(match, "xr")) return {};
  const auto map = map_long_dims(match.shape('x'), match.shape('r'));
  if (!map || long_dims(match.shape('x')).size() != match.shape('x').dims.size()) return {};
  Dims dims;
  for (int64_t dim : *map) dims.push_back(dimensions_of(match)[dim]);
  return make_broadcast(editor, match, match['x'], dims);
}

bool is_single(const Match& match) {
  return match.shape().dims[match.attributes<IotaAttributes>().iota_dimension] == 1;
}

// 65 elements or more that are one number: `constants of one number` (see the matcher) are short.
InstructionId constant_to_broadcast(Editor& editor, const Match& match) {
  const Literal* literal = constant_of(match.module(), match.root());
  if (!literal || !literal->shape().is_array() || literal->count() < 2 || !all_plain(match, ""))
    return {};
  const std::span<const std::byte> raw = literal->raw();
  const size_t size = static_cast<size_t>(storage_bytes(literal->type()));
  if (!std::equal(raw.begin() + size, raw.end(), raw.begin())) return {};
  Literal scalar = Literal::uninitialized(Shape::scalar(literal->type()));
  std::copy_n(raw.begin(), size, scalar.mutable_raw().begin());
  return editor.add_splat(match.root(), match.shape(), scalar);
}

constexpr RewriteRule rules[] = {
    {"reshape-same", Any, Bits, "reshape(x)", "x"},
    {"reshape-reshape", Any, Bits, "reshape(r:reshape(x))", reshape_once},
    {"reshape-of-broadcast", Any, Bits, "reshape(b:broadcast(x))", reshape_of_broadcast},
    {"reshape-of-iota", Any, Bits, "reshape(i:iota())", reshape_of_iota},
    {"transpose-same", Any, Bits, "transpose(x)", "x", is_identity_permutation},
    {"transpose-transpose", Any, Bits, "transpose(t:transpose(x))", transpose_once},
    {"transpose-of-broadcast", Any, Bits, "transpose(b:broadcast(x))", transpose_of_broadcast},
    {"transpose-of-iota", Any, Bits, "transpose(i:iota())", transpose_of_iota},
    {"transpose-to-reshape", Any, Bits, "transpose(x)", transpose_to_reshape},
    {"broadcast-same", Any, Bits, "broadcast(x)", "x", is_identity_permutation},
    {"broadcast-broadcast", Any, Bits, "broadcast(b:broadcast(x))", broadcast_once},
    {"broadcast-of-iota", Any, Bits, "broadcast(i:iota())", broadcast_of_iota},
    {"broadcast-of-reshape", Any, Bits, "broadcast(r:reshape(x))", broadcast_of_reshape},
    {"broadcast-to-reshape", Any, Bits, "broadcast(x)", broadcast_to_reshape},
    {"iota-of-one", Any, Bits, "iota()", "0", is_single},
    {"constant-of-one-number", Any, Bits, "constant()", constant_to_broadcast},
};

}  // namespace

RuleTable reshape_rules() { return rules; }

}  // namespace hilo
