// Costs of products in the forms that libraries have beside a plain one: block-scaled, grouped,
// attention, with ops behind them.
#include <nlohmann/json.hpp>

#include "analysis/cost.h"

namespace hilo {
namespace {

using nlohmann::json;

json config_of(const Counting& counting, const Instruction& i) {
  json config = json::parse(counting.module.extra(i).backend_config, nullptr, false);
  return config.is_object() ? config : json::object();
}

json at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

Cost unknown(const Counting& counting, const Instruction& i) {
  Cost cost = library_call(counting, i, 0);
  cost.flops_known = false;
  return cost;
}

const Shape& first_result(const Counting& counting, const Instruction& i) {
  const Shape& shape = counting.module.shape(i);
  return shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
}

double result_elements(const Counting& counting, const Instruction& i) {
  return elements_of(first_result(counting, i));
}

// Over a dimension of operand 0; negative ones count from the end.
Cost product(const Counting& counting, const Instruction& i, int64_t contracted) {
  if (i.operand_count < 2) return unknown(counting, i);
  const Shape& lhs = counting.operand_shape(i, 0);
  if (contracted < 0) contracted += lhs.rank();
  if (contracted < 0 || contracted >= lhs.rank()) return unknown(counting, i);
  return library_call(counting, i, dot_flops(lhs, {contracted}, first_result(counting, i)));
}

// So many products of queries and keys over all features; the scores' exponentials. A causal mask
// leaves the lower half.
Cost fmha(const Counting& counting, const Instruction& i, double products) {
  if (i.operand_count < 3) return unknown(counting, i);
  const Shape &q = counting.operand_shape(i, 0), &k = counting.operand_shape(i, 1);
  if (q.rank() != 4 || k.rank() != 4) return unknown(counting, i);
  const json config = at(config_of(counting, i), "cudnn_fmha_backend_config");
  const json forward = at(at(config, "bmm1_dot_dimension_numbers"), "lhs_batch_dimensions"),
             backward =
                 at(at(config, "bmm1_grad_gemm1_dot_dimension_numbers"), "rhs_batch_dimensions");
  const json heads_first = {"0", "1"};
  const size_t sequence = forward == heads_first || backward == heads_first ? 2 : 1;
  const json mask = at(config, "mask_type");
  const bool causal = mask == "CAUSAL" || mask == "PADDING_CAUSAL" || mask == "ALIBI";
  const double per_feature = elements_of(q) * static_cast<double>(k.dims[sequence]);
  Cost cost = library_call(counting, i, 2 * products * per_feature / (causal ? 2 : 1));
  cost.transcendentals = per_feature / std::max<double>(1, static_cast<double>(q.dims[3]));
  if (causal) cost.transcendentals /= 2;
  return cost;
}

}  // namespace

Cost cost_gemm_mx(const Counting& counting, const Instruction& i) { return cost_gemm(counting, i); }
Cost cost_gemm_grouped(const Counting& counting, const Instruction& i) {
  const json ragged =
      at(at(config_of(counting, i), "grouped_gemm_backend_config"), "ragged_dot_dimension_numbers");
  const json dims = at(at(ragged, "dot_dimension_numbers"), "lhs_contracting_dimensions");
  if (!dims.is_array() || dims.size() != 1) return unknown(counting, i);
  const json& dim = dims[0];
  if (dim.is_number_integer()) return product(counting, i, dim.get<int64_t>());
  if (!dim.is_string()) return unknown(counting, i);
  return product(counting, i, std::strtoll(dim.get<std::string>().c_str(), nullptr, 10));
}
Cost cost_block_scaled_dot(const Counting& counting, const Instruction& i) {
  return product(counting, i, -1);
}
Cost cost_cudnn_block_scaled_dot(const Counting& counting, const Instruction& i) {
  return product(counting, i, -1);
}
Cost cost_dequantize(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, result_elements(counting, i));
}
Cost cost_cublas_triangular_solve(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 2) return unknown(counting, i);
  const Shape& a = counting.operand_shape(i, 0);
  return library_call(counting, i,
                      triangular_solve_flops(a.dims.empty() ? 0 : a.dims.back(),
                                             elements_of(counting.operand_shape(i, 1))));
}
Cost cost_convolution_graph(const Counting& counting, const Instruction& i) {
  return cost_convolution_forward(counting, i);
}
Cost cost_fmha_forward(const Counting& counting, const Instruction& i) {
  return fmha(counting, i, 2);
}
Cost cost_fmha_backward(const Counting& counting, const Instruction& i) {
  return fmha(counting, i, 5);
}

Cost cost_onednn_matmul(const Counting& counting, const Instruction& i) {
  const json config = at(config_of(counting, i), "onednn_matmul_config");
  return product(counting, i, at(config, "transpose_a") == true ? -2 : -1);
}
Cost cost_onednn_convolution(const Counting& counting, const Instruction& i) {
  return unknown(counting, i);
}
// Mean, difference, variance, and the product with its factor; scale and shift.
Cost cost_onednn_layer_norm(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 7 * result_elements(counting, i));
}
Cost cost_cudnn_norm(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 7 * result_elements(counting, i));
}
// The largest, the difference and the sum; the quotient.
Cost cost_onednn_softmax(const Counting& counting, const Instruction& i) {
  Cost cost = library_call(counting, i, 4 * result_elements(counting, i));
  cost.transcendentals = result_elements(counting, i);
  return cost;
}

// Integers, and arrays that are passed on.
Cost cost_pivots_to_permutation(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 0);
}
Cost cost_threefry(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 0);
}
Cost cost_pad_to_static(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 0);
}
Cost cost_slice_to_dynamic(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, 0);
}

}  // namespace hilo
