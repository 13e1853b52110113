#include <gtest/gtest.h>

#include <algorithm>

#include "numpy.h"
#include "wire/wire.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// One of everything that has a field of its own.
const std::string everything =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout={(f32[4]{0}, f32[2,3,4]{0,2,1:T(8,128)(2,1)S(1)}, s32[2]{0})->(f32[4]{0}, f32[])}, allow_spmd_sharding_propagation_to_output={true}, replica_count=2, num_partitions=4, frontend_attributes={a="x",b={"q":1}}

FileNames
1 "f.py"

FunctionNames
1 "fn"

FileLocations
1 {file_name_id=1 function_name_id=1 line=663 end_line=663 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%cond (p: (s32[], f32[4])) -> pred[] {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %c = s32[] constant(3)
  ROOT %r = pred[] compare(%i, %c), direction=LT
}

%body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]{0}) parameter(0)
  %x = f32[4]{0} get-tuple-element(%p), index=1
  %i = s32[] get-tuple-element(%p), index=0
  %c = s32[] constant(1)
  %n = s32[] add(%i, %c)
  ROOT %t = (s32[], f32[4]{0}) tuple(%n, %x)
}

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%greater (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = pred[] compare(%a, %b), direction=GT, type=TOTALORDER
}

ENTRY %e (x: f32[4], y: f32[2,3,4], o: s32[2]) -> (f32[4], f32[]) {
  %x = f32[4]{0} parameter(0), parameter_replication={true}, frontend_attributes={j={"a":{}},k="v"}, origin={{"orig" {1}}}
  %y = f32[2,3,4]{0,2,1:T(8,128)(2,1)S(1)} parameter(1)
  %o = s32[2]{0} parameter(2)
  %k4 = s4[5]{0:E(4)} constant({1, 2, 3, -1, -8})
  %k2 = u2[5]{0} constant({1, 2, 3, 0, 1})
  %kb = bf16[2]{0} constant({1.5, -2})
  %kf = f4e2m1fn[3]{0} constant({1, 2, 3})
  %kl = f32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
  %kc = c64[2]{0} constant({(1, 2), (3, 4)})
  %kp = pred[3]{0} constant({1, 0, 1})
  %kt = (f32[], s32[2]{0}) constant((1, {2, 3}))
  %z = s32[] constant(0)
  %t = (s32[], f32[4]{0}) tuple(%z, %x), metadata={op_type="a" op_name="b" source_file="f" source_line=2 profile_type={1} stack_frame_id=1}
  %w = (s32[], f32[4]{0}) while(%t), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  %g = f32[4]{0} get-tuple-element(%w), index=1, control-predecessors={%z}
  %ar = f32[4]{0} all-reduce(%g), channel_id=3, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true, to_apply=%add, backend_config="raw \"text\""
  %ag = f32[8]{0} all-gather(%g), replica_groups={{0,1},{2,3}}, dimensions={0}
  %am = f32[8]{0} all-gather(%g), replica_groups=mesh['a'=2,'b'=2] {'b'}, dimensions={0}
  %cp = f32[4]{0} collective-permute(%x, %x, %o, %o), source_target_pairs={{0,1},{1,0}}, slice_sizes={{1},{2}}
  %sh = f32[4]{0} copy(%ar), sharding={devices=[4]<=[4] metadata={op_name="m"}}, statistics={visualizing_index=1,a=1.5,b=2}
  %sm = f32[4]{0} copy(%ar), sharding={mesh['x'=2,'y'=4], [{'x', ?}], replicated={'y':(1)2}}
  %sn = f32[4]{0} copy(%ar), sharding={mesh['x'=4], manual}
  %sp = f32[4]{0} copy(%ar), sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
  %ss = (f32[4]{0}, f32[4]{0}) tuple(%x, %g), sharding={{maximal device=3}, {replicated shard_as 3}}
  %e1 = f32[4]{0} exponential(%sh), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}
  %e2 = f32[4]{0} exponential(%sm), result_accuracy={mode=highest}
  %i1 = f32[1,4,4,1]{3,2,1,0} iota(), iota_dimension=1
  %i2 = f32[3,3,1,1]{3,2,1,0} iota(), iota_dimension=0
  %cv = f32[1,2,2,1]{3,2,1,0} convolution(%i1, %i2), window={size=3x3}, dim_labels=b01f_01io->b01f, operand_precision={high,default}
  %cc = (f32[4]{0}, f32[2]{0}) custom-call(%x, %y), custom_call_target="t\"q", operand_layout_constraints={f32[4]{0}, f32[2,3,4]{2,1,0}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, backend_config={ "a" : 1 }
  %ff = c64[4]{0} fft(%x), fft_type=FFT, fft_length={4}
  %bn = f32[4]{0} batch-norm-inference(%x, %x, %x, %x, %x), epsilon=0.001, feature_index=0
  %tk = (f32[2]{0}, s32[2]{0}) topk(%x), k=2, largest=false
  %so = f32[4]{0} sort(%x), dimensions={0}, to_apply=%greater
  %sl = f32[2]{0} slice(%x), slice={[1:4:2]}
  %pd = f32[9]{0} pad(%x, %z), padding=1_2_1
  %ca = f32[4]{0} conditional(%z, %x, %x), branch_computations={%id, %id}
  %dm = f32[4]{0} domain(%x), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
  %d = f32[] dot(%e1, %e2), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %out = (f32[4]{0}, f32[]) tuple(%x, %d), origin={({"a"}, {"b" {1,2}})}
}
)";

