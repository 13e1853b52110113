// Costs of the custom calls that eval/custom_call.def lists: a function for each of its functions.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/cost.h"

namespace hilo {
namespace {

using nlohmann::json;

struct Row {
  std::string_view target;
  Cost (*cost)(const Counting&, const Instruction&);
};
constexpr Row rows[] = {
#define CUSTOM_CALL(target, family, function, sees, meaning) {target, cost_##function},
#include "eval/custom_call.def"
#include "eval/custom_call_lapack.def"
#undef CUSTOM_CALL
};

const Shape& first_result(const Counting& counting, const Instruction& i) {
  const Shape& shape = counting.module.shape(i);
  return shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
}

double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return std::strtod(value.get_ref<const std::string&>().c_str(), nullptr);
  return 0;
}

json at(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object.at(key) : json();
}

json gemm_config(const Counting& counting, const Instruction& i) {
  const std::string_view text = counting.module.extra(i).backend_config;
  const json config = json::parse(text, nullptr, false);
  const json inner = at(config, "gemm_backend_config");
  return inner.is_object() ? inner : config;
}

// Operations of an epilogue for each element: a bias is a sum, GELU and SILU take a transcendental.
Cost epilogue_cost(const std::string& epilogue, double elements) {
  const auto has = [&](const char* part) { return epilogue.find(part) != std::string::npos; };
  Cost cost;
  if (has("BIAS")) cost.flops += elements;
  if (has("RELU")) cost.flops += elements;
  if (has("GELU") || has("SILU") || has("SWISH")) cost.transcendentals += elements;
  return cost;
}

// None where the operands are not there, or their number is not the one that is wanted.
std::optional<double> convolution(const Counting& counting, const Instruction& i,
                                  const Shape& input, const Shape& kernel, const Shape& output) {
  const auto& a = counting.module.attributes<CustomCallAttributes>(i);
  if (!a.dim_labels) return std::nullopt;
  return convolution_flops({a.window, *a.dim_labels, input, kernel, output});
}

Cost convolution_call(const Counting& counting, const Instruction& i, std::optional<double> flops) {
  Cost cost = library_call(counting, i, flops.value_or(0));
  cost.flops_known = flops.has_value();
  return cost;
}

Cost unknown_call(const Counting& counting, const Instruction& i) {
  return convolution_call(counting, i, std::nullopt);
}

// `key = 8192 : i64` of an attribute dictionary, or "key": 8192 of JSON; 0 when it is not there.
double config_number(std::string_view config, std::string_view key) {
  for (size_t from = config.find(key); from != config.npos; from = config.find(key, from + 1)) {
    const bool starts = from == 0 || !(std::isalnum(config[from - 1]) || config[from - 1] == '_');
    std::string_view rest = config.substr(from + key.size());
    const size_t value = rest.find_first_not_of("\"=: ");
    if (!starts || value == 0 || value == rest.npos) continue;
    return std::strtod(std::string(rest.substr(value, 32)).c_str(), nullptr);
  }
  return 0;
}

// So many products of queries and keys over all features; the scores' exponentials. A causal mask
// leaves the lower half.
Cost attention(const Counting& counting, const Instruction& i, double products) {
  const std::string_view config = counting.module.extra(i).backend_config;
  const auto size = [&](std::string_view key) { return config_number(config, key); };
  double scores =
      size("input_batch") * size("attn_heads") * size("q_max_seqlen") * size("kv_max_seqlen");
  if (size("mask_type") >= 2) scores /= 2;
  const double features = std::max(size("qk_head_dim"), size("head_dim"));
  if (scores <= 0 || features <= 0) return unknown_call(counting, i);
  Cost cost = library_call(counting, i, 2 * products * scores * features);
  cost.transcendentals = scores;
  return cost;
}

}  // namespace

std::optional<Cost> custom_call_cost(const Counting& counting, const Instruction& instruction) {
  const std::string& target =
      counting.module.attributes<CustomCallAttributes>(instruction).custom_call_target;
  const auto row = std::ranges::find(rows, target, &Row::target);
  if (row == std::end(rows)) return std::nullopt;
  return row->cost(counting, instruction);
}

Cost library_call(const Counting& counting, const Instruction& instruction, double flops) {
  const Shape& result = counting.module.shape(instruction);
  Cost cost{.flops = flops, .bytes_written = bytes_of(result)};
  for (InstructionId operand : counting.module.operands(instruction))
    cost.bytes_read += bytes_of(counting.module.shape(operand));
  if (result.elements.size() > 1) {
    const Shape& last = result.elements.back();
    if (last.type == ElementType::S8 || last.type == ElementType::U8)
      cost.bytes_written -= bytes_of(last);
  }
  return cost;
}

// Annotations, and buffers that nobody writes.
Cost cost_identity(const Counting&, const Instruction&) { return {}; }
Cost cost_full_to_shard(const Counting&, const Instruction&) { return {}; }
Cost cost_shard_to_full(const Counting&, const Instruction&) { return {}; }
Cost cost_allocate_buffer(const Counting&, const Instruction&) { return {}; }
Cost cost_concat_bitcast(const Counting&, const Instruction&) { return {}; }
Cost cost_zero_crop(const Counting&, const Instruction&) { return {}; }
Cost cost_nothing(const Counting&, const Instruction&) { return {}; }
// The collective itself stands beside them.
Cost cost_async_collective_start(const Counting&, const Instruction&) { return {}; }
Cost cost_async_collective_done(const Counting&, const Instruction&) { return {}; }

