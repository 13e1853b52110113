// MLIR's own parser and writers as the judge: one program in all the forms that they write.
#include <algorithm>

#include "mlir_samples.h"
#include "numpy.h"
#include "wire/wire.h"

namespace hilo::mlir {
namespace {

constexpr std::string_view program_text = R"MLIR(
module @m {
func.func public @main(%f: tensor<2x3xf32>, %g: tensor<3x4xf32>, %s: tensor<f32>, %i:
    tensor<i32>, %v: tensor<2xi64>, %sq: tensor<4x4xf32>, %st: tensor<2xui64>, %x:
    tensor<1x8x8x3xf32>, %w: tensor<2x2x3x4xf32>, %ix: tensor<2xi32>) -> tensor<2x3xf32> {
 %0 = stablehlo.abs %f : tensor<2x3xf32>
 %c0 = stablehlo.complex %f, %f : tensor<2x3xcomplex<f32>>
 %1 = stablehlo.abs %c0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
 %2 = stablehlo.real %c0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
 %3 = stablehlo.is_finite %f : (tensor<2x3xf32>) -> tensor<2x3xi1>
 %4 = stablehlo.broadcast %s, sizes = [4] : (tensor<f32>) -> tensor<4xf32>
 %5 = stablehlo.transpose %f, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
 %6 = stablehlo.reverse %f, dims = [0, 1] : tensor<2x3xf32>
 %7 = stablehlo.pad %f, %s, low = [0, -1], high = [1, 0], interior = [1, 2] : (tensor<2x3xf32>,
    tensor<f32>) -> tensor<4x6xf32>
 %8 = stablehlo.slice %f [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
 %9 = stablehlo.dynamic_slice %f, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>,
    tensor<i32>) -> tensor<1x2xf32>
 %10 = stablehlo.dynamic_update_slice %f, %9, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>,
    tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
 %11 = stablehlo.concatenate %f, %f, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) ->
    tensor<2x6xf32>
 %12 = stablehlo.iota dim = 1 : tensor<3x4xui8>
 %13 = stablehlo.dynamic_iota %v, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32>
 %14 = stablehlo.get_dimension_size %13, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
 %15 = stablehlo.dynamic_broadcast_in_dim %s, %v, dims = [] : (tensor<f32>, tensor<2xi64>) ->
    tensor<?x?xf32>
 %16 = stablehlo.dynamic_reshape %f, %v : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
 %17 = stablehlo.reduce_precision %f, format = e5m2 : tensor<2x3xf32>
 %18 = stablehlo.cholesky %sq, lower = true : tensor<4x4xf32>
 %19 = stablehlo.select %3, %f, %f : tensor<2x3xi1>, tensor<2x3xf32>
 %20 = stablehlo.clamp %s, %f, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 %21 = stablehlo.convert %f : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
 %22 = stablehlo.fft %c0, type = FFT, length = [3] : (tensor<2x3xcomplex<f32>>) ->
    tensor<2x3xcomplex<f32>>
 %23 = stablehlo.rng %s, %s, %v, distribution = UNIFORM : (tensor<f32>, tensor<f32>,
    tensor<2xi64>) -> tensor<2x3xf32>
 %24:2 = stablehlo.rng_bit_generator %st, algorithm = THREE_FRY : (tensor<2xui64>) ->
    (tensor<2xui64>, tensor<4xui32>)
 %25 = stablehlo.dot %f, %g, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) ->
    tensor<2x4xf32>
 %26 = stablehlo.dot_general %f, %g, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST]
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
 %27 = stablehlo.dot_general %f, %g, contracting_dims = [1] x [0], precision = [DEFAULT,
    DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32,
    accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
    num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>,
    tensor<3x4xf32>) -> tensor<2x4xf32>
 %28 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 2], pad = [[0, 1], [1, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 2],
    reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} :
    (tensor<1x8x8x3xf32>, tensor<2x2x3x4xf32>) -> tensor<1x8x4x4xf32>
 %29 = stablehlo.compare GE, %f, %f, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) ->
    tensor<2x3xi1>
 %30:2 = stablehlo.reduce(%f init: %s), (%f init: %s) across dimensions = [1] : (tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %t: tensor<f32>) {
   %a1 = stablehlo.add %p, %q : tensor<f32>
   %a2 = stablehlo.maximum %r, %t : tensor<f32>
   stablehlo.return %a1, %a2 : tensor<f32>, tensor<f32>
 }
 %31 = stablehlo.reduce(%f init: %s) applies stablehlo.maximum across dimensions = [0, 1] :
    (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
 %32 = stablehlo.optimization_barrier %f : tensor<2x3xf32>
 %33 = stablehlo.einsum %f, %g, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) ->
    tensor<2x4xf32>
 %34 = stablehlo.exponential %f {result_accuracy = #stablehlo.result_accuracy<atol =
    1.000000e-01, rtol = 0.000000e+00, ulps = 1, mode =
    #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2x3xf32>
 %35 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi4>
 %36 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
 %37 = stablehlo.constant dense<[[1.5, -2.0], [0x7FC00000, 3.0]]> : tensor<2x2xf32>
 %38 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
 %39 = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xbf16>
 %40 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>
 %41 = stablehlo.constant dense<"0x0102"> : tensor<2xi8>
 %42 = stablehlo.custom_call @foo(%f, %s) {backend_config = "abc", called_computations = [@h],
    has_side_effect = true, api_version = 2 : i32} : (tensor<2x3xf32>, tensor<f32>) ->
    tensor<2x3xf32>
 %43 = stablehlo.set_dimension_size %f, %i, dim = 0 : (tensor<2x3xf32>, tensor<i32>) ->
    tensor<?x3xf32, #stablehlo.bounds<2, ?>>
 %46 = stablehlo.constant dense<[0.1, 448.0]> : tensor<2xf8E4M3FN>
 %47 = stablehlo.constant dense<[18446744073709551615, 0]> : tensor<2xui64>
 %48 = stablehlo.replica_id : tensor<ui32>
 %49:2 = "stablehlo.all_gather"(%f, %f) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,
    1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
    use_global_device_ids}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>,
    tensor<4x3xf32>)
 %50 = "stablehlo.triangular_solve"(%sq, %sq) <{left_side = true, lower = true, transpose_a =
    #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>)
    -> tensor<4x4xf32>
 %51 = "stablehlo.collective_broadcast"(%f) <{replica_groups = dense<[[0, 1]]> :
    tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
 %52 = "stablehlo.reduce_scatter"(%sq) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0,
    1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p1: tensor<f32>, %q1: tensor<f32>):
   %a11 = stablehlo.add %p1, %q1 : tensor<f32>
   stablehlo.return %a11 : tensor<f32>
 }) : (tensor<4x4xf32>) -> tensor<2x4xf32>
 %53 = "stablehlo.torch_index_select"(%g, %ix) <{dim = 0 : i64, batch_dims = 0 : i64}> :
    (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
 %54 = stablehlo.real_dynamic_slice %f, %v, %v, %v : (tensor<2x3xf32>, tensor<2xi64>,
    tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
 %55 = stablehlo.dynamic_pad %f, %s, %v, %v, %v : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>,
    tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
 stablehlo.custom_call @keep(%0, %c0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,
    %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24#0, %24#1, %25, %26, %27, %28, %29,
    %30#0, %30#1, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %46, %47, %48,
    %49#0, %49#1, %50, %51, %52, %53, %54, %55) {has_side_effect = true} : (tensor<2x3xf32>,
    tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>, tensor<4xf32>,
    tensor<3x2xf32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<2x2xf32>, tensor<1x2xf32>,
    tensor<2x3xf32>, tensor<2x6xf32>, tensor<3x4xui8>, tensor<?x?xf32>, tensor<i32>,
    tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x3xf32>, tensor<4x4xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf8E4M3FN>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>,
    tensor<2xui64>, tensor<4xui32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>,
    tensor<1x8x4x4xf32>, tensor<2x3xi1>, tensor<2xf32>, tensor<2xf32>, tensor<f32>,
    tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<3xi4>, tensor<3xi1>,
    tensor<2x2xf32>, tensor<complex<f32>>, tensor<2xbf16>, tensor<2xcomplex<f64>>, tensor<2xi8>,
    tensor<2x3xf32>, tensor<?x3xf32, #stablehlo.bounds<2, ?>>, tensor<2xf8E4M3FN>,
    tensor<2xui64>, tensor<ui32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>,
    tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> ()
 return %f : tensor<2x3xf32>
}
func.func private @h(%f: tensor<f32>) -> tensor<f32> { return %f : tensor<f32> }
}
)MLIR";

