// Kernels of JAX and XLA on GPUs: published values, products that give the operand again.
#include "devices.h"

namespace hilo::test {
namespace {

Numbers one(const std::string& body, std::vector<Literal> inputs) {
  const auto rows = run_well("HloModule m\n" + body, {std::move(inputs)});
  return rows.empty() ? Numbers{} : rows[0];
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

// The known answers of Random123: keys and counters of zeros, and of ones.
TEST(GpuKernels, ThreefryGivesItsKnownAnswers) {
  for (const char* target : {"cu_threefry2x32", "cu_threefry2x32_ffi"})
    EXPECT_EQ(one("ENTRY e { k = u32[2] constant({0, 4294967295})\n ROOT r = (u32[2], u32[2]) "
                  "custom-call(k, k, k, k), custom_call_target=\"" +
                      std::string(target) + "\"\n}\n",
                  {}),
              (Numbers{0x6b200159, 0x1cb996fc, 0x99ba4efe, 0xbb002be7}));
}

TEST(GpuKernels, PivotsGiveTheOrderOfRows) {
  // 0 with 2, then 1 with 2, then 2 with itself, of four rows.
  EXPECT_EQ(one("ENTRY e { p = s32[1,3] constant({{2, 2, 2}})\n ROOT r = s32[1,4] custom-call(p), "
                "custom_call_target=\"cu_lu_pivots_to_permutation\"\n}\n",
                {}),
            (Numbers{2, 0, 1, 3}));
}

TEST(GpuKernels, TriangularSystem) {
  // X A^T = B with A = [[2, 0], [1, 4]]: X = [[1, 2]] gives B = [[2, 9]].
  EXPECT_EQ(one("ENTRY e { a = f32[2,2] constant({{2, 77}, {1, 4}})\n b = f32[1,2] constant({{2, "
                "9}})\n r = (f32[1,2], s8[0]) custom-call(a, b), "
                "custom_call_target=\"__cublas$triangularSolve\", "
                "backend_config={\"left_side\":false,\"lower\":true,\"unit_diagonal\":false,"
                "\"transpose_a\":\"TRANSPOSE\"}\n ROOT x = f32[1,2] get-tuple-element(r), "
                "index=0\n}\n",
                {}),
            (Numbers{1, 2}));
}

TEST(GpuKernels, DynamicArraysAsTheirBoundAndBack) {
  EXPECT_EQ(
      one("ENTRY e { x = f32[4] parameter(0)\n n = s32[] constant(3)\n d = f32[<=4] "
          "custom-call(x, n), custom_call_target=\"SliceToDynamic\"\n t = (f32[4], s32[]) "
          "custom-call(d), custom_call_target=\"PadToStatic\"\n y = f32[4] "
          "get-tuple-element(t), index=0\n m = s32[] get-tuple-element(t), index=1\n z = "
          "f32[1] slice(y), slice={[0:1]}\n k = s32[] get-dimension-size(d), dimensions={0}\n "
          "ROOT r = (f32[1], s32[], s32[]) tuple(z, m, k)\n}\n",
          {f32({4}, {7, 8, 9, 10})}),
      (Numbers{7, 3, 3}));
}

// U S Vt is the matrix, whichever way the routine gives the vectors.
std::string singular(const std::string& target, const std::string& config, const std::string& u,
                     const std::string& v, const std::string& take) {
  return "ENTRY e { a = f32[2,3] parameter(0)\n c = (f32[2,3], f32[2], " + u + ", " + v +
         ", s32[]) custom-call(a), custom_call_target=\"" + target +
         "\", api_version=API_VERSION_TYPED_FFI, backend_config={" + config +
         "}\n s = f32[2] get-tuple-element(c), index=1\n p = " + u +
         " get-tuple-element(c), index=2\n q = " + v + " get-tuple-element(c), index=3\n" + take +
         " sb = f32[2,2] broadcast(s), dimensions={1}\n us = f32[2,2] multiply(u, sb)\n ROOT r = "
         "f32[2,3] dot(us, vt), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
}

TEST(GpuKernels, SingularValuesInBothForms) {
  const std::vector<float> a = {1, 2, 3, -4, 5, 6};
  const Numbers want(a.begin(), a.end());
  // More columns than rows: transposed, the right vectors first.
  expect_near(
      one(singular("cusolver_gesvd_ffi",
                   "compute_uv = true, full_matrices = false, transposed = true", "f32[2,3]",
                   "f32[2,2]", " vt = f32[2,3] copy(p)\n u = f32[2,2] copy(q)\n"),
          {f32({2, 3}, a)}),
      want);
  expect_near(
      one(singular("cusolver_gesvdj_ffi", "compute_uv = true, full_matrices = false", "f32[2,2]",
                   "f32[3,2]",
                   " u = f32[2,2] copy(p)\n vt = f32[2,3] transpose(q), dimensions={1,0}\n"),
          {f32({2, 3}, a)}),
      want);
}

TEST(GpuKernels, LuFactorsTimesEachOtherAreTheRowsInOrder) {
  const Numbers got = one(
      "ENTRY e { a = f32[3,3] parameter(0)\n c = (f32[3,3], s32[3], s32[3]) custom-call(a), "
      "custom_call_target=\"LuDecomposition\"\n f = f32[3,3] get-tuple-element(c), index=0\n p = "
      "s32[3] get-tuple-element(c), index=2\n i = s32[3,3] iota(), iota_dimension=0\n j = "
      "s32[3,3] iota(), iota_dimension=1\n below = pred[3,3] compare(i, j), direction=GT\n on = "
      "pred[3,3] compare(i, j), direction=EQ\n z = f32[] constant(0)\n zb = f32[3,3] "
      "broadcast(z), dimensions={}\n w = f32[] constant(1)\n wb = f32[3,3] broadcast(w), "
      "dimensions={}\n l0 = f32[3,3] select(below, f, zb)\n l = f32[3,3] select(on, wb, l0)\n u "
      "= f32[3,3] select(below, zb, f)\n lu = f32[3,3] dot(l, u), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n rows = f32[3,3] gather(a, p), offset_dims={1}, "
      "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
      "slice_sizes={1,3}\n ROOT d = f32[3,3] subtract(lu, rows)\n}\n",
      {f32({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10})});
  expect_near(got, Numbers(9), 1e-5);
}

}  // namespace
}  // namespace hilo::test
