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
  constexpr std::string_view ge =
      "ge { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT c = pred[] compare(a, b), direction=GE }\n";
  const Module module = parsed(fmt::format("HloModule m, num_partitions=4\n{}{}ENTRY e {{\n{}}}\n",
                                           combiner(type, op), ge, entry));
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

// Of zeros the greatest is +0 and the least -0, in whatever order devices combine them.
TEST(PartitionScatter, ZerosOfBothSignsAreInOrder) {
  for (std::string_view op : {"maximum", "minimum"})
    for (std::string_view zero : {"0", "-0"})
      for (std::string_view result : {"{replicated}", "{devices=[4]<=[4]}", "{unreduced}"})
        EXPECT_EQ(fault("f32", op,
                        fmt::format(R"(
  z = f32[] constant({})
  o = f32[] constant(1)
  p = f32[4] broadcast(z), dimensions={{}}, sharding={{replicated}}
  q = f32[4] broadcast(o), dimensions={{}}, sharding={{replicated}}
  m = s32[8] constant({{0,0,1,1,2,2,3,9}}), sharding={{devices=[4]<=[4]}}
  u = f32[8] constant({{0,-0,-0,0,-0,-0,0,0}}), sharding={{devices=[4]<=[4]}}
  r = f32[4] scatter(p, m, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine, sharding={}
  s = f32[4] copy(r), sharding={{replicated}}
  ROOT d = f32[4] divide(q, s), sharding={{replicated}}
)",
                                    zero, result)),
                  "")
            << op << zero << result;
}

// Windows of padding add nothing either.
TEST(PartitionScatter, ZerosUnderWindowsKeepTheirSign) {
  EXPECT_EQ(fault("f32", "add", R"(
  s = f32[4] parameter(0), sharding={devices=[4]<=[4]}
  p = f32[13] parameter(1), sharding={devices=[4]<=[4]}
  z = f32[] constant(-0)
  o = f32[] constant(1)
  q = f32[13] broadcast(o), dimensions={}, sharding={devices=[4]<=[4]}
  a = f32[13] abs(p), sharding={devices=[4]<=[4]}
  r = f32[13] select-and-scatter(a, s, z), window={size=2 stride=3}, select=ge, scatter=combine, sharding={devices=[4]<=[4]}
  ROOT d = f32[13] divide(q, r), sharding={devices=[4]<=[4]}
)"),
            "");
}

// What the program says of the order of its indices is not so of those that a device has made of
// them, nor of padding.
TEST(PartitionScatter, IndicesAreSortedAndUniqueWhereTheyAreTheProgramsOwn) {
  const auto says = [](std::string_view array, std::string_view indices, int rows) {
    const Module module = parsed(fmt::format(R"(HloModule m, num_partitions=4
{}
ENTRY e {{
  p = f32[8,4] parameter(0), sharding={}
  i = s32[{}] parameter(1), sharding={}
  u = f32[{},4] parameter(2)
  r = f32[8,4] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=combine, sharding={}
  ROOT g = f32[{},4] gather(r, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, indices_are_sorted=true, slice_sizes={{1,4}}, sharding={}
}})",
                                             combiner("f32", "add"), array, rows, indices, rows,
                                             array, rows, "{devices=[4,1]<=[4]}"));
    const std::string text = print(*partitioned(module, "spmd-partitioner"));
    std::string out;
    for (std::string_view flag : {"indices_are_sorted=true", "unique_indices=true"})
      for (size_t at = text.find("ENTRY"); (at = text.find(flag, at)) != std::string::npos; ++at)
        out += flag.substr(0, 1);
    return out;
  };
  EXPECT_EQ(says("{replicated}", "{devices=[4]<=[4]}", 8), "iiu");
  EXPECT_EQ(says("{replicated}", "{devices=[4]<=[4]}", 7), "iu");   // the scatter's are gathered
  EXPECT_EQ(says("{devices=[4,1]<=[4]}", "{replicated}", 8), "i");  // rows of columns
}

}  // namespace
}  // namespace hilo::test