// The writer of bytecode moves constants: lines without the numbers of values, in order.
std::string without_order(const std::string& dump) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < dump.size(); ++i) {
    if (dump[i] == '\n') lines.emplace_back();
    else if (dump[i] != '%') lines.back() += dump[i];
    else
      while (i + 1 < dump.size() && dump[i + 1] >= '0' && dump[i + 1] <= '9') ++i;
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST(MlirPeers, AllFormsOfOneProgramAreOneProgram) {
  REQUIRE_PYTHON(python, "jaxlib.mlir.dialects.stablehlo");
  const auto ours = text(program_text);
  ASSERT_TRUE(ours) << to_string(ours.error());
  test::Folder folder;
  ASSERT_TRUE(write_file(folder / "program.mlir", program_text));
  test::expect_python(*python, folder, R"(
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo
with ir.Context() as context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    module = ir.Module.parse(open('program.mlir').read())
    for name, options in (('short', {}), ('generic', dict(print_generic_op_form=True)),
                          ('located', dict(enable_debug_info=True))):
        open(name + '.mlir', 'w').write(module.operation.get_asm(**options))
    with open('plain.mlirbc', 'wb') as file:
        module.operation.write_bytecode(file)
    for version in ('1.17.0', '1.12.0', '1.9.0'):
        with open(version + '.mlirbc', 'wb') as file:
            file.write(stablehlo.serialize_portable_artifact(module, version))
)");
  if (testing::Test::HasFailure()) return;
  for (const char* name : {"short.mlir", "generic.mlir", "located.mlir"}) {
    const auto bytes = read_whole_file(folder / name);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(dump_of(text(*bytes)), dump_of(ours)) << name;
  }
  const auto plain = read_whole_file(folder / "plain.mlirbc");
  ASSERT_TRUE(plain);
  EXPECT_EQ(dump_of(bytecode(*plain)), dump_of(ours));
  for (const char* name : {"1.17.0.mlirbc", "1.12.0.mlirbc", "1.9.0.mlirbc"}) {
    const auto bytes = read_whole_file(folder / name);
    ASSERT_TRUE(bytes);
    EXPECT_EQ(without_order(dump_of(bytecode(*bytes))), without_order(dump_of(ours))) << name;
  }
}

}  // namespace
}  // namespace hilo::mlir
