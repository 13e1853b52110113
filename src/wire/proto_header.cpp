#include "wire/proto_extra.h"
#include "wire/proto_module.h"

namespace hilo {
namespace {

using proto::HloModuleProto;

void write_aliases(const ModuleHeader& header, HloModuleProto& to) {
  for (const BufferAlias& alias : header.input_output_alias) {
    auto& entry = *to.mutable_input_output_alias()->add_entries();
    put_dims(alias.output_index, *entry.mutable_output_shape_index());
    entry.set_parameter_number(alias.parameter);
    put_dims(alias.parameter_index, *entry.mutable_parameter_shape_index());
    entry.set_kind(alias.must_alias ? proto::MUST_ALIAS : proto::MAY_ALIAS);
  }
  for (const BufferDonor& donor : header.buffer_donor) {
    auto& entry = *to.mutable_buffer_donor()->add_entries();
    entry.set_parameter_number(donor.parameter);
    put_dims(donor.parameter_index, *entry.mutable_parameter_shape_index());
  }
}

void read_aliases(const HloModuleProto& from, ModuleHeader& header) {
  for (const auto& entry : from.input_output_alias().entries())
    header.input_output_alias.push_back(
        {dims_of(entry.output_shape_index()), entry.parameter_number(),
         dims_of(entry.parameter_shape_index()), entry.kind() == proto::MUST_ALIAS});
  for (const auto& entry : from.buffer_donor().entries())
    header.buffer_donor.push_back(
        {entry.parameter_number(), dims_of(entry.parameter_shape_index())});
}

void write_frames(const StackFrameTables& tables, proto::StackFrameIndexProto& to) {
  for (const std::string& name : tables.file_names) to.add_file_names(name);
  for (const std::string& name : tables.function_names) to.add_function_names(name);
  for (const StackFrameTables::Location& location : tables.locations) {
    auto& added = *to.add_file_locations();
    added.set_file_name_id(static_cast<int32_t>(location.file_name_id));
    added.set_function_name_id(static_cast<int32_t>(location.function_name_id));
    added.set_line(static_cast<int32_t>(location.line));
    added.set_column(static_cast<int32_t>(location.column));
    added.set_end_line(static_cast<int32_t>(location.end_line));
    added.set_end_column(static_cast<int32_t>(location.end_column));
  }
  for (const StackFrameTables::Frame& frame : tables.frames) {
    auto& added = *to.add_stack_frames();
    added.set_file_location_id(static_cast<int32_t>(frame.file_location_id));
    added.set_parent_frame_id(static_cast<int32_t>(frame.parent_frame_id - 1));
  }
}

StackFrameTables read_frames(const proto::StackFrameIndexProto& from) {
  StackFrameTables tables;
  tables.file_names.assign(from.file_names().begin(), from.file_names().end());
  tables.function_names.assign(from.function_names().begin(), from.function_names().end());
  for (const auto& location : from.file_locations())
    tables.locations.push_back({location.file_name_id(), location.function_name_id(),
                                location.line(), location.end_line(), location.column(),
                                location.end_column()});
  for (const auto& frame : from.stack_frames())
    tables.frames.push_back({frame.file_location_id(), int64_t{frame.parent_frame_id()} + 1});
  return tables;
}

// XLA needs a program shape even where the text gives no layouts.
void write_entry_layout(const Module& module, HloModuleProto& to) {
  proto::ProgramShapeProto& shape = *to.mutable_host_program_shape();
  if (const auto& layout = module.header.entry_computation_layout) {
    for (const Shape& parameter : layout->parameters)
      write_shape(parameter, *shape.add_parameters());
    write_shape(layout->result, *shape.mutable_result());
  } else {
    to.mutable_text_header()->set_no_entry_computation_layout(true);
    for (InstructionId parameter : module[module.entry].parameters)
      write_shape(module.shape(parameter), *shape.add_parameters());
    write_shape(module.shape(module[module.entry].root), *shape.mutable_result());
  }
  for (int i = 0; i < shape.parameters_size(); ++i)
    shape.add_parameter_names(fmt::format("p{}", i));
}

Result<void> read_entry_layout(const HloModuleProto& from, ModuleHeader& header) {
  if (!from.has_host_program_shape() || from.text_header().no_entry_computation_layout()) return {};
  EntryLayout layout;
  for (const proto::ShapeProto& parameter : from.host_program_shape().parameters()) {
    HILO_TRY(Shape shape, read_shape(parameter));
    layout.parameters.push_back(std::move(shape));
  }
  HILO_TRY(layout.result, read_shape(from.host_program_shape().result()));
  header.entry_computation_layout = std::move(layout);
  return {};
}

void write_text_header(const ModuleHeader& header, HloModuleProto& to) {
  proto::TextHeader& text = *to.mutable_text_header();
  text.set_replica_count(header.replica_count);
  text.set_num_partitions(header.num_partitions);
  for (bool allow : header.allow_spmd_sharding_propagation_to_parameters)
    text.add_allow_spmd_sharding_propagation_to_parameters(allow);
  for (bool allow : header.allow_spmd_sharding_propagation_to_output)
    text.add_allow_spmd_sharding_propagation_to_output(allow);
  text.set_alias_passthrough_params(header.alias_passthrough_params);
  text.set_debug_attributes(header.debug_attributes);
  text.set_origin_recovery_table(header.origin_recovery_table);
  for (const auto& [name, value] : header.unknown) {
    proto::TextAttribute& kept = *text.add_unknown();
    kept.set_name(name);
    kept.set_value(value);
  }
}

void read_text_header(const proto::TextHeader& text, ModuleHeader& header) {
  if (text.replica_count() > 0) header.replica_count = text.replica_count();
  if (text.num_partitions() > 0) header.num_partitions = text.num_partitions();
  const auto& parameters = text.allow_spmd_sharding_propagation_to_parameters();
  const auto& output = text.allow_spmd_sharding_propagation_to_output();
  header.allow_spmd_sharding_propagation_to_parameters.assign(parameters.begin(), parameters.end());
  header.allow_spmd_sharding_propagation_to_output.assign(output.begin(), output.end());
  header.alias_passthrough_params = text.alias_passthrough_params();
  header.debug_attributes = text.debug_attributes();
  header.origin_recovery_table = text.origin_recovery_table();
  for (const proto::TextAttribute& kept : text.unknown())
    header.unknown.emplace_back(kept.name(), kept.value());
}

}  // namespace

void write_header(const Module& module, HloModuleProto& to) {
  const ModuleHeader& header = module.header;
  to.set_name(header.name);
  write_aliases(header, to);
  if (!(header.stack_frames == StackFrameTables()))
    write_frames(header.stack_frames, *to.mutable_stack_frame_index());
  write_frontend(header.frontend_attributes, *to.mutable_frontend_attributes());
  write_text_header(header, to);
  write_entry_layout(module, to);
}

Result<void> read_header(const HloModuleProto& from, Module& module) {
  ModuleHeader& header = module.header;
  header.name = from.name();
  header.is_scheduled = from.has_schedule() && !from.schedule().sequences().empty();
  read_aliases(from, header);
  header.stack_frames = read_frames(from.stack_frame_index());
  header.frontend_attributes = read_frontend(from.frontend_attributes());
  read_text_header(from.text_header(), header);
  return read_entry_layout(from, header);
}

}  // namespace hilo
