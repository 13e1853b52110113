#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "eval/eval.h"
#include "wire/wire.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

Result<Module> read(std::string_view text, std::span<const Shape> shapes = {}) {
  return read_module(std::as_bytes(std::span(text)), Format::StableHloText, {.file = "m.mlir"},
                     shapes);
}

// The module in short text, or the error.
std::string converted(std::string_view text, std::span<const Shape> shapes = {}) {
  const auto module = read(text, shapes);
  return module ? print(*module, PrintStyle::compact()) : to_string(module.error());
}

// A main function of these arguments, results and ops.
std::string program(std::string_view arguments, std::string_view results, std::string_view ops) {
  return fmt::format("func.func @main({}) -> ({}) {{\n{}\n}}\n", arguments, results, ops);
}

struct Case {
  const char *name, *arguments, *results, *ops;
  std::vector<const char*> expected;  // parts of the HLO text
};

const Case cases[] = {
    {"scalars are broadcast",
     "%a: tensor<4xf32>, %l: tensor<f32>, %p: tensor<i1>",
     "tensor<4xf32>",
     R"(%0 = stablehlo.clamp %l, %a, %l : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
        %1 = stablehlo.select %p, %a, %0 : tensor<i1>, tensor<4xf32>
        return %1 : tensor<4xf32>)",
     {"f32[4]{0} clamp(broadcast", "= pred[4]{0} broadcast(p"}},
    {"dimensions of 1 are dropped",
     "%a: tensor<1x3xf32>",
     "tensor<3x2xf32>",
     R"(%0 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x2xf32>
        return %0 : tensor<3x2xf32>)",
     {"= f32[3]{0} reshape(a.0)", "= f32[3,2]{1,0} broadcast(", "dimensions={0}"}},
    {"a splat is a broadcast",
     "",
     "tensor<1000000x1000000xi8>",
     R"(%0 = stablehlo.constant dense<3> : tensor<1000000x1000000xi8>
        return %0 : tensor<1000000x1000000xi8>)",
     {"= s8[] constant(3)", "s8[1000000,1000000]{1,0} broadcast("}},
    {"total order",
     "%a: tensor<f32>",
     "tensor<i1>",
     R"(%0 = stablehlo.compare LT, %a, %a, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        return %0 : tensor<i1>)",
     {"direction=LT, type=TOTALORDER"}},
    {"constants are copied into branches",
     "%p: tensor<i1>",
     "tensor<2xf32>",
     R"(%c = stablehlo.constant dense<3.0> : tensor<2xf32>
        %0 = "stablehlo.if"(%p) ({ stablehlo.return %c : tensor<2xf32> },
          { %n = stablehlo.negate %c : tensor<2xf32>
            stablehlo.return %n : tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>
        return %0 : tensor<2xf32>)",
     {"true_branch {\n  arg.", "= () parameter(0)", "conditional(p.0, tuple."}},
    {"captured values are loop state",
     "%a: tensor<f32>",
     "tensor<f32>",
     R"(%0 = stablehlo.while(%i = %a) : tensor<f32> cond {
          %l = stablehlo.compare LT, %i, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %l : tensor<i1>
        } do { stablehlo.return %i : tensor<f32> }
        return %0 : tensor<f32>)",
     {"(f32[], f32[]) while(", "tuple(a.0, a.0)"}},
    {"a reducer may be wider than what it reduces",
     "%a: tensor<4xf32>, %z: tensor<f32>",
     "tensor<f64>",
     R"(%0 = "stablehlo.reduce"(%a, %z) ({ ^bb0(%x: tensor<f64>, %y: tensor<f64>):
            %s = stablehlo.add %x, %y : tensor<f64>
            stablehlo.return %s : tensor<f64> }) {dimensions = array<i64: 0>} :
          (tensor<4xf32>, tensor<f32>) -> tensor<f64>
        return %0 : tensor<f64>)",
     {"= f64[4]{0} convert(a.0)", "= f64[] reduce("}},
    {"sums over replicas by their old name",
     "%a: tensor<4xf32>",
     "tensor<4xf32>",
     R"(%0 = "stablehlo.cross-replica-sum"(%a) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} :
          (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>)",
     {"= f32[4]{0} all-reduce(a.0), replica_groups={{0}}"}},
    {"products of whole numbers in wider ones",
     "%a: tensor<2x3xi8>",
     "tensor<2x2xi32>",
     R"(%0 = stablehlo.einsum %a, %a, config = "ab,cb->ac" :
          (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x2xi32>
        return %0 : tensor<2x2xi32>)",
     {"= s32[2,3]{1,0} convert(", "= s32[2,2]{1,0} dot("}},
    {"bounds by their old name, constants of another dialect",
     "%a: tensor<?xf32, #stablehlo.type_extensions<bounds = [4]>>",
     "tensor<2xf32>",
     R"(%0 = arith.constant dense<2.0> : tensor<2xf32>
        return %0 : tensor<2xf32>)",
     {"f32[<=4]{0} parameter(0)", "f32[] constant(2)"}},
    {"casts to open dimensions, constants of quantised types",
     "%a: tensor<4xi8>",
     "tensor<4xi8>, tensor<2x!quant.uniform<i8:f32, 2.0:15>>",
     R"(%0 = tensor.cast %a : tensor<4xi8> to tensor<?xi8>
        %1 = tensor.cast %0 : tensor<?xi8> to tensor<4xi8>
        %2 = stablehlo.constant() {value = dense<[1, 2]> : tensor<2xi8>} :
          () -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>
        return %1, %2 : tensor<4xi8>, tensor<2x!quant.uniform<i8:f32, 2.0:15>>)",
     {"= s8[2]{0} constant({1, 2})", "tuple(a.0, "}},
    {"a reducer copies constants",
     "%a: tensor<4xf32>",
     "tensor<f32>",
     R"(%c = stablehlo.constant dense<2.0> : tensor<f32>
        %0 = stablehlo.reduce(%a init: %c) across dimensions = [0]
            : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
            reducer(%x: tensor<f32>, %y: tensor<f32>) {
          %s = stablehlo.add %x, %y : tensor<f32>
          %m = stablehlo.multiply %s, %c : tensor<f32>
          stablehlo.return %m : tensor<f32>
        }
        return %0 : tensor<f32>)",
     {"reduce_body {", "constant(2)\n  ", "dimensions={0}, to_apply=reduce_body"}},
    {"split and concatenated dimensions differ",
     "%a: tensor<4x4xf32>",
     "tensor<2x8xf32>",
     R"(%0 = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64,
            split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
            : (tensor<4x4xf32>) -> tensor<2x8xf32>
        return %0 : tensor<2x8xf32>)",
     {"f32[2,2,4]{2,1,0} all-to-all(", "replica_groups={{0,1}}, dimensions={0}",
      "dimensions={1,0,2}"}},
    {"typed calls and layouts",
     "%a: tensor<2x3xf32>",
     "tensor<2x3xf32>",
     R"(%0 = stablehlo.custom_call @f(%a) {mhlo.backend_config = {lower = true, uplo = 76 : ui8},
            operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
            result_layouts = [dense<[0, 1]> : tensor<2xindex>],
            output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [],
              operand_index = 0, operand_tuple_indices = []>]}
            : (tensor<2x3xf32>) -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32>)",
     {"f32[2,3]{0,1} custom-call(a.0)", "operand_layout_constraints={f32[2,3]{0,1}}",
      "output_to_operand_aliasing={{}: (0, {})}", "api_version=API_VERSION_TYPED_FFI"}},
    {"a custom call that is an op",
     "%a: tensor<6xf32>",
     "tensor<3xf32>, tensor<3xi32>",
     R"(%0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 3 : i64}}
            : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xi32>)
        return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>)",
     {"topk(a.0), k=3, largest=true"}},
    {"rows of an approximate top k that are not aggregated",
     "%a: tensor<6xf32>, %i: tensor<6xi32>, %x: tensor<f32>, %n: tensor<i32>",
     "tensor<4xf32>, tensor<4xi32>",
     R"(%0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %x, %n) {called_computations = [@before],
            mhlo.backend_config = {aggregate_to_topk = false, reduction_dim = 0 : i64,
              top_k = 2 : i64}}
            : (tensor<6xf32>, tensor<6xi32>, tensor<f32>, tensor<i32>)
            -> (tensor<4xf32>, tensor<4xi32>)
        return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
        }
        func.func private @before(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>,
                                  %j: tensor<i32>) -> tensor<i1> {
        %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        return %0 : tensor<i1>)",
     {"f32[4]{0} slice(", "s32[4]{0} slice(", "slice={[0:4]}"}},
    {"einsum",
     "%a: tensor<5x2x3xf32>, %b: tensor<3x5x4xf32>",
     "tensor<4x5x2xf32>",
     R"(%0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,jbk->kbi"}
            : (tensor<5x2x3xf32>, tensor<3x5x4xf32>) -> tensor<4x5x2xf32>
        return %0 : tensor<4x5x2xf32>)",
     {"lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}",
      "dimensions={2,0,1}"}},
    {"arguments share results",
     "%a: tensor<4xf32> {tf.aliasing_output = 1 : i32}, "
     "%b: tensor<2xf32> {jax.buffer_donor = true}",
     "tensor<2xf32>, tensor<4xf32>",
     "return %b, %a : tensor<2xf32>, tensor<4xf32>",
     {"input_output_alias={ {1}: (0, {}, may-alias) }", "buffer_donor={ (1, {}) }"}},
    {"quantised ops",
     "%a: tensor<2x!quant.uniform<i8:f32, 0.5:3>>",
     "tensor<2x!quant.uniform<i8:f32, 0.5:3>>",
     R"(%0 = stablehlo.add %a, %a : tensor<2x!quant.uniform<i8:f32, 0.5:3>>
        return %0 : tensor<2x!quant.uniform<i8:f32, 0.5:3>>)",
     {"= f32[2]{0} convert(a.0)", "round-nearest-even(", "ROOT ", "= s8[2]{0} convert("}},
};

