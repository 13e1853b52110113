// What depends on bytes in memory: compiled as evaluated, to the bit, between layouts of all kinds.
#include <cstring>

#include "../base/environment.h"
#include "both.h"
#include "random_physical_module.h"

namespace hilo::test {
namespace {

// Any bits, where a type has room for any.
Literal random_bits(const Shape& shape, std::mt19937_64& random) {
  Literal out = Literal::uninitialized(Shape::array(shape.type, shape.dims));
  const int64_t bits = bits_of(shape.type);
  for (std::byte& byte : out.mutable_raw()) {
    auto value = static_cast<int>(random() & 255);
    if (shape.type == ElementType::Pred) value &= 1;
    if (bits < 8) {
      value &= (1 << bits) - 1;
      if (is_signed(shape.type) && (value >> (bits - 1)) != 0) value -= 1 << bits;
    }
    byte = static_cast<std::byte>(value);
  }
  return out;
}

template <class T>
bool same_number(T a, T b) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
  if constexpr (requires { a.real(); }) {
    return same_number(a.real(), b.real()) && same_number(a.imag(), b.imag());
  } else if constexpr (requires { static_cast<double>(a); }) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return x != x && y != y;
  }
  return false;
}

// Bit for bit, but that one NaN is as good as another.
bool are_same(const Literal& a, const Literal& b) {
  if (a.shape().is_tuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i)
      if (!are_same(a.elements()[i], b.elements()[i])) return false;
    return a.elements().size() == b.elements().size();
  }
  if (!a.shape().is_array()) return true;
  if (!same_dims(a.shape(), b.shape())) return false;
  bool out = true;
  visit_storage(a.type(), [&]<class T>(std::type_identity<T>) {
    const auto left = a.data<T>(), right = b.data<T>();
    for (size_t i = 0; i < left.size(); ++i) out = out && same_number(left[i], right[i]);
  });
  return out;
}

Result<Both> run_on_bits(const std::string& text, uint64_t seed) {
  HILO_TRY(const Module module, parse(text));
  std::mt19937_64 random(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : module[module.entry].parameters)
    arguments.push_back(random_bits(module.shape(parameter), random));
  return run_both_on(text, arguments, static_cast<int>(1 + seed % 3));
}

// HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds for a longer run.
TEST(PhysicalBytes, RandomModulesAreCompiledAsEvaluated) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 0);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 200);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomPhysicalModule(seed).text();
    const auto both = run_on_bits(text, seed);
    ASSERT_TRUE(both) << seed << ": " << to_string(both.error()) << "\n" << text;
    ASSERT_TRUE(are_same(both->compiled, both->evaluated)) << seed << "\n" << text;
  }
}

std::string entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "}\n"; }

void expect_same(const std::string& text, bool native = true) {
  const auto both = run_on_bits(text, 1);
  ASSERT_TRUE(both) << to_string(both.error()) << "\n" << text;
  EXPECT_TRUE(are_same(both->compiled, both->evaluated)) << text;
  EXPECT_TRUE(!native || both->report.evaluated.empty()) << text;
}

