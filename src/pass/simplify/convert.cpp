// convert, bitcast-convert, bitcast, reduce-precision, copy.
#include "pass/contained_types.h"
#include "pass/simplify/simplify.h"

namespace hilo {
namespace {

using namespace rule_types;
using enum Keeps;

bool keeps_inner(const Match& match) {
  return is_contained(match.shape('x').type, match.shape('c').type);
}

// Integers that went through floats are clamped on the way back, others wrap.
bool may_skip_inner(const Match& match) {
  const ElementType from = match.shape('x').type, to = match.shape().type;
  const ElementType through = match.shape('c').type;
  if (!is_contained(from, through) || is_complex(from) || is_complex(through)) return false;
  if (is_floating(through) && !is_floating(from) && !is_floating(to)) return is_contained(from, to);
  return true;
}

// A pred between holds no bits but that of its value.
bool same_widths(const Match& match) {
  const int bits = bits_of(match.shape().type);
  return match.shape('b').type != ElementType::Pred && bits == bits_of(match.shape('x').type) &&
         bits == bits_of(match.shape('b').type);
}

InstructionId bitcast_once(Editor& editor, const Match& match) {
  if (!all_plain(match, "xb")) return {};
  return editor.add(match.root(), Op::BitcastConvert, match.shape(), std::array{match['x']});
}

InstructionId reinterpret_once(Editor& editor, const Match& match) {
  return editor.add(match.root(), Op::Bitcast, match.shape(), std::array{match['x']});
}

bool rounds_nothing(const Match& match) {
  const auto& a = match.attributes<ReducePrecisionAttributes>();
  const FloatRange range = float_range(match.shape().type);
  return range.digits > 0 && bits_of(match.shape().type) >= 16 &&
         a.exponent_bits >= range.exponent_bits && a.mantissa_bits >= range.digits - 1;
}

bool rounds_twice(const Match& match) {
  return match.attributes<ReducePrecisionAttributes>() ==
         match.attributes<ReducePrecisionAttributes>('r');
}

// Copies of scheduled modules are there for their buffers.
bool is_free_to_share(const Match& match) { return !match.module().header.is_scheduled; }

InstructionId copy_once(Editor& editor, const Match& match) {
  return editor.add(match.root(), Op::Copy, match.shape(), std::array{match['x']});
}

constexpr RewriteRule rules[] = {
    {"convert-same", Any, Bits, "convert(x)", "x"},
    {"convert-there-and-back", Any, Bits, "convert(c:convert(x))", "x", keeps_inner},
    {"convert-convert", Any, Bits, "convert(c:convert(x))", "convert(x)", may_skip_inner},
    {"bitcast-convert-same", Any, Bits, "bitcast-convert(x)", "x"},
    {"bitcast-convert-twice", Any, Bits, "bitcast-convert(b:bitcast-convert(x))", bitcast_once,
     same_widths},
    {"bitcast-same", Any, Bits, "bitcast(x)", "x"},
    {"bitcast-bitcast", Any, Bits, "bitcast(bitcast(x))", reinterpret_once},
    {"reduce-precision-nothing", Float, Bits, "reduce-precision(x)", "x", rounds_nothing},
    {"reduce-precision-again", Float, Bits, "reduce-precision(r:reduce-precision(x))", "r",
     rounds_twice},
    {"copy-same", Any, Bits, "copy(x)", "x", is_free_to_share},
    {"copy-copy", Any, Bits, "copy(copy(x))", copy_once, is_free_to_share},
};

}  // namespace

RuleTable convert_rules() { return rules; }

}  // namespace hilo