TEST(ToModule, OpsBecomeThoseOfHlo) {
  for (const Case& one : cases) {
    const std::string text = converted(program(one.arguments, one.results, one.ops));
    for (const char* part : one.expected)
      EXPECT_NE(text.find(part), std::string::npos) << one.name << ": " << part << "\n" << text;
  }
}

// What HLO has not, on the devices of a module: each device's result.
std::vector<double> results(int partitions, std::string_view op) {
  const std::string text = fmt::format(
      R"(module @m attributes {{mhlo.num_partitions = {} : i32}} {{
        func.func @main(%a: tensor<1xf32>) -> tensor<1xf32> {{
          %root = stablehlo.constant dense<1> : tensor<1xi32>
          %r = {}
          return %r : tensor<1xf32>
        }}
      }})",
      partitions, op);
  const auto module = read(text);
  EXPECT_TRUE(module) << to_string(module.error());
  if (!module) return {};
  Inputs inputs;
  for (int d = 0; d < partitions; ++d) {
    Literal one = Literal::zeros(Shape::array(ElementType::F32, {1}));
    one.mutable_data<float>()[0] = static_cast<float>(d + 1);
    inputs.devices.push_back({std::move(one)});
  }
  const auto outputs = evaluate(*module, std::move(inputs));
  EXPECT_TRUE(outputs) << to_string(outputs.error());
  std::vector<double> out;
  if (outputs)
    for (const Literal& each : outputs->devices) out.push_back(each.number_at(0));
  return out;
}