std::string with_identity(std::string text) {
  const std::string identity =
      "%id (q: f32[4]) -> f32[4] {\n  ROOT %q = f32[4]{0} parameter(0)\n}\n\n";
  return text.insert(text.find("ENTRY"), identity);
}

Result<Module> through(const Module& module, Format format) {
  HILO_TRY(const std::string bytes, convert(module, format));
  EXPECT_EQ(detect_format(bytes_of(bytes)), format);
  return read_module(bytes_of(bytes));
}

void expect_round_trip(const Module& module, Format format, const std::string& name) {
  const Result<Module> back = through(module, format);
  ASSERT_TRUE(back) << name << ": " << to_string(back.error());
  EXPECT_EQ(difference(module, *back), "") << name;
  EXPECT_TRUE(print(*back) == print(module)) << name << ": prints otherwise";
}

TEST(HloProto, EverythingBothWays) {
  const Result<Module> module = parse(with_identity(everything));
  ASSERT_TRUE(module) << to_string(module.error());
  expect_round_trip(*module, Format::HloProto, "binary");
  expect_round_trip(*module, Format::HloProtoText, "text");
}

TEST(HloProto, ElidedConstantsStayElided) {
  const Result<Module> module = parse(
      "HloModule m\n\nENTRY %e () -> f32[100] {\n  ROOT %c = f32[100]{0} constant({...})\n}\n");
  ASSERT_TRUE(module) << to_string(module.error());
  expect_round_trip(*module, Format::HloProto, "elided");
}

TEST(HloProto, CorpusBothWays) {
  const fs::path shared = HILO_SHARED[0] ? HILO_SHARED : std::getenv("HILO_SHARED") ?: "";
  if (shared.empty() || !fs::exists(shared / "corpus"))
    GTEST_SKIP() << "no shared folder: set HILO_SHARED";
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(shared / "corpus")) {
    if (entry.path().extension() != ".hlo" || fs::file_size(entry.path()) > 4'000'000) continue;
    const Result<Module> module = read_module_file(entry.path());
    ASSERT_TRUE(module) << to_string(module.error());
    expect_round_trip(*module, Format::HloProto, entry.path());
    ++count;
  }
  EXPECT_GT(count, 0);
}

const std::string small =
    "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\n"
    "ENTRY %e (x: f32[4]) -> f32[4] {\n  %x = f32[4]{0} parameter(0)\n"
    "  %y = f32[4]{0} add(%x, %x)\n  ROOT %z = f32[4]{0} negate(%y)\n}\n";

