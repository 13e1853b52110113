// What stands beside the ops: the module's attributes, those of main's arguments and results,
// locations, and warnings of what has no place.
#include <fmt/ranges.h>

#include "wire/legal_name.h"
#include "wire/stablehlo/exporter.h"
#include "wire/stablehlo/structs.h"

namespace hilo::mlir {
namespace {

constexpr int64_t host_memory_space = 5;
constexpr int deepest_frame = 200;

AttributeId frontend_dictionary(Builder& builder, const FrontendAttributes& attributes) {
  Fields fields;
  for (const auto& [name, value] : attributes)
    fields.emplace_back(name, builder.string(value.text));
  return builder.dictionary(std::move(fields));
}

void append_leaves(const Shape& shape, std::vector<const Shape*>& out) {
  if (!shape.is_tuple()) return out.push_back(&shape);
  for (const Shape& element : shape.elements) append_leaves(element, out);
}

// Where a stranger's index leads nowhere: none.
std::optional<size_t> leaf_number(const Shape& shape, std::span<const int64_t> index) {
  if (index.empty()) return shape.is_tuple() ? std::nullopt : std::optional<size_t>(0);
  if (!shape.is_tuple() || index[0] < 0 || index[0] >= std::ssize(shape.elements)) return {};
  size_t before = 0;
  for (int64_t i = 0; i < index[0]; ++i)
    before += static_cast<size_t>(leaf_count(shape.elements[i]));
  const auto within = leaf_number(shape.elements[index[0]], index.subspan(1));
  if (!within) return {};
  return before + *within;
}

// "{0,1}" where the order is not the descending one; the host's memory.
void describe_location(Builder& builder, const Shape& shape, Fields& fields) {
  if (!shape.is_array() || !shape.has_layout) return;
  if (!shape.layout.is_descending())
    fields.emplace_back(
        "mhlo.layout_mode",
        builder.string(fmt::format("{{{}}}", fmt::join(shape.layout.minor_to_major, ","))));
  if (shape.layout.memory_space == host_memory_space)
    fields.emplace_back("mhlo.memory_kind", builder.string("pinned_host"));
}

}  // namespace

void annotate(Builder& builder, const Extra& extra, Fields& fields) {
  if (extra.sharding) fields.emplace_back("mhlo.sharding", builder.string(print(*extra.sharding)));
  if (!extra.frontend_attributes.empty())
    fields.emplace_back("mhlo.frontend_attributes",
                        frontend_dictionary(builder, extra.frontend_attributes));
}

void Exporter::describe_module(Operation& to) {
  const ModuleHeader& header = module.header;
  const TypeId s32 = builder.scalar(ElementType::S32);
  to.location = builder.structure("loc.unknown", {});
  to.attributes = {{"mhlo.num_partitions", builder.integer(header.num_partitions, s32)},
                   {"mhlo.num_replicas", builder.integer(header.replica_count, s32)},
                   {"sym_name", builder.string(legal_name(header.name))}};
  if (!header.frontend_attributes.empty())
    to.attributes.emplace_back("mhlo.frontend_attributes",
                               frontend_dictionary(builder, header.frontend_attributes));
  sort_fields(to.attributes);
}

Result<void> Exporter::describe_entry(Fields& function, size_t arguments, size_t results) {
  std::vector<Fields> on_arguments(arguments), on_results(results);
  std::vector<const Shape*> argument_shapes, result_shapes;
  std::vector<size_t> first;  // leaf of each parameter
  const Computation& entry = module[module.entry];
  const auto& layout = module.header.entry_computation_layout;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    first.push_back(argument_shapes.size());
    const bool is_stated = layout && i < layout->parameters.size();
    append_leaves(is_stated ? layout->parameters[i] : module.shape(entry.parameters[i]),
                  argument_shapes);
    const Extra& extra = module.extra(module[entry.parameters[i]]);
    if (!module.shape(entry.parameters[i]).is_tuple() && first[i] < arguments)
      annotate(builder, extra, on_arguments[first[i]]);
    else if (extra.sharding && extra.sharding->kind != Sharding::Kind::Tuple)
      for (size_t leaf = first[i]; leaf < std::min(argument_shapes.size(), arguments); ++leaf)
        on_arguments[leaf].emplace_back("mhlo.sharding", builder.string(print(*extra.sharding)));
  }
  append_leaves(layout ? layout->result : module.shape(entry.root), result_shapes);
  for (size_t i = 0; i < std::min(arguments, argument_shapes.size()); ++i)
    describe_location(builder, *argument_shapes[i], on_arguments[i]);
  for (size_t i = 0; i < std::min(results, result_shapes.size()); ++i)
    describe_location(builder, *result_shapes[i], on_results[i]);
  const auto argument_at = [&](int64_t parameter, const Dims& index) -> std::optional<size_t> {
    if (parameter < 0 || parameter >= std::ssize(first)) return {};
    const auto leaf = leaf_number(module.shape(entry.parameters[parameter]), index);
    if (!leaf || first[parameter] + *leaf >= arguments) return {};
    return first[parameter] + *leaf;
  };
  for (const BufferAlias& alias : module.header.input_output_alias) {
    const auto argument = argument_at(alias.parameter, alias.parameter_index);
    const auto result = leaf_number(module.shape(entry.root), alias.output_index);
    if (argument && result)
      on_arguments[*argument].emplace_back(
          "tf.aliasing_output",
          builder.integer(static_cast<int64_t>(*result), builder.scalar(ElementType::S32)));
  }
  for (const BufferDonor& donor : module.header.buffer_donor)
    if (const auto argument = argument_at(donor.parameter, donor.parameter_index))
      on_arguments[*argument].emplace_back("jax.buffer_donor", builder.boolean(true));
  const auto listed = [&](std::vector<Fields>& all) {
    std::vector<AttributeId> out;
    for (Fields& fields : all) {
      sort_fields(fields);
      out.push_back(builder.dictionary(std::move(fields)));
    }
    return builder.array(std::move(out));
  };
  function.emplace_back("arg_attrs", listed(on_arguments));
  function.emplace_back("res_attrs", listed(on_results));
  return {};
}

