// One line for each rule of shape inference: an instruction, and what its mistake is called.
#include <gtest/gtest.h>

#include "text/text.h"

namespace hilo {
namespace {

constexpr const char* before = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
vector { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[2] broadcast(a), dimensions={} }
ENTRY main {
  f = f32[4,8] parameter(0)
  g = f32[8,4] parameter(1)
  s = s32[4,8] parameter(2)
  i = s32[] parameter(3)
  z = f32[] parameter(4)
  c = c64[4,8] parameter(5)
  q = pred[4,8] parameter(6)
  t = (f32[4], s32[]) parameter(7)
  k = token[] parameter(8)
  v = f32[8] parameter(9)
  w = s32[8] parameter(10)
  m = f32[4,4] parameter(11)
  b = f32[2,3,4] parameter(12)
  u = u32[4,8] parameter(13)
  n = s32[1,8] parameter(14)
  ROOT x = )";

struct Row {
  const char* instruction;
  const char* message;  // "": sound
};

// What infer_shape says of the root, or that the result differs from the stated one.
std::string verdict(const char* instruction) {
  const Result<Module> module = parse(std::string(before) + instruction + " }");
  if (!module) return module.error().message;
  const Instruction& root = (*module)[(*module)[module->entry].root];
  const Result<Shape> shape = infer_shape(*module, root);
  if (!shape) return shape.error().message;
  if (same_dims_any_type(*shape, module->shape(root))) return "";
  return "gives " + to_string_without_layout(*shape);
}

void expect(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const std::string found = verdict(row.instruction);
    if (*row.message == 0) {
      EXPECT_EQ(found, "") << row.instruction;
    }
    EXPECT_NE(found.find(row.message), std::string::npos) << row.instruction << "\n" << found;
  }
}

TEST(InferMistakes, Elementwise) {
  expect({
      {"f32[4,8] add(f, g)", "operands have different dimensions: f32[4,8] and f32[8,4]"},
      {"f32[4,8] add(f, s)", "operands have different element types: f32[4,8] and s32[4,8]"},
      {"f32[4,8] add(t, t)", "expected an array as operand 0, found (f32[4], s32[])"},
      {"f32[4,8] not(f)", "not takes pred or signed or unsigned elements, found f32[4,8]"},
      {"s32[4,8] cosine(s)", "cosine takes floating or complex elements"},
      {"f32[4,8] abs(c)", ""},
      {"pred[4,8] is-finite(f)", ""},
      {"c64[4,8] complex(f, f)", ""},
      {"f32[4,8] clamp(z, f, z)", ""},
      {"f32[4,8] clamp(g, f, z)", "operands have different dimensions"},
      {"f32[4,8] clamp(i, f, z)", "bounds and operand have different element types"},
      {"f32[4,8] select(q, f, f)", ""},
      {"f32[4,8] select(f, f, f)", "expected a pred as operand 0, found f32[4,8]"},
      {"f32[4,8] select(q, f, s)", "operands have different element types"},
      {"f32[4,8] select(q, g, g)", "operands have different dimensions"},
      {"pred[4,8] compare(f, f), direction=LT, type=SIGNED", "comparison type SIGNED does not fit"},
      {"pred[4,8] compare(s, s), direction=LT, type=UNSIGNED", "does not fit s32"},
      {"f32[4,8] reduce-precision(f), exponent_bits=0, mantissa_bits=3",
       "exponent_bits of at least"},
      {"f32[4,8] reduce-precision(f), exponent_bits=5, mantissa_bits=-1", "mantissa_bits of at"},
      {"bf16[4,8] stochastic-convert(f, u)", ""},
      {"bf16[4,8] stochastic-convert(f, s)", "expected unsigned random numbers of 32 bits"},
      {"bf16[4,8] stochastic-convert(s, u)", "expected a floating operand 0"},
  });
}

TEST(InferMistakes, DataMovement) {
  expect({
      {"f32[4,8] iota(), iota_dimension=2", "iota_dimension 2 is not in [0, 2)"},
      {"f32[] iota(), iota_dimension=0", "at least one dimension"},
      {"f32[2,4,8] broadcast(f), dimensions={1,2}", ""},
      {"f32[2,4,8] broadcast(f), dimensions={1}", "expected 2 dimensions for f32[4,8], found {1}"},
      {"f32[2,4,8] broadcast(f), dimensions={1,1}", "dimensions={1,1} names dimension 1 twice"},
      {"f32[2,4,8] broadcast(f), dimensions={0,2}", "is not as large as dimension 0 of the result"},
      {"f32[2,4,8] broadcast(f), dimensions={1,3}", "dimensions 3 is not in [0, 3)"},
      {"f32[8,8] concatenate(f, f), dimensions={0}", ""},
      {"f32[8,8] concatenate(f, f), dimensions={2}", "dimension 2 is not in [0, 2)"},
      {"f32[8,8] concatenate(f, g), dimensions={0}", "operand 1 is f32[8,4], which does not fit"},
      {"f32[8,8] concatenate(f, f), dimensions={0,1}", "expected one dimension"},
      {"f32[8,8] concatenate(), dimensions={0}", "expected at least 1 operand, found 0"},
      {"f32[32] reshape(f)", ""},
      {"f32[33] reshape(f)", "keeps the number of elements: f32[4,8] has 32, f32[33] has 33"},
      {"f32[<=8,4] dynamic-reshape(f, i, i)", ""},
      {"f32[<=8,4] dynamic-reshape(f, i)", "expected 2 sizes for f32[<=8,4], found 1"},
      {"f32[<=8,4] dynamic-reshape(f, i, z)", "expected an integer scalar as operand 2"},
      {"f32[2,8] slice(f), slice={[0:4:2],[0:8]}", ""},
      {"f32[2,8] slice(f), slice={[0:5],[0:8]}", "[0:5] is not in dimension 0 of f32[4,8]"},
      {"f32[2,8] slice(f), slice={[3:2],[0:8]}", "[3:2] is not in dimension 0"},
      {"f32[2,8] slice(f), slice={[0:4]}",
       "expected a slice of 2 dimensions for f32[4,8], found 1"},
      {"f32[2,8] slice(f), slice={[0:4:0],[0:8]}", "stride"},
      {"f32[2,3] dynamic-slice(f, i, i), dynamic_slice_sizes={2,3}", ""},
      {"f32[2,3] dynamic-slice(f, i), dynamic_slice_sizes={2,3}",
       "expected 2 start indices, found 1"},
      {"f32[2,3] dynamic-slice(f, i, z), dynamic_slice_sizes={2,3}", "integer scalar as operand 2"},
      {"f32[2,9] dynamic-slice(f, i, i), dynamic_slice_sizes={2,9}",
       "size 9 is not within dimension 1"},
      {"f32[2] dynamic-slice(f, i, i), dynamic_slice_sizes={2}", "expected 2 sizes for f32[4,8]"},
      {"f32[8,4] dynamic-update-slice(g, m, i, i)", ""},
      {"f32[4,8] dynamic-update-slice(f, g, i, i)", "size 8 is not within dimension 0 of f32[4,8]"},
      {"f32[4,8] dynamic-update-slice(f, s, i, i)", "have different element types"},
      {"f32[6,8] pad(f, z), padding=1_1x0_0", ""},
      {"f32[6,8] pad(f, f), padding=1_1x0_0", "expected a scalar padding value, found f32[4,8]"},
      {"f32[6,8] pad(f, i), padding=1_1x0_0", "have different element types"},
      {"f32[6,8] pad(f, z), padding=1_1", "expected padding of 2 dimensions for f32[4,8], found 1"},
      {"f32[6,8] pad(f, z), padding=-3_-2x0_0", "padding leaves a dimension of -1 elements"},
      {"f32[6,8] pad(f, z), padding=0_0_-1x0_0", "interior padding"},
      {"f32[4,8] reverse(f), dimensions={0,0}", "dimensions={0,0} names dimension 0 twice"},
      {"f32[8,4] transpose(f), dimensions={1,0}", ""},
      {"f32[8,4] transpose(f), dimensions={0}", "expected a permutation of 2 dimensions"},
      {"f32[8,4] transpose(f), dimensions={1,1}", "names dimension 1 twice"},
      {"s32[] get-dimension-size(f), dimensions={2}", "dimension 2 is not in [0, 2)"},
      {"f32[<=4,8] set-dimension-size(f, z), dimensions={0}",
       "expected s32[] as operand 1, found f32[]"},
      {"f32[<=4,8] set-dimension-size(f, i), dimensions={0}", ""},
      {"u16[4,8,2] bitcast-convert(f)", ""},
      {"u16[4,8] bitcast-convert(f)", "gives u16[4,8,2]"},
      {"f64[4] bitcast-convert(f)", "expected a last dimension of 2 in f32[4,8]"},
      {"c64[4,8] bitcast-convert(f)", "does not mix complex and other types"},
      {"(f32[4,8]) bitcast(f)", "is not of arrays"},
  });
}

TEST(InferMistakes, Gather) {
  expect({
      {"f32[8,8] gather(f, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       ""},
      {"f32[8,8] gather(f, v), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       "expected integer start indices"},
      {"f32[8,8] gather(f, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=2, slice_sizes={1,8}",
       "index_vector_dim 2 is not in [0, 2)"},
      {"f32[8,8] gather(f, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       "expected 1 dimensions in start_index_map"},
      {"f32[8,8] gather(f, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={2,8}",
       "at most 1 at the collapsed or batching dimension 0"},
      {"f32[8,8] gather(f, w), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1}",
       "expected 2 slice_sizes"},
      {"f32[8,8] gather(f, w), offset_dims={0,1}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       "offset, collapsed and batching dimensions are 3"},
      {"f32[8,8] gather(f, w), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       "offset_dims 2 is not in [0, 2)"},
      {"f32[4,8,8] gather(f, w), offset_dims={2,1}, collapsed_slice_dims={}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1,8}",
       "expected ascending offset_dims, found {2,1}"},
      {"f32[8] gather(g, w), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, "
       "slice_sizes={1,1}",
       ""},
      {"f32[8] gather(f, w), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, "
       "slice_sizes={1,1}",
       "batching dimension 0 of s32[8] is not as large as 0 of f32[4,8]"},
      {"f32[8] gather(g, w), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
       "operand_batching_dims={0}, start_indices_batching_dims={}, index_vector_dim=1, "
       "slice_sizes={1,1}",
       "differ in number"},
      {"f32[8] gather(g, w), offset_dims={}, collapsed_slice_dims={0}, start_index_map={1}, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, "
       "slice_sizes={1,1}",
       "dimension 0 is in collapsed_slice_dims and operand_batching_dims"},
      {"f32[8] gather(g, w), offset_dims={}, collapsed_slice_dims={1}, start_index_map={0}, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, "
       "slice_sizes={1,1}",
       "dimension 0 is in start_index_map and operand_batching_dims"},
      {"f32[8] gather(g, n), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, "
       "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=0, "
       "slice_sizes={1,1}",
       "index_vector_dim 0 is in start_indices_batching_dims"},
  });
}

TEST(InferMistakes, Scatter) {
  expect({
      {"f32[8,4] scatter(g, n, v), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0}, index_vector_dim=0, to_apply=add",
       "index_vector_dim 0 is in scatter_indices_batching_dims"},
      {"f32[4,8] scatter(f, w, v), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       ""},
      {"f32[4,8] scatter(f, v, v), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "expected integer scatter indices"},
      {"f32[4,8] scatter(f, w), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "expected 2N+1 operands, found 2"},
      {"f32[4,8] scatter(f, w, v), update_window_dims={}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "window, inserted and batching dimensions are 1"},
      {"f32[4,8] scatter(f, w, v), update_window_dims={}, inserted_window_dims={1,0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "expected ascending inserted_window_dims"},
      {"f32[4,8] scatter(f, w, v), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add",
       "expected 1 dimensions in scatter_dims_to_operand_dims"},
      {"f32[4,8] scatter(f, w, m), update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "is not as in the indices s32[8]"},
      {"f32[4,8] scatter(f, w, f), update_window_dims={}, inserted_window_dims={0,1}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "expected updates of 1 dimensions"},
      {"f32[8,4] scatter(g, w, s), update_window_dims={0}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "have different element types"},
      {"f32[4,4] scatter(m, w, f), update_window_dims={0}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       ""},
      {"f32[2,3,4] scatter(b, w, f), update_window_dims={0}, inserted_window_dims={0,2}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "is larger than dimension 1 of f32[2,3,4]"},
      {"f32[8,4] scatter(g, w, v), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add",
       ""},
      {"f32[4,8] scatter(f, w, v), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add",
       "batching dimension 0 of s32[8] is not as large"},
      {"f32[8,4] scatter(g, w, v), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={0}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={0}, index_vector_dim=1, to_apply=add",
       "the batching dimension 0 is an inserted or scattered one too"},
      {"f32[8,4] scatter(g, w, v), update_window_dims={}, inserted_window_dims={1}, "
       "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
       "scatter_indices_batching_dims={}, index_vector_dim=1, to_apply=add",
       "differ in number"},
  });
}

TEST(InferMistakes, ReductionsWindowsSorts) {
  expect({
      {"f32[8] reduce(f, z), dimensions={0}, to_apply=add", ""},
      {"f32[8] reduce(f, f), dimensions={0}, to_apply=add", "expected a scalar as initial value 0"},
      {"f32[8] reduce(f, i), dimensions={0}, to_apply=add",
       "input and initial value 0 have different"},
      {"f32[8] reduce(f), dimensions={0}, to_apply=add", "expected N inputs and N initial values"},
      {"f32[8] reduce(f, z), dimensions={0,0}, to_apply=add", "names dimension 0 twice"},
      {"(f32[8], f32[8]) reduce(f, g, z, z), dimensions={0}, to_apply=add",
       "inputs have different dimensions"},
      {"(f32[8], f32[8]) reduce(f, f, z, z), dimensions={0}, to_apply=add",
       "expected to_apply to give 2 scalars, found f32[]"},
      {"f32[8] reduce(f, z), dimensions={0}, to_apply=vector",
       "expected to_apply to give 1 scalar, found f32[2]"},
      {"f32[4,8] map(f, f), dimensions={0,1}, to_apply=add", ""},
      {"f32[4,8] map(f, f), dimensions={0}, to_apply=add", "map works on all dimensions in order"},
      {"f32[4,8] map(f, g), dimensions={0,1}, to_apply=add", "operands have different dimensions"},
      {"f32[4,8] map(f, f), dimensions={0,1}, to_apply=vector",
       "to_apply gives f32[2], expected a scalar"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 stride=1x2}, to_apply=add", ""},
      {"f32[4,4] reduce-window(f, z), window={size=2 stride=2}, to_apply=add",
       "expected a window of 2 dimensions as in f32[4,8], found 1"},
      {"f32[4,4] reduce-window(f, z), window={size=1x0}, to_apply=add",
       "positive window size, found 0"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 stride=0x2}, to_apply=add",
       "positive window stride, found 0"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 lhs_dilate=0x1}, to_apply=add",
       "positive lhs_dilate, found 0"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 rhs_dilate=0x1}, to_apply=add",
       "positive rhs_dilate, found 0"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 pad=0_0x-5_-5}, to_apply=add",
       "padding leaves a dimension of -2 elements"},
      {"f32[4,4] reduce-window(f, z), window={size=1x2 lhs_dilate=1x9223372036854775807}, "
       "to_apply=add",
       "is not below 2^63"},
      {"f32[4,8] select-and-scatter(f, m, z), window={size=1x2 stride=1x2}, select=add, "
       "scatter=add",
       ""},
      {"f32[4,8] select-and-scatter(f, g, z), window={size=1x2 stride=1x2}, select=add, "
       "scatter=add",
       "expected a source of f32[4,4], found f32[8,4]"},
      {"f32[4,8] select-and-scatter(f, m, i), window={size=1x2 stride=1x2}, select=add, "
       "scatter=add",
       "as initial value, found s32[]"},
      {"s32[4,8] select-and-scatter(s, m, z), window={size=1x2 stride=1x2}, select=add, "
       "scatter=add",
       "operand and source have different element types"},
      {"f32[8] sort(v), dimensions={1}, to_apply=add", "dimension 1 is not in [0, 1)"},
      {"(f32[4,8], f32[8,4]) sort(f, g), dimensions={0}, to_apply=add",
       "operands have different dimensions"},
      {"(f32[4,3], s32[4,3]) topk(f), k=3, largest=true", ""},
      {"(f32[4,9], s32[4,9]) topk(f), k=9, largest=true", "k 9 is not in [0, 9)"},
      {"(f32[], s32[]) topk(z), k=0, largest=true", "expected at least one dimension in f32[]"},
      {"f32[4,8] scan(f), dimensions={0}, num_carries=2, to_apply=add",
       "num_carries 2 is not in [0, 2)"},
      {"f32[4,8] scan(f), dimensions={0}, num_carries=1, to_apply=add",
       "expected at least one scanned input"},
      {"f32[4,8] scan(f, z), dimensions={2}, num_carries=1, to_apply=add",
       "dimension 2 is not in [0, 2)"},
      {"f32[4,8] scan(f, g, z), dimensions={0}, num_carries=1, to_apply=add",
       "inputs differ in the scanned dimension"},
      {"f32[4,8] scan(f, z, z), dimensions={0}, num_carries=2, to_apply=add",
       "expected to_apply to give 2 carries"},
      {"f32[4,8] scan(f), dimensions={1}, num_carries=0, to_apply=add",
       "cannot stack f32[] along dimension 1"},
  });
}

TEST(InferMistakes, Algebra) {
  expect({
      {"f32[4,4] dot(f, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}", ""},
      {"f32[4,4] dot(f, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
       "contracting dimension 0 of f32[4,8] is not as large as 0 of f32[8,4]"},
      {"f32[4,4] dot(f, g), lhs_contracting_dims={1}, rhs_contracting_dims={}", "differ in number"},
      {"f32[4,4] dot(f, g), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
       "lhs_contracting_dims 2 is not in [0, 2)"},
      {"f32[4] dot(m, m), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={0}, "
       "rhs_contracting_dims={1}",
       "lhs dimension 0 is a batch and a contracting one"},
      {"f32[4,4] scaled-dot(f, g, f, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}", ""},
      {"f32[4,4] scaled-dot(f, g, v, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       "the scale f32[8] does not divide f32[4,8]"},
      {"f32[8,3] ragged-dot(g, b, w), lhs_contracting_dims={1}, rhs_contracting_dims={2}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}",
       "expected 8 groups in dimension 0 of f32[2,3,4]"},
      {"f32[8,3] ragged-dot(g, b, v), lhs_contracting_dims={1}, rhs_contracting_dims={2}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}",
       "expected integer group sizes"},
      {"f32[8,3] ragged-dot(g, b, w), lhs_contracting_dims={1}, rhs_contracting_dims={2}, "
       "lhs_ragged_dims={0,1}, rhs_group_dims={0}",
       "expected one ragged dimension"},
      {"f32[8,3] ragged-dot(g, b, w), lhs_contracting_dims={1}, rhs_contracting_dims={2}, "
       "lhs_ragged_dims={0}",
       "expected 1 group dimension"},
      {"f32[8,4,4] ragged-dot(f, g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
       "lhs_ragged_dims={1}",
       ""},
      {"f32[1,2,3] convolution(b, b), dim_labels=b0f_i0o->b0f, window={size=3}",
       "expected 1 groups of 2 input features, found 4"},
      {"f32[4,4] convolution(f, g), dim_labels=bf_io->bf", ""},
      {"f32[4,4] convolution(f, f), dim_labels=bf_io->bf",
       "expected 1 groups of 4 input features, found 8"},
      {"f32[4,4] convolution(f, g), dim_labels=bf_io->bf, feature_group_count=0",
       "expected positive feature_group_count"},
      {"f32[4,4] convolution(f, g), dim_labels=bf_io->bf, feature_group_count=2, "
       "batch_group_count=2",
       "are both above 1"},
      {"f32[4,4] convolution(f, g), dim_labels=bf_io->bf, batch_group_count=3",
       "do not divide into 3 batch groups"},
      {"f32[4,4] convolution(b, g), dim_labels=bf_io->bf",
       "dim_labels name 2 dimensions of the input f32[2,3,4]"},
      {"f32[4,4] cholesky(m), lower=true", ""},
      {"f32[4,8] cholesky(f), lower=true", "expected square matrices"},
      {"s32[4,8] cholesky(s), lower=true", "cholesky takes floating or complex elements"},
      {"f32[4,8] triangular-solve(m, f), left_side=true, transpose_a=NO_TRANSPOSE", ""},
      {"f32[4,8] triangular-solve(m, f), transpose_a=NO_TRANSPOSE",
       "expected 4 in dimension 1 of f32[4,8]"},
      {"f32[4,8] triangular-solve(m, f), left_side=true", "expected transpose_a of"},
      {"f32[4,8] triangular-solve(f, f), left_side=true, transpose_a=ADJOINT",
       "expected square matrices"},
      {"f32[8] triangular-solve(m, v), left_side=true, transpose_a=ADJOINT",
       "operands differ in rank"},
      {"s32[4,8] triangular-solve(m, s), left_side=true, transpose_a=ADJOINT", "of one type"},
      {"c64[4,5] fft(f), fft_type=RFFT, fft_length={8}", ""},
      {"c64[4,5] fft(f), fft_type=RFFT, fft_length={7}", "expected an operand of dimensions {4,7}"},
      {"c64[4,5] fft(f), fft_type=FFT, fft_length={8}", "expected c64 or c128 elements"},
      {"c64[4,5] fft(c), fft_type=RFFT, fft_length={8}", "expected f32 or f64 elements"},
      {"c64[4,8] fft(c), fft_type=FFT, fft_length={}", "expected 1 to 3 fft_length"},
      {"c64[4,8] fft(c), fft_type=FFT, fft_length={4,4,8}", "expected at least 3 dimensions"},
      {"(f32[4,8], f32[8], f32[8]) batch-norm-training(f, v, v), epsilon=0.1, feature_index=1", ""},
      {"(f32[4,8], f32[8], f32[8]) batch-norm-training(f, v, v), epsilon=0.1, feature_index=2",
       "feature_index 2 is not in [0, 2)"},
      {"(f32[4,8], f32[8], f32[8]) batch-norm-training(f, v, v), epsilon=0.1, feature_index=0",
       "expected f32[4] as operand 1, found f32[8]"},
      {"(f32[4,8], f32[8], f32[8]) batch-norm-training(s, w, w), epsilon=0.1, feature_index=1",
       "expected a floating operand 0"},
      {"(f32[4,8], f32[8], f32[8]) batch-norm-grad(f, v, v, v, g), epsilon=0.1, feature_index=1",
       "expected f32[4,8] as operand 4"},
      {"f32[4,8] batch-norm-inference(f, v, v, v, v), epsilon=0.1, feature_index=1", ""},
      {"f32[4] rng(z, z), distribution=rng_uniform", ""},
      {"f32[4] rng(z, i), distribution=rng_uniform", "expected f32[] as operand 1, found s32[]"},
      {"s32[4] rng(i, i), distribution=rng_normal", "rng_normal gives floating elements"},
      {"f32[4] rng(z), distribution=rng_uniform", "expected 2 operands, found 1"},
      {"(u32[4,8], u32[4]) rng-bit-generator(u), algorithm=rng_default", ""},
      {"(u32[4], u32[4]) rng-bit-generator(u), algorithm=rng_default", "gives (u32[4,8], u32[4])"},
  });
}

TEST(InferMistakes, Tuples) {
  expect({
      {"f32[4] get-tuple-element(t), index=0", ""},
      {"f32[4] get-tuple-element(t), index=2", "index 2 is not in [0, 2)"},
      {"f32[4] get-tuple-element(f), index=0", "expected a tuple, found f32[4,8]"},
      {"f32[4,8] add-dependency(f, k)", ""},
      {"f32[4,8] add-dependency(f, f)", "expected a token as operand 1, found f32[4,8]"},
      {"token[] after-all(k, f)", "expected a token as operand 1, found f32[4,8]"},
      {"f32[4] infeed(k)", "expected (value, token[]), found f32[4]"},
      {"(f32[4], token[]) infeed(f)", "expected a token as operand 0"},
      {"f32[4,8] all-gather-done(f)", "expected (operand, result), found f32[4,8]"},
      {"f32[4,8] collective-permute-done(f)", "expected (operand, result, contexts...)"},
      {"f32[4,8] copy-done(f)", "expected a (destination, source, context) tuple"},
      {"f32[4,8] ragged-all-to-all(f, f, w, w, w, v), replica_groups={}",
       "expected an integer array as operand 5"},
      {"f32[4,8] ragged-all-to-all(f, s, w, w, w, w), replica_groups={}",
       "have different element types"},
  });
}

}  // namespace
}  // namespace hilo
