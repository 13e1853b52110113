// Index maps of each family of ops, worked out by hand, and what can be asked of a map.
#include "parsed.h"

namespace hilo {
namespace {

using testing_analysis::Parsed;

constexpr const char* computations =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
    "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT c = pred[] compare(a, b), direction=GE }\n"
    "both { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
    " j = s32[] parameter(3)\n ROOT c = (f32[], s32[]) tuple(a, j) }\n";

struct Mapped {
  Parsed parsed;
  InstructionId id;
  explicit Mapped(const std::string& entry)
      : parsed("HloModule m\n" + std::string(computations) + "ENTRY e {\n" + entry + "\n}\n"),
        id(parsed["r"]) {}

  std::string text(size_t operand, size_t output = 0, size_t leaf = 0) const {
    const auto map = index_map(parsed.module, id, operand, output, leaf);
    return map ? to_string(parsed.module, *map) : std::string(map.error());
  }
  IndexMap map(size_t operand = 0, size_t output = 0) const {
    const auto map = index_map(parsed.module, id, operand, output);
    EXPECT_TRUE(map.has_value()) << (map ? "" : map.error());
    return map ? *map : IndexMap();
  }
};

TEST(IndexMap, Elementwise) {
  EXPECT_EQ(Mapped("x = f32[4,8] parameter(0)\n ROOT r = f32[4,8] add(x, x)").text(1),
            "(i0, i1) -> (i0, i1)");
  const Mapped clamp(
      "x = f32[4] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[4] clamp(z, x, z)");
  EXPECT_EQ(clamp.text(0), "(i0) -> ()");
  EXPECT_EQ(clamp.text(1), "(i0) -> (i0)");
}

TEST(IndexMap, Movement) {
  const std::string x = "x = f32[4,6] parameter(0)\n z = f32[] parameter(1)\n";
  EXPECT_EQ(Mapped(x + "ROOT r = f32[6,4] transpose(x), dimensions={1,0}").text(0),
            "(i0, i1) -> (i1, i0)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4,9,6] broadcast(x), dimensions={0,2}").text(0),
            "(i0, i1, i2) -> (i0, i2)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[2,3] slice(x), slice={[1:3],[0:6:2]}").text(0),
            "(i0, i1) -> (i0 + 1, 2 i1)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4,6] reverse(x), dimensions={1}").text(0),
            "(i0, i1) -> (i0, -i1 + 5)");
  const Mapped pad(x + "ROOT r = f32[7,8] pad(x, z), padding=0_0_1x1_1");
  EXPECT_EQ(pad.text(0), "(i0, i1) -> (i0 floordiv 2, i1 - 1) if 1 <= i1 <= 6 and i0 mod 2 = 0");
  EXPECT_EQ(pad.text(1), "(i0, i1) ~> ()");
  const Mapped joined(x + "ROOT r = f32[8,6] concatenate(x, x), dimensions={0}");
  EXPECT_EQ(joined.text(0), "(i0, i1) -> (i0, i1) if 0 <= i0 <= 3");
  EXPECT_EQ(joined.text(1), "(i0, i1) -> (i0 - 4, i1) if 4 <= i0 <= 7");
}

TEST(IndexMap, Reshape) {
  const std::string x = "x = f32[4,6] parameter(0)\n";
  EXPECT_EQ(Mapped(x + "ROOT r = f32[24] reshape(x)").text(0), "(i0) -> (i0 floordiv 6, i0 mod 6)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4,2,1,3] reshape(x)").text(0),
            "(i0, i1, i2, i3) -> (i0, 3 i1 + i3)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[2,12] reshape(x)").text(0),
            "(i0, i1) -> (2 i0 + i1 floordiv 6, i1 mod 6)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[3,8] reshape(x)").text(0),
            "(i0, i1) -> ((8 i0 + i1) floordiv 6, (8 i0 + i1) mod 6)");
  EXPECT_EQ(Mapped("x = f32[4,6]{0,1} parameter(0)\n ROOT r = f32[6,4]{1,0} bitcast(x)").text(0),
            "(i0, i1) -> (i1, i0)");
  EXPECT_EQ(Mapped("x = f32[3,2] parameter(0)\n ROOT r = u64[3] bitcast-convert(x)").text(0),
            "(i0)[r0 < 2] -> (i0, r0)");
}

