// Rules of StableHLO's ops: what breaks one is an error of its op and line.
#include <gtest/gtest.h>

#include "text/text.h"
#include "wire/wire.h"

namespace hilo {
namespace {

Result<Module> read(std::string_view arguments, std::string_view ops) {
  const std::string text = fmt::format("func.func @main({}) {{\n{}\nreturn }}\n", arguments, ops);
  return read_module(std::as_bytes(std::span(text)), Format::StableHloText, {.file = "m.mlir"});
}

struct Mistake {
  const char *arguments, *ops, *part;  // an empty part: it is read
};

void expect(std::span<const Mistake> cases) {
  for (const Mistake& one : cases) {
    const auto module = read(one.arguments, one.ops);
    const std::string error = module ? "" : to_string(module.error());
    if (*one.part == '\0') {
      EXPECT_TRUE(module) << error;
      continue;
    }
    ASSERT_FALSE(module) << one.ops;
    EXPECT_TRUE(module.error().message.contains(one.part)) << error;
    EXPECT_EQ(module.error().place.line, 2) << error;
    EXPECT_FALSE(module.error().place.op.empty()) << error;
  }
}

TEST(OpRules, CallsOfChloByNameTakeWhatItsOpsTake) {
  const Mistake cases[] = {
      {"%a: tensor<2xf32>",
       "%0 = stablehlo.custom_call @mhlo.erf(%a) : (tensor<2xf32>) -> tensor<2xf32>", ""},
      {"%a: tensor<2xf32>",
       "%0 = stablehlo.custom_call @mhlo.erf(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> "
       "tensor<2xf32>",
       "'mhlo.erf' takes arrays, 1 of them, and gives 1"},
      {"%a: tensor<2xf32>", "%0 = stablehlo.custom_call @mhlo.erf() : () -> tensor<2xf32>",
       "'mhlo.erf' takes arrays, 1 of them, and gives 1"},
      {"%a: tensor<2xf32>",
       "%0 = stablehlo.custom_call @mhlo.topk(%a) : (tensor<2xf32>) -> tensor<1xf32>",
       "'mhlo.topk' takes arrays, 1 of them, and gives 2"},
  };
  expect(cases);
}

TEST(OpRules, SettingsOfAnApproximateTopKAreIntegers) {
  const std::string call =
      "%0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %x, %n) {{mhlo.backend_config = {{top_k = "
      "{},"
      " reduction_dim = {}}}}} : (tensor<6xf32>, tensor<6xi32>, tensor<f32>, tensor<i32>) -> "
      "(tensor<4xf32>, tensor<4xi32>)";
  const char* arguments = "%a: tensor<6xf32>, %i: tensor<6xi32>, %x: tensor<f32>, %n: tensor<i32>";
  const std::string good = fmt::format(fmt::runtime(call), "4 : i64", "0 : i64"),
                    text = fmt::format(fmt::runtime(call), "4 : i64", "\"0\""),
                    flag = fmt::format(fmt::runtime(call), "true", "0 : i64");
  const Mistake cases[] = {{arguments, good.c_str(), "expected one comparator"},
                           {arguments, text.c_str(), "expected top_k, reduction_dim"},
                           {arguments, flag.c_str(), "expected top_k, reduction_dim"}};
  expect(cases);
}

TEST(OpRules, RegionsTakeWhatTheyAreGiven) {
  const Mistake cases[] = {
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.while"(%a) ({ ^bb0(%i: tensor<3xf32>):
            %c = stablehlo.constant dense<false> : tensor<i1>
            stablehlo.return %c : tensor<i1> }, { ^bb0(%i: tensor<2xf32>):
            stablehlo.return %i : tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>)",
       "argument 0 of a region is f32[3], and f32[2] is given"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.while"(%a) ({ ^bb0(%i: tensor<2xf32>):
            %c = stablehlo.constant dense<false> : tensor<i1>
            stablehlo.return %c : tensor<i1> }, { ^bb0(%i: tensor<2xf64>):
            stablehlo.return %a : tensor<2xf32> }) : (tensor<2xf32>) -> tensor<2xf32>)",
       "argument 0 of a region is f64[2], and f32[2] is given"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.async_start"(%a) ({ ^bb0(%x: tensor<2xf32>):
            %1 = stablehlo.add %x, %x : tensor<2xf32>
            stablehlo.return %1 : tensor<2xf32> }) :
            (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>)",
       "expected a collective or a slice, found stablehlo.add"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.async_start"(%a) ({ ^bb0(%x: tensor<2xf32>):
            %1 = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
            %2 = stablehlo.slice %1 [0:1] : (tensor<1xf32>) -> tensor<1xf32>
            stablehlo.return %2 : tensor<1xf32> }) :
            (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>)",
       "expected one op and a return, found 3 ops"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.async_start"(%a) ({ ^bb0(%x: tensor<2xf32>):
            %1 = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
            stablehlo.return %1 : tensor<1xf32> }) :
            (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>)",
       ""},
      {"%a: tensor<4xf32>, %z: tensor<f32>",
       R"(%0 = "stablehlo.reduce"(%a, %z) ({ ^bb0(%x: tensor<i32>, %y: tensor<i32>):
            %s = stablehlo.add %x, %y : tensor<i32>
            stablehlo.return %s : tensor<i32> }) {dimensions = array<i64: 0>} :
            (tensor<4xf32>, tensor<f32>) -> tensor<i32>)",
       "operand 0 of f32 cannot become s32"},
  };
  expect(cases);
}

