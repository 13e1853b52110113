// slice, dynamic-slice, dynamic-update-slice, concatenate.
#include <algorithm>
#include <functional>
#include <numeric>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

const std::vector<SliceDim>& slice_of(const Match& match) {
  return match.attributes<SliceAttributes>().slice.dims;
}

InstructionId slice_once(Editor& editor, const Match& match) {
  if (!all_plain(match, "xs")) return {};
  const auto& inner = match.attributes<SliceAttributes>('s').slice.dims;
  std::vector<SliceDim> slice = slice_of(match);
  for (size_t i = 0; i < slice.size(); ++i) {
    const int64_t count = match.shape().dims[i];
    slice[i].start = inner[i].start + slice[i].start * inner[i].stride;
    slice[i].stride *= inner[i].stride;
    slice[i].limit = slice[i].start + std::max<int64_t>(0, (count - 1) * slice[i].stride + 1);
    if (count == 0) slice[i].limit = slice[i].start;
  }
  return make_slice(editor, match.root(), match['x'], std::move(slice));
}

InstructionId slice_of_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  const Dims dims = dimensions_of(match, 'b');
  std::vector<SliceDim> slice;
  for (int64_t dim : dims) slice.push_back(slice_of(match)[dim]);
  const InstructionId value = make_slice(editor, match.root(), match['x'], std::move(slice));
  return make_broadcast(editor, match, value, dims);
}

InstructionId slice_of_iota(Editor& editor, const Match& match) {
  const int64_t dim = match.attributes<IotaAttributes>('i').iota_dimension;
  const SliceDim& along = slice_of(match)[dim];
  if (along.start != 0 || along.stride != 1) return {};
  return editor.add(match.root(), Op::Iota, match.shape(), {}, IotaAttributes{dim});
}

// The slice lies in one of the parts.
InstructionId slice_of_concatenate(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const int64_t dim = dimensions_of(match, 'c')[0];
  std::vector<SliceDim> slice = slice_of(match);
  if (match.shape().dims[dim] == 0) return {};
  for (InstructionId part : module.operands(match['c'])) {
    const int64_t size = module.shape(part).dims[dim];
    if (slice[dim].start < size) {
      if (slice[dim].limit > size || !all_plain(match, "") || !is_plain(module.shape(part)))
        return {};
      return make_slice(editor, match.root(), part, std::move(slice));
    }
    slice[dim].start -= size, slice[dim].limit -= size;
  }
  return {};
}

// The slice does not touch the padding.
InstructionId slice_of_pad(Editor& editor, const Match& match) {
  if (!all_plain(match, "xp")) return {};
  std::vector<SliceDim> slice = slice_of(match);
  const auto& padding = match.attributes<PadAttributes>('p').padding.dims;
  for (size_t i = 0; i < slice.size(); ++i) {
    slice[i].start -= padding[i].low, slice[i].limit -= padding[i].low;
    if (padding[i].interior != 0 || slice[i].start < 0 || slice[i].limit > match.shape('x').dims[i])
      return {};
  }
  return make_slice(editor, match.root(), match['x'], std::move(slice));
}

// Parts of a transposed array are transposed alone where nobody reads it whole, so that it is never
// stored.
InstructionId slice_of_transpose(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  if (!all_plain(match, "xt") || module[module[match['t']].computation].root == match['t'])
    return {};
  for (InstructionId user : module.users(match['t']))
    if (module[user].op != Op::Slice) return {};
  const Dims dims = dimensions_of(match, 't');
  std::vector<SliceDim> slice(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) slice[static_cast<size_t>(dims[i])] = slice_of(match)[i];
  const InstructionId part = make_slice(editor, match.root(), match['x'], std::move(slice));
  return make_transpose(editor, match, part, dims);
}

// The dimension of `from` that is dimension `dim` of `to`, its reshape: as many elements lie behind
// a place along either.
std::optional<size_t> same_dim(const Dims& from, const Dims& to, size_t dim) {
  const auto behind = [](const Dims& dims, size_t d) {
    return std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(d) + 1, dims.end(),
                           int64_t{1}, std::multiplies<>());
  };
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] == to[dim] && behind(from, d) == behind(to, dim)) return d;
  return std::nullopt;
}

// Where nobody needs the whole, so that parts of what was transposed are all that moves.
InstructionId slice_of_reshape(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const InstructionId whole = match['t'], reshape = match['r'];
  const auto is_root = [&](InstructionId id) { return module[module[id].computation].root == id; };
  const auto is_slice = [&](InstructionId user) {
    return user == reshape || module[user].op == Op::Slice;
  };
  if (!all_plain(match, "rt") || element_count(match.shape('t')) == 0 || is_root(whole) ||
      is_root(reshape) || !std::ranges::all_of(module.users(whole), is_slice) ||
      !std::ranges::all_of(module.users(reshape), is_slice))
    return {};
  const Dims &from = match.shape('t').dims, &to = match.shape('r').dims;
  std::vector<SliceDim> slice;
  for (int64_t size : from) slice.push_back({0, size, 1});
  for (size_t i = 0; i < to.size(); ++i) {
    if (match.shape().dims[i] == to[i]) continue;
    const auto dim = same_dim(from, to, i);
    if (!dim) return {};
    slice[*dim] = slice_of(match)[i];
  }
  const InstructionId part = make_slice(editor, match.root(), match['t'], std::move(slice));
  return make_reshape(editor, match, part);
}