TEST(ToModule, ACollectiveReduceLeavesTheSumWithTheRoot) {
  const auto reduce = [](std::string_view operands, std::string_view types,
                         std::string_view attributes) {
    return results(3, fmt::format(R"("stablehlo.collective_reduce"(%a{}) ({{
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %s = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %s : tensor<f32> }}) {{{}
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}} :
          (tensor<1xf32>{}) -> tensor<1xf32>)",
                                  operands, attributes, types));
  };
  EXPECT_EQ(reduce("", "", "replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>,"),
            (std::vector<double>{0, 0, 6}));
  EXPECT_EQ(reduce(", %root", ", tensor<1xi32>",
                   "has_dynamic_root = true, "
                   "replica_groups = dense<[[2, 0, 1]]> : tensor<1x3xi64>,"),
            (std::vector<double>{6, 0, 0}));
  EXPECT_EQ(reduce("", "", "replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>,"),
            (std::vector<double>{4, 2, 0}));
}

TEST(ToModule, ElidedConstantsHaveMadeUpValues) {
  const std::string text = program("", "tensor<3xi32>",
                                   R"(%0 = stablehlo.constant dense_resource<__elided__> :
                                        tensor<3xi32>
                                      return %0 : tensor<3xi32>)");
  std::vector<Warning> warnings;
  const auto module = read_module(std::as_bytes(std::span(text)), Format::StableHloText,
                                  {.file = "m.mlir", .warnings = &warnings});
  ASSERT_TRUE(module) << to_string(module.error());
  EXPECT_NE(print(*module, PrintStyle::compact()).find("constant({...})"), std::string::npos);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].place.line, 2);
  EXPECT_NE(warnings[0].message.find("made-up"), std::string::npos);
  EXPECT_NE(converted(program("", "tensor<3xi32>",
                              R"(%0 = stablehlo.constant dense_resource<weights> : tensor<3xi32>
                                 return %0 : tensor<3xi32>)"))
                .find("the resource 'weights' is not in the file"),
            std::string::npos);
}

