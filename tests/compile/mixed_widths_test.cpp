// Every op of ops.def that may mix widths of floats, with random widths of its operands and of its
// result: the module is sound, is written as text and proto and read as it is,
// and its code computes what the evaluator does. A new op without a row fails here.
#include <fmt/format.h>

#include <map>
#include <regex>

#include "both.h"
#include "wire/wire.h"

namespace hilo::test {
namespace {

// Shapes as in "[4,8] s32[] []": one that begins with '[' gets a floating type, "s32[]=3" is a
// constant. More results than one are those of a tuple.
struct Form {
  const char *operands, *results, *attributes = "";
};

constexpr std::string_view callees = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=LT
}
larger_with_index { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
running { a = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] add(a, c)
  ROOT t = (f32[3], f32[3]) tuple(s, s)
}
)";

constexpr Form no_floats = {"", ""};

// Of elementwise ops that are no plain function of arrays of one type, and of all structural ones.
const std::multimap<Op, Form>& forms() {
  static const std::multimap<Op, Form> table = {
      {Op::IsFinite, {"[4,8]", "pred[4,8]"}},
      {Op::ReducePrecision, {"[4,8]", "[4,8]", "exponent_bits=5, mantissa_bits=3"}},
      {Op::Compare, {"[4,8] [4,8]", "pred[4,8]", "direction=LT"}},
      {Op::Complex, {"f32[4,8] bf16[4,8]", "c64[4,8]"}},
      {Op::Clamp, {"[] [4,8] [4,8]", "[4,8]"}},
      {Op::Select, {"pred[4,8] [4,8] [4,8]", "[4,8]"}},
      {Op::Iota, no_floats},
      {Op::PartitionId, no_floats},
      {Op::ReplicaId, no_floats},
      {Op::Rng, {"[] []", "[4]", "distribution=rng_uniform"}},
      {Op::RngBitGenerator, no_floats},
      {Op::RngGetAndUpdateState, no_floats},
      {Op::Broadcast, {"[8]", "[4,8]", "dimensions={1}"}},
      {Op::Broadcast, {"[]", "[4,8]", "dimensions={}"}},
      {Op::Concatenate, {"[4,8] [4,8] [4,3]", "[4,19]", "dimensions={1}"}},
      {Op::Copy, {"[4,8]", "[4,8]"}},
      {Op::DynamicReshape, {"[4,8] s32[]=32", "[<=32]"}},
      {Op::DynamicSlice, {"[4,8] s32[] s32[]", "[2,3]", "dynamic_slice_sizes={2,3}"}},
      {Op::DynamicUpdateSlice, {"[4,8] [2,3] s32[] s32[]", "[4,8]"}},
      {Op::Gather,
       {"[4,8] s32[3,1]", "[3,8]",
        "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
        "slice_sizes={1,8}"}},
      {Op::GetDimensionSize, no_floats},
      {Op::Pad, {"[4,8] []", "[6,8]", "padding=1_1x0_0"}},
      {Op::Reshape, {"[4,8]", "[32]"}},
      {Op::Reverse, {"[4,8]", "[4,8]", "dimensions={1}"}},
      {Op::Scatter,
       {"[4,8] s32[3,1] [3,8]", "[4,8]",
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
        "index_vector_dim=1, to_apply=add"}},
      {Op::SetDimensionSize, {"[4,8] s32[]=5", "[4,<=8]", "dimensions={1}"}},
      {Op::Slice, {"[4,8]", "[2,8]", "slice={[1:3], [0:8]}"}},
      {Op::Transpose, {"[4,8]", "[8,4]", "dimensions={1,0}"}},
      {Op::Map, {"[4,8] [4,8]", "[4,8]", "dimensions={0,1}, to_apply=add"}},
      {Op::Reduce, {"[4,8] []", "[8]", "dimensions={0}, to_apply=add"}},
      {Op::Reduce,
       {"[4,8] s32[4,8] [] s32[]", "[8] s32[8]", "dimensions={0}, to_apply=larger_with_index"}},
      {Op::ReduceWindow, {"[4,8] []", "[4,4]", "window={size=1x2 stride=1x2}, to_apply=add"}},
      {Op::Scan, {"[4,3] [3]", "[4,3] [3]", "dimensions={0}, num_carries=1, to_apply=running"}},
      {Op::SelectAndScatter,
       {"[4,8] [4,4] []", "[4,8]", "window={size=1x2 stride=1x2}, select=less, scatter=add"}},
      {Op::Sort, {"[4,8]", "[4,8]", "dimensions={1}, to_apply=less"}},
      {Op::TopK, {"[4,8]", "[4,3] s32[4,3]", "k=3, largest=true"}},
      {Op::BatchNormGrad,
       {"[4,8] [8] [8] [8] [4,8]", "[4,8] [8] [8]", "epsilon=0.5, feature_index=1"}},
      {Op::BatchNormInference, {"[4,8] [8] [8] [8] [8]", "[4,8]", "epsilon=16, feature_index=1"}},
      {Op::BatchNormTraining, {"[4,8] [8] [8]", "[4,8] [8] [8]", "epsilon=0.5, feature_index=1"}},
      {Op::Cholesky, {"[1,1]", "[1,1]", "lower=true"}},
      {Op::Fft, {"c64[4,5]", "[4,8]", "fft_type=IRFFT, fft_length={8}"}},
      {Op::TriangularSolve,
       {"[2,2] [2,3]", "[2,3]",
        "left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE"}},
      {Op::AfterAll, no_floats},
      {Op::AllGather, {"[4,8]", "[4,8]", "replica_groups={{0}}, dimensions={0}"}},
      {Op::AllReduce, {"[4,8]", "[4,8]", "replica_groups={{0}}, to_apply=add"}},
      {Op::AllReduce, {"[4,8] [3]", "[4,8] [3]", "replica_groups={{0}}, to_apply=add"}},
      {Op::AllToAll, {"[4,8]", "[4,8]", "replica_groups={{0}}, dimensions={0}"}},
      {Op::CollectiveBroadcast, {"[4,8]", "[4,8]", "replica_groups={{0}}"}},
      {Op::CollectivePermute, {"[4,8]", "[4,8]", "source_target_pairs={{0,0}}"}},
      {Op::RaggedAllToAll,
       {"[4] [4] s32[1]={0} s32[1]={3} s32[1]={1} s32[1]={3}", "[4]", "replica_groups={{0}}"}},
      {Op::ReduceScatter, {"[4,8]", "[4,8]", "replica_groups={{0}}, dimensions={0}, to_apply=add"}},
  };
  return table;
}

