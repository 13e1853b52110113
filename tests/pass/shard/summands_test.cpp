// Arrays of which devices hold summands: they come of tiles without sending, and what adds keeps
// them.
#include "partition_judge.h"

namespace hilo::test {
namespace {

constexpr std::string_view add =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";

Module program(int devices, std::string_view entry, std::string_view more = "") {
  return parsed(fmt::format("HloModule m, num_partitions={}\n{}{}ENTRY e {{{}}}\n", devices, add,
                            more, entry));
}
// What devices do together, by op; or what is wrong.
std::string collectives(const Module& module) {
  constexpr std::string_view passes = "spmd-partitioner";
  for (const Error& error : verify(module)) return to_string(error);
  if (const std::string fault = fault_of(module, 1, passes); !fault.empty()) return fault;
  const auto after = partitioned(module, passes);
  std::string out;
  for (ComputationId computation : after->post_order())
    for (InstructionId id : (*after)[computation].instructions)
      if (has_trait((*after)[id].op, TraitCollective))
        out += fmt::format("{}{}", out.empty() ? "" : ", ", text_of((*after)[id].op));
  return out;
}

struct Cut {
  const char *shape, *from, *to;
};
TEST(Summands, TilesAreSummandsAmidZeros) {
  for (const Cut& one : {
           Cut{"f32[8]", "{devices=[4]<=[4]}", "{unreduced}"},
           Cut{"f32[7]", "{devices=[4]<=[4]}", "{unreduced}"},
           Cut{"f32[2]", "{devices=[4]<=[4]}", "{unreduced}"},
           Cut{"f32[6,3]", "{devices=[2,2]<=[4]}", "{unreduced}"},
           Cut{"s32[8,3]", "{devices=[4,1]<=[4]}",
               "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"},
           Cut{"f32[8,3]", "{devices=[2,2]<=[4]}",
               "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}"},
           Cut{"f32[8]", "{devices=[2,2]<=[4] last_tile_dim_replicate}", "{unreduced}"},
       })
    EXPECT_EQ(collectives(program(4, fmt::format(R"(
  p = {0} parameter(0), sharding={1}
  ROOT c = {0} copy(p), sharding={2}
)",
                                                 one.shape, one.from, one.to))),
              "")
        << one.shape << one.from << one.to;
}

// Six rows in two tiles of three, which are tiles of two and one: not those of four of the array.
TEST(Summands, TilesOfTilesThatAreNoneOfTheArray) {
  EXPECT_EQ(collectives(program(4, R"(
  p = f32[6] parameter(0), sharding={devices=[4]<=[4]}
  ROOT c = f32[6] copy(p), sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}
)")),
            "collective-permute, collective-permute, collective-permute, collective-permute");
}

struct Sum {
  const char *of, *shape;
};
TEST(Summands, StayWhereResultsAreSummandsToo) {
  for (const Sum& one : {
           Sum{"add(x, y)", "f32[4,3]"},
           Sum{"subtract(q, x)", "f32[4,3]"},
           Sum{"negate(x)", "f32[4,3]"},
           Sum{"multiply(p, x)", "f32[4,3]"},
           Sum{"convert(x)", "f64[4,3]"},
           Sum{"select(t, x, q)", "f32[4,3]"},
           Sum{"transpose(x), dimensions={1,0}", "f32[3,4]"},
           Sum{"reshape(x)", "f32[12]"},
           Sum{"broadcast(x), dimensions={0,2}", "f32[4,2,3]"},
           Sum{"concatenate(x, q, y), dimensions={0}", "f32[12,3]"},
           Sum{"slice(x), slice={[1:4:2], [0:3]}", "f32[2,3]"},
           Sum{"pad(x, z), padding=1_0x0_2_1", "f32[5,7]"},
           Sum{"dynamic-slice(x, i, i), dynamic_slice_sizes={2,3}", "f32[2,3]"},
           Sum{"dynamic-update-slice(q, w, i, i)", "f32[4,3]"},
           Sum{"reduce(x, z), dimensions={0}, to_apply=add", "f32[3]"},
       })
    EXPECT_EQ(collectives(program(2, fmt::format(R"(
  p = f32[4,3] parameter(0), sharding={{replicated}}
  q = f32[4,3] parameter(1), sharding={{devices=[2,1]<=[2]}}
  t = pred[4,3] parameter(2), sharding={{replicated}}
  z = f32[] parameter(3)
  i = s32[] parameter(4)
  v = f32[2,3] parameter(5), sharding={{devices=[2,1]<=[2]}}
  x = f32[4,3] copy(p), sharding={{unreduced}}
  y = f32[4,3] copy(q), sharding={{unreduced}}
  w = f32[2,3] copy(v), sharding={{unreduced}}
  ROOT r = {} {}, sharding={{unreduced}}
)",
                                                 one.shape, one.of))),
              "")
        << one.of;
}

