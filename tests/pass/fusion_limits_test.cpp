// How much a fused loop computes at most.
#include "random_module.h"

namespace hilo {
namespace {

// The code of more in one loop would take seconds to compile.
TEST(FusionLimits, LongChainsOfTranscendentalOpsAreSeveralLoops) {
  for (const auto& [type, loops] : {std::pair("f32", 1), std::pair("c64", 4)}) {
    std::string text = fmt::format("HloModule m\nENTRY e {{ x0 = {}[64] parameter(0)\n", type);
    for (int i = 1; i <= 80; ++i) text += fmt::format(" x{} = {}[64] tanh(x{})\n", i, type, i - 1);
    const Module before =
        test::parsed(fmt::format("{} ROOT r = {}[64] negate(x80) }}", text, type));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

// Where an element is chosen of two, both are computed: too much of complex numbers.
TEST(FusionLimits, StacksOfComplexNumbersAreMadeBeforeTheyAreRead) {
  for (const auto& [type, loops] : {std::pair("f32", 1), std::pair("c64", 2)}) {
    const Module before = test::parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = {0}[4,1,64] parameter(0)
 y = {0}[4,1,64] parameter(1)
 p = {0}[4,1,64] multiply(x, y)
 q = {0}[4,1,64] multiply(y, y)
 s = {0}[4,2,64] concatenate(p, q), dimensions={{1}}
 t = {0}[8,2,32] reshape(s)
 a = {0}[8,1,32] slice(t), slice={{[0:8],[0:1],[0:32]}}
 ROOT r = {0}[8,1,32] negate(a) }})",
                                                   type));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

// Parts of an array, as of the weights of all layers, that one loop copies would all live from the
// first reader on. Small ones cost less than loops of their own.
TEST(FusionLimits, LargePartsOfAnArrayAreTakenWhereTheyAreNeeded) {
  for (const auto& [columns, loops] : {std::pair(64, 1), std::pair(4096, 0)}) {
    const Module before = test::parsed(fmt::format(R"(HloModule m
ENTRY e {{ w = f32[3,{0}] parameter(0)
 x = f32[1,{0}] parameter(1)
 a = f32[1,{0}] slice(w), slice={{[0:1],[0:{0}]}}
 b = f32[1,{0}] slice(w), slice={{[2:3],[0:{0}]}}
 p = f32[1,1] dot(x, a), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
 q = f32[1,1] dot(x, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
 ROOT r = (f32[1,1], f32[1,1]) tuple(p, q) }})",
                                                   columns));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

// The sides of an outer product that is stored, and that something else is made of, would live
// until that is stored too. Those that live longer anyway are no reason for two loops.
TEST(FusionLimits, SidesOfAProductMayDieBeforeItIsRead) {
  for (const auto& [side, loops] : {std::pair("a", 2), std::pair("x", 1)}) {
    const Module before = test::parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = f32[512,8] parameter(0)
 y = f32[8,8] parameter(1)
 w = f32[512,64] parameter(2)
 a = f32[512,8] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
 c = f32[512,8,8] broadcast({0}), dimensions={{0,1}}
 d = f32[512,8,8] broadcast({0}), dimensions={{0,2}}
 p = f32[512,8,8] multiply(c, d)
 q = f32[512,64] reshape(p)
 r = f32[512,64] multiply(q, w)
 s = f32[512,64] tanh(r)
 ROOT t = (f32[512,64], f32[512,64], f32[512,8]) tuple(q, s, x) }})",
                                                   side));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

// Which of all pairs have the same label is found where it is asked for, and the joined labels are
// stored in its stead.
TEST(FusionLimits, PairsAreMadeOfStoredKeys) {
  const Module before = test::parsed(R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e { x = s32[32] parameter(0)
 y = s32[96] parameter(1)
 z = f32[32,128] parameter(2)
 j = s32[128] concatenate(x, y), dimensions={0}
 k = s32[32,128] broadcast(j), dimensions={1}
 l = s32[32,128] broadcast(x), dimensions={0}
 q = pred[32,128] compare(l, k), direction=EQ
 m = f32[32,128] convert(q)
 o = f32[] constant(0)
 n = f32[32] reduce(m, o), dimensions={1}, to_apply=add
 u = f32[32,128] broadcast(n), dimensions={0}
 v = f32[32,128] multiply(m, z)
 w = f32[32] reduce(v, o), dimensions={1}, to_apply=add
 ROOT r = (f32[32], f32[32]) tuple(n, w) })");
  const Module after = test::after_passes(before, "fusion, dce", {});
  for (InstructionId id : after[after.entry].instructions)
    if (after[id].op == Op::Fusion && after.shape(id).is_array())
      EXPECT_LT(element_count(after.shape(id)), 32 * 128) << print(after);
  EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
}