// Starts and dones stand in pairs, in a test of their own.
bool is_half_of_a_pair(Op op) {
  const std::string_view text = text_of(op);
  return text.ends_with("-start") || text.ends_with("-done");
}

std::vector<Form> forms_of(Op op) {
  std::vector<Form> out;
  const auto [begin, end] = forms().equal_range(op);
  for (auto at = begin; at != end; ++at) out.push_back(at->second);
  if (!out.empty() || !is_elementwise(op)) return out;
  if (!(info(op).types & MaskFloat)) return {no_floats};
  return {{info(op).operands == 1 ? "[4,8]" : "[4,8] [4,8]", "[4,8]"}};
}

constexpr const char* widths[] = {"f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64"};

std::vector<std::string> typed(std::string_view shapes, std::mt19937_64& random) {
  std::vector<std::string> out;
  while (!shapes.empty()) {
    const std::string shape(shapes.substr(0, shapes.find(' ')));
    shapes.remove_prefix(std::min(shapes.size(), shape.size() + 1));
    out.push_back((shape[0] == '[' ? widths[random() % std::size(widths)] : "") + shape);
  }
  return out;
}

std::string module_of(Op op, const Form& form, std::mt19937_64& random) {
  std::string body, names;
  const std::vector<std::string> operands = typed(form.operands, random);
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t equals = operands[i].find('=');
    const std::string source = equals == std::string::npos
                                   ? fmt::format("parameter({})", i)
                                   : fmt::format("constant({})", operands[i].substr(equals + 1));
    body += fmt::format("  p{} = {} {}\n", i, operands[i].substr(0, equals), source);
    names += fmt::format("{}p{}", i > 0 ? ", " : "", i);
  }
  const std::vector<std::string> results = typed(form.results, random);
  const std::string result =
      results.size() == 1 ? results[0] : fmt::format("({})", fmt::join(results, ", "));
  const std::string comma = *form.attributes ? ", " : "";
  return fmt::format("{}ENTRY e {{\n{}  ROOT r = {} {}({}){}{}\n}}\n", callees, body, result,
                     text_of(op), names, comma, form.attributes);
}

