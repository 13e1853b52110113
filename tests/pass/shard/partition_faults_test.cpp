// Small programs that were partitioned wrongly once.
#include "partition_judge.h"

namespace hilo::test {
namespace {

const std::string combiners =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    "mul { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] multiply(a, b) }\n"
    "min { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] minimum(a, b) }\n"
    "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT c = pred[] compare(a, b), direction=GE }\n";

void expect_right(int devices, const std::string& entry,
                  std::string_view passes = "spmd-partitioner") {
  const Module module = parsed(fmt::format("HloModule m, num_partitions={}\n", devices) +
                               combiners + "ENTRY e {\n" + entry + "}\n");
  EXPECT_EQ(fault_of(module, 1, passes), "") << print(module);
}

// Two plans between the same shardings.
TEST(PartitionFaults, AProductAndASumOfOneArray) {
  expect_right(2, R"(
    p = f32[4] parameter(0), sharding={devices=[2]<=[2]}
    z = f32[] parameter(1)
    a = f32[] reduce(p, z), dimensions={0}, to_apply=mul
    ROOT b = f32[] reduce(p, a), dimensions={0}, to_apply=add
  )");
}

TEST(PartitionFaults, AMinimumThatGoesToAnotherMesh) {
  expect_right(15, R"(
    x = f32[] constant(3)
    p = f32[5,9] broadcast(x), dimensions={}, sharding={devices=[15,1]13,10,6,4,7,9,11,5,12,14,2,0,8,3,1}
    z = f32[] constant(5)
    ROOT r = f32[9] reduce(p, z), dimensions={0}, to_apply=min, sharding={mesh['a'=3,'b'=5], device_ids=(13,4,11,14,8,10,7,5,2,3,6,9,12,0,1), [{'a'}]}
  )");
}

// The first of the tiles has the element, the others have none.
TEST(PartitionFaults, DimensionsOfOneElementThatAreCut) {
  expect_right(4, R"(
    p = f32[1,2,1] parameter(0), sharding={devices=[1,1,4]3,1,0,2}
    ROOT r = f32[2] reshape(p)
  )");
  expect_right(2, R"(
    p = f32[1,1,4] parameter(0), sharding={devices=[1,2,1]1,0}
    ROOT r = f32[1,4,1] reshape(p), sharding={devices=[1,1,2]1,0}
  )");
  expect_right(3, R"(
    p = f32[2,1] parameter(0), sharding={devices=[1,3]<=[3]}
    ROOT r = f32[2,1,1] broadcast(p), dimensions={0,1}
  )");
}

// Where a program leaves its result open, the result says what it is.
TEST(PartitionFaults, AnOpenResultOfTiles) {
  expect_right(4, R"(
    p = f32[16,3] parameter(0), sharding={devices=[4,1]<=[4]}
    q = f32[16,3] parameter(1), sharding={devices=[4,1]<=[4]}
    s = f32[16,3] add(p, q), sharding={devices=[4,1]<=[4]}
    ROOT t = (f32[16,3], f32[16,3]) tuple(s, p)
  )");
}

// 257 is no bfloat16: 256 + 1 is rounded to 256, 255 + 2 too.
TEST(PartitionFaults, IndicesThatAreRounded) {
  expect_right(4, R"(
    ROOT i = bf16[1030] iota(), iota_dimension=0, sharding={devices=[4]<=[4]}
  )");
}

// Two branches with results of other shardings call one computation.
TEST(PartitionFaults, ABodyThatTwoBranchesShare) {
  const Module module = parsed(R"(HloModule m, num_partitions=2
f { p = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  ROOT n = f32[8] negate(p), sharding={devices=[2]<=[2]} }
g { p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p) }
ENTRY e {
  i = s32[] parameter(0)
  x = f32[8] parameter(1)
  a = f32[8] conditional(i, x, x), branch_computations={f, g}, sharding={replicated}
  ROOT b = f32[8] conditional(i, a, a), branch_computations={g, f}, sharding={devices=[2]<=[2]}
})");
  EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "") << print(module);
}

