// The module's header against its entry computation.
#include <set>

#include "verify/report.h"

namespace hilo {
namespace {

struct Entry {
  const Module& module;
  Report& report;

  const Computation& computation() const { return module[module.entry]; }
  int64_t parameter_count() const { return static_cast<int64_t>(computation().parameters.size()); }
  const Shape& parameter(int64_t i) const { return module.shape(computation().parameters[i]); }
  const Shape& result() const { return module.shape(computation().root); }
  void fault(std::string message) const { report.add(ErrorKind::Structure, std::move(message)); }
};

// What the header repeats of an instruction is told there.
void verify_own_layout(const Entry& entry, std::string_view what, const Shape& stated,
                       const Shape& shape) {
  if (stated == shape) return;
  if (const std::string fault = layout_fault(stated); !fault.empty())
    entry.fault(fmt::format("entry_computation_layout: {}: {}", what, fault));
}

void verify_layout(const Entry& entry, const EntryLayout& layout) {
  if (static_cast<int64_t>(layout.parameters.size()) != entry.parameter_count())
    return entry.fault(fmt::format("entry_computation_layout: expected {} parameters, found {}",
                                   entry.parameter_count(), layout.parameters.size()));
  for (int64_t i = 0; i < entry.parameter_count(); ++i) {
    if (!fits(layout.parameters[i], entry.parameter(i)))
      entry.fault(fmt::format("entry_computation_layout: expected {} as parameter {}, found {}",
                              shown(entry.parameter(i)), i, shown(layout.parameters[i])));
    verify_own_layout(entry, fmt::format("parameter {}", i), layout.parameters[i],
                      entry.parameter(i));
  }
  if (!fits(layout.result, entry.result()))
    entry.fault(fmt::format("entry_computation_layout: expected a result of {}, found {}",
                            shown(entry.result()), shown(layout.result)));
  verify_own_layout(entry, "result", layout.result, entry.result());
}

// The part of a parameter, or null after a report.
const Shape* parameter_part(const Entry& entry, std::string_view attribute, int64_t parameter,
                            const Dims& index) {
  if (parameter < 0 || parameter >= entry.parameter_count()) {
    entry.fault(fmt::format("{}: no parameter {}, the entry has {}", attribute, parameter,
                            entry.parameter_count()));
    return nullptr;
  }
  const Shape* part = shape_at(entry.parameter(parameter), index);
  if (!part)
    entry.fault(fmt::format("{}: no part {} in parameter {} of {}", attribute, listed(index),
                            parameter, shown(entry.parameter(parameter))));
  return part;
}

using ParameterPart = std::pair<int64_t, Dims>;

void verify_aliases(const Entry& entry) {
  std::set<ParameterPart> outputs, parts;
  for (const BufferAlias& alias : entry.module.header.input_output_alias) {
    const Shape* output = shape_at(entry.result(), alias.output_index);
    if (!output)
      entry.fault(fmt::format("input_output_alias: no output {} in {}", listed(alias.output_index),
                              shown(entry.result())));
    const Shape* part =
        parameter_part(entry, "input_output_alias", alias.parameter, alias.parameter_index);
    if (output && part && unpadded_bytes(*output) != unpadded_bytes(*part))
      entry.fault(fmt::format("input_output_alias: output {} is {}, parameter {} {} is {}",
                              listed(alias.output_index), shown(*output), alias.parameter,
                              listed(alias.parameter_index), shown(*part)));
    if (!outputs.insert({0, alias.output_index}).second)
      entry.fault(fmt::format("input_output_alias: output {} is aliased twice",
                              listed(alias.output_index)));
    if (!parts.insert({alias.parameter, alias.parameter_index}).second)
      entry.fault(fmt::format("input_output_alias: parameter {} {} is aliased twice",
                              alias.parameter, listed(alias.parameter_index)));
  }
  for (const BufferDonor& donor : entry.module.header.buffer_donor) {
    parameter_part(entry, "buffer_donor", donor.parameter, donor.parameter_index);
    if (!parts.insert({donor.parameter, donor.parameter_index}).second)
      entry.fault(fmt::format("buffer_donor: parameter {} {} is donated twice or aliased",
                              donor.parameter, listed(donor.parameter_index)));
  }
}

void verify_counts(const Entry& entry) {
  const ModuleHeader& header = entry.module.header;
  if (header.replica_count < 1 || header.num_partitions < 1)
    entry.fault(fmt::format("expected positive replica_count and num_partitions, found {} and {}",
                            header.replica_count, header.num_partitions));
}

void verify_propagation(const Entry& entry) {
  const ModuleHeader& header = entry.module.header;
  int64_t leaves = 0;
  for (int64_t i = 0; i < entry.parameter_count(); ++i) leaves += leaf_count(entry.parameter(i));
  const auto wrong = [](size_t found, int64_t whole, int64_t parts) {
    const int64_t n = static_cast<int64_t>(found);
    return n > 1 && n != whole && n != parts;
  };
  const size_t to_parameters = header.allow_spmd_sharding_propagation_to_parameters.size();
  if (wrong(to_parameters, entry.parameter_count(), leaves))
    entry.fault(fmt::format(
        "allow_spmd_sharding_propagation_to_parameters: expected 1 or {} values, found {}", leaves,
        to_parameters));
  const size_t to_output = header.allow_spmd_sharding_propagation_to_output.size();
  if (wrong(to_output, 1, leaf_count(entry.result())))
    entry.fault(
        fmt::format("allow_spmd_sharding_propagation_to_output: expected 1 or {} values, found {}",
                    leaf_count(entry.result()), to_output));
}

}  // namespace

void verify_header(const Module& module, bool with_form, Report& report) {
  const Entry entry{module, report};
  if (module.header.entry_computation_layout)
    verify_layout(entry, *module.header.entry_computation_layout);
  verify_aliases(entry);
  verify_counts(entry);
  if (with_form) verify_propagation(entry);
}

}  // namespace hilo