// What rounding the last step the other way changes, in the coarsest type of the results.
double tolerance_of(const Module& module) {
  double out = 1e-5;
  for_each_leaf(module.shape(module[module.entry].root),
                [&](const Shape& leaf, std::span<const int64_t>) {
                  if (!is_floating(leaf.type)) return;
                  const int bits = bits_of(leaf.type);
                  out = std::max(out, bits <= 8 ? 0.25 : bits <= 16 ? 0.01 : 1e-5);
                });
  return out;
}

void expect_same_when_read_again(const Module& module, const std::string& text) {
  const Result<Module> printed = parse(print(module));
  ASSERT_TRUE(printed) << to_string(printed.error()) << text;
  EXPECT_EQ(difference(module, *printed), "") << text;
  const Result<std::string> proto = write_hlo_proto(module);
  ASSERT_TRUE(proto) << to_string(proto.error()) << text;
  const Result<Module> decoded = read_module(std::as_bytes(std::span(*proto)));
  ASSERT_TRUE(decoded) << to_string(decoded.error()) << text;
  EXPECT_EQ(print(*decoded), print(module)) << text;
}

void expect_as_evaluated(Op op, const Form& form, uint64_t seed, int& mixed) {
  std::mt19937_64 random(seed);
  const std::string text = module_of(op, form, random);
  const Result<Module> module = parse(text);
  ASSERT_TRUE(module) << to_string(module.error()) << text;
  const auto errors = verify(*module);
  ASSERT_TRUE(errors.empty()) << to_string(errors[0]) << text;
  const bool mixes = !find_mixed_widths(*module).empty();
  mixed += mixes;
  expect_same_when_read_again(*module, text);
  const Result<Both> both = run_both(text, seed);
  ASSERT_TRUE(both) << to_string(both.error()) << text;
  EXPECT_EQ(both->compiled.shape().type, both->evaluated.shape().type) << text;
  const double tolerance = has_trait(op, TraitMoves) ? 0 : tolerance_of(*module);
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), tolerance) << text;
}

// Whether there are two types to differ.
bool can_mix(const Form& form) {
  std::mt19937_64 random;
  std::string all;
  for (const char* shapes : {form.operands, form.results})
    for (const std::string& shape : typed(shapes, random)) all += shape + " ";
  const std::regex type(R"(\b(b?f|c)\d\w*\[)");
  return std::distance(std::sregex_iterator(all.begin(), all.end(), type), {}) > 1;
}

TEST(MixedWidths, CodeOfEveryOpComputesWhatTheEvaluatorDoes) {
  for (int i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    if (has_trait(op, TraitExact) || is_half_of_a_pair(op)) continue;
    const std::vector<Form> all = forms_of(op);
    EXPECT_FALSE(all.empty()) << text_of(op) << " has no row in forms()";
    for (const Form& form : all) {
      int mixed = 0;
      if (*form.operands)
        for (uint64_t seed = 0; seed < 4; ++seed) expect_as_evaluated(op, form, seed, mixed);
      EXPECT_EQ(mixed > 0, can_mix(form)) << text_of(op);
    }
  }
}

}  // namespace
}  // namespace hilo::test
