// What the parser accepts and makes of it; expected values follow XLA's parser (jaxlib).
#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

const std::string add_computation =
    "add_c { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n";

// A module whose entry has parameters p and q of f32[2,3], a scalar s, and these lines.
std::string with(const std::string& lines) {
  return "HloModule m\n" + add_computation +
         "ENTRY e {\n p = f32[2,3] parameter(0)\n q = f32[2,3] parameter(1)\n"
         " s = f32[] parameter(2)\n " +
         lines + "\n}\n";
}

Module parsed(const std::string& text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module.has_value()) << text << "\n" << to_string(module.error());
  return module ? *std::move(module) : Module();
}

Instruction root_of(const Module& module) { return module[module[module.entry].root]; }

TEST(ParseModule, KeepsTheOrderOfTheFile) {
  const Module module = parsed(with("z = f32[2,3] negate(p)\n ROOT y = f32[2,3] add(z, q)"));
  ASSERT_EQ(module.computations.size(), 2u);
  EXPECT_EQ(module.computations[0].name, "add_c");
  const Computation& entry = module[module.entry];
  std::string names;
  for (InstructionId id : entry.instructions) names += std::string(module[id].name) + " ";
  EXPECT_EQ(names, "p q s z y ");
  EXPECT_EQ(module[entry.parameters[1]].name, "q");
}

// A shape that was read before is found by its text, which must not end before its layout does.
TEST(ParseModule, LayoutsMayStandApart) {
  const Module module = parsed(
      "ENTRY e (x: f32[2,3]) -> f32[2,3] {\n a = f32[2,3] parameter(0)\n"
      " b = f32[2,3] {0,1} negate(a)\n c = f32[2,3]{ 0,1} negate(a)\n"
      " d = f32[2,3]\n {0,1} negate(a)\n e = f32[] constant(1)\n f = f32[]{} negate(e)\n"
      " g = f32[2,3] /* then */ {0,1} negate(a)\n ROOT h = f32[2,3]{1,0} negate(a) }");
  std::string shapes;
  for (InstructionId id : module[module.entry].instructions)
    shapes += to_string(module.shape(id)) + " ";
  EXPECT_EQ(shapes,
            "f32[2,3]{1,0} f32[2,3]{0,1} f32[2,3]{0,1} f32[2,3]{0,1} f32[] f32[] f32[2,3]{0,1} "
            "f32[2,3]{1,0} ");
}

// Names are read and compared many characters at a time.
TEST(ParseModule, NamesThatDifferInOneCharacterDiffer) {
  for (size_t size = 1; size <= 40; ++size) {
    std::string text = "ENTRY e {\n", name(size, 'a'), operands;
    for (size_t i = 0; i <= size; ++i) {
      std::string other = name;
      if (i < size) other[i] = "_.-9Z"[i % 5];
      text += fmt::format("{} = s32[] parameter({})\n", other, i);
      operands += (i ? ", " : "") + other;
    }
    text +=
        fmt::format("ROOT t = s32[] custom-call({}), custom_call_target=\"f\"\n", operands) + "}";
    const Module module = parsed(text);
    const std::span<const InstructionId> found = module.operands(module[module.entry].root);
    ASSERT_EQ(found.size(), size + 1);
    for (size_t i = 0; i <= size; ++i) EXPECT_EQ(found[i].value, i) << size;
  }
}

TEST(ParseModule, EntryAndRootAreTheLastUnlessMarked) {
  const Module module = parsed("f { p = f32[] parameter(0) }\ng { q = f32[] parameter(0) }");
  EXPECT_EQ(module.header.name, "module_g");
  EXPECT_EQ(module[module.entry].name, "g");
  const Module marked = parsed(
      "ENTRY f { ROOT p = f32[] parameter(0)\n n = f32[] negate(p) }\ng { q = f32[] parameter(0) "
      "}");
  EXPECT_EQ(marked[marked.entry].name, "f");
  EXPECT_EQ(root_of(marked).name, "p");
}