// A proto in protobuf's text with one thing changed.
std::string changed(std::string_view from, std::string_view to) {
  std::string text = *write_hlo_proto_text(*parse(small));
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

ErrorKind error_of(const std::string& text) {
  const Result<Module> module = read_module(bytes_of(text));
  EXPECT_FALSE(module) << text;
  return module ? ErrorKind::Interrupted : module.error().kind;
}

TEST(HloProto, DamageIsAnError) {
  EXPECT_EQ(error_of(changed("opcode: \"add\"", "opcode: \"addd\"")), ErrorKind::Unsupported);
  EXPECT_EQ(error_of(changed("operand_ids: 1", "operand_ids: 7")), ErrorKind::Structure);
  EXPECT_EQ(error_of(changed("operand_ids: 1", "operand_ids: 2")), ErrorKind::Structure);
  EXPECT_EQ(error_of(changed("operand_ids: 1", "")), ErrorKind::Structure);
  EXPECT_EQ(error_of(changed("name: \"y\"", "name: \"x\"")), ErrorKind::Name);
  EXPECT_EQ(error_of(changed("element_type: F32", "element_type: 99")), ErrorKind::Unsupported);
  EXPECT_EQ(error_of(changed("dimensions: 4", "dimensions: -4")), ErrorKind::Shape);
  EXPECT_EQ(error_of(changed("minor_to_major: 0", "minor_to_major: 1")), ErrorKind::Shape);
  EXPECT_EQ(error_of(changed("root_id: 2", "root_id: 9")), ErrorKind::Structure);
  EXPECT_EQ(
      error_of(changed("opcode: \"negate\"", "opcode: \"negate\" control_predecessor_ids: 8")),
      ErrorKind::Structure);
  EXPECT_EQ(error_of(changed("opcode: \"add\"", "opcode: \"parameter\"")), ErrorKind::Structure);
  EXPECT_EQ(error_of(changed("opcode: \"negate\"", "called_computation_ids: 0 opcode: \"call\"")),
            ErrorKind::Structure);  // it would call itself
  EXPECT_EQ(error_of(changed("opcode: \"negate\"", "opcode: \"call\"")), ErrorKind::Structure);
  EXPECT_EQ(error_of("name: \"m\" computations { name: "), ErrorKind::Format);
  EXPECT_EQ(error_of("name: \"m\""), ErrorKind::Structure);
  const std::string bytes = *write_hlo_proto(*parse(small));
  for (size_t size = 1; size < bytes.size(); ++size)
    (void)read_module(bytes_of(bytes).first(size), Format::HloProto);
  EXPECT_FALSE(read_module(bytes_of(bytes).first(bytes.size() / 2), Format::HloProto));
}

// Each byte changed in turn: an error, or a module that prints, is written, and is read again.
TEST(HloProto, ChangedBytesAreAnErrorOrAModule) {
  const Result<Module> module = parse(with_identity(everything));
  ASSERT_TRUE(module) << to_string(module.error());
  const std::string bytes = *write_hlo_proto(*module);
  int modules = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 3 == 0 ? 0x01 : i % 3 == 1 ? 0x80 : 0x7f));
    const Result<Module> read = read_module(bytes_of(damaged), Format::HloProto);
    if (!read) continue;
    ++modules;
    EXPECT_FALSE(print(*read).empty());
    const Result<std::string> written = write_hlo_proto(*read);
    ASSERT_TRUE(written) << i;
    const Result<Module> back = read_module(bytes_of(*written), Format::HloProto);
    ASSERT_TRUE(back) << i << ": " << to_string(back.error());
  }
  EXPECT_GT(modules, 0);
}

TEST(HloProto, LiteralsMustFitTheirInstruction) {
  const Result<Module> module =
      parse("HloModule m\n\nENTRY %e () -> s32[2] {\n  ROOT %c = s32[2]{0} constant({1, 2})\n}\n");
  const std::string text = *write_hlo_proto_text(*module);
  const auto changed_to = [&](std::string_view from, std::string_view to) {
    std::string other = text;
    return other.replace(other.find(from), from.size(), to);
  };
  EXPECT_EQ(error_of(changed_to("dimensions: 2", "dimensions: 1")), ErrorKind::Shape);
  EXPECT_EQ(error_of(changed_to("s32s: 2", "")), ErrorKind::Format);
  EXPECT_EQ(error_of(changed_to("dimensions: 2", "dimensions: 9223372036854775807")),
            ErrorKind::Limit);
}