TEST(IndexMap, DataDecide) {
  const std::string x =
      "x = f32[9,6] parameter(0)\n u = f32[4,6] parameter(1)\n s = s32[] parameter(2)\n"
      " k = s32[5,1] parameter(3)\n";
  EXPECT_EQ(
      Mapped(x + "ROOT r = f32[4,6] dynamic-slice(x, s, s), dynamic_slice_sizes={4,6}").text(0),
      "(i0, i1)[s0 = %s clamped to 0..5] -> (i0 + s0, i1)");
  const Mapped update(x + "ROOT r = f32[9,6] dynamic-update-slice(x, u, s, s)");
  EXPECT_EQ(update.text(0), "(i0, i1) ~> (i0, i1)");
  EXPECT_EQ(update.text(1),
            "(i0, i1)[s0 = %s clamped to 0..5] -> (i0 - s0, i1) if 0 <= i0 - s0 <= 3");
  EXPECT_EQ(update.text(2), "(i0, i1) -> ()");
  const Mapped gather(x +
                      "ROOT r = f32[5,6] gather(x, k), offset_dims={1}, collapsed_slice_dims={0}, "
                      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}");
  EXPECT_EQ(gather.text(0), "(i0, i1)[s0 = %k[i0, 0] clamped to 0..8] -> (s0, i1)");
  EXPECT_EQ(gather.text(1), "(i0, i1) -> (i0, 0)");
  const Mapped scatter(
      "x = f32[9] parameter(0)\n k = s32[5,1] parameter(1)\n u = f32[5] parameter(2)\n"
      " ROOT r = f32[9] scatter(x, k, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add");
  EXPECT_EQ(scatter.text(0), "(i0) -> (i0)");
  EXPECT_EQ(scatter.text(1), "(i0)[r0 < 5] -> (r0, 0)");
  EXPECT_EQ(scatter.text(2), "(i0)[r0 < 5, s0 = %k[r0, 0] if in 0..8] -> (r0) if i0 - s0 = 0");
}

TEST(IndexMap, ConstantsAreNoSymbols) {
  const std::string x =
      "x = f32[9,6] parameter(0)\n u = f32[4,6] parameter(1)\n zero = s32[] constant(0)\n"
      " far = s32[] constant(70)\n two = s32[2] constant({3, 1})\n";
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4,6] dynamic-slice(x, far, zero), dynamic_slice_sizes={4,6}")
                .text(0),
            "(i0, i1) -> (i0 + 5, i1)");
  EXPECT_EQ(
      Mapped(x + "ROOT r = f32[4,2] dynamic-slice(x, two), dynamic_slice_sizes={4,2}").text(0),
      "(i0, i1) -> (i0 + 3, i1 + 1)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[9,6] dynamic-update-slice(x, u, far, zero)").text(1),
            "(i0, i1) -> (i0 - 5, i1) if 5 <= i0 <= 8");
}

