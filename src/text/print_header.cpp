// `HloModule NAME, attribute=value, ...` and the tables of stack frames after it.
#include "text/print.h"

namespace hilo {
namespace {

void append_aliases(Printer& printer, const std::vector<BufferAlias>& aliases) {
  printer.text("{ ").list(aliases, ", ", [&](const BufferAlias& alias) {
    printer.text("{").integers(alias.output_index).text("}: (").integer(alias.parameter);
    printer.text(", {").integers(alias.parameter_index);
    printer.text(alias.must_alias ? "}, must-alias)" : "}, may-alias)");
  });
  printer.text(" }");
}

void append_donors(Printer& printer, const std::vector<BufferDonor>& donors) {
  printer.text("{ ").list(donors, ", ", [&](const BufferDonor& donor) {
    printer.text("(").integer(donor.parameter).text(", {").integers(donor.parameter_index);
    printer.text("})");
  });
  printer.text(" }");
}

void append_entry_layout(Printer& printer, const EntryLayout& layout) {
  printer.text("{(");
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    if (i > 0) printer.text(", ");
    printer.index_comment(i);
    printer.shape(layout.parameters[i]);
  }
  printer.text(")->").shape(layout.result).text("}");
}

void append_flags(Printer& printer, std::string_view name, const std::vector<bool>& flags) {
  if (flags.empty()) return;
  printer.text(", ").text(name).text("={");
  printer.list(flags, ",", [&](bool flag) { printer.value(flag); }).text("}");
}

void append_names(Printer& printer, std::string_view title, const std::vector<std::string>& names) {
  printer.text("\n").text(title).text("\n");
  for (size_t i = 0; i < names.size(); ++i)
    printer.integer(static_cast<int64_t>(i) + 1).text(" ").quoted(names[i]).text("\n");
}

}  // namespace

void Printer::header() {
  const ModuleHeader& header = module_->header;
  text("HloModule ").text(header.name);
  if (header.is_scheduled) text(", is_scheduled=true");
  if (!header.input_output_alias.empty()) {
    text(", input_output_alias=");
    append_aliases(*this, header.input_output_alias);
  }
  if (!header.buffer_donor.empty()) {
    text(", buffer_donor=");
    append_donors(*this, header.buffer_donor);
  }
  if (header.alias_passthrough_params) text(", alias_passthrough_params=true");
  if (header.entry_computation_layout) {
    text(", entry_computation_layout=");
    append_entry_layout(*this, *header.entry_computation_layout);
  }
  append_flags(*this, "allow_spmd_sharding_propagation_to_parameters",
               header.allow_spmd_sharding_propagation_to_parameters);
  append_flags(*this, "allow_spmd_sharding_propagation_to_output",
               header.allow_spmd_sharding_propagation_to_output);
  if (header.replica_count != 1) text(", replica_count=").integer(header.replica_count);
  if (header.num_partitions != 1) text(", num_partitions=").integer(header.num_partitions);
  if (!header.frontend_attributes.empty()) {
    text(", frontend_attributes=");
    frontend_attributes(header.frontend_attributes);
  }
  if (!header.origin_recovery_table.empty())
    text(", origin_recovery_table=").text(header.origin_recovery_table);
  if (!header.debug_attributes.empty()) text(", debug_attributes=").text(header.debug_attributes);
  for (const auto& [name, value] : header.unknown) text(", ").text(name).text("=").text(value);
  text("\n\n");
}

void Printer::stack_frames() {
  const StackFrameTables& tables = module_->header.stack_frames;
  if (!style_.metadata || tables == StackFrameTables()) return;
  append_names(*this, "FileNames", tables.file_names);
  append_names(*this, "FunctionNames", tables.function_names);
  text("\nFileLocations\n");
  int64_t number = 0;
  for (const StackFrameTables::Location& row : tables.locations) {
    integer(++number).text(" {file_name_id=").integer(row.file_name_id);
    text(" function_name_id=").integer(row.function_name_id).text(" line=").integer(row.line);
    text(" end_line=").integer(row.end_line).text(" column=").integer(row.column);
    text(" end_column=").integer(row.end_column).text("}\n");
  }
  text("\nStackFrames\n");
  number = 0;
  for (const StackFrameTables::Frame& row : tables.frames) {
    integer(++number).text(" {file_location_id=").integer(row.file_location_id);
    text(" parent_frame_id=").integer(row.parent_frame_id).text("}\n");
  }
  text("\n\n");
}

}  // namespace hilo