TEST(HloProto, ASparsityOfNothingIsNone) {
  const Result<Module> module = parse(R"(HloModule m

ENTRY %e (x: f32[1,8,1], k: f32[3,1,1]) -> f32[1,6,1] {
  %x = f32[1,8,1]{2,1,0} parameter(0)
  %k = f32[3,1,1]{2,1,0} parameter(1)
  ROOT %c = f32[1,6,1]{2,1,0} convolution(%x, %k), window={size=3}, dim_labels=b0f_0io->b0f
}
)");
  ASSERT_TRUE(module) << to_string(module.error());
  std::string text = *write_hlo_proto_text(*module);
  const std::string_view opcode = "opcode: \"convolution\"";
  text.insert(text.find(opcode) + opcode.size(), "\n    sparsity_config { }");
  const Result<Module> back = read_module(bytes_of(text));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(print(*back), print(*module));
}

TEST(HloProto, OperandsMayStandAfterTheirUsers) {
  std::string text = *write_hlo_proto_text(*parse(small));
  // The third instruction's block moves before the second's.
  const size_t second = text.find("  instructions {", text.find("name: \"x\""));
  const size_t third = text.find("  instructions {", second + 1);
  const size_t end = text.find("  program_shape {", third);
  ASSERT_NE(end, std::string::npos);
  std::rotate(text.begin() + second, text.begin() + third, text.begin() + end);
  ASSERT_LT(text.find("\"negate\""), text.find("\"add\""));
  const Result<Module> module = read_module(bytes_of(text));
  ASSERT_TRUE(module) << to_string(module.error());
  for (const Instruction& instruction : module->instructions)
    for (InstructionId operand : module->operands(instruction))
      EXPECT_LT(operand.value, static_cast<uint32_t>(&instruction - module->instructions.data()));
  EXPECT_EQ(print(*module), print(*parse(small)));
}

TEST(Format, FoundByContent) {
  const auto format = [](std::string_view text) { return detect_format(bytes_of(text)); };
  EXPECT_EQ(format(small), Format::HloText);
  EXPECT_EQ(format("// a comment\n\nHloModule m"), Format::HloText);
  EXPECT_EQ(format("\n/* a comment */ HloModule m"), Format::HloText);
  EXPECT_EQ(format("/* never closed"), Format::HloText);
  EXPECT_EQ(format("/*/"), Format::HloText);
  EXPECT_EQ(format("// without an end of line"), Format::HloText);
  EXPECT_EQ(format("ROOT x = f32[] parameter(0)"), Format::HloText);
  EXPECT_EQ(format("name: \"m\""), Format::HloProtoText);
  EXPECT_EQ(format("# comment\nhlo_module {"), Format::HloProtoText);
  EXPECT_EQ(format("module @jit_f attributes {}"), Format::StableHloText);
  EXPECT_EQ(format("module {\n}"), Format::StableHloText);
  EXPECT_EQ(format("ML\xefR\x01"), Format::StableHloBytecode);
  EXPECT_EQ(format("\x93NUMPY\x01"), Format::Npy);
  EXPECT_EQ(format("PK\x03\x04"), Format::Npz);
  EXPECT_EQ(format("\x1f\x8b"), Format::Gzip);
  EXPECT_EQ(format(std::string("\x02\0\0\0\0\0\0\0{}", 10)), Format::Safetensors);
  EXPECT_EQ(format(""), Format::HloText);
  EXPECT_EQ(read_module(bytes_of("module @m {}")).error().kind, ErrorKind::Structure);
  EXPECT_EQ(read_module(bytes_of("PK\x03\x04")).error().kind, ErrorKind::Format);
  EXPECT_EQ(read_module(bytes_of("\x1f\x8b garbage")).error().kind, ErrorKind::Format);
}

}  // namespace
}  // namespace hilo