TEST(OpRules, RegionsOfScalars) {
  const Mistake cases[] = {
      {"%a: tensor<4xf32>, %z: tensor<f32>",
       R"(%0 = "stablehlo.reduce"(%a, %z) ({ ^bb0(%x: tensor<f32>, %y: tensor<f64>):
            stablehlo.return %x : tensor<f32> }) {dimensions = array<i64: 0>} :
            (tensor<4xf32>, tensor<f32>) -> tensor<f32>)",
       "expected a region (f32[], f32[]) -> (f32[]), found (f32[], f64[]) -> (f32[])"},
      {"%a: tensor<4xf32>",
       R"(%0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            stablehlo.return %x, %y : tensor<f32>, tensor<f32> }) {
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} :
            (tensor<4xf32>) -> tensor<4xf32>)",
       "found (f32[], f32[]) -> (f32[], f32[])"},
      {"%a: tensor<4xf32>",
       R"(%0 = "stablehlo.sort"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            stablehlo.return %x : tensor<f32> }) {dimension = 0 : i64, is_stable = true} :
            (tensor<4xf32>) -> tensor<4xf32>)",
       "expected a region (f32[], f32[]) -> (pred[]), found (f32[], f32[]) -> (f32[])"},
      {"%a: tensor<4xf32>",
       R"(%0 = "stablehlo.map"(%a) ({ ^bb0(%x: tensor<i32>):
            stablehlo.return %x : tensor<i32> }) {dimensions = array<i64: 0>} :
            (tensor<4xf32>) -> tensor<4xi32>)",
       "expected a region (f32[]) -> (s32[]), found (s32[]) -> (s32[])"},
      {"%a: tensor<4xf32>, %s: tensor<2xf32>, %z: tensor<f32>",
       R"(%0 = "stablehlo.select_and_scatter"(%a, %s, %z) ({ ^bb0(%x: tensor<f32>):
            %c = stablehlo.constant dense<true> : tensor<i1>
            stablehlo.return %c : tensor<i1> }, { ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            stablehlo.return %x : tensor<f32> }) {window_dimensions = array<i64: 2>,
            window_strides = array<i64: 2>} :
            (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>)",
       "found (f32[]) -> (pred[])"},
  };
  expect(cases);
}

TEST(OpRules, Branches) {
  const Mistake cases[] = {
      {"%p: tensor<1xi1>",
       R"(%0 = "stablehlo.if"(%p) ({ stablehlo.return %p : tensor<1xi1> },
            { stablehlo.return %p : tensor<1xi1> }) : (tensor<1xi1>) -> tensor<1xi1>)",
       "expected pred[] as operand 0, found pred[1]"},
      {"%i: tensor<i64>",
       R"(%0 = "stablehlo.case"(%i) ({ stablehlo.return %i : tensor<i64> }) :
            (tensor<i64>) -> tensor<i64>)",
       "expected s32[] as operand 0, found s64[]"},
  };
  expect(cases);
}

TEST(OpRules, Collectives) {
  const Mistake cases[] = {
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.collective_permute"(%a) {
            source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "1 stands twice among the targets"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.collective_permute"(%a) {
            source_target_pairs = dense<[[-1, 1]]> : tensor<1x2xi64>} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "a device -1"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, use_global_device_ids,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} :
            (tensor<2xf32>) -> tensor<4xf32>)",
       "expected a channel beside use_global_device_ids"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64,
            replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} :
            (tensor<2xf32>) -> tensor<4xf32>)",
       "expected the ids 0 to 1"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 0 : i64,
            split_count = 2 : i64, replica_groups = dense<0> : tensor<0x1xi64>} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "expected replica_groups of 2 members, found 1"},
      {"%a: tensor<2xf32>",
       R"(%0 = "stablehlo.collective_permute"(%a) {
            source_target_pairs = dense<[[0, 1, 2], [1, 2, 0]]> : tensor<2x3xi64>} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "'source_target_pairs' is not pairs of i64"},
      {"%a: tensor<2xf32>, %r: tensor<1xf32>",
       R"(%0 = "stablehlo.collective_broadcast"(%a, %r) {has_dynamic_root,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} :
            (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>)",
       "expected s32[1] as roots, the last operand, found f32[1]"},
      {"%a: tensor<2xf32>",
       R"(%0:2 = "stablehlo.collective_reduce"(%a, %a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            stablehlo.return %x : tensor<f32> }) {has_dynamic_root,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} :
            (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>))",
       "expected s32[1] as roots"},
  };
  expect(cases);
}