// A large product with what is read backwards is made again where its ends are repeated; a small
// one is stored.
TEST(FusionLimits, LargeReversalsAreMadeAgain) {
  for (const auto& [rows, loops] : {std::pair(20, 2), std::pair(600, 1)}) {
    const Module before = test::parsed(fmt::format(R"(HloModule m
ENTRY e {{ x = f32[{0},500] parameter(0)
 v = f32[{0},500] reverse(x), dimensions={{0}}
 p = f32[{0},500] multiply(x, v)
 a = f32[2,500] slice(p), slice={{[{1}:{0}],[0:500]}}
 b = f32[3,500] slice(p), slice={{[0:3],[0:500]}}
 ROOT r = f32[{2},500] concatenate(a, p, b), dimensions={{0}} }})",
                                                   rows, rows - 2, rows + 5));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

// Neighbours that are read at two places: what takes long is made before they are read.
std::string neighbours(std::string_view type, std::string_view chain, int64_t steps) {
  std::string text = fmt::format(
      "HloModule m\nENTRY e {{ x0 = {0}[66] parameter(0)\n"
      " k = {0}[66] parameter(1)\n",
      type);
  for (int64_t i = 1; i <= steps; ++i)
    text += fmt::format(" x{} = {}[66] {}(x{}, k)\n", i, type, chain, i - 1);
  return text + fmt::format(R"( a = {0}[64] slice(x{1}), slice={{[0:64]}}
 b = {0}[64] slice(x{1}), slice={{[2:66]}}
 ROOT r = {0}[64] subtract(a, b) }})",
                            type, steps);
}

// A part of a complex value that is stored anyway is read from that.
TEST(FusionLimits, PartsOfStoredComplexNumbersAreNotStored) {
  for (const auto& [left, right, parts] :
       {std::tuple("a", "b", 2), std::tuple("a", "y", 1), std::tuple("y", "b", 1)}) {
    const Module before = test::parsed(fmt::format(R"(HloModule m
f {{ p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT s = f32[] add(p, q) }}
ENTRY e {{ x = f32[8,64] parameter(0)
 y = f32[8,64] parameter(1)
 a = f32[8,64] exponential(x)
 b = f32[8,64] sine(x)
 c = c64[8,64] complex(a, b)
 z = f32[] constant(0)
 l = f32[8,64] multiply({}, y)
 m = f32[8,64] subtract(l, {})
 s = f32[64] reduce(m, z), dimensions={{0}}, to_apply=f
 ROOT r = (c64[8,64], f32[64]) tuple(c, s) }})",
                                                   left, right));
    const Module after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Real) + test::count_op(after, Op::Imag), parts);
    EXPECT_EQ(test::count_op(after, Op::GetTupleElement), 0) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

TEST(FusionLimits, LongChainsAreMadeOnce) {
  for (const auto& [type, chain, steps, loops] :
       {std::tuple("u32", "add", 8, 1), std::tuple("u32", "add", 80, 2),
        std::tuple("f32", "multiply", 80, 2), std::tuple("u32", "remainder", 2, 1),
        std::tuple("u64", "remainder", 2, 2), std::tuple("s64", "divide", 2, 2)}) {
    const Module before = test::parsed(neighbours(type, chain, steps)),
                 after = test::after_passes(before, "fusion, dce", {});
    EXPECT_EQ(test::count_op(after, Op::Fusion), loops) << print(after);
    EXPECT_EQ(test::difference_in_values(before, after, Keeps::Bits), "") << print(after);
  }
}

}  // namespace
}  // namespace hilo
