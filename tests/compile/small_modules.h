// Small modules that together have most ops and attributes, to be changed at random.
#pragma once

namespace hilo::test {

inline constexpr const char* small_modules[] = {
    R"(HloModule elementwise, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { x = f32[4,8] parameter(0)
 y = f32[4,8] parameter(1)
 z = f32[] constant(0.5)
 b = f32[4,8] broadcast(z), dimensions={}
 p = pred[4,8] compare(x, y), direction=LT
 s = f32[4,8] select(p, x, b)
 c = f32[4,8] clamp(z, s, y)
 i = s32[4,8] convert(c)
 k = s8[4,8] convert(i)
 u = u32[4,8] bitcast-convert(c)
 v = u32[4,8] shift-right-logical(u, u)
 d = s32[4,8] divide(i, i)
 t = f32[4,8] tanh(c)
 w = f32[4,8] power(t, y)
 r = f32[4,8] reduce-precision(w), exponent_bits=5, mantissa_bits=4
 q = c64[4,8] complex(r, t)
 a = f32[4,8] imag(q)
 ROOT o = (f32[4,8], s8[4,8], u32[4,8], s32[4,8]) tuple(a, k, v, d) })",
    R"(HloModule moves
ENTRY e { x = f32[4,8]{0,1} parameter(0)
 z = f32[] constant(0)
 t = f32[8,4]{1,0} transpose(x), dimensions={1,0}
 r = f32[2,4,4] reshape(t)
 s = f32[2,2,3] slice(r), slice={[0:2], [0:4:2], [1:4]}
 v = f32[2,2,3] reverse(s), dimensions={0,2}
 p = f32[3,6,5] pad(v, z), padding=0_1x1_1_1x-1_3
 c = f32[3,6,10] concatenate(p, p), dimensions={2}
 i = s32[6,10] iota(), iota_dimension=1
 j = s32[3,6,10] broadcast(i), dimensions={1,2}
 f = f32[3,6,10] convert(j)
 a = f32[3,6,10] add(c, f)
 b = f32[180] bitcast(a)
 k = f32[180] copy(b)
 ROOT o = (f32[180], f32[2,4,4]) tuple(k, r) })",
    R"(HloModule dynamic
ENTRY e { x = f32[6,8] parameter(0)
 i = s32[] parameter(1)
 j = s32[] parameter(2)
 d = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
 u = f32[6,8] dynamic-update-slice(x, d, j, i)
 n = s32[] constant(3)
 g = f32[<=6,8] set-dimension-size(u, n), dimensions={0}
 m = s32[] get-dimension-size(g), dimensions={0}
 h = f32[<=6,8] negate(g)
 ROOT o = (f32[6,8], s32[], f32[<=6,8]) tuple(u, m, h) })",
    R"(HloModule gathers
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[5,6] parameter(0)
 i = s32[3,2] parameter(1)
 y = f32[3,1,4] parameter(2)
 g = f32[3,1,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,4}
 k = s32[3] iota(), iota_dimension=0
 t = f32[3,6] gather(x, k), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, indices_are_sorted=true
 s = f32[5,6] scatter(x, i, y), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, unique_indices=true, to_apply=add
 ROOT o = (f32[3,1,4], f32[3,6], f32[5,6]) tuple(g, t, s) })",
    R"(HloModule reductions
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
most { a = f32[] parameter(0)
 i = s32[] parameter(1)
 b = f32[] parameter(2)
 j = s32[] parameter(3)
 p = pred[] compare(a, b), direction=GE
 v = f32[] select(p, a, b)
 k = s32[] select(p, i, j)
 ROOT c = (f32[], s32[]) tuple(v, k) }
