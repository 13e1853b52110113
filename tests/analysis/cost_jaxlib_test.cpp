// XLA's own HloCostAnalysis as the judge, for modules of one op each and for unoptimised programs.
// It counts loops once; where else it differs stands at the head of cost_arithmetic.cpp.
#include <algorithm>
#include <sstream>

#include "../wire/numpy.h"
#include "cost.h"

namespace hilo {
namespace {

// flops, transcendentals and bytes of each file, one line each; "-" for what jaxlib cannot parse.
constexpr const char* program = R"(
import sys, jax
from jaxlib import _hlo, _jax
client = jax.devices('cpu')[0].client
out = open('totals', 'w')
for path in open('list').read().split('\n')[:-1]:
    try:
        cost = _jax.hlo_module_cost_analysis(client, _hlo.hlo_module_from_text(open(path).read()))
        print(*(repr(cost.get(k, 0.)) for k in ('flops', 'transcendentals', 'bytes accessed')),
              file=out)
    except Exception:
        print('-', file=out)
)";

struct Totals {
  double flops = 0, transcendentals = 0, bytes = 0;
};
std::vector<std::optional<Totals>> totals_of(const std::string& python, const test::Folder& folder,
                                             const std::vector<std::string>& files) {
  std::ofstream list(folder / "list");
  for (const std::string& file : files) list << file << "\n";
  list.close();
  std::ofstream(folder / "program.py") << program;
  const test::Ran ran =
      test::run_command("cd " + folder.path.string() + " && " + python + " program.py");
  EXPECT_EQ(ran.status, 0) << ran.output;
  std::vector<std::optional<Totals>> out;
  std::ifstream lines(folder / "totals");
  for (std::string line; std::getline(lines, line);) {
    Totals t;
    std::istringstream words(line);
    if (words >> t.flops >> t.transcendentals >> t.bytes) out.push_back(t);
    else out.push_back(std::nullopt);
  }
  EXPECT_EQ(out.size(), files.size()) << ran.output;
  out.resize(files.size());
  return out;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Entries whose costs are XLA's to the last byte.
const char* const same[] = {
    "ROOT r = f32[4,8]{1,0} add(p, p)",
    "ROOT r = f32[4,8]{1,0} power(p, p)",
    "ROOT r = f32[4,8]{1,0} cbrt(p)",
    "ROOT r = f32[4,8]{1,0} erf(p)",
    "ROOT r = f32[4,8]{1,0} atan2(p, p)",
    "ROOT r = f32[4,8]{1,0} logistic(p)",
    "ROOT r = f32[4,8]{1,0} sign(p)",
    "ROOT r = f32[4,8]{1,0} round-nearest-even(p)",
    "ROOT r = f32[4,8]{1,0} reduce-precision(p), exponent_bits=5, mantissa_bits=10",
    "ROOT r = bf16[4,8]{1,0} convert(p)",
    "ROOT r = f32[4,8]{1,0} clamp(p, p, p)",
    "ROOT r = f32[4,8]{1,0} copy(p)",
    "ROOT r = f32[8,4]{1,0} transpose(p), dimensions={1,0}",
    "ROOT r = f32[8,4]{0,1} transpose(p), dimensions={1,0}",
    "ROOT r = f32[32]{0} reshape(p)",
    "ROOT r = f32[4,8,3]{2,1,0} broadcast(p), dimensions={0,1}",
    "ROOT r = f32[8,8]{1,0} concatenate(p, p), dimensions={0}",
    "ROOT r = f32[6,8]{1,0} pad(p, z), padding=1_1x0_0",
    "ROOT r = f32[4,8]{1,0} reverse(p), dimensions={0}",
    "ROOT r = f32[2,8]{1,0} slice(p), slice={[0:2], [0:8]}",
    "v = f32[9]{0} parameter(3)\n"
    " ROOT r = f32[2]{0} dynamic-slice(v, i), dynamic_slice_sizes={2}",
    "v = f32[9]{0} parameter(3)\n u = f32[2]{0} parameter(4)\n"
    " ROOT r = f32[9]{0} dynamic-update-slice(v, u, i)",
    "a = s32[3,1]{1,0} parameter(3)\n ROOT r = f32[3,8]{1,0} gather(p, a), offset_dims={1}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}",
    "a = s32[3,1]{1,0} parameter(3)\n u = f32[3,8]{1,0} parameter(4)\n ROOT r = f32[4,8]{1,0} "
    "scatter(p, a, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "ROOT r = f32[4,8]{1,0} map(p, p), dimensions={0,1}, to_apply=add",
    "ROOT r = f32[4]{0} reduce(p, z), dimensions={1}, to_apply=add",
    "ROOT r = f32[2,8]{1,0} reduce-window(p, z), window={size=3x1}, to_apply=add",
    "s = f32[2,8]{1,0} parameter(3)\n ROOT r = f32[4,8]{1,0} select-and-scatter(p, s, z), "
    "window={size=2x1 stride=2x1}, select=ge, scatter=add",
    "ROOT r = f32[4,8]{1,0} sort(p), dimensions={1}, to_apply=ge",
    "c = c64[4,8]{1,0} parameter(3)\n"
    " ROOT r = c64[4,8]{1,0} fft(c), fft_type=FFT, fft_length={8}",
    "a = f32[2,8,8]{2,1,0} parameter(3)\n"
    " ROOT r = f32[2,8,8]{2,1,0} cholesky(a), lower=true",
    "ROOT r = f32[8]{0} rng(z, z), distribution=rng_uniform",
    "s = u64[2]{0} parameter(3)\n"
    " ROOT r = (u64[2]{0}, u32[8]{0}) rng-bit-generator(s), algorithm=rng_three_fry",
    "ROOT r = f32[4,8]{1,0} all-reduce(p), replica_groups={}, to_apply=add",
    "ROOT r = f32[8,8]{1,0} all-gather(p), replica_groups={{0,1}}, dimensions={0}",
    "ROOT r = f32[4,8]{1,0} collective-permute(p), source_target_pairs={{0,1}}",
    "q = f32[8,16]{1,0} parameter(3)\n ROOT r = f32[4,16]{1,0} dot(p, q), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "a = f32[2,8,8,6]{3,2,1,0} parameter(3)\n b = f32[3,3,3,4]{3,2,1,0} parameter(4)\n"
    " ROOT r = f32[2,8,8,4]{3,2,1,0} convolution(a, b), window={size=3x3 pad=1_1x1_1}, "
    "dim_labels=b01f_01io->b01f, feature_group_count=2",
    "a = f32[2,8,8,3]{3,2,1,0} parameter(3)\n b = f32[3,3,3,4]{3,2,1,0} parameter(4)\n"
    " ROOT r = f32[2,13,7,4]{3,2,1,0} convolution(a, b), window={size=3x3 stride=1x2 "
    "lhs_dilate=2x2 rhs_dilate=1x2 pad=0_0x1_1}, dim_labels=b01f_01io->b01f",
    "ROOT r = (f32[4,8]{1,0}, s32[]) tuple(p, i)",
    "ROOT r = u32[] partition-id()",
    "ROOT r = f32[4,8]{1,0} fusion(p), kind=kLoop, calls=f",
};

std::string module_of(const std::string& entry) {
  return "HloModule m\n\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
         " ROOT r = f32[] add(a, b)\n}\n\nge {\n a = f32[] parameter(0)\n"
         " b = f32[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=GE\n}\n\n"
         "f {\n x = f32[4,8]{1,0} parameter(0)\n y = f32[4,8]{1,0} tanh(x)\n"
         " ROOT w = f32[4,8]{1,0} add(x, y)\n}\n\nENTRY e {\n p = f32[4,8]{1,0} parameter(0)\n"
         " i = s32[] parameter(1)\n z = f32[] parameter(2)\n " +
         entry + "\n}\n";
}

TEST(CostJaxlib, SingleOpsAgree) {
  REQUIRE_PYTHON(python, "jaxlib");
  test::Folder folder;
  std::vector<std::string> files;
  for (const char* entry : same) {
    files.push_back(folder / fmt::format("{}.hlo", files.size()));
    std::ofstream(files.back()) << module_of(entry);
  }
  const auto theirs = totals_of(*python, folder, files);
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_TRUE(theirs[i]) << same[i];
    const Cost ours = test::count(module_of(same[i])).sum();
    EXPECT_EQ(ours.flops, theirs[i]->flops) << same[i];
    EXPECT_EQ(ours.transcendentals, theirs[i]->transcendentals) << same[i];
    EXPECT_EQ(ours.bytes_read + ours.bytes_written, theirs[i]->bytes) << same[i];
  }
}

TEST(CostJaxlib, UnoptimisedProgramsAgree) {
  const std::filesystem::path folder = std::filesystem::path(HILO_SHARED) / "corpus/hlo/cpu";
  if (!exists(folder)) GTEST_SKIP() << "HILO_SHARED names no folder with a corpus";
  REQUIRE_PYTHON(python, "jaxlib");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.file_size() < 400'000) files.push_back(entry.path());
  std::ranges::sort(files);
  test::Folder scratch;
  const auto theirs = totals_of(*python, scratch, files);
  for (size_t i = 0; i < files.size(); ++i) {
    if (!theirs[i]) continue;
    const Cost ours = test::count(read_text(files[i])).sum();
    // Each custom call takes one away.
    EXPECT_NEAR(ours.flops, theirs[i]->flops, 2 + theirs[i]->flops * 1e-4) << files[i];
    EXPECT_EQ(ours.transcendentals, theirs[i]->transcendentals) << files[i];
    const double bytes = ours.bytes_read + ours.bytes_written;
    EXPECT_NEAR(bytes, theirs[i]->bytes, theirs[i]->bytes * 0.01) << files[i];
  }
}

}  // namespace
}  // namespace hilo
