// What the files of rules share. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

#define FAMILY(name, pass) RuleTable name##_rules();
#include "pass/simplify/families.def"
#undef FAMILY

// Whether the root and the values bound to these letters have plain layouts, so that arrays of
// another form may be put between them.
inline bool all_plain(const Match& match, std::string_view letters) {
  for (char letter : letters)
    if (!is_plain(match.shape(letter))) return false;
  return is_plain(match.shape());
}

inline const Dims& dimensions_of(const Match& match, char letter) {
  return match.attributes<DimensionsAttributes>(letter).dimensions;
}
inline const Dims& dimensions_of(const Match& match) {
  return match.attributes<DimensionsAttributes>().dimensions;
}
inline bool contains_dim(std::span<const int64_t> dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}
// inverse[dims[i]] = i
Dims inverse_of(const Dims& permutation);
// The dimensions that are not of size 1.
Dims long_dims(const Shape& shape);
// For arrays that differ only in dimensions of size 1: for each dimension of `from` the one of `to`
// that it becomes, -1 for those of size 1. Nothing when they differ in more.
std::optional<Dims> map_long_dims(const Shape& from, const Shape& to);

// The value itself where the slice is all of it.
InstructionId make_slice(Editor& editor, InstructionId like, InstructionId value,
                         std::vector<SliceDim> slice);
InstructionId make_reshape(Editor& editor, const Match& match, InstructionId value);
InstructionId make_broadcast(Editor& editor, const Match& match, InstructionId value, Dims dims);
InstructionId make_transpose(Editor& editor, const Match& match, InstructionId value, Dims dims);

// The op that a computation applies to its two scalar parameters, if it does nothing else and their
// order does not matter.
std::optional<Op> monoid_of(const Module& module, ComputationId computation);
// Whether op(x, value) is x for a scalar `value`, the sign of zero aside.
bool is_identity(const Module& module, Op monoid, InstructionId value);

}  // namespace hilo