TEST(IndexMap, ThroughFusions) {
  const Parsed parsed(
      "HloModule m\n" + std::string(computations) +
      "f { x = f32[4,6] parameter(0)\n w = f32[6] parameter(1)\n z = f32[] constant(0)\n"
      " s = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
      " b = f32[4,6] broadcast(s), dimensions={0}\n v = f32[4,6] broadcast(w), dimensions={1}\n"
      " d = f32[4,6] divide(x, b)\n m = f32[4,6] multiply(d, v)\n"
      " ROOT t = f32[24] reshape(m) }\n"
      "ENTRY e {\n x = f32[4,6] parameter(0)\n w = f32[6] parameter(1)\n"
      " ROOT r = f32[24] fusion(x, w), kind=kLoop, calls=f\n}\n");
  const InstructionId fusion = parsed.module[parsed.module.entry].root;
  const auto maps = index_maps(parsed.module, fusion, 0);
  ASSERT_TRUE(maps && maps->size() == 2);
  EXPECT_EQ(to_string(parsed.module, (*maps)[0]), "(i0) -> (i0 floordiv 6, i0 mod 6)");
  EXPECT_EQ(to_string(parsed.module, (*maps)[1]), "(i0)[r0 < 6] -> (i0 floordiv 6, r0)");
  EXPECT_FALSE(index_map(parsed.module, fusion, 0));
  const auto scale = index_map(parsed.module, fusion, 1);
  ASSERT_TRUE(scale);
  EXPECT_EQ(to_string(parsed.module, *scale), "(i0) -> (i0 mod 6)");
}

TEST(IndexMap, Reductions) {
  const std::string x = "x = f32[4,6] parameter(0)\n z = f32[] parameter(1)\n";
  const Mapped reduce(x + "ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(reduce.text(0), "(i0)[r0 < 6] -> (i0, r0)");
  EXPECT_EQ(reduce.text(1), "(i0) -> ()");
  const Mapped two(
      "x = f32[4,6] parameter(0)\n i = s32[4,6] parameter(1)\n z = f32[] parameter(2)\n"
      " y = s32[] parameter(3)\n"
      " ROOT r = (f32[6], s32[6]) reduce(x, i, z, y), dimensions={0}, to_apply=both");
  EXPECT_EQ(two.text(0, 0), "(i0)[r0 < 4] -> (r0, i0)");
  EXPECT_EQ(two.text(0, 1), "(i0)[r0 < 4] ~> (r0, i0)");
  EXPECT_EQ(Mapped("x = f32[4,6] parameter(0)\n"
                   " ROOT r = f32[4,6] sort(x), dimensions={0}, to_apply=ge")
                .text(0),
            "(i0, i1)[r0 < 4] ~> (r0, i1)");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4,3] reduce-window(x, z), window={size=1x3 stride=1x2 "
                       "pad=0_0x1_0}, to_apply=add")
                .text(0),
            "(i0, i1)[r0 < 3] -> (i0, 2 i1 + r0 - 1) if 1 <= 2 i1 + r0 <= 6");
}

TEST(IndexMap, HugeNumbers) {
  const std::string x = "x = f32[2,3] parameter(0)\n z = f32[] parameter(1)\n";
  const Mapped wide(x +
                    "ROOT r = f32[1,3] reduce-window(x, z), window={size=4611686018427387904x1 "
                    "pad=4611686018427387902_0x0_0}, to_apply=add");
  EXPECT_EQ(wide.text(0), "(i0, i1)[r0 < 2] -> (r0, i1)");
  const Mapped stride(x +
                      "ROOT r = f32[1,3] reduce-window(x, z), window={size=1x1 "
                      "stride=9223372036854775807x1}, to_apply=add");
  EXPECT_EQ(stride.text(0), "(i0, i1) -> (0, i1)");
  const Mapped pad(x +
                   "ROOT r = f32[1152921504606846976,1] pad(x, z), "
                   "padding=1152921504606846973_1x-2_0");
  EXPECT_EQ(pad.text(0),
            "(i0, i1) -> (i0 - 1152921504606846973, 2) "
            "if 1152921504606846973 <= i0 <= 1152921504606846974");
  EXPECT_EQ(reuse(pad.map()), 1);
}