// Where a dynamic slice or update begins when every index is known, clamped as it will be.
std::optional<Dims> known_starts(const Module& module, InstructionId id, size_t first,
                                 const Dims& whole, const Dims& part) {
  const auto operands = module.operands(id);
  if (operands.size() - first != whole.size()) return std::nullopt;
  Dims out;
  for (size_t i = 0; i < whole.size(); ++i) {
    const Literal* index = constant_of(module, operands[first + i]);
    if (!index || !index->shape().is_scalar()) return std::nullopt;
    int64_t start = index->integer_at(0);
    if (index->type() == ElementType::U64 && start < 0) start = INT64_MAX;
    out.push_back(std::clamp<int64_t>(start, 0, whole[i] - part[i]));
  }
  return out;
}

bool takes_all(const Match& match) {
  return match.shape().dims == match.module().shape(match.module().operand(match.root(), 0)).dims;
}

InstructionId first_operand(Editor& editor, const Match& match) {
  return editor.module().operand(match.root(), 0);
}
InstructionId second_operand(Editor& editor, const Match& match) {
  return editor.module().operand(match.root(), 1);
}

InstructionId dynamic_slice_to_slice(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const InstructionId from = first_operand(editor, match);
  if (!all_plain(match, "") || !is_plain(module.shape(from))) return {};
  const Dims sizes = match.shape().dims;
  const auto starts = known_starts(module, match.root(), 1, module.shape(from).dims, sizes);
  if (!starts) return {};
  std::vector<SliceDim> slice;
  for (size_t i = 0; i < sizes.size(); ++i)
    slice.push_back({(*starts)[i], (*starts)[i] + sizes[i], 1});
  return make_slice(editor, match.root(), from, std::move(slice));
}

// Only dimensions that the broadcast made are cut.
InstructionId dynamic_slice_of_broadcast(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const InstructionId from = first_operand(editor, match);
  if (module[from].op != Op::Broadcast || !all_plain(match, "")) return {};
  const InstructionId value = module.operand(from, 0);
  const Dims dims = module.attributes<DimensionsAttributes>(from).dimensions;
  for (int64_t dim : dims)
    if (match.shape().dims[dim] != module.shape(from).dims[dim]) return {};
  return is_plain(module.shape(value)) ? make_broadcast(editor, match, value, dims)
                                       : InstructionId{};
}

bool updates_all(const Match& match) {
  return match.shape().dims == match.module().shape(match.module().operand(match.root(), 1)).dims;
}
bool updates_nothing(const Match& match) {
  const Module& module = match.module();
  return element_count(module.shape(module.operand(match.root(), 1))) == 0;
}

// What is written is what stands there.
bool updates_with_own(const Match& match) {
  const Module& module = match.module();
  const auto operands = module.operands(match.root());
  if (module[operands[1]].op != Op::DynamicSlice) return false;
  const auto taken = module.operands(operands[1]);
  return taken[0] == operands[0] && std::ranges::equal(taken.subspan(1), operands.subspan(2));
}

// At a known place of one number everywhere.
InstructionId update_to_pad(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const auto operands = module.operands(match.root());
  const InstructionId update = operands[1];
  if (module[operands[0]].op != Op::Broadcast || !all_plain(match, "") ||
      !is_plain(module.shape(update)))
    return {};
  const InstructionId number = module.operand(operands[0], 0);
  const Dims whole = match.shape().dims, part = module.shape(update).dims;
  const auto starts = known_starts(module, match.root(), 2, whole, part);
  if (!starts || !module.shape(number).is_scalar() ||
      module.shape(number).type != module.shape(update).type)
    return {};
  PadAttributes attributes;
  for (size_t d = 0; d < whole.size(); ++d)
    attributes.padding.dims.push_back({(*starts)[d], whole[d] - part[d] - (*starts)[d], 0});
  return editor.add(match.root(), Op::Pad, match.shape(), std::array{update, number},
                    std::move(attributes));
}

InstructionId remake_concatenate(Editor& editor, const Match& match,
                                 const std::vector<InstructionId>& parts) {
  return editor.add(match.root(), Op::Concatenate, match.shape(), parts,
                    DimensionsAttributes{dimensions_of(match)});
}

InstructionId concatenate_without_empty(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  std::vector<InstructionId> parts;
  const auto operands = module.operands(match.root());
  for (InstructionId part : operands)
    if (element_count(module.shape(part)) > 0) parts.push_back(part);
  if (parts.empty() || parts.size() == operands.size()) return {};
  return remake_concatenate(editor, match, parts);
}

