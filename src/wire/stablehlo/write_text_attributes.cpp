// Attributes as StableHLO's dialect prints them: what VHLO has flat is grouped.
#include <fmt/ranges.h>

#include <algorithm>

#include "wire/stablehlo/text_writer.h"
#include "wire/stablehlo/vhlo_ops.h"

namespace hilo::mlir {
namespace {

constexpr size_t longest_name = 256;

bool is_bare(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() < longest_name && is_letter(name[0]) &&
         std::ranges::all_of(
             name,
             [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.';
             });
}

std::string list_text(const Program& program, const Attribute& tensor) {
  return fmt::format("{}", fmt::join(integers_of(program, tensor).value_or(Dims()), ", "));
}

std::string accuracy_text(const Program& program, const Attribute& from) {
  const auto number = [&](std::string_view name) {
    return number_text(ElementType::F64, program.find(from, name)->number);
  };
  return fmt::format(
      "#stablehlo.result_accuracy<atol = {}, rtol = {}, ulps = {}, mode = "
      "#stablehlo.result_accuracy_mode<{}>>",
      number("atol"), number("rtol"), program.find(from, "ulps")->integer,
      program.find(from, "mode")->text);
}

// One name and text each, as they stand in the op.
class Properties {
 public:
  Properties(const Program& program, const Operation& operation)
      : program_(program), operation_(operation) {}
  Result<std::string> text();

 private:
  const Attribute& at(std::string_view name) const {
    return program_[find_field(operation_.attributes, name)];
  }
  bool has(std::string_view name) const {
    return static_cast<bool>(find_field(operation_.attributes, name));
  }
  std::string listed(std::string_view name) const {
    return fmt::format("[{}]", list_text(program_, at(name)));
  }
  void add(std::string_view name, std::string text) {
    out_ += fmt::format("{}{} = {}", out_.empty() ? "" : ", ", name, text);
    taken_.emplace_back(name);
  }
  void take(std::string_view name) { taken_.emplace_back(name); }
  void group();
  void group_channel();
  void group_fields(std::string_view name, std::string_view structure,
                    std::initializer_list<std::string_view> fields);
  void group_convolution();
  void group_algorithm();
  std::string labels(int64_t first, int64_t second, const Dims& spatial, std::string_view letters);
  Result<std::string> one(const VhloAttribute& spec, const Attribute& attribute);

  const Program& program_;
  const Operation& operation_;
  std::string out_;
  std::vector<std::string> taken_;
};

void Properties::group_channel() {
  const bool is_transfer = has("channel_type");
  const int64_t id = at("channel_id").integer;
  const int64_t type = is_transfer ? at("channel_type").integer : 0;
  take("channel_id");
  take("channel_type");
  if (id != 0 || is_transfer)
    add("channel_handle",
        fmt::format("#stablehlo.channel_handle<handle = {}, type = {}>", id, type));
}

void Properties::group_fields(std::string_view name, std::string_view structure,
                              std::initializer_list<std::string_view> fields) {
  std::string text;
  for (const std::string_view field : fields) {
    const Attribute& value = at(field);
    const bool is_list = value.kind == AttributeKind::Tensor;
    if (is_list && element_count(program_[value.type]) == 0) {
      take(field);
      continue;
    }
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field,
                        is_list ? listed(field) : fmt::format("{}", value.integer));
    take(field);
  }
  add(name, fmt::format("#stablehlo.{}<{}>", structure, text));
}

std::string Properties::labels(int64_t first, int64_t second, const Dims& spatial,
                               std::string_view letters) {
  std::vector<std::string> out(spatial.size() + 2);
  const auto put = [&](int64_t dim, std::string text) {
    if (dim >= 0 && dim < std::ssize(out)) out[dim] = std::move(text);
  };
  put(first, std::string(1, letters[0]));
  put(second, std::string(1, letters[1]));
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], fmt::format("{}", i));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

