// scatter of tiles: which combinations of devices' parts are the whole one's, and what untouched
// elements stay.
#include "partition_judge.h"

namespace hilo::test {
namespace {

std::string combiner(std::string_view type, std::string_view op) {
  return fmt::format(
      "combine {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] {1}(a, b) }}\n",
      type, op);
}

std::string fault(std::string_view type, std::string_view op, std::string_view entry) {
  const Module module = parsed(fmt::format("HloModule m, num_partitions=4\n{}ENTRY e {{\n{}}}\n",
                                           combiner(type, op), entry));
  for (const Error& error : verify(module)) return to_string(error);
  std::string out = fault_of(module, 1, "spmd-partitioner");
  return out.empty() ? "" : out + '\n' + print(*partitioned(module, "spmd-partitioner"));
}

constexpr std::string_view ops[] = {"add", "multiply", "maximum", "minimum"};

// min(a + b, c + d) is not min(a, c) + min(b, d): parts of another op meet where both are whole.
TEST(PartitionScatter, ResultsThatAreSummandsOfASum) {
  constexpr std::string_view results[] = {
      "{unreduced}",
      "{devices=[2,2]<=[4] last_tile_dims={unreduced}}",
      "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={unreduced, replicated}}",
  };
  constexpr std::string_view arrays[] = {
      "{devices=[4]<=[4]}",
      "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
      "{replicated}",
      "{unreduced}",
  };
  for (std::string_view op : ops)
    for (std::string_view result : results)
      for (std::string_view array : arrays)
        for (int size : {8, 7})
          EXPECT_EQ(fault("f32", op,
                          fmt::format(R"(
  p = f32[{0}] parameter(0), sharding={{replicated}}
  x = f32[{0}] copy(p), sharding={1}
  i = s32[12] parameter(1), sharding={{devices=[4]<=[4]}}
  u = f32[12] parameter(2), sharding={{devices=[4]<=[4]}}
  ROOT r = f32[{0}] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine, sharding={2}
)",
                                      size, array, result)),
                    "")
              << op << result << array << size;
}

// What no update touches is as it was, -0 too.
TEST(PartitionScatter, ZerosKeepTheirSign) {
  for (std::string_view result : {"{replicated}", "{devices=[4]<=[4]}", "{unreduced}"})
    EXPECT_EQ(fault("f32", "add",
                    fmt::format(R"(
  z = f32[] constant(-0)
  o = f32[] constant(1)
  p = f32[8] broadcast(z), dimensions={{}}, sharding={{replicated}}
  q = f32[8] broadcast(o), dimensions={{}}, sharding={{replicated}}
  m = s32[12] constant({{9,9,9,9,9,9,9,9,9,9,9,9}}), sharding={{devices=[4]<=[4]}}
  u = f32[12] parameter(0), sharding={{devices=[4]<=[4]}}
  r = f32[8] scatter(p, m, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine, sharding={}
  s = f32[8] copy(r), sharding={{replicated}}
  ROOT d = f32[8] divide(q, s), sharding={{replicated}}
)",
                                result)),
              "")
        << result;
}

}  // namespace
}  // namespace hilo::test