TEST(ToModule, FormsOfMlirAreKnownByTheirBegin) {
  for (const std::string_view text :
       {"module @m {}", "func.func @main() { return }", "sdy.mesh @m = <[]>",
        "func.func private @f()", "#loc = loc(unknown)\nmodule {}", "!q = tensor<f32>\nmodule {}",
        "\n#map = affine_map<(d) ->\n (d)>\nmodule {}", "\"builtin.module\"() ({}) : () -> ()",
        "ML\xefRx"})
    EXPECT_EQ(detect_format(std::as_bytes(std::span(text))),
              text.starts_with("ML") ? Format::StableHloBytecode : Format::StableHloText)
        << text;
  for (const std::string_view text : {"add.f32 {\n", "a.b = f32[] add(c, d)", "e.main (p: f32[])"})
    EXPECT_EQ(detect_format(std::as_bytes(std::span(text))), Format::HloText) << text;
}

TEST(ToModule, FunctionsAreCalledAndRecursionIsAnError) {
  const std::string text = converted(R"(module @two {
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%a) : (tensor<f32>) -> tensor<f32>
  %1 = call @f(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @unused(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }
})");
  EXPECT_NE(text.find("HloModule two"), std::string::npos) << text;
  EXPECT_NE(text.find("\nf {"), std::string::npos) << text;
  EXPECT_EQ(text.find("unused"), std::string::npos) << text;
  const auto circle = read(R"(module {
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @main(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}})");
  ASSERT_FALSE(circle);
  EXPECT_EQ(circle.error().kind, ErrorKind::Structure);
}

