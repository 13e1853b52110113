// Where mhlo.sharding of a function's results stands in HLO.
#include <gtest/gtest.h>

#include "wire/wire.h"

namespace hilo {
namespace {

std::string sharding_of_root(std::string_view results) {
  const std::string text = fmt::format(
      "module attributes {{mhlo.num_partitions = 8 : i32}} {{\n"
      "func.func @main(%a: tensor<8x8xf32>) -> ({}) {{\n"
      "  %0 = stablehlo.negate %a : tensor<8x8xf32>\n"
      "  return %0, %a : tensor<8x8xf32>, tensor<8x8xf32>\n}}}}\n",
      results);
  const auto module =
      read_module(std::as_bytes(std::span(text)), Format::StableHloText, {.file = "m.mlir"}, {});
  if (!module) return to_string(module.error());
  const auto& sharding = module->extra((*module)[(*module)[module->entry].root]).sharding;
  return sharding ? print(*sharding) : "none";
}

TEST(ToModuleSharding, TheTupleOfResultsSaysThatOfEach) {
  EXPECT_EQ(sharding_of_root(R"(tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"},
                                tensor<8x8xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"})"),
            "{{devices=[8,1]<=[8]}, {devices=[1,8]<=[8]}}");
  EXPECT_EQ(sharding_of_root(R"(tensor<8x8xf32>,
                                tensor<8x8xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"})"),
            "{{replicated}, {devices=[1,8]<=[8]}}");
  EXPECT_EQ(sharding_of_root("tensor<8x8xf32>, tensor<8x8xf32>"), "none");
}

}  // namespace
}  // namespace hilo