// A frame is a place in a file, in a function, called from its parent.
AttributeId Exporter::frame_location(int64_t frame, int depth) {
  const StackFrameTables& tables = module.header.stack_frames;
  if (frame < 1 || frame > std::ssize(tables.frames) || depth > deepest_frame) return {};
  const auto& at = tables.frames[frame - 1];
  if (at.file_location_id < 1 || at.file_location_id > std::ssize(tables.locations)) return {};
  const auto& place = tables.locations[at.file_location_id - 1];
  const auto text = [](const std::vector<std::string>& all, int64_t id) -> std::string_view {
    return id >= 1 && id <= std::ssize(all) ? std::string_view(all[id - 1]) : std::string_view();
  };
  AttributeId out =
      make_file_location(builder, builder.string(text(tables.file_names, place.file_name_id)),
                         place.line, place.column, place.end_line, place.end_column);
  const std::string_view function = text(tables.function_names, place.function_name_id);
  if (!function.empty())
    out = builder.structure("loc.name", {{"name", builder.string(function)}, {"child", out}});
  const AttributeId parent = frame_location(at.parent_frame_id - 1, depth + 1);
  if (!parent) return out;
  return builder.structure("loc.callsite", {{"callee", out}, {"caller", parent}});
}

AttributeId Exporter::location_of(const Instruction& instruction) {
  const auto [found, is_new] = locations_.emplace(instruction.metadata.value, AttributeId());
  if (!is_new) return found->second;
  const Metadata& metadata = module.metadata_of(instruction);
  AttributeId place = frame_location(metadata.stack_frame_id, 0);
  if (!place && !metadata.source_file.empty())
    place = make_file_location(builder, builder.string(metadata.source_file), metadata.source_line,
                               metadata.source_column, metadata.source_end_line,
                               metadata.source_end_column);
  if (!place) place = builder.structure("loc.unknown", {});
  if (!metadata.op_name.empty())
    place = builder.structure("loc.name",
                              {{"name", builder.string(metadata.op_name)}, {"child", place}});
  return locations_[instruction.metadata.value] = place;
}

void Exporter::warn(std::string_view what, const Instruction& instruction) {
  if (!warnings_ || !warned_.insert(std::string(what)).second) return;
  Place place{.file = module.file,
              .instruction = std::string(instruction.name),
              .op = std::string(text_of(instruction.op))};
  warnings_->push_back({fmt::format("StableHLO has no place for {}: dropped", what), place});
}

void Exporter::warn_of_header() {
  const auto say = [&](std::string_view what) {
    if (warnings_)
      warnings_->push_back(
          {fmt::format("StableHLO has no place for {}: dropped", what), {.file = module.file}});
  };
  if (module.header.is_scheduled) say("the schedule of the module and the layouts inside of it");
}

}  // namespace hilo::mlir
