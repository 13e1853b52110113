// XLA's own reader and writer of protos as the judge, in both directions.
#include <gtest/gtest.h>

#include "numpy.h"
#include "wire/wire.h"

namespace hilo {
namespace {

constexpr std::string_view module_text = R"(HloModule m, is_scheduled=true

%body (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %c = s32[] constant(1)
  %n = s32[] add(%i, %c)
  %v = f32[4]{0} get-tuple-element(%p), index=1
  ROOT %t = (s32[], f32[4]{0}) tuple(%n, %v)
}

%cond (q: (s32[], f32[4])) -> pred[] {
  %q = (s32[], f32[4]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %k = s32[] constant(3)
  ROOT %r = pred[] compare(%j, %k), direction=LT
}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%fused (f: f32[4]) -> f32[4] {
  %f = f32[4]{0} parameter(0)
  ROOT %g = f32[4]{0} negate(%f)
}

ENTRY %e (x: f32[4], y: bf16[2,3]) -> (f32[], f32[8]) {
  %x = f32[4]{0} parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  %y = bf16[2,3]{0,1:T(8,128)(2,1)S(1)} parameter(1), origin={{"y" {1}}}
  %small = s4[3]{0} constant({1, -8, 7})
  %turned = f32[2,3]{0,1} constant({ { 1, 2, 3 }, { 4, 5, 6 } })
  %pair = (f32[], s32[2]{0}) constant((1, {2, 3}))
  %zero = s32[] constant(0)
  %start = (s32[], f32[4]{0}) tuple(%zero, %x)
  %loop = (s32[], f32[4]{0}) while(%start), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  %w = f32[4]{0} get-tuple-element(%loop), index=1, control-predecessors={%pair}, metadata={op_name="w" source_line=3 profile_type={1}}
  %all = f32[4]{0} all-reduce(%w), channel_id=3, replica_groups=[2,2]<=[2,2]T(1,0), use_global_device_ids=true, to_apply=%sum
  %wide = f32[8]{0} all-gather(%all), replica_groups=mesh['a'=2,'b'=2] {'b'}, dimensions={0}
  %named = f32[4]{0} copy(%all), sharding={mesh['x'=2,'y'=4], [{'x', ?}], replicated={'y':(1)2}}
  %exp = f32[4]{0} exponential(%named), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}
  %fusion = f32[4]{0} fusion(%exp), kind=kLoop, calls=%fused
  %call = f32[4]{0} custom-call(%fusion), custom_call_target="t", api_version=API_VERSION_TYPED_FFI, backend_config="a\nb"
  %dot = f32[] dot(%call, %exp), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={high,default}
  ROOT %out = (f32[], f32[8]{0}) tuple(%dot, %wide), frontend_attributes={a="b"}
}
)";

TEST(Jaxlib, ReadsWhatWeWriteAndWeReadWhatItWrites) {
  REQUIRE_PYTHON(python, "jaxlib");
  test::Folder folder;
  const Result<Module> module = parse(module_text);
  ASSERT_TRUE(module) << to_string(module.error());
  const Result<std::string> bytes = write_hlo_proto(*module);
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(write_file(folder / "ours.pb", *bytes));
  ASSERT_TRUE(write_file(folder / "module.hlo", module_text));
  test::expect_python(*python, folder, R"(
from jaxlib import _hlo
text = open('module.hlo').read()
theirs = _hlo.hlo_module_from_text(text)
ours = _hlo.HloModule.from_serialized_hlo_module_proto(open('ours.pb', 'rb').read())
assert ours.to_string() == theirs.to_string(), ours.to_string() + theirs.to_string()
open('theirs.pb', 'wb').write(theirs.as_serialized_hlo_module_proto())
)");
  if (testing::Test::HasFailure()) return;
  const Result<Module> back = read_module_file(folder / "theirs.pb");
  ASSERT_TRUE(back) << to_string(back.error());
  Module expected = *module;  // XLA writes the layout that the text left out
  expected.header.entry_computation_layout = back->header.entry_computation_layout;
  EXPECT_TRUE(back->header.entry_computation_layout.has_value());
  EXPECT_EQ(difference(expected, *back), "") << print(*back);
}

// A name stands once in a computation; XLA wants it once in the module.
TEST(Jaxlib, ReadsModulesWhoseComputationsUseTheSameNames) {
  REQUIRE_PYTHON(python, "jaxlib");
  test::Folder folder;
  const Result<Module> module =
      parse(R"(HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%first (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %y = f32[4]{0} negate(%x)
}

%second (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %x.1 = f32[4]{0} sine(%x)
  ROOT %y = f32[4]{0} cosine(%x.1)
}

ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %y = f32[4]{0} call(%x), to_apply=%first
  ROOT %z = f32[4]{0} call(%y), to_apply=%second
}
)");
  ASSERT_TRUE(module) << to_string(module.error());
  const Result<std::string> bytes = write_hlo_proto(*module);
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(write_file(folder / "ours.pb", *bytes));
  test::expect_python(*python, folder, R"(
from jaxlib import _hlo
text = _hlo.HloModule.from_serialized_hlo_module_proto(open('ours.pb', 'rb').read()).to_string()
names = [line.split('=')[0].replace('ROOT', '').strip() for line in text.splitlines() if line[:2] == '  ']
assert len(names) == len(set(names)) == 8, names
assert {'%x', '%y', '%z', '%x.1'} <= set(names), names
)");
  const Result<Module> back = read_module(std::as_bytes(std::span(*bytes)));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(difference(*module, *back), "") << print(*back);
}

}  // namespace
}  // namespace hilo