TEST(IndexMap, Products) {
  const Mapped dot(
      "x = f32[2,4,6] parameter(0)\n y = f32[2,6,5] parameter(1)\n"
      " ROOT r = f32[2,4,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, "
      "lhs_contracting_dims={2}, rhs_contracting_dims={1}");
  EXPECT_EQ(dot.text(0), "(i0, i1, i2)[r0 < 6] -> (i0, i1, r0)");
  EXPECT_EQ(dot.text(1), "(i0, i1, i2)[r0 < 6] -> (i0, r0, i2)");
  const Mapped convolution(
      "x = f32[1,8,4] parameter(0)\n k = f32[3,2,6] parameter(1)\n"
      " ROOT r = f32[1,8,6] convolution(x, k), window={size=3 pad=1_1}, "
      "dim_labels=b0f_0io->b0f, feature_group_count=2");
  EXPECT_EQ(convolution.text(0),
            "(i0, i1, i2)[r0 < 3, r1 < 2] -> (0, i1 + r0 - 1, r1 + 2 (i2 floordiv 3)) "
            "if 1 <= i1 + r0 <= 8");
  EXPECT_EQ(convolution.text(1),
            "(i0, i1, i2)[r0 < 3, r1 < 2] -> (r0, r1, i2) if 1 <= i1 + r0 <= 8");
}

TEST(IndexMap, TuplesAndWhatHasNoMap) {
  const std::string x = "x = f32[4] parameter(0)\n y = f32[6] parameter(1)\n";
  const Mapped tuple(x + "ROOT r = (f32[4], f32[6]) tuple(x, y)");
  EXPECT_EQ(tuple.text(1, 1), "(i0) -> (i0)");
  EXPECT_EQ(tuple.text(0, 1), "(i0) -> nothing");
  const Mapped element(x +
                       "t = (f32[4], f32[6]) tuple(x, y)\n"
                       " ROOT r = f32[6] get-tuple-element(t), index=1");
  EXPECT_EQ(element.text(0, 0, 1), "(i0) -> (i0)");
  EXPECT_EQ(element.text(0, 0, 0), "(i0) -> nothing");
  const Mapped copy(x + "t = (f32[4], f32[6]) tuple(x, y)\n ROOT r = (f32[4], f32[6]) copy(t)");
  EXPECT_EQ(copy.text(0, 1, 1), "(i0) -> (i0)");
  EXPECT_EQ(copy.text(0, 1, 0), "(i0) -> nothing");
  EXPECT_EQ(Mapped(x + "ROOT r = f32[4] custom-call(x), custom_call_target=\"f\"").text(0),
            "what the custom call does is not known");
}

TEST(IndexMap, Compose) {
  const std::string x = "x = f32[4,6] parameter(0)\n";
  const auto through = [&](const std::string& text) {
    const Parsed parsed("HloModule m\nENTRY e {\n" + x + text + "\n}\n");
    const InstructionId r = parsed["r"];
    const IndexMap outer = *index_map(parsed.module, r, 0);
    const IndexMap inner = *index_map(parsed.module, parsed.module.operand(r, 0), 0);
    return to_string(parsed.module, compose(outer, inner));
  };
  EXPECT_EQ(through("y = f32[24] reshape(x)\n ROOT r = f32[4,6] reshape(y)"),
            "(i0, i1) -> (i0, i1)");
  EXPECT_EQ(through("y = f32[2,2,3,2] reshape(x)\n ROOT r = f32[24] reshape(y)"),
            "(i0) -> (i0 floordiv 6, i0 mod 6)");
  EXPECT_EQ(through("y = f32[6,4] transpose(x), dimensions={1,0}\n"
                    " ROOT r = f32[4,6] transpose(y), dimensions={1,0}"),
            "(i0, i1) -> (i0, i1)");
  EXPECT_EQ(through("z = f32[] constant(0)\n y = f32[6,6] pad(x, z), padding=1_1x0_0\n"
                    " ROOT r = f32[4,6] slice(y), slice={[1:5],[0:6]}"),
            "(i0, i1) -> (i0, i1)");
  EXPECT_EQ(through("y = f32[4,6] reverse(x), dimensions={0}\n"
                    " ROOT r = f32[2,6] slice(y), slice={[0:2],[0:6]}"),
            "(i0, i1) -> (-i0 + 3, i1)");
  EXPECT_EQ(through("y = f32[5,4,6] broadcast(x), dimensions={1,2}\n"
                    " ROOT r = f32[20,6] reshape(y)"),
            "(i0, i1) -> (i0 mod 4, i1)");
}

