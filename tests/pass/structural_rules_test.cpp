// Rules that move data: modules that show what each is for, and modules that look alike, in which
// it must not fire. rules_test.cpp proves all rules.
#include "judge.h"

namespace hilo {
namespace {

struct Row {
  const char* rule;
  const char* body;  // of the entry
};

const char* const reducers = R"(
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
add_s32 { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT s = s32[] add(b, a) }
add_bf16 { a = bf16[] parameter(0)
 b = bf16[] parameter(1)
 ROOT s = bf16[] add(a, b) }
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] maximum(a, b) }
less { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = pred[] compare(a, b), direction=LT }
first_max { a = f32[] parameter(0)
 i = s32[] parameter(1)
 b = f32[] parameter(2)
 j = s32[] parameter(3)
 g = pred[] compare(a, b), direction=GE
 m = f32[] select(g, a, b)
 k = s32[] select(g, i, j)
 ROOT t = (f32[], s32[]) tuple(m, k) }
second { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(b, b) }
)";

const Row rows[] = {
    {"bitcast-convert-twice", R"(x = f32[4] parameter(0)
 a = u32[4] bitcast-convert(x)
 ROOT r = s32[4] bitcast-convert(a))"},
    {"bitcast-convert-same", R"(x = f32[4] parameter(0)
 ROOT r = f32[4] bitcast-convert(x))"},
    {"copy-same", R"(x = f32[4] parameter(0)
 y = f32[4] negate(x)
 ROOT r = f32[4] copy(y))"},
    {"copy-copy", R"(x = f32[4,2]{1,0} parameter(0)
 y = f32[4,2]{0,1} copy(x)
 ROOT r = f32[4,2]{1,0:S(1)} copy(y))"},
    {"reshape-same", R"(x = f32[4,2] parameter(0)
 ROOT r = f32[4,2] reshape(x))"},
    {"reshape-reshape", R"(x = f32[4,6] parameter(0)
 y = f32[24] reshape(x)
 ROOT r = f32[3,8] reshape(y))"},
    {"reshape-of-broadcast", R"(x = f32[4,1,3] parameter(0)
 y = f32[4,1,5,3] broadcast(x), dimensions={0,1,3}
 ROOT r = f32[1,4,5,1,3] reshape(y))"},
    {"reshape-of-broadcast", R"(x = f32[] parameter(0)
 y = f32[4,6] broadcast(x), dimensions={}
 ROOT r = f32[3,8] reshape(y))"},
    {"reshape-of-iota", R"(i = s32[4,1,3] iota(), iota_dimension=2
 ROOT r = s32[1,4,3] reshape(i))"},
    {"transpose-same", R"(x = f32[4,2] parameter(0)
 ROOT r = f32[4,2] transpose(x), dimensions={0,1})"},
    {"transpose-transpose", R"(x = f32[2,3,4] parameter(0)
 y = f32[4,2,3] transpose(x), dimensions={2,0,1}
 ROOT r = f32[3,2,4] transpose(y), dimensions={2,1,0})"},
    {"transpose-of-broadcast", R"(x = f32[2,4] parameter(0)
 y = f32[2,3,4] broadcast(x), dimensions={0,2}
 ROOT r = f32[4,2,3] transpose(y), dimensions={2,0,1})"},
    {"transpose-of-iota", R"(i = f32[2,3,4] iota(), iota_dimension=2
 ROOT r = f32[4,2,3] transpose(i), dimensions={2,0,1})"},
    {"transpose-to-reshape", R"(x = f32[2,1,4] parameter(0)
 ROOT r = f32[1,2,4] transpose(x), dimensions={1,0,2})"},
    {"broadcast-same", R"(x = f32[2,4] parameter(0)
 ROOT r = f32[2,4] broadcast(x), dimensions={0,1})"},
    {"broadcast-broadcast", R"(x = f32[3] parameter(0)
 y = f32[2,3] broadcast(x), dimensions={1}
 ROOT r = f32[2,5,3] broadcast(y), dimensions={0,2})"},
    {"broadcast-of-iota", R"(i = s32[3] iota(), iota_dimension=0
 ROOT r = s32[2,3] broadcast(i), dimensions={1})"},
    {"broadcast-of-reshape", R"(x = f32[3,4] parameter(0)
 y = f32[3,1,4] reshape(x)
 ROOT r = f32[2,3,5,1,4] broadcast(y), dimensions={1,3,4})"},
    {"broadcast-to-reshape", R"(x = f32[3,4] parameter(0)
 ROOT r = f32[1,3,1,4] broadcast(x), dimensions={1,3})"},
    {"iota-of-one", R"(ROOT i = f32[1,4] iota(), iota_dimension=0)"},
    {"constant-of-one-number", R"(ROOT c = f32[2,2] constant({{3,3},{3,3}}))"},
    {"slice-whole", R"(x = f32[3,4] parameter(0)
 ROOT r = f32[3,4] slice(x), slice={[0:3], [0:4]})"},
    {"slice-slice", R"(x = f32[20,9] parameter(0)
 y = f32[6,9] slice(x), slice={[2:19:3], [0:9]}
 ROOT r = f32[2,4] slice(y), slice={[1:5:2], [5:9]})"},
    {"slice-of-broadcast", R"(x = f32[6] parameter(0)
 y = f32[5,6] broadcast(x), dimensions={1}
 ROOT r = f32[2,2] slice(y), slice={[1:3], [1:5:2]})"},
    {"slice-of-iota", R"(i = s32[5,6] iota(), iota_dimension=1
 ROOT r = s32[2,3] slice(i), slice={[3:5], [0:3]})"},
    {"slice-of-concatenate", R"(x = f32[3,2] parameter(0)
 y = f32[5,2] parameter(1)
 c = f32[8,2] concatenate(x, y), dimensions={0}
 ROOT r = f32[2,1] slice(c), slice={[4:8:2], [1:2]})"},
    {"slice-of-pad", R"(x = f32[3,2] parameter(0)
 z = f32[] constant(7)
 p = f32[8,1] pad(x, z), padding=2_3x-1_0
 ROOT r = f32[2,1] slice(p), slice={[3:5], [0:1]})"},
    {"slice-of-transpose", R"(x = f32[3,2,4] parameter(0)
 t = f32[4,3,2] transpose(x), dimensions={2,0,1}
 a = f32[1,3,2] slice(t), slice={[2:3], [0:3], [0:2]}
 b = f32[1,3,2] slice(t), slice={[0:1], [0:3], [0:2]}
 ROOT r = f32[1,3,2] subtract(a, b))"},
    {"slice-of-reshape", R"(x = f32[3,2,4] parameter(0)
 t = f32[4,3,2] transpose(x), dimensions={2,0,1}
 v = f32[4,6,1] reshape(t)
 a = f32[1,6,1] slice(v), slice={[2:3], [0:6], [0:1]}
 b = f32[1,6,1] slice(v), slice={[0:1], [0:6], [0:1]}
 ROOT r = f32[1,6,1] subtract(a, b))"},
    {"dynamic-slice-whole", R"(x = f32[3,2] parameter(0)
 i = s32[] parameter(1)
 ROOT r = f32[3,2] dynamic-slice(x, i, i), dynamic_slice_sizes={3,2})"},
    {"dynamic-slice-constant", R"(x = f32[9,4] parameter(0)
 i = s32[] constant(7)
 j = s32[] constant(-1)
 ROOT r = f32[3,2] dynamic-slice(x, i, j), dynamic_slice_sizes={3,2})"},
    {"dynamic-slice-of-broadcast", R"(x = f32[4] parameter(0)
 i = s32[] parameter(1)
 b = f32[9,4] broadcast(x), dimensions={1}
 ROOT r = f32[3,4] dynamic-slice(b, i, i), dynamic_slice_sizes={3,4})"},
    {"dynamic-update-slice-whole", R"(x = f32[4] parameter(0)
 y = f32[4] parameter(1)
 i = s32[] parameter(2)
 ROOT r = f32[4] dynamic-update-slice(x, y, i))"},
    {"dynamic-update-slice-nothing", R"(x = f32[4] parameter(0)
 y = f32[0] parameter(1)
 i = s32[] parameter(2)
 ROOT r = f32[4] dynamic-update-slice(x, y, i))"},
    {"dynamic-update-slice-own", R"(x = f32[4] parameter(0)
 i = s32[] parameter(1)
 y = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}
 ROOT r = f32[4] dynamic-update-slice(x, y, i))"},
    {"concatenate-one", R"(x = f32[4] parameter(0)
 ROOT r = f32[4] concatenate(x), dimensions={0})"},
    {"concatenate-empty", R"(x = f32[4] parameter(0)
 y = f32[0] parameter(1)
 ROOT r = f32[8] concatenate(x, y, x), dimensions={0})"},
    {"concatenate-concatenate", R"(x = f32[4] parameter(0)
 y = f32[3] parameter(1)
 c = f32[7] concatenate(x, y), dimensions={0}
 ROOT r = f32[11] concatenate(c, x), dimensions={0})"},
    {"concatenate-neighbours", R"(x = f32[9,4] parameter(0)
 a = f32[2,2] slice(x), slice={[1:3], [1:3]}
 b = f32[4,2] slice(x), slice={[3:7], [1:3]}
 c = f32[1,2] slice(x), slice={[0:1], [1:3]}
 ROOT r = f32[7,2] concatenate(c, a, b), dimensions={0})"},
    {"concatenate-of-one-number", R"(x = f32[] parameter(0)
 a = f32[2] broadcast(x), dimensions={}
 b = f32[3] broadcast(x), dimensions={}
 ROOT r = f32[5] concatenate(a, b), dimensions={0})"},
    {"pad-nothing", R"(x = f32[3] parameter(0)
 z = f32[] parameter(1)
 ROOT r = f32[3] pad(x, z), padding=0_0)"},
    {"pad-of-empty", R"(x = f32[0,2] parameter(0)
 z = f32[] parameter(1)
 ROOT r = f32[3,3] pad(x, z), padding=1_2x0_1)"},
    {"pad-of-padding", R"(z = f32[] parameter(0)
 x = f32[3] broadcast(z), dimensions={}
 ROOT r = f32[7] pad(x, z), padding=1_1_1)"},
    {"pad-pad", R"(x = f32[3,1] parameter(0)
 z = f32[] parameter(1)
 y = f32[5,1] pad(x, z), padding=1_1x0_0
 ROOT r = f32[6,3] pad(y, z), padding=0_1x1_1)"},
    {"pad-to-slice", R"(x = f32[6,3] parameter(0)
 z = f32[] parameter(1)
 ROOT r = f32[3,3] pad(x, z), padding=-1_-2x0_0)"},
    {"reverse-nothing", R"(x = f32[6,1] parameter(0)
 ROOT r = f32[6,1] reverse(x), dimensions={1})"},
    {"reverse-back", R"(x = f32[6,2] parameter(0)
 y = f32[6,2] reverse(x), dimensions={1,0}
 ROOT r = f32[6,2] reverse(y), dimensions={0,1})"},
    {"reverse-reverse", R"(x = f32[6,2,3] parameter(0)
 y = f32[6,2,3] reverse(x), dimensions={1,0}
 ROOT r = f32[6,2,3] reverse(y), dimensions={2,1})"},
    {"reverse-of-broadcast", R"(x = f32[6] parameter(0)
 y = f32[6,2] broadcast(x), dimensions={0}
 ROOT r = f32[6,2] reverse(y), dimensions={1})"},
    {"reduce-of-empty", R"(x = f32[0,3] parameter(0)
 i = f32[] parameter(1)
 ROOT r = f32[3] reduce(x, i), dimensions={0}, to_apply=add)"},
    {"reduce-of-ones", R"(x = f32[1,3] parameter(0)
 i = f32[] constant(0)
 ROOT r = f32[3] reduce(x, i), dimensions={0}, to_apply=add)"},
    {"reduce-of-joined", R"(x = f32[2,10,2] parameter(0)
 y = f32[2,9,2] parameter(1)
 i = f32[] constant(0)
 c = f32[2,29,2] concatenate(x, y, x), dimensions={1}
 ROOT r = f32[] reduce(c, i), dimensions={0,1,2}, to_apply=add)"},
    {"reduce-of-stack", R"(x = f32[9,1,4] parameter(0)
 n = s32[9,1,4] parameter(1)
 i = f32[] constant(-inf)
 j = s32[] constant(0)
 r = (f32[9,4], s32[9,4]) reduce(x, n, i, j), dimensions={1}, to_apply=first_max
 ROOT g = s32[9,4] get-tuple-element(r), index=1)"},
    {"reduce-of-stack", R"(x = f32[1,4] parameter(0)
 c = f32[1,12] concatenate(x, x, x), dimensions={1}
 i = f32[] constant(2)
 ROOT r = f32[12] reduce(c, i), dimensions={0}, to_apply=max)"},
    {"reduce-of-tiles", R"(x = f32[9,4] parameter(0)
 i = f32[] parameter(1)
 t = f32[9,2,4] broadcast(x), dimensions={0,2}
 y = f32[3,3,8] reshape(t)
 ROOT r = f32[8] reduce(y, i), dimensions={0,1}, to_apply=add)"},
    {"reduce-of-tiles", R"(x = f32[9,4] parameter(0)
 i = f32[] parameter(1)
 t = f32[9,2,4] broadcast(x), dimensions={0,2}
 y = f32[18,4] reshape(t)
 ROOT r = f32[] reduce(y, i), dimensions={0,1}, to_apply=max)"},
    {"reduce-without-copies", R"(x = f32[9,4] parameter(0)
 i = f32[] parameter(1)
 y = f32[5,4,2,9] broadcast(x), dimensions={3,1}
 ROOT r = f32[2] reduce(y, i), dimensions={0,1,3}, to_apply=max)"},
    {"reduce-of-kept-copies", R"(x = f32[9,4] parameter(0)
 i = f32[] parameter(1)
 y = f32[5,4,2,9] broadcast(x), dimensions={3,1}
 ROOT r = f32[4,2] reduce(y, i), dimensions={0,3}, to_apply=add)"},
    {"gather-of-regular-indices", R"(x = f32[9,12,4] parameter(0)
 i = s32[5,1] constant({{8},{6},{4},{2},{-5}})
 ROOT r = f32[9,5,4] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1},
  index_vector_dim=1, slice_sizes={9,1,4})"},
    {"gather-of-regular-indices", R"(x = f32[9,4] parameter(0)
 i = s32[2,5] constant({{2,2,2,4,4},{4,6,6,6,8}})
 ROOT r = f32[2,5,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=2, slice_sizes={1,4})"},
    {"gather-of-regular-indices", R"(x = f32[9,4] parameter(0)
 i = u8[9] constant({0,0,2,2,4,4,6,6,200})
 ROOT r = f32[9,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=1, slice_sizes={1,4})"},
    {"gather-of-regular-indices", R"(x = f32[9,4,6] parameter(0)
 i = s32[1,2] constant({{3,99}})
 ROOT r = f32[1,4,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0,2},
  index_vector_dim=1, slice_sizes={1,4,2})"},
    {"gather-of-same-indices", R"(x = f32[9,4] parameter(0)
 n = s32[6] parameter(1)
 i = s32[6,4,1] broadcast(n), dimensions={0}
 ROOT r = f32[6,4] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
  operand_batching_dims={1}, start_indices_batching_dims={1}, index_vector_dim=2, slice_sizes={1,1})"},
    {"reduce-of-reshape", R"(x = f32[4,3,5] parameter(0)
 y = f32[4,1,3,5,1] reshape(x)
 i = f32[] constant(0)
 ROOT r = f32[1,5,1] reduce(y, i), dimensions={0,2}, to_apply=add)"},
    {"reduce-of-transpose", R"(x = f32[4,3,5,2] parameter(0)
 y = f32[5,4,2,3] transpose(x), dimensions={2,0,3,1}
 i = f32[] constant(0)
 ROOT r = f32[5,4] reduce(y, i), dimensions={2,3}, to_apply=add)"},
    {"reduce-of-copies", R"(x = f32[4] parameter(0)
 y = f32[3,4,2] broadcast(x), dimensions={1}
 i = f32[] constant(-inf)
 ROOT r = f32[4,2] reduce(y, i), dimensions={0}, to_apply=max)"},
    {"reduce-of-copies-to-product", R"(x = s32[4] parameter(0)
 y = s32[3,4,2] broadcast(x), dimensions={1}
 i = s32[] constant(0)
 ROOT r = s32[4,2] reduce(y, i), dimensions={0}, to_apply=add_s32)"},
    {"reduce-reduce", R"(x = f32[4,3,5] parameter(0)
 i = f32[] constant(0)
 j = f32[] parameter(1)
 y = f32[4,5] reduce(x, i), dimensions={1}, to_apply=add
 ROOT r = f32[4] reduce(y, j), dimensions={1}, to_apply=add)"},
    {"reduce-of-stack", R"(x = f32[4,1,2] parameter(0)
 y = f32[4,1,2] parameter(1)
 z = f32[4,1,2] parameter(2)
 i = f32[] parameter(3)
 c = f32[4,3,2] concatenate(x, y, z), dimensions={1}
 ROOT r = f32[4,2] reduce(c, i), dimensions={1}, to_apply=add)"},
    {"reduce-of-stack", R"(x = f32[1,4,5] parameter(0)
 y = f32[1,4,5] parameter(1)
 w = f32[2,5] parameter(2)
 k = f32[4,2,5] parameter(3)
 i = f32[] constant(0)
 c = f32[2,4,5] concatenate(x, y), dimensions={0}
 t = f32[4,5,2] transpose(c), dimensions={1,2,0}
 b = f32[4,5,2] broadcast(w), dimensions={2,1}
 e = f32[4,5,2] add(t, b)
 u = f32[4,2,5] transpose(e), dimensions={0,2,1}
 z = f32[4,2,5] broadcast(i), dimensions={}
 a = f32[4,2,5] subtract(u, k)
 q = f32[4,2,5] maximum(a, z)
 ROOT r = f32[4,5] reduce(q, i), dimensions={1}, to_apply=add)"},
    {"reduce-of-stack", R"(x = f32[1,5] parameter(0)
 y = f32[1,5] parameter(1)
 l = f32[] constant(-inf)
 n = s32[] constant(0)
 c = f32[2,5] concatenate(x, y), dimensions={0}
 i = s32[2,5] iota(), iota_dimension=0
 m = (f32[5], s32[5]) reduce(c, i, l, n), dimensions={0}, to_apply=first_max
 ROOT r = s32[5] get-tuple-element(m), index=1)"},
    {"dot-of-empty", R"(x = f32[4,0] parameter(0)
 y = f32[0,3] parameter(1)
 ROOT r = f32[4,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0})"},
    {"dot-without-sum", R"(x = f32[2,4,1] parameter(0)
 y = f32[1,5,2] parameter(1)
 ROOT r = f32[2,4,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={2},
   lhs_contracting_dims={2}, rhs_contracting_dims={0})"},
    {"dot-of-transpose-left", R"(x = f32[2,4,3] parameter(0)
 t = f32[3,2,4] transpose(x), dimensions={2,0,1}
 y = f32[2,3,5] parameter(1)
 ROOT r = f32[2,4,5] dot(t, y), lhs_batch_dims={1}, rhs_batch_dims={0}, lhs_contracting_dims={0}, rhs_contracting_dims={1})"},
    {"dot-of-transpose-right", R"(x = f32[4,3] parameter(0)
 y = f32[5,3] parameter(1)
 t = f32[3,5] transpose(y), dimensions={1,0}
 ROOT r = f32[4,5] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0})"},
    {"transpose-of-dot", R"(x = f32[3,2,4,7] parameter(0)
 y = f32[2,3,4,6] parameter(1)
 d = f32[2,4,7,6] dot(x, y), lhs_batch_dims={1,2}, rhs_batch_dims={0,2}, lhs_contracting_dims={0}, rhs_contracting_dims={1}
 ROOT r = f32[4,2,6,7] transpose(d), dimensions={1,0,3,2})"},
    {"transpose-of-dot", R"(x = f32[7,5,9] parameter(0)
 y = f32[7,4] parameter(1)
 d = f32[5,9,4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
 ROOT r = f32[4,5,9] transpose(d), dimensions={2,0,1})"},
    {"sort-of-one", R"(x = f32[4,1] parameter(0)
 ROOT r = f32[4,1] sort(x), dimensions={1}, to_apply=less)"},
    {"scatter-of-nothing", R"(x = f32[4] parameter(0)
 i = s32[0,1] parameter(1)
 u = f32[0] parameter(2)
 ROOT r = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"dynamic-update-slice-of-one-number", R"(n = f32[] parameter(0)
 x = f32[4,5] broadcast(n), dimensions={}
 u = f32[2,3] parameter(1)
 i = s32[] constant(3)
 j = s32[] constant(1)
 ROOT r = f32[4,5] dynamic-update-slice(x, u, i, j))"},
    {"scatter-of-lines", R"(x = f32[9,4,2,3] parameter(0)
 i = s32[5,1] parameter(1)
 u = f32[5,4,2,3] parameter(2)
 ROOT r = f32[9,4,2,3] scatter(x, i, u), update_window_dims={1,2,3}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"scatter-of-lines", R"(x = f32[9,4,2,3] parameter(0)
 i = s32[5,2] parameter(1)
 u = f32[3,5,2,3] parameter(2)
 ROOT r = f32[9,4,2,3] scatter(x, i, u), update_window_dims={0,2,3}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add)"},
    {"add-reshaped-scattered", R"(x = f32[8,6] parameter(0)
 i = s32[5,1] parameter(1)
 u = f32[5,6] parameter(2)
 y = f32[8,2,3] parameter(3)
 z = f32[] constant(0)
 zeros = f32[8,6] broadcast(z), dimensions={}
 s = f32[8,6] scatter(zeros, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
 w = f32[8,2,3] reshape(s)
 ROOT r = f32[8,2,3] add(w, y))"},
    {"scatter-of-one-window", R"(x = f32[4,3] parameter(0)
 i = s32[1] parameter(1)
 u = f32[3] parameter(2)
 ROOT r = f32[4,3] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add)"},
    {"scatter-of-one-window", R"(x = f32[4,5] parameter(0)
 i = s32[2] constant({2, 1})
 u = f32[3,2] parameter(1)
 ROOT r = f32[4,5] scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=add)"},
    {"scatter-of-one-window", R"(x = f32[4,5] parameter(0)
 i = s32[2] constant({3, 2})
 u = f32[3,2] parameter(1)
 ROOT r = f32[4,5] scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=add)"},
    {"scatter-of-one-window", R"(x = f32[6,5] parameter(0)
 i = u64[1,2] parameter(1)
 u = f32[1,2] parameter(2)
 ROOT r = f32[6,5] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add)"},
    {"bitcast-same", R"(x = f32[4] parameter(0)
 ROOT r = f32[4] bitcast(x))"},
    {"bitcast-bitcast", R"(x = f32[4,2]{0,1} parameter(0)
 y = f32[2,4]{1,0} bitcast(x)
 ROOT r = f32[8] bitcast(y))"},
    {"reduce-window-of-one", R"(x = f32[4,3] parameter(0)
 i = f32[] constant(0)
 ROOT r = f32[4,3] reduce-window(x, i), window={size=1x1}, to_apply=add)"},
    {"after-all-of-one", R"(x = f32[4] parameter(0)
 t = token[] after-all()
 u = token[] after-all(t)
 ROOT r = (f32[4], token[]) tuple(x, u))"},
    {"size-of-static", R"(x = f32[4,3] parameter(0)
 ROOT r = s32[] get-dimension-size(x), dimensions={1})"},
    {"element-of-tuple", R"(x = f32[4] parameter(0)
 y = s32[] parameter(1)
 t = (f32[4], s32[]) tuple(x, y)
 ROOT r = s32[] get-tuple-element(t), index=1)"},
    {"tuple-of-elements", R"(t = (f32[4], s32[]) parameter(0)
 x = f32[4] get-tuple-element(t), index=0
 y = s32[] get-tuple-element(t), index=1
 ROOT r = (f32[4], s32[]) tuple(x, y))"},
};

// Modules in which the rule would be wrong.
const Row kept[] = {
    {"gather-of-regular-indices", R"(x = f32[9,4] parameter(0)
 i = s32[3,1] constant({{2},{4},{6}})
 ROOT r = f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=1, slice_sizes={0,4})"},
    {"gather-of-regular-indices", R"(x = f32[9,4] parameter(0)
 i = s32[1] constant({2})
 ROOT r = f32[4] gather(x, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=0, slice_sizes={0,4})"},
    {"scatter-of-lines", R"(x = f32[9,4,2,3] parameter(0)
 i = s32[5,1] parameter(1)
 u = f32[5,4,1,3] parameter(2)
 ROOT r = f32[9,4,2,3] scatter(x, i, u), update_window_dims={1,2,3}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
    {"scatter-of-lines", R"(x = f32[9,4,3] parameter(0)
 i = s32[5,1] parameter(1)
 u = f32[9,4,5] parameter(2)
 ROOT r = f32[9,4,3] scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, index_vector_dim=1, to_apply=add)"},
    {"gather-of-regular-indices", R"(x = f32[9,4] parameter(0)
 i = s32[3,7] constant({{2,2,2,4,4,4,6},{6,6,8,8,8,99,99},{99,99,99,99,99,99,99}})
 ROOT r = f32[3,7,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0},
  index_vector_dim=2, slice_sizes={1,4})"},
    {"reduce-of-stack", R"(x = f32[1,5] parameter(0)
 y = f32[1,5] parameter(1)
 i = f32[] constant(0)
 c = f32[2,5] concatenate(x, y), dimensions={0}
 s = f32[5] reduce(c, i), dimensions={0}, to_apply=add
 ROOT r = (f32[2,5], f32[5]) tuple(c, s))"},
    {"reduce-of-stack", R"(x = f32[1,5] parameter(0)
 y = f32[1,5] parameter(1)
 w = f32[2,5] parameter(2)
 i = f32[] constant(0)
 c = f32[2,5] concatenate(x, y), dimensions={0}
 e = f32[2,5] add(c, w)
 s = f32[5] reduce(e, i), dimensions={0}, to_apply=add
 ROOT r = (f32[2,5], f32[5]) tuple(e, s))"},
    {"reduce-of-stack", R"(x = bf16[1,5] parameter(0)
 y = bf16[1,5] parameter(1)
 i = bf16[] constant(0)
 c = bf16[2,5] concatenate(x, y), dimensions={0}
 ROOT s = bf16[5] reduce(c, i), dimensions={0}, to_apply=add_bf16)"},
    {"slice-of-transpose", R"(x = f32[3,4] parameter(0)
 t = f32[4,3] transpose(x), dimensions={1,0}
 a = f32[4,1] slice(t), slice={[0:4], [0:1]}
 ROOT r = (f32[4,1], f32[4,3]) tuple(a, t))"},
    {"slice-of-reshape", R"(x = f32[3,2,4] parameter(0)
 t = f32[4,3,2] transpose(x), dimensions={2,0,1}
 v = f32[4,6] reshape(t)
 ROOT a = f32[4,3] slice(v), slice={[0:4], [1:4]})"},
    {"copy-same", R"(x = f32[4] parameter(0)
 ROOT r = f32[4]{0:S(1)} copy(x))"},
    {"transpose-to-reshape", R"(x = f32[2,4]{0,1} parameter(0)
 ROOT r = f32[4,2]{1,0} transpose(x), dimensions={1,0})"},
    {"slice-whole", R"(x = f32[4] parameter(0)
 ROOT r = bf16[4] slice(x), slice={[0:4]})"},
    {"reshape-reshape", R"(x = f32[4,6]{0,1} parameter(0)
 y = f32[24]{0} reshape(x)
 ROOT r = f32[3,8]{1,0} reshape(y))"},
    {"pad-nothing", R"(x = f32[3] parameter(0)
 z = f32[] parameter(1)
 ROOT r = f32[3] pad(x, z), padding=-1_1)"},
    {"reduce-of-ones", R"(x = f32[1,3] parameter(0)
 i = f32[] constant(0)
 ROOT r = f32[3] reduce(x, i), dimensions={0}, to_apply=second)"},
    {"reduce-of-copies", R"(x = f32[4] parameter(0)
 y = f32[3,4] broadcast(x), dimensions={1}
 i = f32[] constant(1)
 ROOT r = f32[4] reduce(y, i), dimensions={0}, to_apply=max)"},
    {"slice-of-concatenate", R"(x = f32[3] parameter(0)
 y = f32[5] parameter(1)
 c = f32[8] concatenate(x, y), dimensions={0}
 ROOT r = f32[3] slice(c), slice={[2:5]})"},
    {"transpose-of-dot", R"(x = f32[7,4,6] parameter(0)
 y = f32[7,5] parameter(1)
 d = f32[4,6,5] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
 ROOT r = f32[5,6,4] transpose(d), dimensions={2,1,0})"},
    {"transpose-of-dot", R"(x = f32[7,5] parameter(0)
 y = f32[7,4] parameter(1)
 d = f32[5,4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
 t = f32[4,5] transpose(d), dimensions={1,0}
 ROOT r = (f32[5,4], f32[4,5]) tuple(d, t))"},
    {"dot-of-transpose-left", R"(x = f32[2,4,3] parameter(0)
 t = f32[4,2,3] transpose(x), dimensions={1,0,2}
 y = f32[3,5] parameter(1)
 ROOT r = f32[4,2,5] dot(t, y), lhs_contracting_dims={2}, rhs_contracting_dims={0})"},
    {"add-zero", R"(x = f32[4] parameter(0)
 z = f32[] constant(0)
 b = f32[4] broadcast(z), dimensions={}
 y = f32[4] negate(x)
 a = f32[4] add(x, b), control-predecessors={y}
 ROOT r = f32[4] subtract(a, y))"},
    {"add-zero", R"(x = f32[<=4] parameter(0)
 z = f32[<=4] constant({0,0,0,0})
 ROOT a = f32[<=4] add(x, z))"},
};

const RewriteRule* find_rule(std::string_view name) {
  for (const RuleFamily& family : all_rules())
    for (const RewriteRule& rule : family.rules)
      if (rule.name == name) return &rule;
  return nullptr;
}

Module module_of(const Row& row) {
  return test::parsed(fmt::format("HloModule m\n{}ENTRY e {{ {} }}\n", reducers, row.body));
}

// The module after one rule, and how often it fired.
std::pair<Module, int> apply(const RewriteRule& rule, const Module& module) {
  std::pair<Module, int> out(module, 0);
  RewriteOptions options;
  options.fired = [&](std::string_view) { ++out.second; };
  const RuleTable table(&rule, 1);
  apply_rules(out.first, std::array{table}, options);
  restore_order(out.first, static_cast<uint32_t>(module.instructions.size()));
  return out;
}

TEST(StructuralRules, KeepWhatTheySay) {
  for (const Row& row : rows) {
    const RewriteRule* rule = find_rule(row.rule);
    ASSERT_NE(rule, nullptr) << row.rule;
    const Module before = module_of(row);
    const auto [after, fired] = apply(*rule, before);
    EXPECT_GT(fired, 0) << row.rule << "\n" << print(before);
    EXPECT_EQ(test::difference_in_values(before, after, rule->keeps), "")
        << row.rule << "\n"
        << print(before) << print(after);
  }
}

TEST(StructuralRules, HoldBack) {
  for (const Row& row : kept) {
    const RewriteRule* rule = find_rule(row.rule);
    ASSERT_NE(rule, nullptr) << row.rule;
    EXPECT_EQ(apply(*rule, module_of(row)).second, 0) << row.rule << "\n" << row.body;
  }
}

}  // namespace
}  // namespace hilo
