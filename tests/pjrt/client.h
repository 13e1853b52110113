// A client of the plugin: opens it as frameworks do, and calls it by its table alone.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/base.h"
#include "pjrt/pjrt.h"

namespace hilo {

inline const PJRT_Api& plugin() {
  static const PJRT_Api* const api = [] {
    const std::string path = fmt::format("{}/libhilo_pjrt.so", HILO_BUILD);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    check(library != nullptr, "the plugin cannot be opened");
    return reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  }();
  return *api;
}

// A module in another form, by the command: protobuf has one list of messages in a process, and it
// is the plugin's.
inline std::string converted(const std::string& module, const std::string& form) {
  // Tests run at the same time, each as a process of its own.
  const std::string folder = fmt::format("{}pjrt_{}_", testing::TempDir(), getpid());
  const std::string from = folder + "from", to = folder + "to";
  std::ofstream(from, std::ios::binary) << module;
  const std::string command =
      fmt::format("{}/hilo convert {} --to={} -o {}", HILO_BUILD, from, form, to);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream file(to, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// An error's code and text; none: it went well.
struct Failure {
  PJRT_Error_Code code;
  std::string text;
};
inline std::optional<Failure> taken(PJRT_Error* error) {
  if (!error) return std::nullopt;
  PJRT_Error_GetCode_Args code{sizeof(code), nullptr, error, {}};
  plugin().PJRT_Error_GetCode(&code);
  PJRT_Error_Message_Args message{sizeof(message), nullptr, error, nullptr, 0};
  plugin().PJRT_Error_Message(&message);
  Failure out{code.code, std::string(message.message, message.message_size)};
  PJRT_Error_Destroy_Args destroy{sizeof(destroy), nullptr, error};
  plugin().PJRT_Error_Destroy(&destroy);
  return out;
}
inline void expect_well(PJRT_Error* error) {
  const std::optional<Failure> failure = taken(error);
  EXPECT_FALSE(failure) << failure->text;
}

// CALL(Client_Devices, client): arguments with their size, the function called; yields them.
template <class Args, class... Fields>
Args arguments(Fields... fields) {
  return Args{sizeof(Args), nullptr, fields...};
}
#define CALL(function, ...)                                     \
  [&] {                                                         \
    auto call = arguments<PJRT_##function##_Args>(__VA_ARGS__); \
    expect_well(plugin().PJRT_##function(&call));               \
    return call;                                                \
  }()
#define TRY_CALL(function, ...)                                 \
  [&] {                                                         \
    auto call = arguments<PJRT_##function##_Args>(__VA_ARGS__); \
    return taken(plugin().PJRT_##function(&call));              \
  }()

inline void wait_and_destroy(PJRT_Event* event) {
  CALL(Event_Await, event);
  CALL(Event_Destroy, event);
}

struct BufferDeleter {
  void operator()(PJRT_Buffer* buffer) const { CALL(Buffer_Destroy, buffer); }
};
using OwnedBuffer = std::unique_ptr<PJRT_Buffer, BufferDeleter>;
struct LoadedDeleter {
  void operator()(PJRT_LoadedExecutable* loaded) const { CALL(LoadedExecutable_Destroy, loaded); }
};
using OwnedLoaded = std::unique_ptr<PJRT_LoadedExecutable, LoadedDeleter>;

// An option of a client.
inline PJRT_NamedValue number_option(std::string_view name, int64_t value) {
  PJRT_NamedValue out{};
  out.struct_size = sizeof(out);
  out.name = name.data();
  out.name_size = name.size();
  out.type = PJRT_NamedValue_kInt64;
  out.int64_value = value;
  out.value_size = 1;
  return out;
}

class Client {
 public:
  explicit Client(int64_t devices = 1) {
    const PJRT_NamedValue option = number_option("devices", devices);
    client_ = CALL(Client_Create, &option, size_t{1}).client;
  }
  explicit Client(PJRT_Client* client) : client_(client) {}
  ~Client() { CALL(Client_Destroy, client_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  PJRT_Client* get() const { return client_; }
  std::vector<PJRT_Device*> devices() const {
    const auto args = CALL(Client_AddressableDevices, client_);
    return {args.addressable_devices, args.addressable_devices + args.num_addressable_devices};
  }

  // From HLO text; options: a CompileOptionsProto.
  std::optional<Failure> try_compile(const std::string& text, OwnedLoaded& to,
                                     std::string options = "") const {
    return compile_code(converted(text, "proto"), "hlo", to, options);
  }
  std::optional<Failure> compile_code(std::string code, std::string_view format, OwnedLoaded& to,
                                      const std::string& options = "") const {
    PJRT_Program program{sizeof(program), nullptr,       code.data(),
                         code.size(),     format.data(), format.size()};
    auto args =
        arguments<PJRT_Client_Compile_Args>(client_, &program, options.data(), options.size());
    std::optional<Failure> failure = taken(plugin().PJRT_Client_Compile(&args));
    if (!failure) to.reset(args.executable);
    return failure;
  }
  OwnedLoaded compile(const std::string& text, const std::string& options = "") const {
    OwnedLoaded out;
    const std::optional<Failure> failure = try_compile(text, out, options);
    EXPECT_FALSE(failure) << failure->text;
    return out;
  }

  OwnedBuffer buffer(std::span<const float> values, std::vector<int64_t> dims,
                     size_t device = 0) const {
    auto args = arguments<PJRT_Client_BufferFromHostBuffer_Args>(
        client_, values.data(), PJRT_Buffer_Type_F32, dims.data(), dims.size(), nullptr, size_t{0},
        PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, devices()[device]);
    expect_well(plugin().PJRT_Client_BufferFromHostBuffer(&args));
    wait_and_destroy(args.done_with_host_buffer);
    return OwnedBuffer(args.buffer);
  }

 private:
  PJRT_Client* client_;
};

// On one device; several devices: arguments and results of one after those of the other.
inline std::optional<Failure> try_run(const OwnedLoaded& loaded,
                                      const std::vector<PJRT_Buffer*>& arguments_of_all,
                                      std::vector<OwnedBuffer>& to, size_t devices = 1) {
  auto executable = CALL(LoadedExecutable_GetExecutable, loaded.get());
  const size_t outputs = CALL(Executable_NumOutputs, executable.executable).num_outputs;
  CALL(Executable_Destroy, executable.executable);
  const size_t count = arguments_of_all.size() / devices;
  std::vector<PJRT_Buffer*> results(outputs * devices);
  std::vector<PJRT_Buffer* const*> argument_lists;
  std::vector<PJRT_Buffer**> output_lists;
  for (size_t i = 0; i < devices; ++i) {
    argument_lists.push_back(arguments_of_all.data() + i * count);
    output_lists.push_back(results.data() + i * outputs);
  }
  std::vector<PJRT_Event*> events(devices);
  PJRT_ExecuteOptions options{};
  options.struct_size = sizeof(options);
  auto args = arguments<PJRT_LoadedExecutable_Execute_Args>(loaded.get(), &options,
                                                            argument_lists.data(), devices, count,
                                                            output_lists.data(), events.data());
  std::optional<Failure> failure = taken(plugin().PJRT_LoadedExecutable_Execute(&args));
  if (failure) return failure;
  for (PJRT_Event* event : events) wait_and_destroy(event);
  to.clear();
  for (PJRT_Buffer* result : results) to.emplace_back(result);
  return std::nullopt;
}

inline std::vector<OwnedBuffer> run(const OwnedLoaded& loaded,
                                    const std::vector<PJRT_Buffer*>& arguments_of_all,
                                    size_t devices = 1) {
  std::vector<OwnedBuffer> out;
  const std::optional<Failure> failure = try_run(loaded, arguments_of_all, out, devices);
  EXPECT_FALSE(failure) << failure->text;
  return out;
}

inline std::vector<float> values_of(PJRT_Buffer* buffer) {
  const size_t bytes = CALL(Buffer_ToHostBuffer, buffer, nullptr, nullptr, size_t{0}).dst_size;
  std::vector<float> out(bytes / sizeof(float));
  out.reserve(1);  // without a place the size alone is given
  wait_and_destroy(CALL(Buffer_ToHostBuffer, buffer, nullptr, out.data(), bytes).event);
  return out;
}
inline std::vector<float> values_of(const OwnedBuffer& buffer) { return values_of(buffer.get()); }

}  // namespace hilo
