#include <ctime>

#include "mlir_samples.h"

namespace hilo::mlir {
namespace {

// A short form and the same op in the generic one.
struct Forms {
  std::string_view name, pretty, generic;
};
constexpr Forms forms[] = {
    {"add", "%0 = stablehlo.add %f, %f : tensor<2x3xf32>",
     R"(%0 = "stablehlo.add"(%f, %f) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"real", "%0 = stablehlo.real %c : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>",
     R"(%0 = "stablehlo.real"(%c) : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>)"},
    {"compare",
     "%0 = stablehlo.compare LT, %f, %f, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
     "tensor<2x3xi1>",
     R"(%0 = "stablehlo.compare"(%f, %f) <{comparison_direction = #stablehlo<comparison_direction LT>,
        compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>)"},
    {"transpose",
     "%0 = stablehlo.transpose %f, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     R"(%0 = "stablehlo.transpose"(%f) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>)"},
    {"older lists",
     "%0 = stablehlo.transpose %f, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
     R"(%0 = "stablehlo.transpose"(%f) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<3x2xf32>)"},
    {"slice", "%0 = stablehlo.slice %f [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
     R"(%0 = "stablehlo.slice"(%f) <{limit_indices = array<i64: 2, 3>, start_indices = array<i64: 0, 0>,
        strides = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<2x2xf32>)"},
    {"dot_general",
     "%0 = stablehlo.dot_general %f, %g, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] "
     ":"
     " (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>",
     R"(%0 = "stablehlo.dot_general"(%f, %g) <{dot_dimension_numbers = #stablehlo.dot<
        lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
        precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]}> :
        (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>)"},
    {"reduce",
     "%0 = stablehlo.reduce(%f init: %s) applies stablehlo.add across dimensions = [1] :"
     " (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
     R"(%0 = "stablehlo.reduce"(%f, %s) <{dimensions = array<i64: 1>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %1 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %1 : tensor<f32>
        }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>)"},
    {"reduce of two",
     R"(%0:2 = stablehlo.reduce(%f init: %s), (%f init: %s) across dimensions = [1] :
        (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
        reducer(%x: tensor<f32>, %y: tensor<f32>) (%z: tensor<f32>, %w: tensor<f32>) {
          %1 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %1, %w : tensor<f32>, tensor<f32>
        })",
     R"(%0:2 = "stablehlo.reduce"(%f, %f, %s, %s) <{dimensions = array<i64: 1>}> ({
        ^bb0(%x: tensor<f32>, %z: tensor<f32>, %y: tensor<f32>, %w: tensor<f32>):
          %1 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %1, %w : tensor<f32>, tensor<f32>
        }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>))"},
    {"reduce_precision", "%0 = stablehlo.reduce_precision %f, format = e5m2 : tensor<2x3xf32>",
     R"(%0 = "stablehlo.reduce_precision"(%f) <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}> :
        (tensor<2x3xf32>) -> tensor<2x3xf32>)"},
    {"custom_call",
     "%0 = stablehlo.custom_call @g(%f) {api_version = 4 : i32} : (tensor<2x3xf32>) -> tensor<f32>",
     R"(%0 = "stablehlo.custom_call"(%f) <{call_target_name = "g", api_version = 4 : i32,
        has_side_effect = false, backend_config = ""}> : (tensor<2x3xf32>) -> tensor<f32>)"},
    {"pad",
     "%0 = stablehlo.pad %f, %s, low = [0, -1], high = [1, 0], interior = [1, 2] :"
     " (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>",
     R"(%0 = "stablehlo.pad"(%f, %s) <{edge_padding_low = array<i64: 0, -1>, edge_padding_high =
        array<i64: 1, 0>, interior_padding = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>)"},
    {"constants", "%0 = stablehlo.constant dense<[1.0, -2.5]> : tensor<2xf32>",
     R"(%0 = stablehlo.constant dense<"0x0000803F000020C0"> : tensor<2xf32>)"},
    {"bits of floats", "%0 = stablehlo.constant dense<[0x7F800000, -1.5]> : tensor<2xf32>",
     R"(%0 = stablehlo.constant dense<"0x0000807F0000C0BF"> : tensor<2xf32>)"},
    {"packed booleans", "%0 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>",
     R"(%0 = stablehlo.constant dense<"0x05"> : tensor<3xi1>)"},
    {"narrow integers", "%0 = stablehlo.constant dense<[-2, 7]> : tensor<2xi4>",
     R"(%0 = stablehlo.constant dense<"0x0E07"> : tensor<2xi4>)"},
    {"splat", "%0 = stablehlo.constant dense<3> : tensor<2x2xi8>",
     "%0 = stablehlo.constant dense<[[3, 3], [3, 3]]> : tensor<2x2xi8>"},
    {"unit attributes", "%0 = stablehlo.add %f, %f {a} : tensor<2x3xf32>",
     R"(%0 = "stablehlo.add"(%f, %f) {a = unit} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>)"},
};