TEST(OpRules, Transfers) {
  const Mistake cases[] = {
      {"%a: tensor<2xf32>, %t: !stablehlo.token",
       R"(%0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1,
            type = 2>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token)",
       "expected channel type 1"},
      {"%a: tensor<2xf32>, %t: !stablehlo.token",
       R"(%0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1,
            type = 2>, is_host_transfer = true} :
            (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token)",
       ""},
      {"%t: !stablehlo.token",
       R"(%0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1,
            type = 1>} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token))",
       "expected an array as result 0"},
      {"%t: !stablehlo.token",
       R"(%0:2 = "stablehlo.infeed"(%t) {infeed_config = "", layout = [[0], [0]]} :
            (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token))",
       "expected 1 layouts, found 2"},
      {"%t: !stablehlo.token",
       R"(%0:2 = "stablehlo.infeed"(%t) {infeed_config = "", layout = [0]} :
            (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token))",
       "a list of integers"},
      {"%t: !stablehlo.token",
       R"(%0:2 = "stablehlo.infeed"(%t) {infeed_config = "", layout = [[0]]} :
            (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token))",
       ""},
  };
  expect(cases);
}

TEST(OpRules, Products) {
  const std::string dot = R"(%0 = "stablehlo.dot_general"(%a, %a) <{{dot_dimension_numbers =
       #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
       precision_config = [{0}], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32,
       rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = {1},
       rhs_component_count = 1, num_primitive_operations = 1,
       allow_imprecise_accumulation = {2}>}}> : (tensor<2x2xf32>, tensor<2x2xf32>) ->
       tensor<2x2xf32>)";
  const std::string highest = "#stablehlo<precision HIGHEST>",
                    plain = "#stablehlo<precision DEFAULT>";
  const std::tuple<std::string, int, bool, const char*> algorithms[] = {
      {highest, 1, false, "expected precisions DEFAULT beside an algorithm"},
      {plain + ", " + plain + ", " + plain, 1, false, "found 3"},
      {plain, 0, false, "expected a positive lhs_component_count"},
      {plain, 3, false, "an algorithm of lhs_component_count 3"},
      {plain, 1, true, "imprecise"},
      {plain + ", " + plain, 1, false, ""},
  };
  for (const auto& [precisions, components, is_imprecise, part] : algorithms) {
    const std::string ops = fmt::format(fmt::runtime(dot), precisions, components, is_imprecise);
    expect({{Mistake{"%a: tensor<2x2xf32>", ops.c_str(), part}}});
  }
  const Mistake cases[] = {
      {"%a: tensor<1x4x4x1xf32>, %k: tensor<3x3x1x1xf16>",
       R"(%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
            (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf16>) -> tensor<1x2x2x1xf32>)",
       "expected operands of one element type"},
      {"%a: tensor<1x4x4x1xf32>, %k: tensor<3x3x1x1xf32>",
       R"(%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {reverse = [false]} {batch_group_count = 1 : i64,
            feature_group_count = 1 : i64} :
            (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x2x2x1xf32>)",
       "expected 2 booleans as window_reversal, found 1"},
      {"%a: tensor<4x4xf32>",
       R"(%0 = "stablehlo.triangular_solve"(%a, %a) {left_side = true, lower = true,
            unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>} :
            (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>)",
       "transpose_a has no value 'TRANSPOSE_INVALID'"},
      {"%l: tensor<4x6x5xf32>, %r: tensor<3x4x5x7xf32>, %s: tensor<6x3xi64>",
       R"(%0 = "chlo.ragged_dot"(%l, %r, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
            lhs_batching_dimensions = [0], rhs_batching_dimensions = [1],
            lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2],
            lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} :
            (tensor<4x6x5xf32>, tensor<3x4x5x7xf32>, tensor<6x3xi64>) -> tensor<4x6x7xf32>)",
       "expected group sizes of dimensions {4,3}, found s64[6,3]"},
  };
  expect(cases);
}