TEST(ParseModule, ABareInstructionMakesItsParameters) {
  const Module module = parsed("foo = f32[10] add(f32[10], f32[10] x)");
  EXPECT_EQ(module[module.entry].parameters.size(), 2u);
  EXPECT_EQ(root_of(module).name, "foo");
  EXPECT_EQ(module[module[module.entry].parameters[1]].name, "x");
}

TEST(ParseModule, ReadsTheHeader) {
  const Module module = parsed(
      "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }, "
      "buffer_donor={ (0, {}) }, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, "
      "allow_spmd_sharding_propagation_to_output=true, replica_count=2, num_partitions=4, "
      "frontend_attributes={a=\"b\",c={\"d\":1}}\n\nENTRY e { ROOT p = f32[2] parameter(0) }");
  const ModuleHeader& header = module.header;
  EXPECT_TRUE(header.is_scheduled);
  EXPECT_TRUE(header.input_output_alias.at(0).must_alias);
  EXPECT_EQ(header.buffer_donor.size(), 1u);
  EXPECT_EQ(header.replica_count, 2);
  EXPECT_EQ(header.num_partitions, 4);
  EXPECT_EQ(header.frontend_attributes.at("c").text, "{\"d\":1}");
  EXPECT_EQ(header.allow_spmd_sharding_propagation_to_output, std::vector<bool>{true});
}

TEST(ParseModule, ReadsStackFrames) {
  const Module module = parsed(
      "HloModule m\n\nFileNames\n1 \"x.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
      "1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}\n\n"
      "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n\n"
      "ENTRY e { ROOT p = f32[2] parameter(0), metadata={stack_frame_id=1} }");
  EXPECT_EQ(module.header.stack_frames.file_names.at(0), "x.py");
  EXPECT_EQ(module.header.stack_frames.locations.at(0).line, 3);
  EXPECT_EQ(module.metadata_of(root_of(module)).stack_frame_id, 1);
}

TEST(ParseModule, UnknownAttributesAreKeptAndWarnedAbout) {
  std::vector<Warning> warnings;
  ParseOptions options;
  options.warnings = &warnings;
  const auto module = parse(with("ROOT r = f32[2,3] negate(p), foo={a=[1]}, bar=x"), options);
  ASSERT_TRUE(module.has_value());
  const auto& unknown = module->extra(root_of(*module)).unknown;
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0].second, "{a=[1]}");
  EXPECT_EQ(unknown[1].second, "x");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].place.line, 9);
}

TEST(ParseModule, NestedInstructionsAndInlineComputations) {
  const Module nested = parsed(with("ROOT r = f32[2,3] add(f32[2,3] abs(p), f32[2,3] negate(q))"));
  EXPECT_EQ(nested[nested.operands(root_of(nested))[0]].name, "abs.anon");
  const Module inlined =
      parsed(with("ROOT r = f32[2] reduce(p, s), dimensions={1}, to_apply={ a = f32[] parameter(0) "
                  "b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"));
  const auto& reduce = inlined.attributes<ReduceAttributes>(root_of(inlined));
  EXPECT_EQ(inlined[inlined[reduce.to_apply].root].op, Op::Add);
}

TEST(ParseModule, CompactTupleElements) {
  const Module module = parsed(
      "ENTRY e { p = (f32[2], (s32[], u32[3])) parameter(0)\n"
      " a = u32[3] not(%p#1#1)\n ROOT b = u32[3] xor(%p#1#1, a) }");
  const InstructionId element = module.operands(root_of(module))[0];
  EXPECT_EQ(module[element].op, Op::GetTupleElement);
  EXPECT_EQ(module.attributes<GetTupleElementAttributes>(element).index, 1);
  EXPECT_EQ(to_string(module.shape(element)), "u32[3]{0}");
  EXPECT_EQ(module[module.entry].instructions.size(), 5u);
}