TEST(ToModule, ShardingsAreThoseOfTheMesh) {
  const std::string text = converted(R"(module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
    %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2}, {}]>},
    %d: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}})");
  for (const char* part : {"sharding={devices=[4,2]<=[2,4]T(1,0)}",
                           "sharding={devices=[1,2,4]<=[8] last_tile_dim_replicate}",
                           "sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}",
                           "parameter(3), sharding={devices=[8,1]<=[8]}",
                           "custom_call_target=\"Sharding\", sharding={devices=[8,1]<=[8]}"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ToModule, CollectivesOfShardyKeepTheValueAndModulesMayBeNested) {
  const std::string text = converted(R"(module @outer { module @inner {
    sdy.mesh @m = #sdy.mesh<["x"=2, "y"=2]>
    func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
      %c = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[#sdy.sharding<@m, [{}]>]>}
        dense<2.0> : tensor<4xf32>
      %0 = sdy.all_reduce {"x", "y":(1)2} %a out_sharding=<@m, [{}], unreduced=max{"y"}> :
        tensor<4xf32>
      %m = sdy.all_reduce max {"x"} %0 out_sharding=<@m, [{}]> : tensor<4xf32>
      %1 = sdy.all_slice [{"x"}] %m out_sharding=<@m, [{"x"}]> : tensor<4xf32>
      %2 = stablehlo.add {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} %1, %c :
        tensor<4xf32>
      return %2 : tensor<4xf32>
    } } })");
  EXPECT_NE(text.find("HloModule inner"), std::string::npos) << text;
  for (const char* part :
       {"custom-call(a.0), custom_call_target=\"Sharding\"", "unreduced=max{\\\"y\\\"}>]>\"",
        "sharding={devices=[2,2]<=[4] last_tile_dim_replicate}"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ToModule, ShardingsKeepTheWordsOfShardy) {
  const std::string text = converted(R"(module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}p1, {?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{?}, {}], replicated={"x"}> : tensor<8x8xf32>
  sdy.sharding_group %0 group_id=21 : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<8x8xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {?}]>]>}
    : tensor<8x8xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {sdy.sharding_rule =
    #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>}
    : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}})");
  const std::string call = "custom_call_target=\"", effect = ", custom_call_has_side_effect=true";
  const std::string words = "frontend_attributes={xla.sdy.sharding=\"#sdy.sharding";
  const std::vector<std::string> parts = {
      R"(frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=4]>}})",
      words + R"(<@mesh, [{\"y\", ?}p1, {?}]>"})",
      call + "Sharding\", sharding={replicated}, " + words +
          R"(_per_value<[<@mesh, [{?}, {}], replicated={\"x\"}>]>"})",
      "() custom-call(custom-call.1), " + call + "xla.sdy.ShardingGroup\"" + effect +
          ", frontend_attributes={xla.sdy.sharding_group_id=\"21 : i64\"}",
      call + R"(xla.sdy.PropagationBarrier", frontend_attributes={xla.sdy.allowed_direction="2)",
      "negate(",
      words + R"(_per_value<[<@mesh, [{\"y\"}, {?}]>]>"})",
      R"(xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8})",
      call + "xla.sdy.FuncResultSharding\"" + effect,
      R"(unreduced={\"x\"}>]>")"};
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ToModule, OneDeviceHasNothingToSayOfShardings) {
  const std::string text = converted(R"(module {
sdy.mesh @mesh = <["x"=1]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}})");
  EXPECT_EQ(text.find("custom-call"), std::string::npos) << text;
  EXPECT_EQ(text.find("sharding"), std::string::npos) << text;
}

TEST(ToModule, RegionsAreBetweenCallsOfAllTheirArrays) {
  const std::string text = converted(R"(module attributes {mhlo.num_partitions = 4 : i32} {
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a, %b)
      in_shardings=[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{?}], unreduced={"x"}>]
      out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"}
      (%c: tensor<4x8xf32>, %d: tensor<8xf32>) {
    %1 = stablehlo.negate %c : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}})");
  for (
      const char* part :
      {"(f32[4,8]{1,0}, f32[8]{0}) custom-call(a.0, b.1), "
       "custom_call_target=\"xla.sdy.GlobalToLocalShape\", custom_call_has_side_effect=true",
       R"(xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>, <@mesh, [{?}], unreduced={\"x\"}>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>")",
       "f32[4,8]{1,0} negate(", "custom_call_target=\"xla.sdy.LocalToGlobalShape\"",
       R"(xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\", ?}, {?}]>]>")"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(ToModule, OpenDimensionsFollowFromTheArguments) {
  const std::string text =
      program("%a: tensor<?x3xf32>", "tensor<?xf32>",
              R"(%n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
         %three = stablehlo.constant dense<3> : tensor<i32>
         %m = stablehlo.multiply %n, %three : tensor<i32>
         %v = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
         %0 = stablehlo.dynamic_reshape %a, %v : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
         return %0 : tensor<?xf32>)");
  const Shape shape = Shape::array(ElementType::F32, {4, 3});
  const std::string refined = converted(text, std::span(&shape, 1));
  EXPECT_NE(refined.find("f32[12]{0} reshape(a.0)"), std::string::npos) << refined;
  const auto open = read(text);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().kind, ErrorKind::Unsupported);
  const auto unknown = read(program("%a: tensor<4xf32>, %n: tensor<1xi32>", "tensor<?xf32>",
                                    R"(%0 = stablehlo.dynamic_reshape %a, %n
            : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
         return %0 : tensor<?xf32>)"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(unknown.error().place.op, "stablehlo.dynamic_reshape");
  EXPECT_EQ(unknown.error().place.line, 2);
}