TEST(Summands, OthersAreAddedUp) {
  const auto of = [](std::string_view result) {
    return collectives(program(2, fmt::format(R"(
  p = f32[4,4] parameter(0), sharding={{devices=[2,1]<=[2]}}
  x = f32[4,4] dot(p, p), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}, sharding={{unreduced}}
  ROOT r = {}
)",
                                              result)));
  };
  EXPECT_EQ(of("f32[4,4] maximum(x, x), sharding={replicated}"), "reduce-scatter, all-gather");
  EXPECT_EQ(of("f32[4,4] multiply(x, x), sharding={devices=[2,1]<=[2]}"), "reduce-scatter");
  EXPECT_EQ(of("f32[4,4] abs(x), sharding={unreduced}"), "reduce-scatter");
  EXPECT_EQ(of("f16[4,4] convert(x), sharding={unreduced}"), "reduce-scatter");  // rounded once
}

TEST(Summands, AreAddedUpBeforeAnotherMesh) {
  EXPECT_EQ(collectives(program(8, R"(
  p = f32[9,9] parameter(0), sharding={replicated}
  x = f32[9,9] add(p, p), sharding={mesh['a'=2,'b'=4], [{}, {}], unreduced={'b'}}
  ROOT r = f32[9,9] copy(x), sharding={devices=[1,2,4]1,7,6,4,2,5,3,0 last_tile_dim_replicate}
)")),
            "all-reduce");
}

// Six rows are in two tiles of three, then in four of two: no chain of collectives brings them
// there, and each device gets its rows from one that has summands of the same.
TEST(Summands, KeepToTheirOwn) {
  EXPECT_EQ(collectives(program(16, R"(
  p = f32[5,12,5] parameter(0), sharding={replicated}
  x = f32[5,12,5] copy(p), sharding={devices=[2,2,1,4]<=[4,4]T(1,0) last_tile_dims={unreduced}}
  ROOT r = f32[5,12,5] copy(x), sharding={devices=[4,1,1,4]<=[4,4]T(1,0) last_tile_dims={unreduced}}
)"))
                .find("collective-permute"),
            0);
}

TEST(Summands, OfOneNumberEverywhere) {
  EXPECT_EQ(collectives(program(4, R"(
  c = f32[4] constant({3, 3, 3, 3}), sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}
  ROOT r = f32[4] negate(c), sharding={devices=[2,2]<=[4] last_tile_dims={unreduced}}
)")),
            "");
}

// 12 devices as three times four, then as four times three: the axes overlap in part.
TEST(Summands, AlongAxesThatOverlapInPart) {
  EXPECT_EQ(collectives(program(12, R"(
  p = f64[4,9,2,2] parameter(0), sharding={devices=[1,1,1,3,4]<=[12] last_tile_dim_replicate}
  ROOT c = f64[4,9,2,2] copy(p), sharding={devices=[3,1,1,1,4]<=[4,3]T(1,0) last_tile_dims={unreduced}}
)"))
                .find("collective-permute"),
            0);
}

// Products of tiles are no summands of a sum.
TEST(Summands, AreOfOneReduction) {
  EXPECT_EQ(collectives(program(4, R"(
  p = s32[2,2] parameter(0), sharding={devices=[2,2]<=[4]}
  o = s32[] constant(3)
  ROOT r = s32[2] reduce(p, o), dimensions={0}, to_apply=multiply, sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={unreduced}}
)",
                                "multiply { a = s32[] parameter(0)\n b = s32[] parameter(1)\n "
                                "ROOT c = s32[] multiply(a, b) }\n")),
            "all-reduce");
}

// What is given stays whole: the constraint alone is of summands.
TEST(Summands, AreNotAskedOfClients) {
  const Module module = parsed(R"(
HloModule m, num_partitions=2, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
ENTRY e {
  p = (f32[9], s32[9]) parameter(0)
  g = f32[9] get-tuple-element(p), index=0
  c = f32[9] custom-call(g), custom_call_target="Sharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}], unreduced={\"a\"}>]>"}
  ROOT r = f32[9] negate(c)
})");
  EXPECT_EQ(fault_of(module, 1, "sharding-propagation, spmd-partitioner"), "");
}

