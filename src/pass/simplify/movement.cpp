// Elementwise ops before broadcasts, reshapes and transposes instead of behind them: the op runs on
// the smaller array, or the others come together.
#include <algorithm>

#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

// Where an operand of an elementwise op comes from: a scalar, or an array by a moving op.
struct Source {
  InstructionId value;  // none: the operand does not come by such an op
  InstructionId mover;  // none: a scalar that stands for all elements, or a broadcast
};

bool is_broadcast_array(const Module& module, InstructionId id) {
  return module[id].op == Op::Broadcast && is_plain(module.shape(id)) &&
         !module.shape(module.operand(id, 0)).is_scalar();
}

Source scalar_source(const Module& module, InstructionId operand) {
  if (module.shape(operand).is_scalar()) return {operand, {}};
  if (module[operand].op != Op::Broadcast) return {};
  const InstructionId from = module.operand(operand, 0);
  return module.shape(from).is_scalar() ? Source{from, {}} : Source{};
}

Source source_of(const Module& module, InstructionId operand, Op mover) {
  if (const Source scalar = scalar_source(module, operand); scalar.value) return scalar;
  if (module[operand].op != mover || !is_plain(module.shape(operand))) return {};
  const InstructionId from = module.operand(operand, 0);
  if (module.shape(from).type != module.shape(operand).type) return {};
  return is_plain(module.shape(from)) && is_static(module.shape(from)) ? Source{from, operand}
                                                                       : Source{};
}

// Whether two movers do the same to arrays of the same dimensions.
bool move_alike(const Module& module, InstructionId a, InstructionId b) {
  if (module.shape(module.operand(a, 0)).dims != module.shape(module.operand(b, 0)).dims)
    return false;
  if (module[a].op == Op::Reshape) return true;
  return module.attributes<DimensionsAttributes>(a) == module.attributes<DimensionsAttributes>(b);
}

// The sources of all operands when they agree, else nothing. Transposes stand beside any broadcast.
std::vector<Source> sources_of(const Match& match, Op mover) {
  const Module& module = match.module();
  std::vector<Source> out;
  InstructionId first;
  for (InstructionId operand : module.operands(match.root())) {
    Source source = source_of(module, operand, mover);
    if (!source.value && mover == Op::Transpose && is_broadcast_array(module, operand))
      source.value = operand;
    if (!source.value) return {};
    if (source.mover && first && !move_alike(module, first, source.mover)) return {};
    if (source.mover && !first) first = source.mover;
    out.push_back(source);
  }
  return out;
}

InstructionId mover_in(const std::vector<Source>& sources) {
  for (const Source& source : sources)
    if (source.mover) return source.mover;
  return {};
}

// The dimensions of a broadcast before a transpose; nothing where they do not ascend.
std::optional<Dims> dims_before(const Dims& broadcast, const Dims& transpose) {
  Dims out;
  for (int64_t dim : broadcast) out.push_back(transpose[static_cast<size_t>(dim)]);
  return std::ranges::is_sorted(out) ? std::optional(out) : std::nullopt;
}

// Whether a transpose of these dimensions behind the root would meet its inverse: users that are
// elementwise ops would take it further. Only the nearest users are asked.
bool meets_inverse(const Match& match, const Dims& dims) {
  const Module& module = match.module();
  const Dims inverse = inverse_of(dims);
  std::vector<InstructionId> reached{match.root()};
  for (size_t i = 0; i < std::min(reached.size(), SearchBudget::max_visited); ++i)
    for (InstructionId user : module.users(reached[i])) {
      if (module[user].op == Op::Transpose &&
          module.attributes<DimensionsAttributes>(user).dimensions == inverse)
        return true;
      if (is_elementwise(module[user].op) && std::ranges::find(reached, user) == reached.end())
        reached.push_back(user);
    }
  return false;
}

// Whether arrays are broadcast beside a transpose.
bool has_broadcast(const Module& module, const std::vector<Source>& sources) {
  return std::ranges::any_of(sources, [&](const Source& source) {
    return !source.mover && !module.shape(source.value).is_scalar();
  });
}

