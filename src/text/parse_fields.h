// One reader for each type that a field of an attribute struct may have; attribute tables are built
// from these by overload. Forms: xla/hlo/parser/hlo_parser.cc.
#pragma once

#include "text/parser.h"

namespace hilo {

bool parse_value(Parser& parser, bool& out);
bool parse_value(Parser& parser, int64_t& out);
bool parse_value(Parser& parser, double& out);
bool parse_value(Parser& parser, std::string& out);
bool parse_value(Parser& parser, Dims& out);
bool parse_value(Parser& parser, Window& out);
bool parse_value(Parser& parser, ConvolutionLabels& out);
bool parse_value(Parser& parser, SliceDims& out);
bool parse_value(Parser& parser, PaddingConfig& out);
bool parse_value(Parser& parser, ReplicaGroups& out);
bool parse_value(Parser& parser, SourceTargetPairs& out);
bool parse_value(Parser& parser, SliceSizesList& out);
bool parse_value(Parser& parser, OutputOperandAliases& out);
bool parse_value(Parser& parser, LiteralRef& out);
bool parse_value(Parser& parser, RawText& out);
bool parse_value(Parser& parser, Shape& out);
bool parse_value(Parser& parser, std::vector<Shape>& out);
bool parse_value(Parser& parser, ComputationId& out);
bool parse_value(Parser& parser, std::vector<ComputationId>& out);  // {a, b}, or one name alone

// The text of an enumeration's value, without regard to case.
bool parse_enum(Lexer& lexer, std::span<const EnumText> texts, size_t& out);
template <class E>
  requires std::is_enum_v<E>
bool parse_value(Parser& parser, E& out) {
  static constexpr auto texts = enum_texts(std::type_identity<E>());
  size_t value;
  if (!parse_enum(parser, texts, value)) return false;
  return out = static_cast<E>(value), true;
}
bool parse_value(Parser& parser, Precisions& out);
template <class T>
bool parse_value(Parser& parser, std::optional<T>& out) {
  return parse_value(parser, out.emplace());
}

// {1,2,3}; an element may not be negative.
bool parse_dims(Lexer& lexer, Dims& out);
// [4,2] or [2,4]<=[8]T(1,0): what comes after the first list.
bool parse_iota(Lexer& lexer, IotaDevices& out);  // dims and permutation: [2,4]T(1,0)
bool parse_bracketed(Lexer& lexer, Dims& out);    // [2,4]
bool parse_mesh(Lexer& lexer, Mesh& out);         // after the word mesh: ['x'=2], device_ids=...
bool parse_axes(Lexer& lexer, std::vector<AxisRef>& out);  // {'x', 'y':(2)4}
bool parse_axis(Lexer& lexer, AxisRef& out);
bool check_device_count(Lexer& lexer, const char* at, const Dims& reshape, const Dims& dims);

}  // namespace hilo