TEST(OpRules, ConstantsCallsAndShapes) {
  const Mistake cases[] = {
      {"",
       R"(%0 = "stablehlo.constant"() {value = dense<1> : tensor<2xui8>} : () ->
            tensor<2x!quant.uniform<i8:f32, 2.0:15>>)",
       "values of u8 for a quantised type stored as s8"},
      {"",
       R"(%0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi8>} : () ->
            tensor<2x!quant.uniform<u8:f32, 2.0:15>>)",
       ""},
      {"%a: tensor<2xi64>",
       R"(%0 = "chlo.constant_like"(%a) {value = 3.2 : f32} : (tensor<2xi64>) -> tensor<2xi64>)",
       "a value of f32"},
      {"%a: tensor<?x?xf32, #stablehlo.bounds<5, 5>>",
       R"(%0 = stablehlo.reshape %a : (tensor<?x?xf32, #stablehlo.bounds<5, 5>>) ->
            tensor<?x?xf32, #stablehlo.bounds<5, 5>>)",
       "more than one bounded dimension"},
      {"%a: tensor<f32>",
       R"(%s = stablehlo.constant dense<7> : tensor<1xi64>
          %0 = "stablehlo.rng"(%a, %a, %s) {
            rng_distribution = #stablehlo<rng_distribution NORMAL>} :
            (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<7xf32>)",
       ""},
      {"%a: tensor<2xf32>",
       R"(%0 = stablehlo.custom_call @f(%a) {operand_layouts = [dense<0> : tensor<1xindex>]} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "expected operand_layouts and result_layouts, or neither"},
      {"%t: !stablehlo.token",
       R"("stablehlo.custom_call"(%t) {call_target_name = "f", result_layouts = [],
            operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (!stablehlo.token) -> ())",
       "only arrays have a layout"},
      {"%a: tensor<2xf32>",
       R"(%0 = stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = "x"} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "expected a dictionary as backend_config"},
      {"%a: tensor<2xf32>",
       R"(%0 = stablehlo.custom_call @f(%a) {api_version = 3 : i32,
            backend_config = {x = 1 : i32}} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       "expected a text as backend_config"},
      {"%a: tensor<2xf32>",
       R"(%0 = stablehlo.custom_call @f(%a) {api_version = 4 : i32,
            backend_config = {x = 1 : i32}} :
            (tensor<2xf32>) -> tensor<2xf32>)",
       ""},
  };
  expect(cases);
  for (const auto& [sizes, type, part] :
       {std::tuple("dense<7>", "tensor<1xi64>", "the shape is f32[7], the result f32[12]"),
        std::tuple("dense<[[12]]>", "tensor<1x1xi64>", "expected a shape of one dimension")}) {
    const auto module =
        read("%a: tensor<f32>",
             fmt::format("%s = stablehlo.constant {0} : {1}\n%0 = \"stablehlo.rng\"(%a, %a, %s) "
                         "{{rng_distribution = #stablehlo<rng_distribution NORMAL>}} : "
                         "(tensor<f32>, tensor<f32>, {1}) -> tensor<12xf32>",
                         sizes, type));
    ASSERT_FALSE(module) << part;
    EXPECT_TRUE(module.error().message.contains(part)) << to_string(module.error());
    EXPECT_EQ(module.error().place.line, 3);
  }
}

// It stands in the module, and goes out again where the release that is written has it.
TEST(OpRules, AccuraciesOfResults) {
  const std::string op = R"(%0 = stablehlo.tanh %a {{result_accuracy = #stablehlo.result_accuracy<
      atol = {}, rtol = 0.5, ulps = 0, mode = #stablehlo.result_accuracy_mode<{}>>}} :
      tensor<2xf32>)";
  const auto module = read("%a: tensor<2xf32>", fmt::format(fmt::runtime(op), "1.0", "TOLERANCE"));
  ASSERT_TRUE(module) << to_string(module.error());
  const std::string text = print(*module, PrintStyle::compact());
  EXPECT_TRUE(text.contains("result_accuracy={tolerance={atol=1,rtol=0.5}}")) << text;
  for (const Format format : {Format::StableHloText, Format::StableHloBytecode}) {
    const auto written = convert(*module, format);
    ASSERT_TRUE(written) << to_string(written.error());
    const auto again = read_module(std::as_bytes(std::span(*written)), format, {});
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_TRUE(print(*again, PrintStyle::compact()).contains("{tolerance={atol=1,rtol=0.5}}"));
  }
  std::vector<Warning> warnings;
  EXPECT_TRUE(convert(*module, Format::StableHloBytecode,
                      {.stablehlo_version = "1.0.0", .warnings = &warnings}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].message.contains("accuracies of results")) << warnings[0].message;
  const auto mistake = read("%a: tensor<2xf32>", fmt::format(fmt::runtime(op), "1.0", "HIGHEST"));
  ASSERT_FALSE(mistake);
  EXPECT_TRUE(mistake.error().message.contains("mode HIGHEST has no tolerances"))
      << to_string(mistake.error());
}

}  // namespace
}  // namespace hilo
