// What stands beside the ops: the module's attributes, and those of main's arguments and results.
#include <algorithm>

#include "text/text.h"
#include "wire/stablehlo/converter.h"

namespace hilo::mlir {
namespace {

constexpr int64_t host_memory_space = 5;
constexpr int64_t max_devices = int64_t{1} << 20;

Result<int64_t> device_count(const Program& program, const Operation& module,
                             std::string_view name) {
  const Attribute* found = program.find(module, name);
  if (!found) return 1;
  if (found->kind == AttributeKind::Integer && found->integer > 0 && found->integer <= max_devices)
    return found->integer;
  return fail(ErrorKind::Shape, "expected a number of devices as {}", name);
}

}  // namespace

Result<FrontendAttributes> frontend_attributes_of(const Program& program,
                                                  const Attribute& dictionary) {
  FrontendAttributes out;
  if (dictionary.kind != AttributeKind::Dictionary)
    return fail(ErrorKind::Shape, "expected a dictionary as frontend attributes");
  for (const auto& [name, value] : dictionary.fields) {
    const Attribute& attribute = program[value];
    std::string text = attribute.text;
    if (attribute.kind != AttributeKind::String) {
      HILO_TRY(text, text_of_attribute(program, attribute));
    }
    // HLO writes meshes without quotes.
    const bool is_dictionary =
        attribute.kind == AttributeKind::Dictionary || name == "xla.sdy.meshes";
    out[name] = {std::move(text), is_dictionary};
  }
  return out;
}

Result<void> Converter::read_header() {
  const Operation& from = program[module_operation];
  const Attribute* name = program.find(from, "sym_name");
  module.header.name = name ? legal_name(name->text) : "";
  if (module.header.name.empty()) module.header.name = "main";
  HILO_TRY(module.header.replica_count, device_count(program, from, "mhlo.num_replicas"));
  HILO_TRY(module.header.num_partitions, device_count(program, from, "mhlo.num_partitions"));
  if (const Attribute* attributes = program.find(from, "mhlo.frontend_attributes")) {
    HILO_TRY(module.header.frontend_attributes, frontend_attributes_of(program, *attributes));
  }
  if (std::ranges::any_of(meshes, [](const auto& one) { return mesh_size(*one.second) > 1; }))
    module.header.frontend_attributes["xla.sdy.meshes"] = {print_shardy_meshes(meshes), true};
  return {};
}

// "{0,1}" as layout, a host's memory as space; on a device "auto" is an array without a layout.
static Result<void> put_in_memory(const Program& program, const Attribute& attributes,
                                  Shape& shape) {
  if (!shape.is_array()) return {};
  const Attribute* layout = program.find(attributes, "mhlo.layout_mode");
  if (layout && layout->text.starts_with('{')) {
    const std::string text = to_string_without_layout(shape) + layout->text;
    HILO_TRY(const Shape stated, parse_shape(text));
    if (layout_fault(stated).empty()) shape = stated;
  }
  const Attribute* kind = program.find(attributes, "mhlo.memory_kind");
  if (kind && kind->text.ends_with("host")) shape.layout.memory_space = host_memory_space;
  else if (layout && layout->text == "auto") shape.has_layout = false;
  return {};
}

Result<void> Converter::read_argument_attributes(const Operation& function, size_t results) {
  EntryLayout layout;
  const Computation& main = module[module.entry];
  const Attribute* list = program.find(function, "arg_attrs");
  for (size_t i = 0; i < main.parameters.size(); ++i) {
    Shape& shape = layout.parameters.emplace_back(module.shape(main.parameters[i]));
    if (!list || list->kind != AttributeKind::Array || i >= list->items.size()) continue;
    const Attribute& attributes = program[list->items[i]];
    HILO_DO(put_in_memory(program, attributes, shape));
    const auto parameter = static_cast<int64_t>(i);
    if (const Attribute* alias = program.find(attributes, "tf.aliasing_output")) {
      if (alias->integer < 0 || alias->integer >= static_cast<int64_t>(results))
        return fail(ErrorKind::Structure, "argument {} shares result {} of {}", i, alias->integer,
                    results);
      Dims index = results == 1 ? Dims() : Dims{alias->integer};
      module.header.input_output_alias.push_back({std::move(index), parameter, {}, false});
    } else if (const Attribute* donor = program.find(attributes, "jax.buffer_donor");
               donor && donor->integer != 0) {
      module.header.buffer_donor.push_back({parameter, {}});
    }
  }
  std::ranges::stable_sort(module.header.input_output_alias, {}, &BufferAlias::output_index);
  layout.result = module.shape(main.root);
  const Attribute* given = program.find(function, "res_attrs");
  for (size_t i = 0; given && i < given->items.size() && i < results; ++i)
    HILO_DO(put_in_memory(program, program[given->items[i]],
                          results == 1 ? layout.result : layout.result.elements[i]));
  module.header.entry_computation_layout = std::move(layout);
  return {};
}

}  // namespace hilo::mlir
