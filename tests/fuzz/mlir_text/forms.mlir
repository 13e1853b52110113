!t = tensor<2xf32>
#early = loc("x")
module @m attributes {mhlo.num_partitions = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
  func.func public @main(%a: !t {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}p1], replicated={"y"}>} loc(#early), %p: tensor<i1>, %g: tensor<2x3xf32>) -> (!t {jax.result_info = "r"}) {
    %cst = stablehlo.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>
    %z = stablehlo.constant dense<"0x00000000"> : tensor<f32>
    %0 = stablehlo.add %a, %cst {mhlo.frontend_attributes = {a = "b\n"}} : !t loc(#late)
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (!t, tensor<f32>) -> tensor<f32>
    %2:2 = stablehlo.while(%x = %0, %y = %1) : !t, tensor<f32>
    cond { stablehlo.return %p : tensor<i1> } do { stablehlo.return %0, %y : !t, tensor<f32> }
    %3 = "stablehlo.sort"(%2#0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %4 = stablehlo.compare LT, %l, %r, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (!t) -> !t
    %5 = stablehlo.dot_general %a, %g, contracting_dims = [0] x [0], precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (!t, tensor<2x3xf32>) -> tensor<3xf32>
    %6 = stablehlo.slice %g [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
    %7 = stablehlo.custom_call @f(%6) {api_version = 4 : i32, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<1x2xf32>) -> tensor<?x2xf32, #stablehlo.bounds<3, ?>>
    %8 = stablehlo.uniform_quantize %a : (!t) -> tensor<2x!quant.uniform<i8<-127:127>:f32:0, {0.5:3, 0.25}>>
    %9 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      stablehlo.return %l : tensor<f32>
    }) : (!t) -> !t
    return %3 : !t
  } loc(callsite(#early at fused["a":1:2 to 3:4, unknown]))
}
#late = loc("add"(#early))
{-# dialect_resources: { builtin: { w: "0x0400000001" } } #-}
