// What sees bytes in memory: positions and bits worked out by hand.
#include <cmath>

#include "devices.h"
#include "verify/verify.h"

namespace hilo::test {
namespace {

template <class T>
Literal row(const std::vector<T>& values) {
  return Literal::from<T>({static_cast<int64_t>(values.size())}, values);
}

Numbers one(const std::string& body, std::vector<Literal> inputs) {
  const auto rows = run_well("HloModule m\nENTRY e {\n" + body + "}\n", {std::move(inputs)});
  return rows.empty() ? Numbers{} : rows[0];
}

Numbers bitcast(const std::string& from, const std::string& to, Literal value) {
  return one("  p = " + from + " parameter(0)\n  ROOT b = " + to + " bitcast(p)\n",
             {std::move(value)});
}

void expect_error(const std::string& body, std::vector<Literal> inputs, const std::string& text) {
  const auto rows = run("HloModule m\nENTRY e {\n" + body + "}\n", {std::move(inputs)});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind, ErrorKind::Shape);
  EXPECT_NE(rows.error().message.find(text), std::string::npos) << rows.error().message;
}

const std::vector<int8_t> eight = {0, 1, 2, 3, 4, 5, 6, 7};

// Rows of four whose elements lie in pairs, one of each row: as T(1024)(128)(4,1) does with four.
TEST(Bytes, TilesOfTiles) {
  EXPECT_EQ(bitcast("s8[8]{0:T(8)(4)(2,1)}", "s8[8]{0}", row(eight)),
            (Numbers{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(bitcast("s8[8]{0}", "s8[8]{0:T(8)(4)(2,1)}", row(eight)),
            (Numbers{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(bitcast("s8[8]{0:T(8)(4)(2,1)}", "u16[4]{0}", row(eight)),
            (Numbers{0x400, 0x501, 0x602, 0x703}));
}

TEST(Bytes, PaddingIsZeros) {
  EXPECT_EQ(bitcast("s8[6]{0:T(4)}", "s8[8]{0}", row<int8_t>({1, 2, 3, 4, 5, 6})),
            (Numbers{1, 2, 3, 4, 5, 6, 0, 0}));
  EXPECT_EQ(bitcast("s8[2,3]{0,1:T(2,4)}", "s8[4,4]{1,0}",
                    Literal::from<int8_t>({2, 3}, {{1, 2, 3, 4, 5, 6}})),
            (Numbers{1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0, 0, 0, 0, 0, 0}));
  // What lies there is not read back.
  EXPECT_EQ(one("  p = s8[8]{0} parameter(0)\n  a = s8[6]{0:T(4)} bitcast(p)\n"
                "  ROOT b = s8[8]{0} bitcast(a)\n",
                {row(eight)}),
            (Numbers{0, 1, 2, 3, 4, 5, 0, 0}));
}

TEST(Bytes, ElementsNarrowerThanAByte) {
  const Literal three = Literal::from<S4>({3}, {{S4(-1), S4(3), S4(-8)}});
  EXPECT_EQ(bitcast("s4[3]{0:E(4)}", "u8[2]{0}", three), (Numbers{0x3f, 0x08}));
  EXPECT_EQ(bitcast("s4[3]{0}", "u8[3]{0}", three), (Numbers{0xff, 0x03, 0xf8}));
  EXPECT_EQ(bitcast("s4[3]{0:E(16)}", "s16[3]{0}", three), (Numbers{-1, 3, -8}));
  EXPECT_EQ(bitcast("u8[3]{0}", "s4[3]{0}", row<uint8_t>({0x7f, 0x18, 5})), (Numbers{-1, -8, 5}));
  EXPECT_EQ(bitcast("u8[2]{0}", "s4[4]{0:E(4)}", row<uint8_t>({0x3f, 0x08})),
            (Numbers{-1, 3, -8, 0}));
  EXPECT_EQ(
      bitcast("s4[4]{0:E(4)}", "s4[2]{0}", Literal::from<S4>({4}, {{S4(1), S4(2), S4(3), S4(4)}})),
      (Numbers{1, 3}));
}

TEST(Bytes, BoolsAreWhetherAnyBitIsSet) {
  const Literal two = row<uint32_t>({0x10000, 0});
  EXPECT_EQ(bitcast("u32[2]{0}", "pred[2]{0:E(32)}", two), (Numbers{1, 0}));
  EXPECT_EQ(bitcast("u32[2]{0}", "pred[8]{0}", two), (Numbers{0, 0, 1, 0, 0, 0, 0, 0}));
  const bool three[] = {true, false, true};
  const Literal bools = Literal::from<bool>({3}, three);
  EXPECT_EQ(bitcast("pred[3]{0:E(32)}", "u32[3]{0}", bools), (Numbers{1, 0, 1}));
  EXPECT_EQ(bitcast("pred[3]{0:T(8)E(1)}", "u8[1]{0}", bools), (Numbers{5}));
  EXPECT_EQ(one("  p = u8[2] parameter(0)\n  ROOT b = pred[2] bitcast-convert(p)\n",
                {row<uint8_t>({6, 0})}),
            (Numbers{1, 0}));
}

TEST(Bytes, ComplexNumbersAreTheirParts) {
  EXPECT_EQ(bitcast("c64[2]{0}", "f32[4]{0}",
                    Literal::from<std::complex<float>>({2}, {{{1, 2}, {3, 4}}})),
            (Numbers{1, 2, 3, 4}));
}

// In a loop of few numbers as elsewhere: one element shows its padding.
TEST(Bytes, OfOneElementInALoop) {
  EXPECT_EQ(one("  p = u32[1]{0:T(4)} parameter(0)\n  ROOT b = u32[4]{0:T(4)} bitcast(p)\n",
                {row<uint32_t>({7})}),
            (Numbers{7, 0, 0, 0}));
  const std::string text =
      "HloModule m\nf {\n  x = u32[1]{0:T(4)} parameter(0)\n  b = u32[4]{0:T(4)} bitcast(x)\n"
      "  ROOT n = u32[4]{0:T(4)} not(b)\n}\nENTRY e {\n  p = u32[1]{0:T(4)} parameter(0)\n"
      "  ROOT c = u32[4]{0:T(4)} call(p), to_apply=f\n}\n";
  const auto rows = run_well(text, {{row<uint32_t>({7})}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0], (Numbers{4294967288, 4294967295, 4294967295, 4294967295}));
}

TEST(Bytes, AnElementNeedsItsBits) {
  const auto module = parse(
      "HloModule m\nENTRY e {\n  p = f32[2]{0:E(16)} parameter(0)\n"
      "  ROOT b = f32[2]{0:E(16)} copy(p)\n}\n");
  ASSERT_TRUE(module);
  const auto errors = verify(*module);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].message.find("an element size of 16 bits for f32"), std::string::npos)
      << errors[0].message;
}

TEST(ConcatBitcast, OfOtherTypes) {
  const std::string call = " custom-call(p, q), custom_call_target=\"ConcatBitcast\"\n";
  // 1.0 and 2.0, byte by byte.
  EXPECT_EQ(
      one("  p = s8[4]{0} parameter(0)\n  q = s8[4]{0} parameter(1)\n  ROOT c = f32[2]{0}" + call,
          {row<int8_t>({0, 0, -128, 63}), row<int8_t>({0, 0, 0, 64})}),
      (Numbers{1, 2}));
  // The halves of rows lie in pairs, padding between them.
  EXPECT_EQ(one("  p = s8[7]{0:T(8)(4)(2,1)S(1)} parameter(0)\n  q = u16[2]{0} parameter(1)\n"
                "  ROOT c = u8[3,4]{1,0}" +
                    call,
                {row<int8_t>({0, 1, 2, 3, 4, 5, 6}), row<uint16_t>({0x908, 0xb0a})}),
            (Numbers{0, 4, 1, 5, 2, 6, 3, 0, 8, 9, 10, 11}));
  // Packed elements begin with a byte.
  EXPECT_EQ(one("  p = u4[3]{0:E(4)} parameter(0)\n  q = u4[2]{0:E(4)} parameter(1)\n"
                "  ROOT c = u8[3]{0}" +
                    call,
                {Literal::from<U4>({3}, {{U4(1), U4(2), U4(3)}}),
                 Literal::from<U4>({2}, {{U4(4), U4(5)}})}),
            (Numbers{0x21, 0x03, 0x54}));
  expect_error(
      "  p = s8[4]{0} parameter(0)\n  q = s8[3]{0:T(8)} parameter(1)\n"
      "  ROOT c = f32[2]{0}" +
          call,
      {row<int8_t>({0, 0, 0, 0}), row<int8_t>({0, 0, 0})},
      "12 bytes of operands in memory for a result f32[2]{0} of 8 bytes");
}

TEST(ZeroCrop, PaddingIsZeros) {
  const bool five[] = {true, false, true, false, true};
  const Literal bools = Literal::from<bool>({5}, five);
  EXPECT_EQ(one("  p = pred[5]{0:T(8)(4)(2,1)} parameter(0)\n"
                "  c = pred[8]{0:T(8)(4)(2,1)} custom-call(p), custom_call_target=\"ZeroCrop\", "
                "output_to_operand_aliasing={{}: (0, {})}\n  ROOT b = u32[2]{0} bitcast(c)\n",
                {bools}),
            (Numbers{0x00000101, 0x00000001}));
  expect_error(
      "  p = pred[5]{0:T(8)} parameter(0)\n"
      "  ROOT c = pred[9]{0} custom-call(p), custom_call_target=\"ZeroCrop\"\n",
      {bools}, "8 bytes of operands in memory for a result pred[9]{0} of 9 bytes");
}

}  // namespace
}  // namespace hilo::test
