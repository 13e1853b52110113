// Texts that XLA's parser takes and nobody prints: the same values, and a warning where they are
// hardly what was meant.
#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

struct Read {
  std::string value;  // of the root, a constant
  std::vector<Warning> warnings;
};
Read constant(const std::string& shape, const std::string& literal) {
  Read out;
  const auto module =
      parse("HloModule m\nENTRY e {\n  ROOT c = " + shape + " constant(" + literal + ")\n}\n",
            {.warnings = &out.warnings});
  EXPECT_TRUE(module) << shape << " " << literal << " " << to_string(module.error());
  if (!module) return out;
  const Instruction& root = (*module)[(*module)[module->entry].root];
  out.value = print(*module->attributes<ConstantAttributes>(root).literal.literal);
  return out;
}

struct Loose {
  const char *shape, *literal, *value, *warning;  // no warning: ""
};
class LooseConstant : public testing::TestWithParam<Loose> {};
TEST_P(LooseConstant, HasXlasValue) {
  const Loose& loose = GetParam();
  const Read read = constant(loose.shape, loose.literal);
  EXPECT_EQ(read.value, loose.value) << loose.shape << " " << loose.literal;
  ASSERT_EQ(read.warnings.size(), *loose.warning ? 1u : 0u) << loose.literal;
  if (!*loose.warning) return;
  EXPECT_NE(read.warnings[0].message.find(loose.warning), std::string::npos)
      << read.warnings[0].message;
  EXPECT_EQ(read.warnings[0].place.line, 3);
  EXPECT_EQ(read.warnings[0].place.instruction, "c");
}
INSTANTIATE_TEST_SUITE_P(
    Values, LooseConstant,
    testing::Values(Loose{"f32[2,3]", "1.5", "{ { 1.5, 0, 0 }, { 0, 0, 0 } }", "the first element"},
                    Loose{"pred[2]", "true", "{1, 0}", "the first element"},
                    Loose{"s32[3]", "-7", "{-7, 0, 0}", "the first element"},
                    Loose{"(f32[2], s32[])", "(1, 2)", "( {1, 0}, 2 )", "the first element"},
                    Loose{"f32[1,1]", "5", "{ {5} }", ""},
                    Loose{"f32[3]", "{1, ...}", "{0, 1.4013e-45, 2.8026e-45}", "elided"},
                    Loose{"u64[]", "-1", "18446744073709551615", "modulo 2^64"},
                    Loose{"s64[]", "9223372036854775808", "-9223372036854775808", "modulo 2^64"},
                    Loose{"f32[]", "-.5", "-0.5", ""}, Loose{"f32[2]", "{.5 1.}", "{0.5, 1}", ""},
                    Loose{"(f32[], s32[])", "(1 2)", "( 1, 2 )", ""}));

TEST(LooseConstant, EachOfSeveralIsWarnedAbout) {
  std::vector<Warning> warnings;
  ASSERT_TRUE(
      parse("HloModule m\nENTRY e {\n  a = pred[2] constant(true)\n"
            "  ROOT b = pred[2] constant(true)\n}\n",
            {.warnings = &warnings}));
  EXPECT_EQ(warnings.size(), 2u);
}

TEST(LooseConstant, AloneItIsRefused) {
  EXPECT_FALSE(parse_literal("1", Shape::array(ElementType::F32, {2})));
  EXPECT_FALSE(parse_literal("-1", Shape::scalar(ElementType::U64)));
}

TEST(LooseConstant, WhatXlaRefusesIsRefused) {
  for (const auto& [shape, literal] : {std::pair("f32[0]", "1"),
                                       {"c64[2]", "1"},
                                       {"c64[2]", "(1,2)"},
                                       {"f32[2]", "{1}"},
                                       {"f32[2]", "{1,2,3}"},
                                       {"f32[2]", "true"},
                                       {"u8[]", "-1"},
                                       {"f32[2]", "{...,1"},
                                       {"(f32[], s32[])", "(1)"},
                                       {"s64[]", "-9223372036854775809"}})
    EXPECT_FALSE(parse(std::string("HloModule m\nENTRY e {\n  ROOT c = ") + shape + " constant(" +
                       literal + ")\n}\n"))
        << shape << " " << literal;
}

TEST(LooseText, HeaderSignatureAndBareInstruction) {
  for (const char* text :
       {"\xef\xbb\xbfHloModule m\nENTRY e { ROOT c = f32[] constant(1) }",
        "HloModule m:\nENTRY e (x f32[2], %y s32[]) -> f32[2] {\n  x = f32 [2] parameter(0)\n"
        "  y = s32[] parameter(1)\n  ROOT n = f32[2] negate(x)\n}\n",
        "HloModule m:, is_scheduled=true\nENTRY e { ROOT c = f32[] constant(1) }"}) {
    std::vector<Warning> warnings;
    const auto module = parse(text, {.warnings = &warnings});
    ASSERT_TRUE(module) << to_string(module.error());
    EXPECT_EQ(module->header.name, "m");
    EXPECT_TRUE(warnings.empty());
  }
  const auto bare = parse("f32[10] add(f32[10], f32[10])");
  ASSERT_TRUE(bare) << to_string(bare.error());
  EXPECT_EQ((*bare)[bare->entry].parameters.size(), 2u);
  const auto without =
      parse("HloModule m\nENTRY e (x, y) -> f32[2] { ROOT c = f32[] constant(1) }");
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message.find("':' after the name of a parameter"), std::string::npos);
}

TEST(PartialModule, HoldsWhatWasUnderstood) {
  std::vector<Error> errors;
  PartialModule partial;
  EXPECT_FALSE(
      parse("HloModule m\nf { ROOT x = f32[2] parameter(0) }\nENTRY e {\n"
            "  a = f32[2] parameter(0)\n  b = f32[2] nonsense(a)\n"
            "  ROOT c = f32[3] negate(a)\n}\n",
            {.errors = &errors, .partial = &partial}));
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(partial.incomplete, (std::vector<bool>{false, true}));
  ASSERT_EQ(partial.module.computations.size(), 2u);
  EXPECT_EQ(partial.module.computations[1].instructions.size(), 2u);
}

}  // namespace
}  // namespace hilo