// What a loop adds up is added over devices once, behind it.
TEST(Summands, AreCarriedByLoops) {
  EXPECT_EQ(collectives(program(2, R"(
  p = f32[4,4] parameter(0), sharding={devices=[2,1]<=[2]}
  z = f32[] constant(0)
  b = f32[4,4] broadcast(z), dimensions={}, sharding={unreduced}
  i = s32[] constant(0)
  t = (f32[4,4], f32[4,4], s32[]) tuple(b, p, i), sharding={{unreduced}, {devices=[2,1]<=[2]}, {replicated}}
  w = (f32[4,4], f32[4,4], s32[]) while(t), condition=condition, body=body, sharding={{unreduced}, {devices=[2,1]<=[2]}, {replicated}}
  s = f32[4,4] get-tuple-element(w), index=0, sharding={unreduced}
  ROOT r = f32[4,4] copy(s), sharding={replicated}
)",
                                R"(
body {
  t = (f32[4,4], f32[4,4], s32[]) parameter(0), sharding={{unreduced}, {devices=[2,1]<=[2]}, {replicated}}
  a = f32[4,4] get-tuple-element(t), index=0, sharding={unreduced}
  p = f32[4,4] get-tuple-element(t), index=1, sharding={devices=[2,1]<=[2]}
  i = s32[] get-tuple-element(t), index=2
  g = f32[4,4] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={unreduced}
  s = f32[4,4] add(a, g), sharding={unreduced}
  c = s32[] constant(1)
  n = s32[] add(i, c)
  ROOT o = (f32[4,4], f32[4,4], s32[]) tuple(s, p, n), sharding={{unreduced}, {devices=[2,1]<=[2]}, {replicated}}
}
condition {
  t = (f32[4,4], f32[4,4], s32[]) parameter(0), sharding={{unreduced}, {devices=[2,1]<=[2]}, {replicated}}
  i = s32[] get-tuple-element(t), index=2
  c = s32[] constant(3)
  ROOT l = pred[] compare(i, c), direction=LT
}
)")),
            "all-reduce");
}

// Halves of six devices and thirds of them are no parts of each other: sums are made before other
// summands.
TEST(Summands, FromAxesToOthersThatOverlapInPart) {
  const std::vector<std::pair<const char*, const char*>> cut_and_summed = {
      {"", ""},         {"(1)2", ""},     {"(1)3", ""},    {"(2)3", ""}, {"(3)2", ""},
      {"", "(1)2"},     {"", "(1)3"},     {"", "(2)3"},    {"", "(3)2"}, {"(1)2", "(2)3"},
      {"(2)3", "(1)2"}, {"(1)3", "(3)2"}, {"(3)2", "(1)3"}};
  const auto axis = [](std::string_view part) {
    return part.empty() ? "" : fmt::format("'x':{}", part);
  };
  std::vector<std::string> all;
  for (const auto& [cut, summed] : cut_and_summed)
    all.push_back(
        fmt::format("{{mesh['x'=6], [{{{}}}], unreduced={{{}}}}}", axis(cut), axis(summed)));
  for (const std::string& before : all)
    for (const std::string& behind : all) {
      const Module module = parsed(fmt::format(R"(HloModule m, num_partitions=6,
frontend_attributes={{xla.sdy.meshes={{mesh = #sdy.mesh<["x"=6]>}}}}
ENTRY e {{
  p = s32[5] parameter(0), sharding={}
  c = s32[5] copy(p), sharding={}
  ROOT r = s32[5] copy(c), sharding={{mesh['x'=6], [{{}}]}}
}})",
                                               before, behind));
      EXPECT_EQ(fault_of(module, 1, "spmd-partitioner"), "") << print(module);
    }
}

}  // namespace
}  // namespace hilo::test