void Properties::group_convolution() {
  const auto side = [&](std::string_view first, std::string_view second, std::string_view spatial,
                        std::string_view letters) {
    const Dims dims = integers_of(program_, at(spatial)).value_or(Dims());
    for (const std::string_view name : {first, second, spatial}) take(name);
    return labels(at(first).integer, at(second).integer, dims, letters);
  };
  const std::string input =
      side("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "bf");
  const std::string kernel =
      side("kernel_input_feature_dimension", "kernel_output_feature_dimension",
           "kernel_spatial_dimensions", "io");
  const std::string output =
      side("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "bf");
  add("dimension_numbers", fmt::format("#stablehlo.conv<{}x{}->{}>", input, kernel, output));
}

void Properties::group_algorithm() {
  constexpr std::string_view names[] = {"lhs_precision_type",          "rhs_precision_type",
                                        "accumulation_type",           "lhs_component_count",
                                        "rhs_component_count",         "num_primitive_operations",
                                        "allow_imprecise_accumulation"};
  std::string text;
  for (const std::string_view name : names) {
    const Attribute& value = at(name);
    take(name);
    if (value.kind == AttributeKind::Type && program_[value.type].kind == TypeKind::None) continue;
    std::string shown = value.kind == AttributeKind::Type   ? type_text(program_, value.type)
                        : value.kind == AttributeKind::Bool ? (value.integer ? "true" : "false")
                                                            : fmt::format("{}", value.integer);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, shown);
  }
  if (!text.empty()) add("algorithm", fmt::format("#stablehlo.dot_algorithm<{}>", text));
}

void Properties::group() {
  if (has("channel_id")) group_channel();
  if (operation_.name == "stablehlo.dot_general") {
    group_fields("dot_dimension_numbers", "dot",
                 {"lhs_batching_dimensions", "rhs_batching_dimensions",
                  "lhs_contracting_dimensions", "rhs_contracting_dimensions"});
    group_algorithm();
  }
  if (operation_.name == "stablehlo.gather")
    group_fields("dimension_numbers", "gather",
                 {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                  "start_indices_batching_dims", "start_index_map", "index_vector_dim"});
  if (operation_.name == "stablehlo.scatter")
    group_fields(
        "scatter_dimension_numbers", "scatter",
        {"update_window_dims", "inserted_window_dims", "input_batching_dims",
         "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"});
  if (operation_.name == "stablehlo.convolution") group_convolution();
}

std::string_view enum_name(Form form) {
  switch (form) {
    case Form::Direction: return "comparison_direction";
    case Form::ComparisonType: return "comparison_type";
    case Form::FftType: return "fft_type";
    case Form::Algorithm: return "rng_algorithm";
    case Form::Distribution: return "rng_distribution";
    case Form::Transpose: return "transpose";
    default: return "precision";
  }
}

// "": left out.
Result<std::string> Properties::one(const VhloAttribute& spec, const Attribute& from) {
  switch (spec.form) {
    case Form::Text:
      if (spec.name == "callee" || spec.name == "decomposition") return symbol_text(from.text);
      return quoted_text(from.text);
    case Form::Bool:
      if (spec.name == "use_global_device_ids" || spec.name == "has_dynamic_root")
        return std::string(from.integer ? "unit" : "");
      return std::string(from.integer ? "true" : "false");
    case Form::Texts: {
      std::vector<std::string> out;
      for (const AttributeId item : from.items) out.push_back(symbol_text(program_[item].text));
      return out.empty() ? "" : fmt::format("[{}]", fmt::join(out, ", "));
    }
    case Form::List:
    case Form::Layouts: {
      std::vector<std::string> out;
      for (const AttributeId item : from.items) {
        HILO_TRY(out.emplace_back(), attribute_text(program_, program_[item]));
      }
      return out.empty() ? "" : fmt::format("[{}]", fmt::join(out, ", "));
    }
    case Form::Numbers: {
      const std::string list = list_text(program_, from);
      return fmt::format("array<i64{}{}>", list.empty() ? "" : ": ", list);
    }
    case Form::Flags: {
      std::vector<std::string_view> out;
      for (const int64_t flag : integers_of(program_, from).value_or(Dims()))
        out.push_back(flag ? "true" : "false");
      return fmt::format("array<i1{}{}>", out.empty() ? "" : ": ", fmt::join(out, ", "));
    }
    case Form::ApiVersion: {
      int64_t number = 0;
      while (enumerator_of(spec.form, static_cast<uint64_t>(number)) != from.text) ++number;
      return fmt::format("{} : i32", number);
    }
    case Form::Direction:
    case Form::ComparisonType:
    case Form::FftType:
    case Form::Algorithm:
    case Form::Distribution:
    case Form::Transpose: return fmt::format("#stablehlo<{} {}>", enum_name(spec.form), from.text);
    case Form::Precisions: {
      std::vector<std::string> out;
      for (const AttributeId item : from.items)
        out.push_back(fmt::format("#stablehlo<precision {}>", program_[item].text));
      return fmt::format("[{}]", fmt::join(out, ", "));
    }
    case Form::Accuracy: return accuracy_text(program_, from);
    case Form::Config:
      if (from.kind == AttributeKind::String && from.text.empty()) return std::string();
      [[fallthrough]];
    default: return attribute_text(program_, from);
  }
}

Result<std::string> Properties::text() {
  const VhloOp* op = find_stablehlo_op(operation_.name);
  if (!op) return std::string();
  group();
  for (const VhloAttribute& spec : op->all()) {
    if (!spec.is_in(op->newest) || std::ranges::find(taken_, spec.name) != taken_.end()) continue;
    if (is_fallback(program_, spec, at(spec.name))) continue;
    HILO_TRY(std::string text, one(spec, at(spec.name)));
    if (text == "unit") out_ += fmt::format("{}{}", out_.empty() ? "" : ", ", spec.name);
    else if (!text.empty()) add(spec.name, std::move(text));
  }
  return out_;
}

}  // namespace