// Makes broadcasts of arrays what a transpose of these dimensions then turns into what they are.
// Whether all could be.
bool turn_broadcasts(Editor& editor, const Match& match, std::vector<Source>& sources,
                     InstructionId mover) {
  const Dims order = match.module().attributes<DimensionsAttributes>(mover).dimensions;
  const Dims from = match.module().shape(match.module().operand(mover, 0)).dims;
  std::vector<std::optional<Dims>> dims(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    const Module& module = match.module();
    const InstructionId value = sources[i].value;
    if (sources[i].mover || module.shape(value).is_scalar()) continue;
    dims[i] = dims_before(module.attributes<DimensionsAttributes>(value).dimensions, order);
    if (!dims[i]) return false;
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (dims[i]) {
      const InstructionId value = sources[i].value;
      const Shape shape = Shape::array(editor.module().shape(value).type, from);
      const InstructionId small = editor.module().operand(value, 0);
      sources[i] = {editor.add(match.root(), Op::Broadcast, shape, std::array{small},
                               DimensionsAttributes{*dims[i]}),
                    mover};
    }
  return true;
}

// The root's op on the sources, as an array of these dimensions.
InstructionId apply_to_sources(Editor& editor, const Match& match,
                               const std::vector<Source>& sources, const Dims& dims) {
  Module& module = editor.module();
  std::vector<InstructionId> operands;
  for (const Source& source : sources) {
    const Shape shape = Shape::array(module.shape(source.value).type, dims);
    const bool as_it_is = source.mover || dims.empty();
    operands.push_back(as_it_is ? source.value
                                : editor.add(match.root(), Op::Broadcast, shape,
                                             std::array{source.value}, DimensionsAttributes{}));
  }
  const InstructionId out = editor.clone(match.root(), module[match.root()].computation, operands);
  module[out].shape = module.shapes.intern(Shape::array(match.shape().type, dims));
  module[out].extra = {};
  return out;
}

InstructionId sink_broadcast(Editor& editor, const Match& match) {
  if (!all_plain(match, "") || match.shape().is_scalar()) return {};
  const std::vector<Source> sources = sources_of(match, Op::Broadcast);
  if (sources.empty()) return {};
  const InstructionId mover = mover_in(sources);
  const Module& module = editor.module();
  const Dims from = mover ? module.shape(module.operand(mover, 0)).dims : Dims{};
  if (element_count(from) >= element_count(match.shape())) return {};
  const Dims dims = mover ? module.attributes<DimensionsAttributes>(mover).dimensions : Dims{};
  return make_broadcast(editor, match, apply_to_sources(editor, match, sources, from), dims);
}

InstructionId sink_reshape(Editor& editor, const Match& match) {
  if (!all_plain(match, "")) return {};
  const std::vector<Source> sources = sources_of(match, Op::Reshape);
  const InstructionId mover = mover_in(sources);
  if (!mover) return {};
  const Dims from = editor.module().shape(editor.module().operand(mover, 0)).dims;
  return make_reshape(editor, match, apply_to_sources(editor, match, sources, from));
}

InstructionId sink_transpose(Editor& editor, const Match& match) {
  if (!all_plain(match, "")) return {};
  std::vector<Source> sources = sources_of(match, Op::Transpose);
  const InstructionId mover = mover_in(sources);
  if (!mover) return {};
  const Dims from = editor.module().shape(editor.module().operand(mover, 0)).dims;
  const Dims dims = editor.module().attributes<DimensionsAttributes>(mover).dimensions;
  if (has_broadcast(editor.module(), sources) && !meets_inverse(match, dims)) return {};
  if (!turn_broadcasts(editor, match, sources, mover)) return {};
  return make_transpose(editor, match, apply_to_sources(editor, match, sources, from), dims);
}

constexpr RewriteRule broadcasts[] = {
    {"sink-broadcast", Any, Bits, "elementwise(...)", sink_broadcast},
};

constexpr RewriteRule movements[] = {
    {"sink-reshape", Any, Bits, "elementwise(...)", sink_reshape},
    {"sink-transpose", Any, Bits, "elementwise(...)", sink_transpose},
};

}  // namespace

RuleTable broadcast_rules() { return broadcasts; }
RuleTable movement_rules() { return movements; }

}  // namespace hilo
