// Rewrite rules: one named line each, as constexpr data, and the driver that applies them. Shown
// through rewrite.h.
//
//   {"subtract-self", Integral, Bits, "subtract(x, x)", "0"},
//   {"transpose-of-transpose", Any, Bits, "t:transpose(s:transpose(x))", compose_transposes},
//
// The laws of rules: the right side is never worse than the left, and no chain of rules comes back
// to where it began; types, dimensions and layouts stay. A rule is not tried on arrays with
// dynamic dimensions, on ops of mixed precision, or on values held by control dependences.
#pragma once

#include "rewrite/editor.h"
#include "rewrite/pattern.h"

namespace hilo {

// What a rewriting keeps of floats; of other types rules keep every bit.
enum class Keeps : uint8_t {
  Bits,    // all
  Values,  // numbers, not always the sign of zero or the kind of NaN
  Reals,   // what real arithmetic gives; rounding may differ by some units of the last place
};

class Match {
 public:
  Match(const Editor& editor, InstructionId root)
      : editor_(editor), module_(editor.module()), root_(root) {}
  const Module& module() const { return module_; }
  InstructionId root() const { return root_; }
  InstructionId operator[](char letter) const { return bound_[slot_of(letter)]; }
  const Shape& shape() const { return module_.shape(root_); }
  const Shape& shape(char letter) const { return module_.shape((*this)[letter]); }
  template <class A>
  const A& attributes(char letter) const {
    return module_.attributes<A>((*this)[letter]);
  }
  template <class A>
  const A& attributes() const {
    return module_.attributes<A>(root_);
  }
  // The literal behind a capital letter: of the constant, or the scalar that is broadcast.
  const Literal& literal(char letter) const;

 private:
  friend class Matcher;
  const Editor& editor_;
  const Module& module_;
  InstructionId root_;
  std::array<InstructionId, slot_count> bound_ = {};
};

using Guard = bool (*)(const Match&);
// Makes what replaces the root, or nothing when it does not apply; then it must not have changed
// anything that is used.
using Build = InstructionId (*)(Editor&, const Match&);

struct Replacement {
  Pattern pattern;  // elementwise ops of the root's dimensions over bound values and constants
  Build build = nullptr;
  consteval Replacement(const char* text) : pattern(text) {}
  constexpr Replacement(Build builder) : build(builder) {}
};

struct RewriteRule {
  std::string_view name;
  uint8_t types;  // TypeMask of the root's last operand (of the root when it has none)
  Keeps keeps;
  Pattern pattern;
  Replacement result;
  Guard guard = nullptr;
};

namespace rule_types {
constexpr uint8_t Any = 0xff, Float = MaskFloat, FloatOrComplex = MaskFloat | MaskComplex,
                  Integral = MaskSigned | MaskUnsigned, Pred = MaskPred,
                  IntegralOrPred = Integral | MaskPred, Real = Integral | MaskFloat,
                  Signed = MaskSigned, Unsigned = MaskUnsigned, Number = Real | MaskComplex;
}  // namespace rule_types

using RuleTable = std::span<const RewriteRule>;

struct RewriteOptions {
  Keeps keeps = Keeps::Reals;  // rules that keep less are left out
  // Told of each rule that fires, if given.
  std::function<void(std::string_view rule)> fired;
  // Asked before a rule that fits fires, if given: where it says no, nothing is changed.
  std::function<bool(std::string_view rule)> may_fire;
};
// Applies the tables to all open computations until no rule fits. Whether any did.
bool apply_rules(Module& module, std::span<const RuleTable> tables, const RewriteOptions& options);

// Whether all elements of a constant, or of the broadcast of a scalar one, are this number.
bool is_splat(const Module& module, InstructionId id, double number);
// Binds a rule's pattern at an instruction, guards included.
bool matches(const RewriteRule& rule, Match& match);
// The result in place of the root, or none when it does not fit there.
InstructionId build_result(Editor& editor, const RewriteRule& rule, const Match& match);

}  // namespace hilo