std::string symbol_text(std::string_view name) {
  return "@" + (is_bare(name) ? std::string(name) : quoted_text(name));
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 32 || byte > 126) out += fmt::format("\\{:02X}", byte);
    else out += c;
  }
  return out + '"';
}

Result<std::string> dictionary_text(const Program& program, const Fields& fields) {
  std::string out = "{";
  for (const auto& [name, value] : fields) {
    out += (out.size() > 1 ? ", " : "") + (is_bare(name) ? name : quoted_text(name));
    if (program[value].kind == AttributeKind::Unit) continue;
    HILO_TRY(const std::string text, attribute_text(program, program[value]));
    out += " = " + text;
  }
  return out + "}";
}

Result<std::string> attribute_text(const Program& program, const Attribute& attribute) {
  switch (attribute.kind) {
    case AttributeKind::Unit: return "unit";
    case AttributeKind::Bool: return attribute.integer ? "true" : "false";
    case AttributeKind::Integer: {
      const Type& type = program[attribute.type];
      const bool is_unsigned_type = type.kind == TypeKind::Scalar && is_unsigned(type.element);
      const std::string name = type_text(program, attribute.type);
      if (is_unsigned_type)
        return fmt::format("{} : {}", static_cast<uint64_t>(attribute.integer), name);
      return fmt::format("{} : {}", attribute.integer, name);
    }
    case AttributeKind::Float:
      return fmt::format("{} : {}", number_text(program[attribute.type].element, attribute.number),
                         type_text(program, attribute.type));
    case AttributeKind::String: return quoted_text(attribute.text);
    case AttributeKind::Symbol: return symbol_text(attribute.text);
    case AttributeKind::Type: return type_text(program, attribute.type);
    case AttributeKind::Tensor: return dense_text(program, attribute);
    case AttributeKind::Dictionary: return dictionary_text(program, attribute.fields);
    case AttributeKind::Array: {
      std::vector<std::string> out;
      for (const AttributeId item : attribute.items) {
        HILO_TRY(out.emplace_back(), attribute_text(program, program[item]));
      }
      return fmt::format("[{}]", fmt::join(out, ", "));
    }
    default: break;
  }
  if (attribute.text != "alias")
    return fail(ErrorKind::Unsupported, "an attribute {} as text", attribute.text);
  const auto indices = [&](std::string_view name) {
    Dims out;
    for (const AttributeId item : program[find_field(attribute.fields, name)].items)
      out.push_back(program[item].integer);
    return fmt::format("[{}]", fmt::join(out, ", "));
  };
  return fmt::format(
      "#stablehlo.output_operand_alias<output_tuple_indices = {}, operand_index = {}, "
      "operand_tuple_indices = {}>",
      indices("output_index"), program[find_field(attribute.fields, "operand")].integer,
      indices("operand_index"));
}

Result<std::string> properties_text(const Program& program, const Operation& operation) {
  return Properties(program, operation).text();
}

Fields discardable_fields(const Operation& operation) {
  Fields out;
  const VhloOp* op = find_stablehlo_op(operation.name);
  const auto own = op ? op->all() : std::span<const VhloAttribute>();
  for (const auto& field : operation.attributes)
    if (std::ranges::find(own, field.first, &VhloAttribute::name) == own.end())
      out.push_back(field);
  return out;
}

}  // namespace hilo::mlir