TEST(IndexMap, RangesThatAreDigitsOfOneNumberAreOne) {
  const Parsed parsed("HloModule m\n" + std::string(computations) +
                      "ENTRY e {\n x = f32[4,24] parameter(0)\n z = f32[] constant(0)\n"
                      " y = f32[4,2,3,4] reshape(x)\n"
                      " ROOT r = f32[4] reduce(y, z), dimensions={1,2,3}, to_apply=add\n}\n");
  const IndexMap map =
      compose(*index_map(parsed.module, parsed["r"], 0), *index_map(parsed.module, parsed["y"], 0));
  EXPECT_EQ(to_string(parsed.module, map), "(i0)[r0 < 24] -> (i0, r0)");
}

TEST(IndexMap, Inverse) {
  const std::string x = "x = f32[4,6] parameter(0)\n";
  const auto back = [&](const std::string& text) {
    const Mapped mapped(x + text);
    const auto found = inverse(mapped.map());
    if (!found) return std::string("none");
    EXPECT_TRUE(is_identity(compose(*found, mapped.map()))) << text;
    EXPECT_TRUE(is_identity(compose(mapped.map(), *found))) << text;
    return to_string(mapped.parsed.module, *found);
  };
  EXPECT_EQ(back("ROOT r = f32[6,4] transpose(x), dimensions={1,0}"), "(i0, i1) -> (i1, i0)");
  EXPECT_EQ(back("ROOT r = f32[4,6] reverse(x), dimensions={0,1}"),
            "(i0, i1) -> (-i0 + 3, -i1 + 5)");
  EXPECT_EQ(back("ROOT r = f32[24] reshape(x)"), "(i0, i1) -> (6 i0 + i1)");
  EXPECT_EQ(back("ROOT r = f32[3,8] reshape(x)"),
            "(i0, i1) -> ((6 i0 + i1) floordiv 8, (6 i0 + i1) mod 8)");
  EXPECT_EQ(back("ROOT r = f32[2,6] slice(x), slice={[0:2],[0:6]}"), "none");
  EXPECT_EQ(back("ROOT r = f32[4,6,2] broadcast(x), dimensions={0,1}"), "none");
}

TEST(IndexMap, InverseOfMovementBehindMovement) {
  const Parsed parsed(
      "HloModule m\nENTRY e {\n x = f32[4,6] parameter(0)\n y = f32[4,2,3] reshape(x)\n"
      " z = f32[3,4,2] transpose(y), dimensions={2,0,1}\n w = f32[3,4,2] reverse(z), "
      "dimensions={2}\n ROOT r = f32[3,8] reshape(w)\n}\n");
  IndexMap map = *index_map(parsed.module, parsed["r"], 0);
  for (const char* name : {"w", "z", "y"})
    map = compose(map, *index_map(parsed.module, parsed[name], 0));
  const auto back = inverse(map);
  ASSERT_TRUE(back) << to_string(parsed.module, map);
  EXPECT_TRUE(is_identity(compose(*back, map))) << to_string(parsed.module, *back);
  EXPECT_TRUE(is_identity(compose(map, *back)));
}

