// Extension: how the values of an executable are cut over its devices.
#include "pjrt/executable.h"
#include "pjrt/extension_tables.h"

namespace hilo::pjrt {
namespace {

// Null where the program is for one device.
template <class Args>
PJRT_Error* show(const Program& program, const ProgramValues& values, Args* args,
                 size_t Args::* count) {
  args->*count = values.size();
  const bool is_cut = program.has_whole_values;
  args->shardings = is_cut ? values.sharding_bytes.data() : nullptr;
  args->sharding_sizes = is_cut ? values.sharding_sizes.data() : nullptr;
  return nullptr;
}

PJRT_Error* parameter_shardings(PJRT_Shardings_Executable_ParameterShardings_Args* args) {
  const Program& program = *args->executable->program;
  return show(program, program.parameters, args,
              &PJRT_Shardings_Executable_ParameterShardings_Args::num_parameters);
}

PJRT_Error* output_shardings(PJRT_Shardings_Executable_OutputShardings_Args* args) {
  const Program& program = *args->executable->program;
  return show(program, program.results, args,
              &PJRT_Shardings_Executable_OutputShardings_Args::num_outputs);
}

}  // namespace

PJRT_Shardings_Extension shardings_extension = {
    {sizeof(PJRT_Shardings_Extension), PJRT_Extension_Type_Shardings, nullptr},
    parameter_shardings,
    output_shardings};

}  // namespace hilo::pjrt