ge { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=GE }
ENTRY e { x = f32[4,6,5] parameter(0)
 y = f32[4,3,2] parameter(1)
 z = f32[] constant(0)
 n = s32[] constant(0)
 i = s32[4,6,5] iota(), iota_dimension=2
 r = f32[4,5] reduce(x, z), dimensions={1}, to_apply=add
 m = (f32[4,6], s32[4,6]) reduce(x, i, z, n), dimensions={2}, to_apply=most
 w = f32[4,5,4] reduce-window(x, z), window={size=1x2x2 pad=0_0x0_0x0_0}, to_apply=add
 v = f32[4,3,2] reduce-window(x, z), window={size=1x2x3 stride=1x2x2}, to_apply=add
 s = f32[4,6,5] select-and-scatter(x, y, z), window={size=1x2x2 stride=1x2x3}, select=ge, scatter=add
 p = f32[4,6,5] map(x, x), dimensions={0,1,2}, to_apply=add
 ROOT o = (f32[4,5], (f32[4,6], s32[4,6]), f32[4,5,4], f32[4,3,2], f32[4,6,5], f32[4,6,5]) tuple(r, m, w, v, s, p) })",
    R"(HloModule products
ENTRY e { a = f32[3,4,5] parameter(0)
 b = f32[3,5,6] parameter(1)
 x = f32[2,8,8,4] parameter(2)
 k = f32[3,3,2,6] parameter(3)
 d = f32[3,4,6] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, operand_precision={highest,default}
 c = f32[2,4,8,6] convolution(x, k), window={size=3x3 stride=2x1 pad=1_1x1_1 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f, feature_group_count=2
 t = f32[2,9,8,6] convolution(x, k), window={size=3x3 pad=2_2x2_2 lhs_dilate=1x1 rhs_dilate=2x2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, feature_group_count=2
 ROOT o = (f32[3,4,6], f32[2,4,8,6]) tuple(d, c) })",
    R"(HloModule loops
body { s = (s32[], f32[4], s8[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[4] get-tuple-element(s), index=1
 k = s8[2] get-tuple-element(s), index=2
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[4] multiply(x, x)
 ROOT t = (s32[], f32[4], s8[2]) tuple(j, y, k) }
test { s = (s32[], f32[4], s8[2]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(5)
 ROOT c = pred[] compare(i, n), direction=LT }
left { p = f32[4] parameter(0)
 ROOT n = f32[4] negate(p) }
right { p = f32[4] parameter(0)
 ROOT n = f32[4] exponential(p) }
twice { p = f32[4] parameter(0)
 ROOT n = f32[4] add(p, p) }
ENTRY e { x = f32[4] parameter(0)
 q = pred[] parameter(1)
 k = s32[] parameter(2)
 z = s32[] constant(0)
 m = s8[2] constant({1, 2})
 s = (s32[], f32[4], s8[2]) tuple(z, x, m)
 l = (s32[], f32[4], s8[2]) while(s), condition=test, body=body, backend_config={"known_trip_count":{"n":"5"}}
 y = f32[4] get-tuple-element(l), index=1
 c = f32[4] conditional(q, y, x), true_computation=left, false_computation=right
 d = f32[4] conditional(k, c, y, x), branch_computations={left, right, twice}
 f = f32[4] call(d), to_apply=twice
 g = f32[4] fusion(f), kind=kLoop, calls=twice, backend_config={"aliasing_operands":{"lists":[{"indices":["0","1"]}]}}
 ROOT o = (f32[4], s32[]) tuple(g, k) })",
    R"(HloModule sorts
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }
ENTRY e { x = f32[3,7] parameter(0)
 a = f32[2,4,4] parameter(1)
 b = f32[2,4,3] parameter(2)
 i = s32[3,7] iota(), iota_dimension=1
 s = (f32[3,7], s32[3,7]) sort(x, i), dimensions={1}, is_stable=true, to_apply=less
 t = (f32[3,2], s32[3,2]) topk(x), k=2, largest=true
 c = f32[2,4,4] cholesky(a), lower=true
 v = f32[2,4,3] triangular-solve(c, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE
 y = c64[2,4,3] fft(b), fft_type=RFFT, fft_length={4}
 g = u64[2] constant({1, 2})
 r = (u64[2], u32[5]) rng-bit-generator(g), algorithm=rng_philox
 ROOT o = ((f32[3,7], s32[3,7]), f32[2,4,3], (u64[2], u32[5])) tuple(s, v, r) })",
    R"(HloModule tuples
fused { p = (f32[4], (s32[2], pred[])) parameter(0)
 a = f32[4] get-tuple-element(p), index=0
 b = (s32[2], pred[]) get-tuple-element(p), index=1
 c = s32[2] get-tuple-element(b), index=0
 n = f32[4] negate(a)
 m = s32[2] not(c)
 ROOT t = (f32[4], s32[2]) tuple(n, m) }
ENTRY e { p = (f32[4], (s32[2], pred[])) parameter(0)
 k = (f32[2,1], s32[3]) constant(({ {1}, {2} }, {3, 4, 5}))
 c = (f32[2,1], s32[3]) copy(k)
 f = (f32[4], s32[2]) fusion(p), kind=kLoop, output_to_operand_aliasing={{0}: (0, {0})}, calls=fused
 t = token[] after-all()
 d = (f32[2,1], s32[3]) add-dependency(c, t)
 b = (f32[4], s32[2]) opt-barrier(f)
 ROOT o = ((f32[2,1], s32[3]), (f32[4], s32[2])) tuple(d, b), sharding={{replicated}, {replicated}, {replicated}, {replicated}} })",
    R"(HloModule narrow
ENTRY e { a = bf16[4,4] parameter(0)
 b = f8e4m3fn[4,4] parameter(1)
 c = s4[4,4] parameter(2)
 x = f16[4,4] convert(b)
 y = f16[4,4] convert(a)
 z = f16[4,4] multiply(x, y)
 n = s4[4,4] add(c, c)
 u = u2[4,4] convert(n)
 w = f64[4,4] convert(z)
 v = c128[4,4] complex(w, w)
 e = c128[4,4] exponential(v)
 p = pred[4,4] is-finite(w)
 q = s32[4,4] popcnt(s)
 s = s32[4,4] convert(c)
 ROOT o = (f16[4,4], u2[4,4], c128[4,4], pred[4,4], s32[4,4]) tuple(z, u, e, p, q) })",
    R"(HloModule devices, num_partitions=2
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[4,4] parameter(0), sharding={devices=[2,1]<=[2]}
 p = u32[] partition-id()
 r = f32[4,4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
 g = f32[8,4] all-gather(r), channel_id=2, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
 s = f32[4,4] reduce-scatter(g), channel_id=3, replica_groups=[1,2]<=[2], dimensions={0}, use_global_device_ids=true, to_apply=add
 t = f32[4,4] all-to-all(s), channel_id=4, replica_groups={{0,1}}, dimensions={0}
 m = f32[4,4] collective-permute(t), channel_id=5, source_target_pairs={{0,1},{1,0}}
 ROOT o = (f32[4,4], u32[]) tuple(m, p) })",
    R"(HloModule asynchronous, is_scheduled=true
body { p = f32[4] parameter(0)
 ROOT n = f32[4] negate(p) }
ENTRY e { x = f32[4] parameter(0)
 c = (f32[4], f32[4], u32[]) copy-start(x)
 s = ((f32[4]), f32[4], s32[]) async-start(x), calls=body
 a = f32[4] add(x, x)
 d = f32[4] copy-done(c)
 y = f32[4] async-done(s), calls=body
 l = () custom-call(y), custom_call_target="debug.Log", custom_call_has_side_effect=true
 k = f32[4] custom-call(a), custom_call_target="Sharding", sharding={replicated}
 ROOT o = (f32[4], f32[4], f32[4]) tuple(d, y, k), control-predecessors={a} })",
};

}  // namespace hilo::test
