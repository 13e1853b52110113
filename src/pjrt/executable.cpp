#include "pjrt/executable.h"

#include <cstring>

#include "pjrt/functions.h"
#include "pjrt/shown_list.h"

// What a client holds until it has read an answer.
struct PJRT_Holder {
  std::string bytes;
};

namespace hilo::pjrt {
namespace {

// What keeps an answer is the executable itself.
void keep(PJRT_Holder*) {}

template <class Args>
void show(const ProgramValues& values, Args* args, size_t Args::* count) {
  args->*count = values.size();
  args->memory_kinds = shown(values.kind_names);
  args->memory_kind_sizes = shown(values.kind_sizes);
}

int64_t bytes_of(const ProgramValues& values) {
  int64_t out = 0;
  for (const Cut& cut : values.cuts) out += literal_bytes(*cut.shard);
  return out;
}

int64_t donated_bytes(const Program& program) {
  int64_t out = 0;
  for (size_t i = 0; i < program.is_donated.size(); ++i)
    if (program.is_donated[i]) out += literal_bytes(*program.parameters.shape(i));
  return out;
}

}  // namespace

PJRT_Error* Executable_Destroy(PJRT_Executable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* Executable_Name(PJRT_Executable_Name_Args* args) {
  args->executable_name = args->executable->program->name.c_str();
  args->executable_name_size = args->executable->program->name.size();
  return nullptr;
}

PJRT_Error* Executable_NumReplicas(PJRT_Executable_NumReplicas_Args* args) {
  args->num_replicas = static_cast<size_t>(args->executable->program->settings.replicas);
  return nullptr;
}

PJRT_Error* Executable_NumPartitions(PJRT_Executable_NumPartitions_Args* args) {
  args->num_partitions = static_cast<size_t>(args->executable->program->settings.partitions);
  return nullptr;
}

PJRT_Error* Executable_NumOutputs(PJRT_Executable_NumOutputs_Args* args) {
  args->num_outputs = args->executable->program->results.size();
  return nullptr;
}

// Not known: code and constants are the process's.
PJRT_Error* Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  args->size_in_bytes = 0;
  return nullptr;
}

PJRT_Error* Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  args->properties = args->executable->program->cost.data();
  args->num_properties = args->executable->program->cost.size();
  return nullptr;
}

PJRT_Error* Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  show(args->executable->program->results, args,
       &PJRT_Executable_OutputMemoryKinds_Args::num_outputs);
  return nullptr;
}

PJRT_Error* Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args* args) {
  show(args->executable->program->parameters, args,
       &PJRT_Executable_ParameterMemoryKinds_Args::num_parameters);
  return nullptr;
}

PJRT_Error* Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args* args) {
  const ProgramValues& results = args->executable->program->results;
  args->output_types =
      const_cast<PJRT_Buffer_Type*>(shown(results.types));  // the client only reads
  args->num_output_types = results.types.size();
  return nullptr;
}

PJRT_Error* Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args* args) {
  const ProgramValues& results = args->executable->program->results;
  args->num_outputs = results.size();
  args->dims = shown(results.dims);
  args->dim_sizes = shown(results.ranks);
  return nullptr;
}

// Asked twice: for the size, then with room for the code.
PJRT_Error* Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args* args) {
  return answer([&] -> Result<void> {
    const Result<std::string>& code = args->executable->program->optimized();
    if (!code) return std::unexpected(code.error());
    PJRT_Program& to = *args->program;
    constexpr std::string_view format = "hlo_with_config";
    to.format = format.data();
    to.format_size = format.size();
    if (to.code && to.code_size < code->size())
      return fail(ErrorKind::Input, "the program has {} bytes, and there is room for {}",
                  code->size(), to.code_size);
    to.code_size = code->size();
    if (to.code) std::memcpy(to.code, code->data(), code->size());
    return {};
  });
}

PJRT_Error* Executable_Fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  args->executable_fingerprint = args->executable->program->fingerprint.c_str();
  args->executable_fingerprint_size = args->executable->program->fingerprint.size();
  return nullptr;
}

PJRT_Error* Executable_Serialize(PJRT_Executable_Serialize_Args* args) {
  return answer([&] -> Result<void> {
    auto* const holder = new PJRT_Holder{serialize(args->executable->program->source)};
    args->serialized_bytes = holder->bytes.data();
    args->serialized_bytes_size = holder->bytes.size();
    args->serialized_executable = holder;
    args->serialized_executable_deleter = [](PJRT_Holder* done) { delete done; };
    return {};
  });
}

PJRT_Error* Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args* args) {
  const std::string& options = args->executable->program->source.compile_options;
  args->serialized_bytes = options.data();
  args->serialized_bytes_size = options.size();
  args->serialized_compile_options = nullptr;
  args->serialized_compile_options_deleter = keep;
  return nullptr;
}

PJRT_Error* Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  using Args = PJRT_Executable_GetCompiledMemoryStats_Args;
  const Program& program = *args->executable->program;
  const CompileReport& report = program.executable.report();
  args->generated_code_size_in_bytes = 0;
  args->argument_size_in_bytes = bytes_of(program.parameters);
  args->output_size_in_bytes = bytes_of(program.results);
  args->alias_size_in_bytes = donated_bytes(program);
  args->temp_size_in_bytes = report.temp_bytes;
  for (int64_t Args::* bytes :
       {&Args::host_generated_code_size_in_bytes, &Args::host_argument_size_in_bytes,
        &Args::host_output_size_in_bytes, &Args::host_alias_size_in_bytes,
        &Args::host_temp_size_in_bytes, &Args::indefinite_allocations})
    if (knows(args, bytes)) args->*bytes = 0;
  for (int64_t Args::* bytes : {&Args::peak_memory_in_bytes, &Args::total_size_in_bytes,
                                &Args::total_allocation_bytes, &Args::peak_unpadded_heap_bytes})
    if (knows(args, bytes)) args->*bytes = report.run_bytes;
  return nullptr;
}

}  // namespace hilo::pjrt
