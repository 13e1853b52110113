// Products, transforms, factorisations, normalisations, random numbers.
#include "wire/stablehlo/exporter.h"

namespace hilo::mlir {

AttributeId Site::precisions(const Precisions& precisions) {
  constexpr std::string_view names[] = {"DEFAULT", "HIGH", "HIGHEST"};
  std::vector<AttributeId> out;
  for (size_t i = 0; i < 2; ++i) {
    const Precision one = i < precisions.size() ? precisions[i] : Precision::Default;
    out.push_back(builder().enumerator(names[static_cast<size_t>(one)]));
  }
  return builder().array(std::move(out));
}

namespace {

struct AlgorithmRow {
  DotAlgorithm algorithm;
  std::string_view operands, sums;  // "f8": the types of the operands
  int64_t products = 1;
  bool is_imprecise = false;
};
constexpr AlgorithmRow algorithms[] = {
    {DotAlgorithm::AnyF8AnyF8F32, "f8", "f32"},
    {DotAlgorithm::AnyF8AnyF8F32FastAccum, "f8", "f32", 1, true},
    {DotAlgorithm::F16F16F16, "f16", "f16"},
    {DotAlgorithm::F16F16F32, "f16", "f32"},
    {DotAlgorithm::BF16BF16BF16, "bf16", "bf16"},
    {DotAlgorithm::BF16BF16F32, "bf16", "f32"},
    {DotAlgorithm::BF16BF16F32X3, "bf16", "f32", 3},
    {DotAlgorithm::BF16BF16F32X6, "bf16", "f32", 6},
    {DotAlgorithm::BF16BF16F32X9, "bf16", "f32", 9},
    {DotAlgorithm::TF32TF32F32, "tf32", "f32"},
    {DotAlgorithm::TF32TF32F32X3, "tf32", "f32", 3},
    {DotAlgorithm::F32F32F32, "f32", "f32"},
    {DotAlgorithm::F64F64F64, "f64", "f64"},
};

void add_algorithm(Site& site, DotAlgorithm algorithm, Fields& fields) {
  Builder& builder = site.builder();
  const auto type = [&](std::string_view name, size_t operand) {
    if (name == "tf32") return builder.type_attribute(builder.other("tf32"));
    const ElementType element =
        name == "f8" ? site.operand_shape(operand).type : *element_type_of(name);
    return builder.type_attribute(builder.scalar(element));
  };
  for (const AlgorithmRow& row : algorithms) {
    if (row.algorithm != algorithm) continue;
    fields.insert(fields.end(),
                  {{"lhs_precision_type", type(row.operands, 0)},
                   {"rhs_precision_type", type(row.operands, 1)},
                   {"accumulation_type", type(row.sums, 0)},
                   {"lhs_component_count", site.integer(1)},
                   {"rhs_component_count", site.integer(1)},
                   {"num_primitive_operations", site.integer(row.products)},
                   {"allow_imprecise_accumulation", builder.boolean(row.is_imprecise)}});
  }
}

// StableHLO multiplies elements of one type, and in products of 8-bit floats any of them: the
// narrower float becomes the wider.
Result<Leaves> factors(Site& site) {
  Leaves out = site.all_leaves();
  const ElementType left = site.operand_shape(0).type, right = site.operand_shape(1).type;
  const bool are_f8 = site.instruction().op == Op::Dot && bits_of(left) == 8 && bits_of(right) == 8;
  if (left == right || are_f8 || !is_floating(left) || !is_floating(right)) return out;
  const bool is_left_wider = bits_of(left) > bits_of(right);
  if (bits_of(left) == bits_of(right)) {
    for (ValueId& value : out) {
      HILO_TRY(value, site.converted(value, ElementType::F32));
    }
  } else {
    HILO_TRY(out[is_left_wider], site.converted(out[is_left_wider], is_left_wider ? left : right));
  }
  return out;
}

bool is_sparse(const RawText& text) { return !text.text.empty(); }

}  // namespace

Result<void> write_dot(Site& site) {
  const auto& a = site.attributes<DotAttributes>();
  if (is_sparse(a.sparsity)) return site.unsupported("StableHLO has no sparse products");
  Fields fields = {{"lhs_batching_dimensions", site.numbers(a.lhs_batch_dims)},
                   {"rhs_batching_dimensions", site.numbers(a.rhs_batch_dims)},
                   {"lhs_contracting_dimensions", site.numbers(a.lhs_contracting_dims)},
                   {"rhs_contracting_dimensions", site.numbers(a.rhs_contracting_dims)},
                   {"precision_config", site.precisions(a.operand_precision)}};
  add_algorithm(site, a.algorithm, fields);
  HILO_TRY(const Leaves operands, factors(site));
  return site.become(site.name, operands, std::move(fields));
}

Result<void> write_convolution(Site& site) {
  const auto& a = site.attributes<ConvolutionAttributes>();
  if (is_sparse(a.sparsity_config)) return site.unsupported("StableHLO has no sparse products");
  const ConvolutionLabels& l = a.dim_labels;
  if (!l.input_unknown.empty() || !l.kernel_unknown.empty())
    return site.unsupported("a convolution with dimensions that have no label");
  if (a.algorithm != DotAlgorithm::Unset)
    site.exporter.warn("algorithms of convolutions", site.instruction());
  Fields fields = {{"input_batch_dimension", site.integer(l.input_batch)},
                   {"input_feature_dimension", site.integer(l.input_feature)},
                   {"input_spatial_dimensions", site.numbers(l.input_spatial)},
                   {"kernel_input_feature_dimension", site.integer(l.kernel_input_feature)},
                   {"kernel_output_feature_dimension", site.integer(l.kernel_output_feature)},
                   {"kernel_spatial_dimensions", site.numbers(l.kernel_spatial)},
                   {"output_batch_dimension", site.integer(l.output_batch)},
                   {"output_feature_dimension", site.integer(l.output_feature)},
                   {"output_spatial_dimensions", site.numbers(l.output_spatial)},
                   {"feature_group_count", site.integer(a.feature_group_count)},
                   {"batch_group_count", site.integer(a.batch_group_count)},
                   {"precision_config", site.precisions(a.operand_precision)}};
  Window window = a.window;
  window.dims.resize(l.kernel_spatial.size());
  add_window(site, window, "lhs_dilation", "rhs_dilation", fields);
  std::erase_if(fields, [](const auto& field) { return field.first == "window_dimensions"; });
  std::string flags;
  for (const WindowDim& dim : window.dims) flags += dim.reversal ? '\1' : '\0';
  Attribute reversal{.kind = AttributeKind::Tensor};
  reversal.type = site.exporter.array_type(ElementType::Pred, {static_cast<int64_t>(flags.size())});
  reversal.data = std::make_shared<const std::string>(std::move(flags));
  fields.emplace_back("window_reversal", site.builder().add(std::move(reversal)));
  HILO_TRY(const Leaves operands, factors(site));
  return site.become(site.name, operands, std::move(fields));
}

Result<void> write_fft(Site& site) {
  const auto& a = site.attributes<FftAttributes>();
  return site.become({{"fft_type", site.builder().enumerator(text_of_enum(a.fft_type))},
                      {"fft_length", site.numbers(a.fft_length)}});
}

Result<void> write_cholesky(Site& site) {
  const auto& a = site.attributes<CholeskyAttributes>();
  return site.become({{"lower", site.builder().boolean(a.lower)}});
}

Result<void> write_triangular_solve(Site& site) {
  const auto& a = site.attributes<TriangularSolveAttributes>();
  const TransposeKind kind =
      a.transpose_a == TransposeKind::Invalid ? TransposeKind::NoTranspose : a.transpose_a;
  return site.become({{"left_side", site.builder().boolean(a.left_side)},
                      {"lower", site.builder().boolean(a.lower)},
                      {"unit_diagonal", site.builder().boolean(a.unit_diagonal)},
                      {"transpose_a", site.builder().enumerator(text_of_enum(kind))}});
}

Result<void> write_batch_norm(Site& site) {
  const auto& a = site.attributes<BatchNormAttributes>();
  const TypeId f32 = site.builder().scalar(ElementType::F32);
  return site.become({{"epsilon", site.builder().number(a.epsilon, f32)},
                      {"feature_index", site.integer(a.feature_index)}});
}

// The dimensions, which HLO has in the shape, are an operand.
Result<void> write_rng(Site& site) {
  const auto& a = site.attributes<RngAttributes>();
  if (a.distribution == RngDistribution::Invalid)
    return site.unsupported("random numbers of no distribution");
  Leaves operands = site.all_leaves();
  HILO_TRY(operands.emplace_back(), site.integers(site.shape().dims, ElementType::S64));
  const bool is_uniform = a.distribution == RngDistribution::Uniform;
  return site.become(
      site.name, operands,
      {{"rng_distribution", site.builder().enumerator(is_uniform ? "UNIFORM" : "NORMAL")}});
}

// HLO also has the bits alone, without the state that follows.
Result<void> write_rng_bit_generator(Site& site) {
  constexpr std::string_view names[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  const auto& a = site.attributes<RngBitGeneratorAttributes>();
  Fields fields = {
      {"rng_algorithm", site.builder().enumerator(names[static_cast<size_t>(a.algorithm)])}};
  if (site.shape().is_tuple()) return site.become(std::move(fields));
  HILO_TRY(const TypeId state, site.exporter.type_of(site.operand_shape(0)));
  HILO_TRY(const TypeId bits, site.exporter.type_of(site.shape()));
  HILO_TRY(const Leaves both, site.emit(site.name, site.all_leaves(), {state, bits}, fields));
  site.give({both[1]});
  return {};
}

}  // namespace hilo::mlir