TEST(MlirText, ShortAndGenericFormsAreOneProgram) {
  for (const Forms& each : forms) {
    const auto pretty = text(in_main(each.pretty)), generic = text(in_main(each.generic));
    ASSERT_TRUE(pretty) << each.name << ": " << to_string(pretty.error());
    ASSERT_TRUE(generic) << each.name << ": " << to_string(generic.error());
    EXPECT_EQ(dump_of(pretty), dump_of(generic)) << each.name;
    EXPECT_NE(dump_of(pretty).find(each.generic.find("constant") == std::string_view::npos
                                       ? "stablehlo."
                                       : "stablehlo.constant"),
              std::string::npos);
  }
}

TEST(MlirText, ConvolutionsBecomeFlat) {
  const auto program = text(in_main(R"(
    %0 = stablehlo.convolution(%f, %g) dim_numbers = [b, f, 0]x[o, i, 0]->[0, b, f],
      window = {stride = [2], pad = [[1, 2]], reverse = [true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
      (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>)"));
  ASSERT_TRUE(program) << to_string(program.error());
  const std::string dump = dump_of(program);
  for (const std::string_view part :
       {"input_batch_dimension=0:s64", "input_feature_dimension=1:s64",
        "kernel_output_feature_dimension=0:s64", "output_batch_dimension=1:s64",
        "padding=s64[1,2,]=01000000000000000200000000000000",
        "rhs_dilation=s64[1,]=0100000000000000", "window_reversal=pred[1,]=01",
        "precision_config=[enum DEFAULT,enum DEFAULT,]"})
    EXPECT_NE(dump.find(part), std::string::npos) << part << "\n" << dump;
}

TEST(MlirText, AliasesMayFollowTheirUses) {
  const auto program = text(R"(
    !t = tensor<2xf32>
    #early = loc("x")
    func.func @main(%a: !t loc(#early)) -> !t {
      %0 = stablehlo.add %a, %a : !t loc(#late)
      return %0 : !t loc(fused[#early, "f":7:8 to 9:10])
    } loc(unknown)
    #deep = loc(callsite("g" at "f.py":1:2 to :5))
    #late = loc("add"(#deep)))");
  ASSERT_TRUE(program) << to_string(program.error());
  const auto find = [&](std::string_view name) {
    for (const Operation& op : program->operations)
      if (op.name == name) return op;
    return Operation();
  };
  Dump dump(*program);
  EXPECT_EQ(dump.attribute(find("stablehlo.add").location),
            "loc.name{child=loc.callsite{callee=loc.name{child=loc.unknown{},name=\"g\",},caller="
            "loc.file{column=2:s64,end_column=5:s64,end_line=1:s64,file=\"f.py\",line=1:s64,},},"
            "name=\"add\",}");
  EXPECT_EQ(dump.attribute(find("func.return").location),
            "loc.fused{locations=[loc.name{child=loc.unknown{},name=\"x\",},loc.file{column=8:s64,"
            "end_column=10:s64,end_line=9:s64,file=\"f\",line=7:s64,},],}");
  EXPECT_EQ(find("stablehlo.add").position.line, 5);
  EXPECT_EQ(find("stablehlo.add").position.column, 7);
  const Operation add = find("stablehlo.add");
  EXPECT_EQ((*program)[add.operands[0]].name, "a");
  EXPECT_EQ((*program)[add.results[0]].name, "0");
}

TEST(MlirText, ResourcesLoseTheirAlignment) {
  const auto program = text(in_main("%0 = stablehlo.constant dense_resource<w> : tensor<2xi8>") +
                            R"({-# dialect_resources: { builtin: { w: "0x040000000102" } },
                                   external_resources: { tool: { on: true } } #-})");
  ASSERT_TRUE(program) << to_string(program.error());
  ASSERT_TRUE(program->resources.contains("w"));
  EXPECT_EQ(*program->resources.at("w"), std::string("\1\2"));
  EXPECT_NE(dump_of(program).find("value=resource w:s8[2,]"), std::string::npos);
}

TEST(MlirText, QuantisedAndBoundedTypes) {
  const auto program = text(in_main(R"(
    %0 = stablehlo.uniform_quantize %f : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3, 0.25, 1.0:-1}>>
    %1 = stablehlo.uniform_quantize %f : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8<1:200>:f32, 0.1>>
    %2 = stablehlo.set_dimension_size %f, %i, dim = 0 : (tensor<2x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<2, ?>>)"));
  ASSERT_TRUE(program) << to_string(program.error());
  const std::string dump = dump_of(program);
  for (const std::string_view part : {"quant<s8:f32 -128..127 axis 1 0.5:3 0.25:0 1:-1>",
                                      "quant<u8:f32 1..200 axis -1 0.1:0>", "f32[?,3,]<=[2,?,]"})
    EXPECT_NE(dump.find(part), std::string::npos) << part << "\n" << dump;
}

TEST(MlirText, Shardings) {
  const auto program = text(R"(
    sdy.mesh @m = <["x"=2, "y"=4], device_ids=[1, 0]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"y":(1)2, ?}p1, {}], replicated={"x"}>}) {
      %0 = sdy.sharding_constraint %a <@m, [{?}, {"x", "y"}], unreduced={"y"}> : tensor<8x8xf32>
      %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{}, {}]>] out_shardings=[<@m, [{}, {}]>] manual_axes={"x"} (%b: tensor<8x8xf32>) {
        sdy.return %b : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return
    })");
  ASSERT_TRUE(program) << to_string(program.error());
  const std::string dump = dump_of(program);
  for (
      const std::string_view part :
      {R"(device_ids=[1:s64,0:s64,])",
       R"(sdy.dim{axes=[sdy.axis_ref{name="y",pre_size=1:s64,size=2:s64,},],is_closed=false,priority=1:s64,})",
       R"(replicated=[sdy.axis_ref{name="x",pre_size=0:s64,size=0:s64,},])",
       R"(unreduced=[sdy.axis_ref{name="y",pre_size=0:s64,size=0:s64,},])",
       R"(manual_axes=sdy.manual_axes{names=["x",],})"})
    EXPECT_NE(dump.find(part), std::string::npos) << part << "\n" << dump;
}

struct Mistake {
  std::string_view text, message;
  int line, column;
};

TEST(MlirText, MistakesHaveTheirPlace) {
  const Mistake mistakes[] = {
      {"func.func @f() {\n  return %a : tensor<f32>\n}", "'%a' is used before", 2, 10},
      {"func.func @f(%a: tensor<f32>, %a: tensor<f32>) {\n return }", "'%a' is defined twice", 1,
       31},
      {"func.func @f(%a: tensor<f32>) {\n %a = stablehlo.abs %a : tensor<f32>\n return }",
       "'%a' is defined twice", 2, 2},
      {"func.func @f(%a: tensor<f32>) {\n %b = stablehlo.abs %a#1 : tensor<f32>\n return }",
       "'%a' has 1 results", 2, 21},
      {"func.func @f(%a: tensor<f32>) {\n %b = stablehlo.transpose %a : (tensor<f32>) -> "
       "tensor<f32>\n return }",
       "'permutation' is missing, a list of i64", 2, 2},
      {"func.func @f(%a: tensor<f32>) {\n %b = stablehlo.iota dim = x : tensor<f32>\n return }",
       "expected an integer, found 'x'", 2, 28},
      {"func.func @f() {\n %b = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n return }",
       "2 elements in a dimension of 3", 2, 32},
      {"func.func @f() {\n %b = stablehlo.constant dense<\"0x01\"> : tensor<3xi32>\n return }",
       "1 bytes for 3 elements of 4 bytes", 2, 32},
      {"func.func @f(%a: tensor<f32>) {\n %b = \"stablehlo.abs\"(%a) : (tensor<2xf32>) -> "
       "tensor<f32>\n return }",
       "operand 0 has another type", 2, 2},
      {"func.func @f() { return } loc(#nowhere)", "'#nowhere' is nowhere defined", 1, 39},
      {"#a = loc(\"x\"(#b))\n#b = loc(\"y\"(#a))\nfunc.func @f() { return } loc(#a)",
       "holds itself", 1, 1},
      {"func.func @f(%a: tensor<4294967296x4294967296x4294967296xf32>) {\n return",
       "expected an op, found the end", 2, 8},
      {"module {\n", "expected an op, found the end", 2, 1},
      {"", "no module", 1, 1},
      {"func.func @f() {\n br ^bb1\n}", "control flow between blocks", 2, 5},
      {"func.func @f() {\n %0:3000000000 = stablehlo.create_token : !stablehlo.token\n}",
       "names for more than 1 results", 2, 2},
      {"func.func @f() {\n \"x\"() {a = \"b} : () -> ()\n}", "a string without its end", 2, 14},
  };
  for (const Mistake& mistake : mistakes) {
    const auto program = text(mistake.text);
    ASSERT_FALSE(program) << mistake.text;
    const Error& error = program.error();
    EXPECT_NE(error.message.find(mistake.message), std::string::npos)
        << to_string(error) << "\nof " << mistake.text;
    EXPECT_EQ(error.place.line, mistake.line) << to_string(error);
    EXPECT_EQ(error.place.column, mistake.column) << to_string(error);
    EXPECT_EQ(error.place.file, "a.mlir");
  }
}

std::string repeated(std::string_view part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += part;
  return out;
}

TEST(MlirText, NestingHasALimit) {
  constexpr int depth = 10'000;
  std::string chain;
  for (int i = 0; i < depth; ++i) chain += fmt::format("#l{} = loc(\"x\"(#l{}))\n", i, i + 1);
  const std::string deep[] = {
      in_main("\"x\"() {a = " + repeated("[", depth)),
      in_main("\"x\"() {a = " + repeated("{a = ", depth)),
      in_main("\"x\"() : () -> " + repeated("tuple<", depth)),
      in_main("\"x\"() : " + repeated("(", depth)),
      in_main(repeated("\"x\"() ({\n", depth)),
      in_main("stablehlo.add " + repeated("(", depth)),
      in_main("\"x\"() : () -> () loc(" + repeated("\"x\"(", depth)),
      chain + "#l10000 = loc(unknown)\nfunc.func @f() { return }",
  };
  for (const std::string& each : deep) {
    const auto program = text(each);
    ASSERT_FALSE(program);
    EXPECT_NE(program.error().message.find("deeper than"), std::string::npos)
        << to_string(program.error());
  }
}

// Every part of a program, and the program with a sign too much, is refused or read: never worse.
TEST(MlirText, DamageIsAnErrorOrAProgram) {
  const std::string whole = in_main(forms[6].generic) + std::string(loop_text);
  int refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    refused += !text(whole.substr(0, at));
    for (const char sign : {'<', '}', '"', '%', '0', '-', '#'}) {
      std::string damaged = whole;
      damaged[at] = sign;
      const auto program = text(damaged);
      if (program) {
        EXPECT_FALSE(dump_of(program).empty());
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) / 2);
}

TEST(MlirText, LargeConstantsAreReadInLinearTime) {
  constexpr int64_t count = 1 << 21;
  std::string bytes = "dense<\"0x" + std::string(count * 8, '1') + "\">";
  std::string list = "dense<[1.0";
  for (int64_t i = 1; i < count; ++i) list += ", 1.5";
  list += "]>";
  for (const std::string& elements : {bytes, list}) {
    const std::string program =
        in_main(fmt::format("%0 = stablehlo.constant {} : tensor<{}xf32>", elements, count));
    const std::clock_t from = std::clock();
    EXPECT_TRUE(text(program));
    EXPECT_LT(std::clock() - from, 5 * CLOCKS_PER_SEC);
  }
}

}  // namespace
}  // namespace hilo::mlir