// Windows among holes whose number has no factor in common with that of the rows.
TEST(PartitionFaults, WindowsThatAreNoTilesOfRows) {
  expect_right(4, R"(
    p = f32[16,3] parameter(0)
    z = f32[] constant(1)
    ROOT w = f32[14,2] reduce-window(p, z), window={size=3x3 stride=2x1 pad=1_0x0_1 lhs_dilate=2x2 rhs_dilate=2x2}, to_apply=min, sharding={devices=[1,4]<=[4]}
  )");
}

TEST(PartitionFaults, AConvolutionOfNoFeatures) {
  expect_right(2, R"(
    p = f32[4,0] parameter(0), sharding={devices=[2,1]<=[2]}
    k = f32[0,3] parameter(1)
    ROOT c = f32[4,3] convolution(p, k), dim_labels=bf_io->bf, sharding={devices=[2,1]<=[2]}
  )");
}

// The tile of the result is that of the operand, which was cut from more rows.
TEST(PartitionFaults, ATileOfTwoArrays) {
  expect_right(5, R"(
    p = f32[4,9] parameter(0), sharding={replicated}
    z = f32[] constant(-1.25)
    r = f32[3,9] pad(p, z), padding=0_-1x0_0, sharding={devices=[5,1]<=[5]}
    ROOT t = (f32[3,9], f32[4,9]) tuple(r, p), sharding={{replicated}, {replicated}}
  )");
}

// Windows that begin elsewhere on each device, cut out of the rows that are at hand and not written
// into a buffer with margins.
TEST(PartitionFaults, WindowsOfRowsThatStandInARow) {
  const std::string slice = R"(
    p = f32[32,5] parameter(0), sharding={devices=[4,1]<=[4]}
    ROOT r = f32[22,5] slice(p), slice={[3:25], [0:5]}, sharding={devices=[4,1]<=[4]}
  )";
  const std::string pad = R"(
    p = f32[16,5] parameter(0), sharding={devices=[4,1]<=[4]}
    z = f32[] constant(7)
    ROOT r = f32[21,5] pad(p, z), padding=2_3x0_0, sharding={devices=[4,1]<=[4]}
  )";
  for (const std::string& entry : {slice, pad}) {
    expect_right(4, entry);
    const auto after = partitioned(
        parsed("HloModule m, num_partitions=4\nENTRY e {\n" + entry + "}\n"), "spmd-partitioner");
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ(print(*after).find("dynamic-update-slice"), std::string::npos) << print(*after);
  }
}

// The loops over windows have no numbers.
TEST(PartitionFaults, WindowsOverNoRows) {
  expect_right(4, R"(
    p = f32[0,1] parameter(0), sharding={devices=[1,4]<=[4]}
    s = f32[0,2] parameter(1)
    z = f32[] constant(3.5)
    r = f32[0,1] select-and-scatter(p, s, z), window={size=2x3 stride=2x1 pad=0_1x1_2}, select=ge, scatter=min
    ROOT t = f32[0,1] negate(r)
  )",
               "sharding-propagation, spmd-partitioner");
}

// A padding element as low as an element never wins over it: the first of equals is selected, or
// the last.
std::string fault_of_ties(std::string_view type, std::string_view select, std::string_view value) {
  const bool is_low = select.starts_with("G");
  const Module module = parsed(fmt::format(R"(HloModule m, num_partitions=2
add {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] add(a, b) }}
select {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = pred[] compare(a, b), direction={1} }}
ENTRY e {{
  p = {0}[64] parameter(0), sharding={{devices=[2]<=[2]}}
  s = {0}[64] parameter(1), sharding={{devices=[2]<=[2]}}
  x = {0}[] constant({2})
  v = {0}[64] broadcast(x), dimensions={{}}, sharding={{devices=[2]<=[2]}}
  t = {0}[64] {3}(p, v), sharding={{devices=[2]<=[2]}}
  z = {0}[] constant(0)
  ROOT r = {0}[64] select-and-scatter(t, s, z), window={{size=3 pad=1_1}}, select=select, scatter=add, sharding={{devices=[2]<=[2]}}
}})",
                                           type, select, value, is_low ? "minimum" : "maximum"));
  return fault_of(module, 1, "spmd-partitioner");
}
TEST(PartitionFaults, TiesWithPadding) {
  for (std::string_view select : {"GE", "GT"}) {
    EXPECT_EQ(fault_of_ties("u8", select, "0"), "") << select;
    EXPECT_EQ(fault_of_ties("s8", select, "-128"), "") << select;
    EXPECT_EQ(fault_of_ties("f32", select, "-inf"), "") << select;
  }
  for (std::string_view select : {"LE", "LT"}) {
    EXPECT_EQ(fault_of_ties("u8", select, "255"), "") << select;
    EXPECT_EQ(fault_of_ties("s8", select, "127"), "") << select;
    EXPECT_EQ(fault_of_ties("f32", select, "inf"), "") << select;
  }
}