TEST(IndexMap, Kinds) {
  const std::string x = "x = f32[4,6] parameter(0)\n z = f32[] parameter(1)\n";
  const IndexMap copy = Mapped(x + "ROOT r = f32[4,6] copy(x)").map();
  EXPECT_TRUE(is_identity(copy) && is_permutation(copy));
  const IndexMap transpose = Mapped(x + "ROOT r = f32[6,4] transpose(x), dimensions={1,0}").map();
  EXPECT_TRUE(!is_identity(transpose) && is_permutation(transpose));
  const IndexMap slice = Mapped(x + "ROOT r = f32[2,6] slice(x), slice={[0:2],[0:6]}").map();
  EXPECT_FALSE(is_identity(slice) || is_permutation(slice));
  const IndexMap reduce =
      Mapped(x + "ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add").map();
  EXPECT_FALSE(is_identity(reduce) || is_permutation(reduce));
}

TEST(IndexMap, Strides) {
  const std::string x = "x = f32[4,6] parameter(0)\n";
  using Kind = IndexTerm::Kind;
  const Dims row_major = {6, 1}, column_major = {1, 4};
  const IndexMap slice = Mapped(x + "ROOT r = f32[2,3] slice(x), slice={[0:4:2],[0:6:2]}").map();
  EXPECT_EQ(stride(slice, Kind::Result, 0, row_major), 12);
  EXPECT_EQ(stride(slice, Kind::Result, 1, row_major), 2);
  EXPECT_EQ(stride(slice, Kind::Result, 1, column_major), 8);
  const IndexMap flat = Mapped(x + "ROOT r = f32[24] reshape(x)").map();
  EXPECT_EQ(stride(flat, Kind::Result, 0, row_major), 1);
  EXPECT_EQ(stride(flat, Kind::Result, 0, column_major), std::nullopt);
}

std::string text(const std::vector<IndexInterval>& box) {
  std::string out;
  for (const IndexInterval& interval : box)
    out += interval.is_empty() ? "[]" : fmt::format("[{},{}]", interval.lower, interval.upper);
  return out;
}

TEST(IndexMap, Footprint) {
  const std::string x =
      "x = f32[8,6] parameter(0)\n z = f32[] parameter(1)\n s = s32[] parameter(2)\n";
  const IndexMap window =
      Mapped(x +
             "ROOT r = f32[8,6] reduce-window(x, z), window={size=3x1 pad=1_1x0_0}, "
             "to_apply=add")
          .map();
  EXPECT_EQ(text(footprint(window, {{{2, 3}, {0, 0}}})), "[1,4][0,0]");
  EXPECT_EQ(text(footprint(window, {{{0, 0}, {0, 5}}})), "[0,1][0,5]");
  const IndexMap pad = Mapped(x + "ROOT r = f32[12,6] pad(x, z), padding=4_0x0_0").map();
  EXPECT_EQ(text(footprint(pad, {{{0, 3}, {0, 5}}})), "[][]");
  EXPECT_EQ(text(footprint(pad, {{{2, 5}, {1, 2}}})), "[0,1][1,2]");
  const IndexMap slice =
      Mapped(x + "ROOT r = f32[4,6] dynamic-slice(x, s, s), dynamic_slice_sizes={4,6}").map();
  EXPECT_EQ(text(footprint(slice, {{{1, 1}, {2, 3}}})), "[1,5][2,3]");
  EXPECT_EQ(text(footprint(slice, whole_box(slice.result_dims))), "[0,7][0,5]");
}

TEST(IndexMap, Reuse) {
  const std::string x = "x = f32[8,6] parameter(0)\n z = f32[] parameter(1)\n";
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[6,8] transpose(x), dimensions={1,0}").map()), 1);
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[5,8,6] broadcast(x), dimensions={1,2}").map()), 5);
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add").map()),
            1);
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[20,6] pad(x, z), padding=12_0x0_0").map()), 1);
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[8,8] dot(x, x), lhs_contracting_dims={1}, "
                             "rhs_contracting_dims={1}")
                      .map()),
            8);
  EXPECT_EQ(reuse(Mapped(x + "ROOT r = f32[6,6] reduce-window(x, z), window={size=3x1}, "
                             "to_apply=add")
                      .map()),
            18.0 / 8);
}

}  // namespace
}  // namespace hilo
