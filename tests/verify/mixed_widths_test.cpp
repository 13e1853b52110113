// Widths of floats may be mixed, other types may not, and what is about types is exact.
#include "expect.h"

namespace hilo {
namespace {

std::string of(const std::string& root) {
  return "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] "
         "add(a, b)\n}\nhalf {\n a = bf16[4] parameter(0)\n ROOT n = bf16[4] negate(a)\n}\nENTRY e "
         "{\n f = f32[4] parameter(0)\n n = bf16[4] parameter(1)\n s = s32[4] parameter(2)\n c = "
         "c64[4] parameter(3)\n z = f32[] parameter(4)\n y = bf16[] parameter(5)\n i = s32[] "
         "parameter(6)\n q = pred[4] parameter(7)\n t = (f32[4], bf16[4]) tuple(f, n)\n ROOT x = " +
         root + "\n}\n";
}

TEST(MixedWidths, AreSound) {
  for (const char* root :
       {"bf16[4] add(f, n)", "bf16[4] multiply(f, f)", "f32[4] negate(n)", "bf16[2,2] reshape(f)",
        "bf16[4,4] broadcast(f), dimensions={0}", "bf16[8] concatenate(f, n), dimensions={0}",
        "bf16[] reduce(n, z), dimensions={0}, to_apply=add", "bf16[4] clamp(y, f, z)",
        "bf16[2] dynamic-slice(f, i), dynamic_slice_sizes={2}"}) {
    EXPECT_EQ(mistakes_of(of(root).c_str()), "") << root;
    const Result<Module> module = parse(of(root));
    const std::vector<InstructionId> mixed = find_mixed_widths(*module);
    ASSERT_EQ(mixed.size(), 1u) << root;
    const Error error = mixed_width(*module, mixed[0]);
    EXPECT_EQ(error.place.instruction, "x");
    EXPECT_EQ(error.kind, ErrorKind::Shape);
    EXPECT_NE(error.message.find("expected one width of floats"), std::string::npos);
  }
}

TEST(MixedWidths, OtherTypesAreNotMixed) {
  for (const Mistake& mistake : std::initializer_list<Mistake>{
           {"f32[4] add(f, s)", "operands have different element types: f32[4] and s32[4]"},
           {"s32[4] add(f, f)", "expected a result of f32[4], found s32[4]"},
           {"f32[4] add(s, s)", "expected a result of s32[4], found f32[4]"},
           {"f32[4] copy(s)", "expected a result of s32[4], found f32[4]"},
           {"s32[4] copy(f)", "expected a result of f32[4], found s32[4]"},
           {"f32[4] copy(c)", "expected a result of c64[4], found f32[4]"},
           {"c64[4] add(c, f)", "operands have different element types: c64[4] and f32[4]"},
           {"c64[4] negate(f)", "expected a result of f32[4], found c64[4]"},
           {"c128[4] negate(c)", "expected a result of c64[4], found c128[4]"},
           {"f32[5] pad(f, i), padding=0_1", "operand and padding value have different"},
           {"f32[4] select(q, f, s)", "operands have different element types"},
           {"s32[] reduce(f, z), dimensions={0}, to_apply=add", "found s32[]"},
           {"s32[] dot(f, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "a product of f32 elements does not give s32[]"},
           {"c64[] dot(f, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "a product of f32 elements does not give c64[]"},
           {"f32[] dot(c, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "a product of c64 elements does not give f32[]"}}) {
    const std::string module = of(mistake.module);
    expect_mistake({module.c_str(), mistake.message, "x"});
  }
}

TEST(MixedWidths, WhatIsAboutTypesIsExact) {
  for (const Mistake& mistake : std::initializer_list<Mistake>{
           {"(bf16[4], bf16[4]) tuple(f, n)", "expected a result of (f32[4], bf16[4])"},
           {"bf16[4] get-tuple-element(t), index=0", "expected a result of f32[4]"},
           {"bf16[4] call(f), to_apply=half", "expected parameter 0 of to_apply=half"},
           {"f32[4] call(n), to_apply=half", "expected a result of bf16[4]"},
           {"f32[4] fusion(n), kind=kLoop, calls=half", "expected a result of bf16[4]"},
           {"bf16[4] opt-barrier(f)", "expected a result of f32[4]"}}) {
    const std::string module = of(mistake.module);
    expect_mistake({module.c_str(), mistake.message, "x"});
  }
}

}  // namespace
}  // namespace hilo
