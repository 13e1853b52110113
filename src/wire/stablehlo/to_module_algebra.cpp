// Products, transforms, factorisations, normalisations, random numbers.
#include <algorithm>
#include <cstdlib>

#include "wire/stablehlo/handlers.h"

namespace hilo::mlir {

Result<Precisions> precisions_of(const Step& step) {
  Precisions out;
  const Attribute* list = step.find("precision_config");
  if (!list || list->kind != AttributeKind::Array) return out;
  if (list->items.size() > 2)
    return step.misfit("expected a precision for each of 2 operands, found {}", list->items.size());
  for (AttributeId item : list->items) {
    const std::string& text = step.program()[item].text;
    if (text != "DEFAULT" && text != "HIGH" && text != "HIGHEST")
      return step.misfit("precision_config has no value '{}'", text);
    out.push_back(text == "DEFAULT" ? Precision::Default
                  : text == "HIGH"  ? Precision::High
                                    : Precision::Highest);
  }
  const auto is_default = [](Precision one) { return one == Precision::Default; };
  if (std::ranges::all_of(out, is_default)) out.clear();
  return out;
}

namespace {

struct Algorithm {
  std::string_view operands, sums;
  int64_t products;  // of parts into which operands are split
  DotAlgorithm algorithm;
};
constexpr Algorithm algorithms[] = {
    {"f16", "f16", 1, DotAlgorithm::F16F16F16},
    {"f16", "f32", 1, DotAlgorithm::F16F16F32},
    {"bf16", "bf16", 1, DotAlgorithm::BF16BF16BF16},
    {"bf16", "f32", 1, DotAlgorithm::BF16BF16F32},
    {"bf16", "f32", 3, DotAlgorithm::BF16BF16F32X3},
    {"bf16", "f32", 6, DotAlgorithm::BF16BF16F32X6},
    {"bf16", "f32", 9, DotAlgorithm::BF16BF16F32X9},
    {"tf32", "f32", 1, DotAlgorithm::TF32TF32F32},
    {"tf32", "f32", 3, DotAlgorithm::TF32TF32F32X3},
    {"f32", "f32", 1, DotAlgorithm::F32F32F32},
    {"f64", "f64", 1, DotAlgorithm::F64F64F64},
};

// A type attribute's text; empty where it is the type `none`.
std::string type_text(const Step& step, std::string_view name) {
  const Attribute* found = step.find(name);
  if (!found || found->kind != AttributeKind::Type || !found->type) return "";
  const Type& type = step.program()[found->type];
  if (type.kind == TypeKind::Scalar) return std::string(text_of(type.element));
  return type.text.contains("tf32") ? "tf32" : "";
}

// No algorithm that is known splits operands into components by itself.
Result<void> need_one_component(const Step& step) {
  for (const std::string_view name : {"lhs_component_count", "rhs_component_count"}) {
    const Attribute* found = step.find(name);
    if (!found || found->kind != AttributeKind::Integer) continue;
    if (found->integer <= 0)
      return step.misfit("expected a positive {}, found {}", name, found->integer);
    if (found->integer != 1)
      return fail(ErrorKind::Unsupported, "an algorithm of {} {}", name, found->integer);
  }
  return {};
}

Result<DotAlgorithm> algorithm_of(const Step& step) {
  const std::string left = type_text(step, "lhs_precision_type");
  const std::string right = type_text(step, "rhs_precision_type");
  const std::string sums = type_text(step, "accumulation_type");
  if (left.empty() && right.empty() && sums.empty()) return DotAlgorithm::Unset;
  HILO_TRY(const int64_t products, step.integer("num_primitive_operations", 1));
  HILO_TRY(const bool is_imprecise, step.flag("allow_imprecise_accumulation"));
  HILO_DO(need_one_component(step));
  if (left.starts_with("f8") && right.starts_with("f8") && sums == "f32")
    return is_imprecise ? DotAlgorithm::AnyF8AnyF8F32FastAccum : DotAlgorithm::AnyF8AnyF8F32;
  for (const Algorithm& one : algorithms)
    if (one.operands == left && left == right && one.sums == sums && one.products == products &&
        !is_imprecise)
      return one.algorithm;
  return fail(ErrorKind::Unsupported, "the algorithm {} {} {} of {}{} products", left, right, sums,
              products, is_imprecise ? " imprecise" : "");
}

}  // namespace

Result<void> convert_dot_general(Step& step) {
  DotAttributes a;
  HILO_TRY(a.lhs_batch_dims, step.dims("lhs_batching_dimensions", {}));
  HILO_TRY(a.rhs_batch_dims, step.dims("rhs_batching_dimensions", {}));
  HILO_TRY(a.lhs_contracting_dims, step.dims("lhs_contracting_dimensions", {}));
  HILO_TRY(a.rhs_contracting_dims, step.dims("rhs_contracting_dimensions", {}));
  HILO_TRY(a.operand_precision, precisions_of(step));
  HILO_TRY(a.algorithm, algorithm_of(step));
  if (a.algorithm != DotAlgorithm::Unset && !a.operand_precision.empty())
    return step.misfit("expected precisions DEFAULT beside an algorithm");
  HILO_TRY(const Shape stated, step.stated());
  HILO_TRY(const InstructionId value, step.add(Op::Dot, step.operands, std::move(a), &stated));
  return step.give(value);
}

// The six lists of dimensions, by name in text; in a composite in this order.
static Result<void> read_ragged_dims(const Step& step, RaggedDotAttributes& a) {
  const std::pair<std::string_view, Dims*> lists[] = {
      {"lhs_batching_dimensions", &a.lhs_batch_dims},
      {"rhs_batching_dimensions", &a.rhs_batch_dims},
      {"lhs_contracting_dimensions", &a.lhs_contracting_dims},
      {"rhs_contracting_dimensions", &a.rhs_contracting_dims},
      {"lhs_ragged_dimensions", &a.lhs_ragged_dims},
      {"rhs_group_dimensions", &a.rhs_group_dims}};
  const Attribute* numbers = step.find("ragged_dot_dimension_numbers");
  const bool is_list = numbers && numbers->kind == AttributeKind::Array;
  if (!numbers || (is_list && numbers->items.size() != std::size(lists)))
    return step.misfit("the attribute ragged_dot_dimension_numbers is missing or has not {} lists",
                       std::size(lists));
  for (size_t i = 0; i < std::size(lists); ++i) {
    const Attribute* list = is_list ? &step.program()[numbers->items[i]]
                                    : step.program().find(*numbers, lists[i].first);
    if (!list) continue;
    HILO_TRY(*lists[i].second, integers_of(step.program(), *list));
  }
  return {};
}

Result<void> convert_ragged_dot(Step& step) {
  RaggedDotAttributes a;
  HILO_DO(read_ragged_dims(step, a));
  HILO_TRY(a.operand_precision, precisions_of(step));
  HILO_TRY(const Shape stated, step.stated());
  HILO_TRY(const InstructionId value,
           step.add(Op::RaggedDot, step.operands, std::move(a), &stated));
  return step.give(value);
}

// The last dimension of the left side with the first of the right.
Result<void> convert_dot(Step& step) {
  HILO_DO(step.need_array(0));
  DotAttributes a;
  a.lhs_contracting_dims = {step.shape(0).rank() - 1};
  a.rhs_contracting_dims = {0};
  HILO_TRY(a.operand_precision, precisions_of(step));
  HILO_TRY(const Shape stated, step.stated());
  HILO_TRY(const InstructionId value, step.add(Op::Dot, step.operands, std::move(a), &stated));
  return step.give(value);
}

Result<void> convolve(Step& step, const Window& window) {
  HILO_DO(step.need_array(0));
  HILO_DO(step.need_array(1));
  if (step.shape(0).type != step.shape(1).type)
    return step.misfit("expected operands of one element type, found {} and {}",
                       to_string_without_layout(step.shape(0)),
                       to_string_without_layout(step.shape(1)));
  ConvolutionAttributes a;
  a.window = window;
  ConvolutionLabels& l = a.dim_labels;
  HILO_TRY(l.input_batch, step.integer("input_batch_dimension"));
  HILO_TRY(l.input_feature, step.integer("input_feature_dimension"));
  HILO_TRY(l.input_spatial, step.dims("input_spatial_dimensions"));
  HILO_TRY(l.kernel_input_feature, step.integer("kernel_input_feature_dimension"));
  HILO_TRY(l.kernel_output_feature, step.integer("kernel_output_feature_dimension"));
  HILO_TRY(l.kernel_spatial, step.dims("kernel_spatial_dimensions"));
  HILO_TRY(l.output_batch, step.integer("output_batch_dimension"));
  HILO_TRY(l.output_feature, step.integer("output_feature_dimension"));
  HILO_TRY(l.output_spatial, step.dims("output_spatial_dimensions"));
  HILO_TRY(a.feature_group_count, step.integer("feature_group_count", 1));
  HILO_TRY(a.batch_group_count, step.integer("batch_group_count", 1));
  HILO_TRY(a.operand_precision, precisions_of(step));
  HILO_TRY(const Shape stated, step.stated());
  HILO_TRY(const InstructionId value,
           step.add(Op::Convolution, {step.operands[0], step.operands[1]}, std::move(a), &stated));
  return step.give(value);
}

// The window but its padding.
Result<Window> convolution_window(const Step& step) {
  HILO_DO(step.need_array(1));
  HILO_TRY(const Dims spatial, step.dims("kernel_spatial_dimensions"));
  Dims sizes;
  for (int64_t dim : spatial) {
    if (dim < 0 || dim >= step.shape(1).rank())
      return step.misfit("the kernel has no dimension {}", dim);
    sizes.push_back(step.shape(1).dims[dim]);
  }
  HILO_TRY(Window out, window_of(step, sizes, "lhs_dilation", "rhs_dilation"));
  HILO_TRY(const Dims reversal, step.dims("window_reversal", Dims(sizes.size(), 0)));
  if (!reversal.empty() && reversal.size() != sizes.size())
    return step.misfit("expected {} booleans as window_reversal, found {}", sizes.size(),
                       reversal.size());
  for (size_t i = 0; i < reversal.size(); ++i) out.dims[i].reversal = reversal[i] != 0;
  return out;
}

Result<void> convert_convolution(Step& step) {
  HILO_TRY(const Window window, convolution_window(step));
  return convolve(step, window);
}

Result<void> convert_fft(Step& step) {
  FftAttributes a;
  HILO_TRY(a.fft_type, step.enumeration<FftType>("fft_type"));
  HILO_TRY(a.fft_length, step.dims("fft_length"));
  HILO_TRY(const InstructionId value, step.add(Op::Fft, step.operands, std::move(a)));
  return step.give(value);
}

Result<void> convert_cholesky(Step& step) {
  CholeskyAttributes a;
  HILO_TRY(a.lower, step.flag("lower"));
  HILO_TRY(const InstructionId value, step.add(Op::Cholesky, step.operands, a));
  return step.give(value);
}

Result<void> convert_triangular_solve(Step& step) {
  TriangularSolveAttributes a;
  HILO_TRY(a.left_side, step.flag("left_side"));
  HILO_TRY(a.lower, step.flag("lower"));
  HILO_TRY(a.unit_diagonal, step.flag("unit_diagonal"));
  HILO_TRY(const std::string transpose, step.text("transpose_a", "NO_TRANSPOSE"));
  if (transpose != "TRANSPOSE" && transpose != "ADJOINT" && transpose != "NO_TRANSPOSE")
    return step.misfit("transpose_a has no value '{}'", transpose);
  a.transpose_a = transpose == "TRANSPOSE" ? TransposeKind::Transpose
                  : transpose == "ADJOINT" ? TransposeKind::Adjoint
                                           : TransposeKind::NoTranspose;
  HILO_TRY(const InstructionId value, step.add(Op::TriangularSolve, step.operands, a));
  return step.give(value);
}

Result<void> convert_batch_norm(Step& step) {
  BatchNormAttributes a;
  HILO_TRY(const double epsilon, step.number("epsilon"));
  // The shortest decimal number that is this f32, as HLO has it.
  a.epsilon = std::strtod(fmt::format("{}", static_cast<float>(epsilon)).c_str(), nullptr);
  HILO_TRY(a.feature_index, step.integer("feature_index"));
  HILO_TRY(const InstructionId value, step.add(step.row.op, step.operands, a));
  return step.give(value);
}

Result<void> convert_rng_bit_generator(Step& step) {
  RngBitGeneratorAttributes a;
  HILO_TRY(const std::string algorithm, step.text("rng_algorithm", "DEFAULT"));
  a.algorithm = algorithm == "THREE_FRY" ? RngAlgorithm::ThreeFry
                : algorithm == "PHILOX"  ? RngAlgorithm::Philox
                                         : RngAlgorithm::Default;
  HILO_TRY(Shape state, step.concrete(0));
  HILO_TRY(Shape bits, step.concrete(1));
  const Shape both = Shape::tuple({std::move(state), std::move(bits)});
  HILO_TRY(const InstructionId value, step.add(Op::RngBitGenerator, step.operands, a, &both));
  return step.give(value);
}

}  // namespace hilo::mlir