// Views of bytes, slices of them in another memory, and these joined as numbers again.
TEST(PhysicalBytes, SlicesOfBytesJoined) {
  expect_same(entry(R"(  p = f32[16,256]{1,0:T(8,128)} parameter(0)
  bytes = s8[16384]{0:T(1024)(128)(4,1)} bitcast(p)
  first = s8[8192]{0:T(1024)(128)(4,1)S(1)} slice(bytes), slice={[0:8192]}
  second = s8[8192]{0:T(1024)(128)(4,1)S(1)} slice(bytes), slice={[8192:16384]}
  joined = f32[16,256]{1,0:T(8,128)S(1)} custom-call(first, second), custom_call_target="ConcatBitcast"
  ROOT out = (f32[16,256]{1,0:T(8,128)}) tuple(joined)
)"));
}

TEST(PhysicalBytes, BitcastsBetweenWidths) {
  const std::pair<const char*, const char*> rows[] = {
      {"s4[3]{0:E(4)}", "u8[2]{0}"},
      {"s4[3]{0}", "u8[3]{0}"},
      {"s2[5]{0:E(32)}", "f32[5]{0}"},
      {"u32[5]{0}", "pred[5]{0:E(32)}"},
      {"pred[9]{0:E(1)}", "s8[2]{0}"},
      {"c128[2,3]{0,1:T(2,4)}", "u16[128]{0}"},
      {"u8[48]{0:T(16)(4)(2,1)}", "c64[6]{0}"},
      {"f8e4m3fn[7,9]{1,0:T(4,4)(2,1)}", "f16[48]{0}"},
      {"f4e2m1fn[8]{0:E(4)}", "bf16[1,2]{1,0:T(1,2)}"},
      {"f32[2,0]{1,0:T(8,128)}", "s8[0]{0}"},
      {"f32[]{:T(128)}", "u32[128]{0}"},
      {"u1[16]{0:E(1)}", "s16[1]{0}"}};
  for (const auto& [from, to] : rows)
    expect_same(
        entry(fmt::format("  p = {0} parameter(0)\n  b = {1} bitcast(p)\n"
                          "  c = {0} bitcast(b)\n  ROOT t = ({1}, {0}) tuple(b, c)\n",
                          from, to)));
}

// A signalling NaN of f16 keeps its bits between two views.
TEST(PhysicalBytes, NumbersThatAreNotAreMoved) {
  const auto module = parse(entry(R"(  p = u16[6]{0} parameter(0)
  f = f16[2,3]{0,1} bitcast(p)
  g = f16[3,2]{0,1} custom-call(f), custom_call_target="ConcatBitcast"
  ROOT b = u16[6]{0} bitcast(g)
)"));
  ASSERT_TRUE(module);
  const std::vector<uint16_t> bits = {0x7c01, 0xfd00, 0x7e00, 0x0001, 0x8000, 0x7c00};
  const auto executable = compile(*module);
  ASSERT_TRUE(executable) << to_string(executable.error());
  const auto out = executable->run({Literal::from<uint16_t>({6}, bits)});
  ASSERT_TRUE(out) << to_string(out.error());
  EXPECT_TRUE(std::ranges::equal(out->data<uint16_t>(), bits));
}

TEST(PhysicalBytes, WhatNoOpCanSayIsUnsupported) {
  const auto module =
      parse(entry("  p = f6e2m3fn[4]{0} parameter(0)\n  ROOT b = u8[4]{0} bitcast(p)\n"));
  ASSERT_TRUE(module);
  const auto executable = compile(*module);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(executable.error().place.instruction, "b");
  // The same elements only move.
  expect_same(
      entry("  p = f6e2m3fn[4,3]{0,1:T(2,4)} parameter(0)\n"
            "  b = f6e2m3fn[16]{0} bitcast(p)\n  ROOT t = (f6e2m3fn[16]{0}) tuple(b)\n"));
}

TEST(PhysicalBytes, SizesThatDoNotFitAreNamed) {
  const auto module = parse(entry(R"(  p = s8[5]{0:T(4)} parameter(0)
  ROOT c = f32[3]{0} custom-call(p), custom_call_target="ConcatBitcast"
)"));
  ASSERT_TRUE(module);
  const auto executable = compile(*module);
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().kind, ErrorKind::Shape);
  EXPECT_NE(executable.error().message.find("8 bytes of operands in memory for a result f32[3]{0} "
                                            "of 12 bytes"),
            std::string::npos)
      << executable.error().message;
}

// A function of the user's is called on values in row-major order, whatever the table would do.
TEST(PhysicalBytes, SuppliedCallsAreNotExpanded) {
  for (const char* target : {"ConcatBitcast", "Sharding", "ZeroCrop", "mystery"}) {
    const auto module = parse(entry(fmt::format(
        R"(  p = s32[2,3]{{0,1:T(4,4)}} parameter(0)
  ROOT c = s32[3,2]{{1,0:T(4,4)}} custom-call(p), custom_call_target="{}", output_to_operand_aliasing={{{{}}: (0, {{}})}}
)",
        target)));
    ASSERT_TRUE(module) << to_string(module.error());
    ASSERT_TRUE(verify(*module).empty()) << to_string(verify(*module)[0]);
    CompileOptions options;
    options.eval.custom_calls[target] = [](const CustomCallArguments& call) -> Result<void> {
      EXPECT_EQ(call.operands[0].shape().dims, (Dims{2, 3}));
      const auto from = call.operands[0].data<int32_t>();
      const auto to = call.results[0].mutable_data<int32_t>();
      for (size_t i = 0; i < 6; ++i) to[i] = 10 * from[i];
      return {};
    };
    const Literal input = Literal::from<int32_t>({2, 3}, {{1, 2, 3, 4, 5, 6}});
    const auto executable = compile(*module, cpu_target(), options);
    ASSERT_TRUE(executable) << to_string(executable.error());
    const auto compiled = executable->run({input});
    ASSERT_TRUE(compiled) << to_string(compiled.error());
    const auto evaluated = evaluate(*module, Inputs{{{input}}}, options.eval);
    ASSERT_TRUE(evaluated) << to_string(evaluated.error());
    EXPECT_TRUE(same_bits(*compiled, evaluated->devices[0])) << target;
    EXPECT_EQ(compiled->data<int32_t>()[5], 60) << target;
  }
}

// Results over operands of other sizes, and calls that see values between tiled layouts.
TEST(PhysicalBytes, CallsOfValuesBetweenLayouts) {
  expect_same(entry(R"(  p = pred[8]{0:T(512)(128)(4,1)} parameter(0)
  c = pred[512]{0:T(512)(128)(4,1)} custom-call(p), custom_call_target="ZeroCrop", output_to_operand_aliasing={{}: (0, {})}
  w = u32[1,1,128]{2,1,0:T(1,128)} bitcast(c)
  n = u32[1,1,128]{2,1,0:T(1,128)} add(w, w)
  b = pred[8]{0:T(512)(128)(4,1)} bitcast(n)
  ROOT t = (pred[512]{0:T(512)(128)(4,1)}, pred[8]{0:T(512)(128)(4,1)}) tuple(c, b)
)"));
  expect_same(entry(R"(  p = s32[3,2]{0,1:T(2,128)} parameter(0)
  c = s32[3,2]{1,0:T(8,128)} custom-call(p), custom_call_target="GatherScatterIndicesBitpacked"
  ROOT t = (s32[3,2]{1,0:T(8,128)}) tuple(c)
)"));
  expect_same(entry(R"(  p = f32[4,9]{0,1:T(8,128)} parameter(0)
  c = (f32[4,3]{0,1:T(4,128)}, s32[4,3]{1,0:T(8,128)}) custom-call(p), custom_call_target="TopK"
  a = f32[4,3]{0,1:T(4,128)} get-tuple-element(c), index=0
  ROOT b = f32[12]{0} bitcast(a)
)"),
              false);
  expect_same(entry(R"(  p = f32[3,3]{0,1} parameter(0)
  q = f32[3,3]{1,0:T(4,4)} parameter(1)
  a = (f32[3,3]{0,1}, s32[3]{0}, s32[]) custom-call(p), custom_call_target="lapack_sgetrf_ffi", operand_layout_constraints={f32[3,3]{0,1}}
  b = (f32[3,3]{1,0:T(4,4)}, s32[3]{0:T(4)}, s32[]) custom-call(q), custom_call_target="lapack_sgetrf_ffi"
  ROOT t = ((f32[3,3]{0,1}, s32[3]{0}, s32[]), (f32[3,3]{1,0:T(4,4)}, s32[3]{0:T(4)}, s32[])) tuple(a, b)
)"),
              false);
}

}  // namespace
}  // namespace hilo::test