TEST(ParseModule, AsyncSugarWrapsOneInstruction) {
  const Module module = parsed(with(
      "t = ((f32[2,3], f32[]), f32[2], u32[]) reduce-start(p, s), dimensions={1}, to_apply=add_c\n"
      " u = ((f32[2,3], f32[]), f32[2], u32[]) reduce-update(t)\n"
      " ROOT d = f32[2] reduce-done(u)"));
  EXPECT_EQ(root_of(module).op, Op::AsyncDone);
  const ComputationId wrapped = module.attributes<AsyncAttributes>(root_of(module)).calls;
  ASSERT_TRUE(wrapped);
  EXPECT_EQ(module[module[wrapped].root].op, Op::Reduce);
  EXPECT_EQ(module[wrapped].parameters.size(), 2u);
}

TEST(ParseModule, AttributesWithStrings) {
  const Module module = parsed(
      with("ROOT r = f32[2,3] custom-call(p), custom_call_target=\"a\\\"b\\x41\\101\", "
           "to_apply=add_c, api_version=api_version_typed_ffi, backend_config=\"{\\\"k\\\":1}\", "
           "operand_layout_constraints={f32[2,3]{0,1}}, "
           "metadata={op_name=\"x}\\\"y\", source_line=3}"));
  const auto& call = module.attributes<CustomCallAttributes>(root_of(module));
  EXPECT_EQ(call.custom_call_target, "a\"bAA");
  EXPECT_EQ(call.called_computations.size(), 1u);
  EXPECT_EQ(call.api_version, CustomCallApiVersion::TypedFfi);
  EXPECT_EQ(module.extra(root_of(module)).backend_config, "{\"k\":1}");
  EXPECT_EQ(module.metadata_of(root_of(module)).op_name, "x}\"y");
  EXPECT_EQ(module.metadata_of(root_of(module)).source_line, 3);
}

// Each is read by XLA's parser too.
class Accepted : public testing::TestWithParam<const char*> {};
TEST_P(Accepted, Parses) { parsed(with(std::string("ROOT r = f32[2,3] ") + GetParam())); }
INSTANTIATE_TEST_SUITE_P(
    Lines, Accepted,
    testing::Values(
        "add(f32[2,3] p, f32[2,3]{1,0} %q)", "negate(p,)", "negate(/*index=0*/p) // x",
        "negate(p), sharding={devices=[2,1]0,1}", "negate(p), sharding={devices=[2,1]<=[2]}",
        "negate(p), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
        "negate(p), sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}",
        "negate(p), sharding={maximal device=1}", "negate(p), sharding={replicated shard_as 3}",
        "negate(p), sharding={replicated metadata={{op_name=\"a\"},{op_name=\"b\"}}}",
        "negate(p), sharding={{replicated},{manual}}", "negate(p), sharding={}",
        "negate(p), sharding={unreduced}",
        "negate(p), sharding={mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]}",
        "negate(p), sharding={mesh['x'=8], [{'x':(2)2}, {}]}",
        "negate(p), sharding={mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}, {}]}",
        "negate(p), sharding={mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}, {}]}",
        "negate(p), sharding={mesh['x'=2], replicated}",
        "negate(p), sharding={maximal_mesh[device_id=3]}",
        "negate(p), statistics={visualizing_index=0,name=1.5}",
        "exponential(p), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}",
        "negate(p), origin={{\"a\" {0}}}", "negate(p), control-predecessors={p, %q}",
        "all-reduce(p), replica_groups={}, to_apply=add_c, mode=cross_replica",
        "all-reduce(p), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=add_c",
        "all-reduce(p), replica_groups=mesh['x'=2,'y'=2] {'x'}, to_apply=add_c",
        "domain(p), domain={kind=\"sharding\", entry={maximal device=0}, exit={replicated}}",
        "reduce-window(p, s), window={size=1x1 pad=0_0x0_0}, to_apply=add_c",
        "custom-call(), custom_call_target='x', literal=f32[2]{0} {1, 2}",
        "dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
        "operand_precision={HIGHEST,default}, algorithm=dot_bf16_bf16_f32_x3"));

}  // namespace
}  // namespace hilo