InstructionId concatenate_flat(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  std::vector<InstructionId> parts;
  bool found = false;
  for (InstructionId part : module.operands(match.root())) {
    const bool nested =
        module[part].op == Op::Concatenate && editor.use_count(part) == 1 &&
        is_plain(module.shape(part)) &&
        module.attributes<DimensionsAttributes>(part).dimensions == dimensions_of(match);
    if (nested)
      parts.insert(parts.end(), module.operands(part).begin(), module.operands(part).end());
    else parts.push_back(part);
    found = found || nested;
  }
  return found && all_plain(match, "") ? remake_concatenate(editor, match, parts) : InstructionId{};
}

// Whether `next` begins along `dim` where `slice` ends and is the same in other dimensions.
bool goes_on(const std::vector<SliceDim>& slice, const std::vector<SliceDim>& next, size_t dim) {
  for (size_t i = 0; i < slice.size(); ++i) {
    if (slice[i].stride != 1 || next[i].stride != 1) return false;
    if (i == dim ? slice[i].limit != next[i].start
                 : slice[i].start != next[i].start || slice[i].limit != next[i].limit)
      return false;
  }
  return true;
}

InstructionId concatenate_neighbours(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  const auto operands = module.operands(match.root());
  const std::vector<InstructionId> parts(operands.begin(), operands.end());
  const size_t dim = static_cast<size_t>(dimensions_of(match)[0]);
  const auto slice_at = [&](size_t i) -> const std::vector<SliceDim>& {
    return module.attributes<SliceAttributes>(parts[i]).slice.dims;
  };
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    if (module[parts[i]].op != Op::Slice || module[parts[i + 1]].op != Op::Slice) continue;
    const InstructionId from = module.operand(parts[i], 0);
    if (from != module.operand(parts[i + 1], 0) || !is_plain(module.shape(from)) ||
        module.shape(from).type != match.shape().type || !all_plain(match, "") ||
        !goes_on(slice_at(i), slice_at(i + 1), dim))
      continue;
    std::vector<SliceDim> whole = slice_at(i);
    whole[dim].limit = slice_at(i + 1)[dim].limit;
    std::vector<InstructionId> fewer = parts;
    fewer[i] = make_slice(editor, match.root(), from, std::move(whole));
    fewer.erase(fewer.begin() + static_cast<int64_t>(i) + 1);
    return remake_concatenate(editor, match, fewer);
  }
  return {};
}

InstructionId concatenate_of_one_number(Editor& editor, const Match& match) {
  const Module& module = editor.module();
  InstructionId scalar;
  for (InstructionId part : module.operands(match.root())) {
    if (module[part].op != Op::Broadcast || !module.shape(module.operand(part, 0)).is_scalar())
      return {};
    if (scalar && scalar != module.operand(part, 0)) return {};
    scalar = module.operand(part, 0);
  }
  return scalar && all_plain(match, "") ? make_broadcast(editor, match, scalar, {})
                                        : InstructionId{};
}

constexpr RewriteRule rules[] = {
    {"slice-whole", Any, Bits, "slice(x)", "x"},
    {"slice-slice", Any, Bits, "slice(s:slice(x))", slice_once},
    {"slice-of-broadcast", Any, Bits, "slice(b:broadcast(x))", slice_of_broadcast},
    {"slice-of-iota", Any, Bits, "slice(i:iota())", slice_of_iota},
    {"slice-of-concatenate", Any, Bits, "slice(c:concatenate(...))", slice_of_concatenate},
    {"slice-of-pad", Any, Bits, "slice(p:pad(x, y))", slice_of_pad},
    {"slice-of-transpose", Any, Bits, "slice(t:transpose(x))", slice_of_transpose},
    {"slice-of-reshape", Any, Bits, "slice(r:reshape(t:transpose(x)))", slice_of_reshape},
    {"dynamic-slice-whole", Any, Bits, "dynamic-slice(...)", first_operand, takes_all},
    {"dynamic-slice-constant", Any, Bits, "dynamic-slice(...)", dynamic_slice_to_slice},
    {"dynamic-slice-of-broadcast", Any, Bits, "dynamic-slice(...)", dynamic_slice_of_broadcast},
    {"dynamic-update-slice-whole", Any, Bits, "dynamic-update-slice(...)", second_operand,
     updates_all},
    {"dynamic-update-slice-nothing", Any, Bits, "dynamic-update-slice(...)", first_operand,
     updates_nothing},
    {"dynamic-update-slice-own", Any, Bits, "dynamic-update-slice(...)", first_operand,
     updates_with_own},
    {"dynamic-update-slice-of-one-number", Any, Bits, "dynamic-update-slice(...)", update_to_pad},
    {"concatenate-one", Any, Bits, "concatenate(x)", "x"},
    {"concatenate-empty", Any, Bits, "concatenate(...)", concatenate_without_empty},
    {"concatenate-concatenate", Any, Bits, "concatenate(...)", concatenate_flat},
    {"concatenate-neighbours", Any, Bits, "concatenate(...)", concatenate_neighbours},
    {"concatenate-of-one-number", Any, Bits, "concatenate(...)", concatenate_of_one_number},
};

}  // namespace

RuleTable slice_rules() { return rules; }

}  // namespace hilo