TEST(ToModule, LocationsAreMetadata) {
  const auto module = read(R"(#line = loc("f.py":7:3)
#fn = loc("fn"(#line))
func.func @main(%a: tensor<f32> loc("x")) -> tensor<f32> {
  %0 = stablehlo.negate %a : tensor<f32> loc("jit(f)/layer/neg"(#fn))
  return %0 : tensor<f32>
})");
  ASSERT_TRUE(module) << to_string(module.error());
  const InstructionId root = (*module)[module->entry].root;
  const Metadata& metadata = module->metadata_of((*module)[root]);
  EXPECT_EQ(metadata.op_name, "jit(f)/layer/neg");
  EXPECT_EQ(metadata.source_file, "f.py");
  EXPECT_EQ(metadata.source_line, 7);
  EXPECT_EQ(metadata.stack_frame_id, 1);
  EXPECT_EQ(module->header.stack_frames.function_names, std::vector<std::string>{"fn"});
  EXPECT_TRUE((*module)[root].name.starts_with("neg."));
}

TEST(ToModule, MistakesAreErrorsOfTheirOp) {
  struct Mistake {
    const char *arguments, *results, *ops;
    ErrorKind kind;
    const char* part;
  };
  const Mistake mistakes[] = {
      {"%a: tensor<2xf32>", "tensor<3xf32>",
       "%0 = \"stablehlo.negate\"(%a) : (tensor<2xf32>) -> tensor<3xf32>\n"
       "return %0 : tensor<3xf32>",
       ErrorKind::Shape, "f32[2], not f32[3]"},
      {"%a: tensor<2xf32>", "tensor<2xf32>",
       "%0 = \"stablehlo.no_such_op\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
       "return %0 : tensor<2xf32>",
       ErrorKind::Unsupported, "not known"},
      {"%a: tensor<2xf32>", "tensor<2xf32>",
       "%0 = \"stablehlo.add\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
       "return %0 : tensor<2xf32>",
       ErrorKind::Shape, "expected 2 operands"},
      {"%a: tensor<2xf32>", "tensor<2xf32>",
       "%0 = stablehlo.reverse %a, dims = [5] : tensor<2xf32>\n"
       "return %0 : tensor<2xf32>",
       ErrorKind::Shape, "is not in [0, 1)"},
      {"%a: tensor<2xf32>", "tensor<2xf32>",
       "%0 = call @nobody(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
       "return %0 : tensor<2xf32>",
       ErrorKind::Name, "@nobody"},
  };
  for (const Mistake& one : mistakes) {
    const auto module = read(program(one.arguments, one.results, one.ops));
    ASSERT_FALSE(module) << one.ops;
    EXPECT_EQ(module.error().kind, one.kind) << to_string(module.error());
    EXPECT_NE(module.error().message.find(one.part), std::string::npos)
        << to_string(module.error());
    EXPECT_EQ(module.error().place.line, 2) << to_string(module.error());
  }
}

// Damaged bytes and letters are errors or other programs, never a crash.
TEST(ToModule, DamagedFilesDoNotCrash) {
  const fs::path corpus = fs::path(HILO_SHARED) / "corpus" / "stablehlo";
  if (!fs::is_directory(corpus)) GTEST_SKIP();
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u, state >> 8; };
  int sound = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".mlir") && !name.ends_with(".new.mlirbc")) continue;
    const auto bytes = read_whole_file(entry.path());
    ASSERT_TRUE(bytes);
    for (int i = 0; i < 40; ++i) {
      std::string damaged = *bytes;
      for (int k = 0; k < 1 + i % 3; ++k)
        damaged[next() % damaged.size()] =
            static_cast<char>(name.ends_with(".mlir") ? (*bytes)[next() % bytes->size()] : next());
      const auto module =
          read_module(std::as_bytes(std::span(damaged)),
                      name.ends_with(".mlir") ? Format::StableHloText : Format::StableHloBytecode);
      sound += module.has_value();
    }
  }
  EXPECT_GT(sound, 0);
}

}  // namespace
}  // namespace hilo
