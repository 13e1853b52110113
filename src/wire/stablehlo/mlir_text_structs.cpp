// Attributes of dialects in MLIR's text: StableHLO's enums and structs. Those that no op here needs
// keep their name alone.
#include <algorithm>
#include <array>

#include "wire/stablehlo/mlir_text_reader.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {
namespace {

// What is written as name = value, …
constexpr std::string_view listed[] = {"channel_handle", "dot", "dot_algorithm", "gather",
                                       "scatter"};

std::string_view dialect_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

// Behind '#': "stablehlo<precision HIGH>", "stablehlo.gather<offset_dims = [1]>", …
AttributeId TextReader::dialect_attribute(std::string_view name) {
  if (name.starts_with("sdy.")) return sdy_attribute(name);
  if (name.find('.') == std::string_view::npos) {
    const size_t start = in_.offset();
    in_.expect("<");
    const bool is_enum = !in_.word().empty() && !in_.peek_word().empty();
    const std::string_view value = in_.word();
    if (is_enum && in_.accept('>')) return builder_.enumerator(value);
    in_.go_to(start);
    return unknown_attribute(name);
  }
  if (name == "chlo.ragged_dot") return builder_.structure(name, structure_fields());
  if (!name.starts_with("stablehlo.")) return unknown_attribute(dialect_of(name));
  return structure(name.substr(name.find('.') + 1));
}

AttributeId TextReader::structure(std::string_view name) {
  if (std::ranges::find(listed, name) != std::end(listed))
    return builder_.structure(fmt::format("stablehlo.{}", name), structure_fields());
  if (name == "conv") return convolution_dims();
  if (name == "bounds") return builder_.numbers(bounds());
  if (name == "result_accuracy_mode") {
    in_.expect("<");
    const AttributeId mode = builder_.enumerator(in_.word());
    in_.expect(">");
    return mode;
  }
  if (name == "result_accuracy") return accuracy();
  if (name == "replica_group_mesh_axes") return builder_.structure("mesh_axes", structure_fields());
  if (name == "output_operand_alias") {
    Fields fields = structure_fields();
    for (auto& [field, value] : fields) {
      if (field == "output_tuple_indices") field = "output_index";
      if (field == "operand_index") field = "operand";
      if (field == "operand_tuple_indices") field = "operand_index";
    }
    return builder_.structure("alias", std::move(fields));
  }
  if (name == "axis_ref") {
    in_.expect("<");
    in_.expect_word("name");
    in_.expect("=");
    const std::string axis = in_.string();
    int64_t pre_size = 0, size = 0;
    if (in_.accept(',')) {
      in_.expect_word("sub_axis_info");
      in_.expect("=");
      in_.expect("(");
      pre_size = in_.integer();
      in_.expect(")");
      size = in_.integer();
    }
    in_.expect(">");
    return make_axis_ref(builder_, axis, pre_size, size);
  }
  return unknown_attribute("stablehlo");
}

// Zeros are not printed.
AttributeId TextReader::accuracy() {
  Fields fields = structure_fields();
  sort_fields(fields);
  const AttributeId zero = builder_.number(0, builder_.scalar(ElementType::F64));
  Fields all = {{"atol", zero},
                {"rtol", zero},
                {"ulps", builder_.integer(0)},
                {"mode", builder_.enumerator("DEFAULT")}};
  for (auto& [field, value] : all)
    if (const AttributeId given = find_field(fields, field)) value = given;
  return builder_.structure("result_accuracy", std::move(all));
}

// <name = value, …>
Fields TextReader::structure_fields() {
  Fields out;
  in_.expect("<");
  while (!in_.failed() && !in_.peek('>')) {
    const std::string_view name = in_.word();
    if (name.empty()) in_.fail("expected a field, found {}", in_.found());
    in_.expect("=");
    out.emplace_back(name, attribute());
    if (!in_.accept(',')) break;
  }
  in_.expect(">");
  return out;
}

// <[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]> or <raw input_batch_dimension = 0, …>
AttributeId TextReader::convolution_dims() {
  in_.expect("<");
  Fields fields;
  if (in_.accept_word("raw")) {
    do {
      const std::string_view name = in_.word();
      in_.expect("=");
      fields.emplace_back(name, attribute());
    } while (in_.accept(','));
  } else {
    convolution_layouts(fields);
  }
  in_.expect(">");
  return builder_.structure("stablehlo.conv", std::move(fields));
}

void TextReader::convolution_layouts(Fields& fields) {
  convolution_side(fields, "input", {'b', 'f'}, {"batch", "feature"});
  in_.expect("x");
  convolution_side(fields, "kernel", {'i', 'o'}, {"input_feature", "output_feature"});
  in_.expect("->");
  convolution_side(fields, "output", {'b', 'f'}, {"batch", "feature"});
}

// [b, 0, 1, f]: position by position, what the dimension is; '?' is none of them.
void TextReader::convolution_side(Fields& fields, std::string_view side,
                                  std::array<char, 2> letters,
                                  std::array<std::string_view, 2> names) {
  std::array<int64_t, 2> found = {-1, -1};
  std::vector<std::pair<int64_t, int64_t>> spatial;
  in_.expect("[");
  int64_t position = 0;
  do {
    if (TextCursor::is_digit(in_.next())) {
      spatial.emplace_back(in_.integer(), position);
    } else if (!in_.accept('?')) {
      const std::string_view word = in_.word();
      for (size_t i = 0; i < letters.size(); ++i)
        if (word.size() == 1 && word[0] == letters[i]) found[i] = position;
    }
    ++position;
  } while (in_.accept(','));
  in_.expect("]");
  std::ranges::sort(spatial);
  Dims dims;
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i].first != static_cast<int64_t>(i)) in_.fail("spatial dimension {} is missing", i);
    dims.push_back(spatial[i].second);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (found[i] < 0) in_.fail("no dimension '{}'", letters[i]);
    fields.emplace_back(fmt::format("{}_{}_dimension", side, names[i]), builder_.integer(found[i]));
  }
  fields.emplace_back(fmt::format("{}_spatial_dimensions", side), builder_.numbers(dims));
}

}  // namespace hilo::mlir