// Types without infinities have a greatest number, without zero none that adds nothing.
TEST(PartitionFaults, TypesWithoutInfinitiesOrZero) {
  for (std::string_view type : {"f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz",
                                "f4e2m1fn", "f8e8m0fnu", "s4", "u2"})
    for (std::string_view op : {"maximum", "minimum"})
      for (int size : {7, 3}) {
        const Module module = parsed(fmt::format(R"(HloModule m, num_partitions=4
combine {{ a = {0}[] parameter(0)
  b = {0}[] parameter(1)
  ROOT c = {0}[] {1}(a, b) }}
ENTRY e {{
  p = {0}[{2}] parameter(0), sharding={{devices=[4]<=[4]}}
  z = {0}[] constant(1)
  ROOT r = {0}[] reduce(p, z), dimensions={{0}}, to_apply=combine
}})",
                                                 type, op, size));
        EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "") << type << op << size;
      }
  for (std::string_view op : {"add", "maximum"})
    EXPECT_EQ(fault_of(parsed(fmt::format(R"(HloModule m, num_partitions=4
combine {{ a = f8e8m0fnu[] parameter(0)
  b = f8e8m0fnu[] parameter(1)
  ROOT c = f8e8m0fnu[] {}(a, b) }}
ENTRY e {{
  p = f8e8m0fnu[4] constant({{64, 1, 1, 1}}), sharding={{replicated}}
  i = s32[5] constant({{0, 0, 0, 0, 0}}), sharding={{devices=[4]<=[4]}}
  u = f8e8m0fnu[5] constant({{1, 1, 1, 1, 1}}), sharding={{devices=[4]<=[4]}}
  ROOT r = f8e8m0fnu[4] scatter(p, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine, sharding={{replicated}}
}})",
                                          op)),
                       1, "spmd-partitioner"),
              "")
        << op;
}

// The sign of a sum that is zero is that of one of its zeros, and padding is none of them.
TEST(PartitionFaults, ASumOfZerosKeepsTheirSign) {
  for (std::string_view sum : {"f32[] reduce(q, n), dimensions={0}, to_apply=add",
                               "f32[7] reduce-window(q, n), window={size=7 pad=6_0}, to_apply=add, "
                               "sharding={devices=[4]<=[4]}",
                               "f32[7] reduce-window(q, n), window={size=3 pad=1_1}, to_apply=add, "
                               "sharding={devices=[4]<=[4]}"})
    expect_right(4, fmt::format(R"(
    p = f32[7] parameter(0), sharding={{devices=[4]<=[4]}}
    n = f32[] constant(-0)
    a = f32[7] broadcast(n), dimensions={{}}, sharding={{devices=[4]<=[4]}}
    m = f32[7] abs(p), sharding={{devices=[4]<=[4]}}
    q = f32[7] multiply(m, a), sharding={{devices=[4]<=[4]}}
    r = {0}
    o = f32[] constant(1)
    b = {1} broadcast(o), dimensions={{}}
    ROOT d = {1} divide(b, r), sharding={{replicated}}
  )",
                                sum, sum.substr(0, sum.find(' '))));
}

