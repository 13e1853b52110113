// What is printed: forms taken from XLA's own prints (tests/conformance/text_peers.py compares with
// XLA itself), and the law that reading a print gives the same module and the same bytes again.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "text/text.h"

namespace hilo {
namespace {

Module parsed(std::string_view text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module.has_value()) << to_string(module.error()) << "\n" << text;
  return module ? *std::move(module) : Module();
}

// The print of the root of a one-computation module.
std::string root_print(std::string_view instruction, const PrintStyle& style = {}) {
  const Module module = parsed(fmt::format(
      "HloModule m\nadd {{ x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, "
      "y) }}\nENTRY e {{ p = f32[2,2] parameter(0)\n q = f32[2,2] parameter(1)\n ROOT {} }}\n",
      instruction));
  if (!module.entry) return "";
  return print(module, module[module.entry].root, style);
}

void expect_law(std::string_view text, const PrintStyle& style = {}) {
  const Module module = parsed(text);
  const std::string once = print(module, style);
  const Module again = parsed(once);
  EXPECT_EQ(print(again, style), once);
  EXPECT_EQ(difference(module, again), "");
}

TEST(Print, InstructionsAsXlaPrintsThem) {
  EXPECT_EQ(root_print("d = f32[2,2]{1,0} dot(p, q), rhs_contracting_dims={0}, "
                       "lhs_contracting_dims={1}, operand_precision={default,default}"),
            "%d = f32[2,2]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(root_print("s = f32[1,1]{1,0} slice(p), slice={[0:1], [0:2:2]}"),
            "%s = f32[1,1]{1,0} slice(%p), slice={[0:1:1], [0:2:2]}");
  EXPECT_EQ(root_print("r = f32[2,2]{1,0} all-reduce(p), to_apply=add, use_global_device_ids=true, "
                       "replica_groups={{0,1}}, channel_id=3, constrain_layout=true"),
            "%r = f32[2,2]{1,0} all-reduce(%p), channel_id=3, replica_groups={{0,1}}, "
            "constrain_layout=true, use_global_device_ids=true, to_apply=%add");
  EXPECT_EQ(root_print("t = (f32[2,2]{1,0}) tuple(p), metadata={source_line=3 op_name=\"n\\\"\"}, "
                       "sharding={{replicated}}, backend_config=\"q\", control-predecessors={q}"),
            "%t = (f32[2,2]{1,0}) tuple(%p), sharding={{replicated}}, control-predecessors={%q}, "
            "metadata={op_name=\"n\\\"\" source_line=3}, backend_config=\"q\"");
}

TEST(Print, WindowsSayOnlyWhatIsNotDefault) {
  EXPECT_EQ(root_print("w = f32[2,2]{1,0} convolution(p, q), window={size=2x2 stride=1x1 "
                       "pad=0_0x1_-1 rhs_reversal=0x1}, dim_labels=01bf_oi01->bf01"),
            "%w = f32[2,2]{1,0} convolution(%p, %q), window={size=2x2 pad=0_0x1_-1 "
            "rhs_reversal=0x1}, dim_labels=01bf_oi01->bf01");
}

TEST(Print, CommentsCountOperandsByFive) {
  EXPECT_EQ(root_print("c = f32[14,2]{1,0} concatenate(p, p, p, p, p, q, p), dimensions={0}"),
            "%c = f32[14,2]{1,0} concatenate(%p, %p, %p, %p, %p, /*index=5*/%q, %p), "
            "dimensions={0}");
}

TEST(Print, Styles) {
  const std::string_view add = "s = f32[2,2]{1,0} add(p, q), metadata={op_name=\"x\"}";
  EXPECT_EQ(root_print(add, PrintStyle::xla2024()),
            "%s = f32[2,2]{1,0} add(f32[2,2]{1,0} %p, f32[2,2]{1,0} %q), metadata={op_name=\"x\"}");
  EXPECT_EQ(root_print(add, PrintStyle::compact()), "s = f32[2,2]{1,0} add(p, q)");
  PrintStyle small;
  small.large_constants = false;
  const std::string_view eleven = "c = s32[11]{0} constant({1,2,3,4,5,6,7,8,9,10,11})";
  EXPECT_EQ(root_print(eleven, small), "%c = s32[11]{0} constant({...})");
  EXPECT_EQ(root_print("c = s32[2]{0} constant({1,2})", small), "%c = s32[2]{0} constant({1, 2})");
}

TEST(Print, WholeModules) {
  const std::string text =
      "HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, "
      "replica_count=2\n\n"
      "%host_part (x: f32[2]) -> f32[2] {\n"
      "  ROOT %x = f32[2]{0} parameter(0)\n"
      "}, execution_thread=\"host\"\n\n"
      "ENTRY %e (p: f32[2]) -> f32[2] {\n"
      "  %p = f32[2]{0} parameter(0)\n"
      "  ROOT %n = f32[2]{0} negate(%p)\n"
      "  %late = f32[2]{0} abs(%p)\n"
      "}\n\n";
  EXPECT_EQ(print(parsed(text)), text);
}

TEST(Print, NameAfterBraceOfLongComputations) {
  PrintStyle style = PrintStyle::compact();
  style.name_after_brace = true;
  Module module;
  const ComputationId entry = module.add_computation("e");
  module.entry = entry;
  const Shape shape = Shape::array(ElementType::F32, {});
  InstructionId last = module.add_instruction(entry, Op::Parameter, shape, {}, "p");
  const auto grow = [&](int count) {
    for (int i = 0; i < count; ++i)
      last = module.add_instruction(entry, Op::Negate, shape, std::array{last});
  };
  grow(4);
  EXPECT_EQ(print(module, style).find("} // e"), std::string::npos);
  grow(1);
  EXPECT_NE(print(module, style).find("} // e\n"), std::string::npos);
  module.replace_all_uses(last, module.operand(last, 0));
  module.remove(last);
  EXPECT_EQ(print(module, style).find("} // e"), std::string::npos);
}

TEST(Print, AsyncSugar) {
  const std::string sugar =
      "HloModule m\nENTRY e { p = f32[2] parameter(0)\n"
      " s = ((f32[2]), f32[2], u32[]) custom-call-start(p), custom_call_target=\"t\"\n"
      " ROOT d = f32[2] custom-call-done(s) }\n";
  const Module module = parsed(sugar);
  const std::string with = print(module);
  EXPECT_NE(with.find("custom-call-start(%p), custom_call_target=\"t\"\n"), std::string::npos);
  EXPECT_NE(with.find("custom-call-done(%s)\n"), std::string::npos);
  EXPECT_EQ(with.find("async_wrapped"), std::string::npos);
  PrintStyle plain;
  plain.async_sugar = false;
  const std::string without = print(module, plain);
  EXPECT_NE(without.find("async-start(%p), calls=%async_wrapped"), std::string::npos);
  EXPECT_NE(without.find("async-done(%s)\n"), std::string::npos);
  EXPECT_EQ(print(parsed(without)), with);
  expect_law(sugar), expect_law(sugar, plain);
}

// A wrapped instruction that carries more than its op's attributes may not vanish behind sugar.
TEST(Print, SugarLosesNothing) {
  const std::string text =
      "HloModule m\nasync_wrapped { async_param = f32[2] parameter(0)\n"
      " ROOT async_op = f32[2] negate(async_param), metadata={op_name=\"inner\"} }\n"
      "ENTRY e { p = f32[2] parameter(0)\n"
      " s = ((f32[2]), f32[2], u32[]) async-start(p), calls=async_wrapped\n"
      " ROOT d = f32[2] async-done(s) }\n";
  EXPECT_NE(print(parsed(text)).find("op_name=\"inner\""), std::string::npos);
  expect_law(text);
}

// Where the result of an update lies is its own; it has no sugar.
TEST(Print, AsyncUpdatesKeepTheirAliases) {
  const std::string text =
      "HloModule m\nasync_wrapped { async_param = f32[2] parameter(0)\n"
      " ROOT async_op = f32[2] negate(async_param) }\n"
      "ENTRY e { p = f32[2] parameter(0)\n"
      " s = ((f32[2]), f32[2], u32[]) async-start(p), calls=async_wrapped\n"
      " u = ((f32[2]), f32[2], u32[]) async-update(s), output_to_operand_aliasing={{2}: (0, "
      "{2})}\n"
      " ROOT d = f32[2] async-done(u) }\n";
  const std::string printed = print(parsed(text));
  EXPECT_NE(printed.find("async-update(%s), output_to_operand_aliasing={{2}: (0, {2})}\n"),
            std::string::npos)
      << printed;
  EXPECT_NE(printed.find("async-done(%u)\n"), std::string::npos);
  expect_law(text);
}

std::string scalar_print(auto value) { return print(Literal::scalar(value)); }

TEST(PrintLiteral, FloatsWithTheDigitsTheyNeed) {
  EXPECT_EQ(scalar_print(0.1f), "0.1");
  EXPECT_EQ(scalar_print(3.14159274f), "3.14159274");
  EXPECT_EQ(scalar_print(1e10f), "1e+10");
  EXPECT_EQ(scalar_print(1e6f), "1e+06");
  EXPECT_EQ(scalar_print(1234567.0f), "1234567");
  EXPECT_EQ(scalar_print(-0.0f), "-0");
  EXPECT_EQ(scalar_print(1.17549435e-38f), "1.17549435e-38");
  EXPECT_EQ(scalar_print(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(scalar_print(123456.789), "123456.789");
  EXPECT_EQ(scalar_print(BF16(0.1f)), "0.1001");
  EXPECT_EQ(scalar_print(F16(0.1f)), "0.099976");
  EXPECT_EQ(scalar_print(F8E4M3FN(0.1)), "0.102");
  EXPECT_EQ(scalar_print(F8E5M2(448.0)), "4.5e+02");
  EXPECT_EQ(scalar_print(F8E8M0FNU(0.125)), "0.12");
}

TEST(PrintLiteral, SpecialValues) {
  EXPECT_EQ(scalar_print(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(scalar_print(std::bit_cast<float>(0x7fc00000u)), "nan");
  EXPECT_EQ(scalar_print(std::bit_cast<float>(0xffc00001u)), "-nan(0x400001)");
  EXPECT_EQ(scalar_print(BF16::from_bits(0x7fc1)), "nan(0x41)");
  EXPECT_EQ(scalar_print(F8E4M3FN::from_bits(0xff)), "-nan");
  EXPECT_EQ(scalar_print(std::complex<float>(1, -0.5f)), "(1, -0.5)");
  EXPECT_EQ(scalar_print(true), "true");
  EXPECT_EQ(scalar_print(uint64_t{18446744073709551615u}), "18446744073709551615");
  EXPECT_EQ(scalar_print(S4(-8)), "-8");
}

TEST(PrintLiteral, ArraysAndTuples) {
  const auto zeros = [](Dims dims) {
    return print(Literal::zeros(Shape::array(ElementType::S32, dims)));
  };
  EXPECT_EQ(zeros({2}), "{0, 0}");
  EXPECT_EQ(zeros({1, 2}), "{ { 0, 0 } }");
  EXPECT_EQ(zeros({2, 1}), "{ {0}, {0} }");
  EXPECT_EQ(zeros({2, 1, 1, 3}),
            "{ { /*i0=0*/ { /*i1=0*/ { 0, 0, 0 } } }, { /*i0=1*/ { /*i1=0*/ { 0, 0, 0 } } } }");
  EXPECT_EQ(zeros({2, 0, 3}), "{ {  }, {  } }");
  EXPECT_EQ(print(Literal::tuple({Literal::scalar(1), Literal::tuple({Literal::scalar(true)})})),
            "( 1, ( true ) )");
  EXPECT_EQ(print(Literal::tuple({})), "(  )");
}

// Every bit pattern of the small types, and many of the large, comes back.
template <class T, class Bits>
void expect_bits_back(uint64_t count, uint64_t step) {
  std::vector<T> values;
  for (uint64_t i = 0; i < count; ++i)
    values.push_back(std::bit_cast<T>(static_cast<Bits>(i * step)));
  const Literal literal = Literal::from<T>({static_cast<int64_t>(values.size())}, values);
  const Result<Literal> back = parse_literal(print(literal), literal.shape());
  ASSERT_TRUE(back.has_value()) << to_string(back.error());
  EXPECT_TRUE(same_bits(*back, literal)) << text_of(literal.type());
}

TEST(PrintLiteral, BitsComeBack) {
  expect_bits_back<F16, uint16_t>(65536, 1);
  expect_bits_back<BF16, uint16_t>(65536, 1);
  expect_bits_back<F8E4M3FN, uint8_t>(256, 1);
  expect_bits_back<F8E5M2, uint8_t>(256, 1);
  expect_bits_back<F8E3M4, uint8_t>(256, 1);
  expect_bits_back<F8E4M3B11FNUZ, uint8_t>(256, 1);
  expect_bits_back<F8E5M2FNUZ, uint8_t>(256, 1);
  expect_bits_back<F8E8M0FNU, uint8_t>(256, 1);
  expect_bits_back<F4E2M1FN, uint8_t>(16, 1);
  expect_bits_back<F6E2M3FN, uint8_t>(64, 1);
  expect_bits_back<float, uint32_t>(100000, 42949);
  expect_bits_back<double, uint64_t>(100000, 184467440737095u);
}

TEST(Print, ShardingsAlone) {
  Sharding sharding;
  sharding.kind = Sharding::Kind::Tiled;
  sharding.tile_dims = {4, 2};
  sharding.iota = IotaDevices{{4, 2}, {2, 4}, {1, 0}};
  sharding.last_tile_dim_replicate = true;
  EXPECT_EQ(print(sharding), "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
}

TEST(Difference, FindsWhatDiffers) {
  const std::string_view text =
      "HloModule m\nENTRY e { p = f32[2] parameter(0)\n"
      " ROOT r = f32[2] broadcast(p), dimensions={0} }\n";
  const Module a = parsed(text);
  EXPECT_EQ(difference(a, parsed(text)), "");
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string other(text);
    other.replace(other.find(from), from.size(), to);
    return difference(a, parsed(other));
  };
  EXPECT_EQ(changed("HloModule m", "HloModule n"), "the headers");
  EXPECT_EQ(changed("r = ", "s = "), "computation e: the root");
  EXPECT_EQ(changed("dimensions={0} }", "dimensions={0}, sharding={replicated} }"),
            "computation e: instruction r: the sharding");
}

TEST(Print, LawOnTheCorpus) {
  if (std::string_view(HILO_SHARED).empty()) GTEST_SKIP() << "HILO_SHARED is not set";
  size_t count = 0;
  for (const char* folder : {"/corpus", "/seeds"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(HILO_SHARED) + folder)) {
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      if (!text.str().starts_with("HloModule")) continue;
      SCOPED_TRACE(entry.path().string());
      expect_law(text.str());
      ++count;
    }
  EXPECT_GT(count, 80u);
}

}  // namespace
}  // namespace hilo
