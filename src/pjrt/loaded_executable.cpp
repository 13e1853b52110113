// A program on the devices of a client.
#include "pjrt/executable.h"
#include "pjrt/functions.h"
#include "pjrt/shown_list.h"

namespace hilo::pjrt {
namespace {

template <class Args>
Result<std::shared_ptr<const Program>> compile_program(const Args& args) {
  const PJRT_Program& program = *args.program;
  HILO_TRY(const auto code, list_of(program.code, program.code_size, "the program"));
  ProgramSource source{std::string(code.begin(), code.end()),
                       std::string(text(program.format, program.format_size)),
                       std::string(text(args.compile_options, args.compile_options_size))};
  return make_program(std::move(source), args.client);
}

}  // namespace

Result<PJRT_LoadedExecutable*> load(PJRT_Client& client, std::shared_ptr<const Program> program) {
  const CompileSettings& settings = program->settings;
  auto out = std::make_unique<PJRT_LoadedExecutable>();
  for (int64_t replica = 0; replica < settings.replicas; ++replica)
    for (int64_t partition = 0; partition < settings.partitions; ++partition) {
      const int64_t id = settings.device(replica, partition);
      if (id < 0 || id >= std::ssize(client.devices))
        return fail(ErrorKind::Input, "the program is for device {}, and there are {} devices", id,
                    client.devices.size());
      PJRT_Device* const device = client.devices[static_cast<size_t>(id)];
      if (!device->is_local()) continue;
      out->devices.push_back(device);
      out->logical_ids.push_back({static_cast<int32_t>(replica), static_cast<int32_t>(partition)});
    }
  out->program = std::move(program);
  out->client = &client;
  return out.release();
}

PJRT_Error* Client_Compile(PJRT_Client_Compile_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(std::shared_ptr<const Program> program, compile_program(*args));
    HILO_TRY(args->executable, load(*args->client, std::move(program)));
    return {};
  });
}

PJRT_Error* Compile(PJRT_Compile_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(std::shared_ptr<const Program> program, compile_program(*args));
    args->executable = new PJRT_Executable{std::move(program)};
    return {};
  });
}

PJRT_Error* Client_Load(PJRT_Client_Load_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(args->loaded_executable, load(*args->client, args->executable->program));
    return {};
  });
}

PJRT_Error* Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args* args) {
  return answer([&] -> Result<void> {
    using Args = PJRT_Executable_DeserializeAndLoad_Args;
    HILO_TRY(ProgramSource source,
             read_serialized(text(args->serialized_executable, args->serialized_executable_size)));
    if (knows(args, &Args::overridden_serialized_compile_options_size) &&
        args->overridden_serialized_compile_options_size > 0)
      source.compile_options = text(args->overridden_serialized_compile_options,
                                    args->overridden_serialized_compile_options_size);
    HILO_TRY(std::shared_ptr<const Program> program, make_program(std::move(source), args->client));
    HILO_TRY(args->loaded_executable, load(*args->client, std::move(program)));
    return {};
  });
}

PJRT_Error* LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  delete args->executable;
  return nullptr;
}

PJRT_Error* LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  return answer([&] -> Result<void> {
    args->executable = new PJRT_Executable{args->loaded_executable->program};
    return {};
  });
}

PJRT_Error* LoadedExecutable_AddressableDevices(
    PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  args->addressable_devices = shown(args->executable->devices);
  args->num_addressable_devices = args->executable->devices.size();
  return nullptr;
}

PJRT_Error* LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args* args) {
  args->addressable_device_logical_ids = const_cast<PJRT_LogicalDeviceIds*>(
      shown(args->executable->logical_ids));  // the client only reads
  args->num_addressable_device_logical_ids = args->executable->logical_ids.size();
  return nullptr;
}

PJRT_Error* LoadedExecutable_GetDeviceAssignment(
    PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  const std::string& assignment = args->executable->program->assignment;
  args->serialized_bytes = assignment.data();
  args->serialized_bytes_size = assignment.size();
  args->serialized_device_assignment = nullptr;  // the executable keeps it
  args->serialized_device_assignment_deleter = [](PJRT_Holder*) {};
  return nullptr;
}

PJRT_Error* LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args* args) {
  args->executable->is_deleted = true;
  return nullptr;
}

PJRT_Error* LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  args->is_deleted = args->executable->is_deleted;
  return nullptr;
}

PJRT_Error* LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args* args) {
  args->executable_fingerprint = args->executable->program->fingerprint.c_str();
  args->executable_fingerprint_size = args->executable->program->fingerprint.size();
  return nullptr;
}

}  // namespace hilo::pjrt