// Tiles of a parameter are those of the result, which is another array.
TEST(PartitionFaults, AParameterThatIsTheResult) {
  const Module module = parsed(R"(HloModule m, num_partitions=2
ENTRY e {
  p = f32[4] parameter(0), sharding={replicated}
  a = f32[4] custom-call(p), custom_call_target="Sharding", sharding={replicated}
  b = f32[4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={manual}
  ROOT c = f32[8] custom-call(b), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]}
})");
  EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "");
  EXPECT_EQ(fault_of(module, 1, "spmd"), "");
}

// An array with dynamic dimensions is whole everywhere, beside others that are cut.
void expect_right_dynamic(const std::string& entry, std::string_view bodies = "") {
  const Module module = parsed("HloModule m, num_partitions=4\n" + combiners + std::string(bodies) +
                               "ENTRY e {\n" + entry + "}\n");
  for (std::string_view passes : {"spmd-partitioner", "sharding-propagation, spmd-partitioner"}) {
    EXPECT_EQ(fault_of(module, 1, passes), "") << passes << print(module);
    const auto after = partitioned(module, passes);
    ASSERT_TRUE(after.has_value());
    EXPECT_NE(print(*after).find("[<=16"), std::string::npos) << print(*after);
  }
}
TEST(PartitionFaults, AnArrayWithDynamicDimensions) {
  expect_right_dynamic(R"(
    a = f32[16,8] parameter(0), sharding={devices=[1,4]<=[4]}
    w = f32[8,12] parameter(1), sharding={devices=[1,4]<=[4]}
    s = s32[] constant(5)
    d = f32[<=16,8] set-dimension-size(a, s), dimensions={0}
    n = f32[<=16,8] negate(d)
    z = f32[] constant(0)
    r = f32[8] reduce(n, z), dimensions={0}, to_apply=add
    p = f32[<=16,12] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    q = f32[12] reduce(p, z), dimensions={0}, to_apply=add, sharding={devices=[4]<=[4]}
    g = s32[] get-dimension-size(p), dimensions={0}
    ROOT t = (f32[8], f32[12], s32[]) tuple(r, q, g), sharding={{devices=[4]<=[4]}, {devices=[4]<=[4]}, {replicated}}
  )");
}
TEST(PartitionFaults, ALoopThatCarriesDynamicDimensions) {
  expect_right_dynamic(R"(
    a = f32[16,8] parameter(0), sharding={devices=[4,1]<=[4]}
    s = s32[] constant(11)
    d = f32[<=16,8] set-dimension-size(a, s), dimensions={0}
    i = s32[] constant(0)
    t = (s32[], f32[<=16,8], f32[16,8]) tuple(i, d, a)
    w = (s32[], f32[<=16,8], f32[16,8]) while(t), condition=condition, body=body
    x = f32[<=16,8] get-tuple-element(w), index=1
    y = f32[16,8] get-tuple-element(w), index=2
    z = f32[] constant(0)
    r = f32[8] reduce(x, z), dimensions={0}, to_apply=add, sharding={devices=[4]<=[4]}
    ROOT u = (f32[8], f32[16,8]) tuple(r, y), sharding={{devices=[4]<=[4]}, {devices=[4,1]<=[4]}}
  )",
                       R"(
condition { p = (s32[], f32[<=16,8], f32[16,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[<=16,8], f32[16,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[<=16,8] get-tuple-element(p), index=1
  y = f32[16,8] get-tuple-element(p), index=2
  o = s32[] constant(1)
  j = s32[] add(i, o)
  d = f32[<=16,8] add(x, x)
  n = f32[16,8] negate(y)
  ROOT t = (s32[], f32[<=16,8], f32[16,8]) tuple(j, d, n) }
)");
}

// Padding of the array in the middle lies over rows of the one that stands on both sides of it.
TEST(PartitionFaults, AnArrayTwiceAroundAnother) {
  const Module module = parsed(R"(
HloModule m, num_partitions=4
ENTRY e {
  p = f32[4] parameter(0), sharding={devices=[4]<=[4]}
  q = f32[5] parameter(1), sharding={devices=[4]<=[4]}
  ROOT c = f32[13] concatenate(p, q, p), dimensions={0}, sharding={devices=[4]<=[4]}
})");
  EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "");
}

}  // namespace
}  // namespace hilo::test