Cost cost_cholesky(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 1) return unknown_call(counting, i);
  const Shape& a = counting.operand_shape(i, 0);
  const double order = a.dims.empty() ? 0 : static_cast<double>(a.dims.back());
  return library_call(counting, i, elements_of(a) * order / 3);
}
Cost cost_cusolver_cholesky(const Counting& counting, const Instruction& i) {
  return cost_cholesky(counting, i);
}
// n^3 / 3 products and sums of a triangular matrix.
Cost cost_invert_lower_triangular(const Counting& counting, const Instruction& i) {
  return cost_cholesky(counting, i);
}
Cost cost_x64_combine(const Counting& counting, const Instruction& i) {
  return library_call(counting, i, elements_of(counting.module.shape(i)));
}
Cost cost_x64_split_low(const Counting& counting, const Instruction& i) {
  return cost_x64_combine(counting, i);
}
Cost cost_x64_split_high(const Counting& counting, const Instruction& i) {
  return cost_x64_combine(counting, i);
}
Cost cost_x128_combine(const Counting& counting, const Instruction& i) {
  return cost_x64_combine(counting, i);
}
Cost cost_x128_split_low(const Counting& counting, const Instruction& i) {
  return cost_x64_combine(counting, i);
}
Cost cost_x128_split_high(const Counting& counting, const Instruction& i) {
  return cost_x64_combine(counting, i);
}
Cost cost_invert_upper_triangular(const Counting& counting, const Instruction& i) {
  return cost_cholesky(counting, i);
}
Cost cost_top_k(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 1) return unknown_call(counting, i);
  return library_call(counting, i, elements_of(counting.operand_shape(i, 0)));
}
Cost cost_partial_reduce(const Counting& counting, const Instruction& i) {
  return cost_top_k(counting, i);
}
// Products of each column with the triangle before it.
Cost cost_compact_wy(const Counting& counting, const Instruction& i) {
  return cost_cholesky(counting, i);
}
Cost cost_eigh_quadrants(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 1) return unknown_call(counting, i);
  const Shape& quadrant = counting.operand_shape(i, 0);
  const double order = quadrant.dims.empty() ? 0 : 2 * static_cast<double>(quadrant.dims.back());
  return library_call(counting, i, 9 * 4 * elements_of(quadrant) * order);
}
Cost cost_called_computation(const Counting& counting, const Instruction& i) {
  return unknown_call(counting, i);
}
Cost cost_radix_sort(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 1) return unknown_call(counting, i);
  return library_call(counting, i, sort_flops(elements_of(counting.operand_shape(i, 0))));
}

Cost cost_gemm(const Counting& counting, const Instruction& i) {
  const json config = gemm_config(counting, i);
  const json dims = at(at(config, "dot_dimension_numbers"), "lhs_contracting_dimensions");
  if (i.operand_count < 2 || !dims.is_array()) return unknown_call(counting, i);
  Dims contracting;
  for (const json& d : dims) contracting.push_back(static_cast<int64_t>(number_of(d)));
  const Shape& out = first_result(counting, i);
  Cost cost = library_call(counting, i, dot_flops(counting.operand_shape(i, 0), contracting, out));
  const json epilogue = at(config, "epilogue");
  if (epilogue.is_string()) {
    const Cost more = epilogue_cost(epilogue.get<std::string>(), elements_of(out));
    cost.flops += more.flops, cost.transcendentals += more.transcendentals;
  }
  return cost;
}
Cost cost_gemm_f8(const Counting& counting, const Instruction& i) { return cost_gemm(counting, i); }

Cost cost_convolution_forward(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 2) return unknown_call(counting, i);
  return convolution_call(counting, i,
                          convolution(counting, i, counting.operand_shape(i, 0),
                                      counting.operand_shape(i, 1), first_result(counting, i)));
}
Cost cost_convolution_bias_activation(const Counting& counting, const Instruction& i) {
  Cost cost = cost_convolution_forward(counting, i);
  cost.flops += elements_of(first_result(counting, i));  // the bias
  return cost;
}
Cost cost_convolution_backward_input(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 2) return unknown_call(counting, i);
  return convolution_call(counting, i,
                          convolution(counting, i, first_result(counting, i),
                                      counting.operand_shape(i, 1), counting.operand_shape(i, 0)));
}
Cost cost_convolution_backward_filter(const Counting& counting, const Instruction& i) {
  if (i.operand_count < 2) return unknown_call(counting, i);
  return convolution_call(counting, i,
                          convolution(counting, i, counting.operand_shape(i, 0),
                                      first_result(counting, i), counting.operand_shape(i, 1)));
}
// Scores and their weighted sum; backwards the scores again and four gradients.
Cost cost_attention_forward(const Counting& counting, const Instruction& i) {
  return attention(counting, i, 2);
}
Cost cost_attention_backward(const Counting& counting, const Instruction& i) {
  return attention(counting, i, 5);
}

}  // namespace hilo
