// What the plugin tells of itself, of its devices and of programs; and what it refuses.
#include <array>

#include "client.h"
#include "pjrt/extensions_abi.h"

namespace hilo {
namespace {

const std::string add_one = R"(HloModule add_one
ENTRY e {
  x = f32[2] parameter(0)
  one = f32[] constant(1)
  ones = f32[2] broadcast(one), dimensions={}
  ROOT r = f32[2] add(x, ones)
}
)";

TEST(Plugin, HasAFunctionAtEachPosition) {
  const auto* at = reinterpret_cast<void* const*>(&plugin().PJRT_Error_Destroy);
  const size_t count =
      (plugin().struct_size - offsetof(PJRT_Api, PJRT_Error_Destroy)) / sizeof(*at);
  EXPECT_EQ(count, 138);
  for (size_t i = 0; i < count; ++i) EXPECT_NE(at[i], nullptr) << i;
  EXPECT_EQ(plugin().pjrt_api_version.major_version, 0);
  const auto failure = taken(plugin().PJRT_Client_DmaMap(nullptr));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_UNIMPLEMENTED);
  EXPECT_NE(failure->text.find("PJRT_Client_DmaMap"), std::string::npos);
}

TEST(Plugin, TellsOfItsDevices) {
  const Client client(3);
  EXPECT_EQ(client.devices().size(), 3);
  const auto name = CALL(Client_PlatformName, client.get());
  EXPECT_EQ(std::string(name.platform_name, name.platform_name_size), "cpu");
  for (PJRT_Device* device : client.devices()) {
    const auto memories = CALL(Device_AddressableMemories, device);
    ASSERT_EQ(memories.num_memories, 3);
    EXPECT_EQ(CALL(Device_DefaultMemory, device).memory, memories.memories[0]);
    const auto kind = CALL(Memory_Kind, memories.memories[1]);
    EXPECT_EQ(std::string(kind.kind, kind.kind_size), "pinned_host");
  }
  const auto failure = TRY_CALL(Client_LookupDevice, client.get(), 3);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
}

TEST(Plugin, HasAProfilerThatSawNothing) {
  const PJRT_Extension_Base* at = plugin().extension_start;
  while (at && at->type != PJRT_Extension_Type_Profiler) at = at->next;
  ASSERT_NE(at, nullptr);
  const PLUGIN_Profiler_Api& api =
      *reinterpret_cast<const PJRT_Profiler_Extension*>(at)->profiler_api;
  PLUGIN_Profiler_Create_Args made{sizeof(made), nullptr, 0, nullptr};
  ASSERT_EQ(api.create(&made), nullptr);
  PLUGIN_Profiler_Start_Args start{sizeof(start), made.profiler};
  EXPECT_EQ(api.start(&start), nullptr);
  PLUGIN_Profiler_Stop_Args stop{sizeof(stop), made.profiler};
  EXPECT_EQ(api.stop(&stop), nullptr);
  PLUGIN_Profiler_CollectData_Args data{sizeof(data), made.profiler, nullptr, 1};
  EXPECT_EQ(api.collect_data(&data), nullptr);
  EXPECT_EQ(data.buffer_size_in_bytes, 0);
  PLUGIN_Profiler_Consume_Args consume{sizeof(consume), made.profiler, nullptr};
  ASSERT_EQ(api.consume(&consume), nullptr);
  PLUGIN_Profiler_Serialize_Args bytes{sizeof(bytes), made.profiler, consume.result, nullptr, 1};
  EXPECT_EQ(api.serialize(&bytes), nullptr);
  EXPECT_EQ(bytes.serialized_size, 0);
  PLUGIN_Profiler_ConsumeResult_Destroy_Args result{sizeof(result), consume.result};
  api.consume_result_destroy(&result);
  PLUGIN_Profiler_Destroy_Args destroy{sizeof(destroy), made.profiler};
  EXPECT_EQ(api.destroy(&destroy), nullptr);
}

TEST(Plugin, KnowsItsOptionsAlone) {
  PJRT_NamedValue option{};
  option.struct_size = sizeof(option);
  option.name = "colour";
  option.name_size = 6;
  option.type = PJRT_NamedValue_kInt64;
  const auto failure = TRY_CALL(Client_Create, &option, size_t{1});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("'colour'; there is: devices"), std::string::npos) << failure->text;
}

TEST(Plugin, RefusesWhatIsNoProgram) {
  const Client client;
  OwnedLoaded none;
  auto failure = client.compile_code("\x0a\x03\xff\xff", "hlo", none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  failure = client.compile_code("x", "fortran", none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_UNIMPLEMENTED);
  EXPECT_NE(failure->text.find("'fortran'"), std::string::npos);
  failure = client.compile_code("HloModule x", "mlir", none);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("HLO text"), std::string::npos) << failure->text;
}

// A CompileOptionsProto with one override.
std::string override_of(const std::string& name, const std::string& value) {
  const auto field = [](char tag, const std::string& text) {
    return std::string{tag, static_cast<char>(text.size())} + text;
  };
  return field(0x3a, field(0x0a, name) + field(0x12, field(0x0a, value)));
}

TEST(Plugin, KnowsCompileOptions) {
  const Client client;
  OwnedLoaded loaded;
  EXPECT_FALSE(
      client.try_compile(add_one, loaded, override_of("xla_embed_ir_in_executable", "true")));
  auto failure = client.try_compile(add_one, loaded, override_of("colour", "red"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_EQ(failure->text, "No such compile option: 'colour'");
  for (const auto& [name, value, kind] :
       {std::tuple("xla_embed_ir_in_executable", "red", "bool"),
        std::tuple("xla_dump_max_hlo_modules", "1x", "integer"),
        std::tuple("exec_time_optimization_effort", "", "float")}) {
    failure = client.try_compile(add_one, loaded, override_of(name, value));
    ASSERT_TRUE(failure) << name;
    EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
    EXPECT_TRUE(failure->text.ends_with(fmt::format("is not a valid {} value.", kind)))
        << failure->text;
  }
  EXPECT_FALSE(client.try_compile(add_one, loaded, override_of("xla_dump_max_hlo_modules", "10")));
  for (const std::string& damaged : {std::string("\x3a\x7f"), std::string("\x08"),
                                     std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
                                     std::string("\x1a\x02\x20\x80")}) {
    failure = client.try_compile(add_one, loaded, damaged);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT) << failure->text;
  }
}

TEST(Plugin, TellsOfAProgram) {
  const Client client;
  const OwnedLoaded loaded = client.compile(add_one);
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  const auto name = CALL(Executable_Name, executable);
  EXPECT_EQ(std::string(name.executable_name, name.executable_name_size), "add_one");
  EXPECT_EQ(CALL(Executable_NumReplicas, executable).num_replicas, 1);
  const auto cost = CALL(Executable_GetCostAnalysis, executable);
  ASSERT_GE(cost.num_properties, 1);
  EXPECT_EQ(std::string(cost.properties[0].name), "flops");
  EXPECT_EQ(cost.properties[0].float_value, 2);
  const auto stats = CALL(Executable_GetCompiledMemoryStats, executable);
  EXPECT_EQ(stats.argument_size_in_bytes, 8);
  EXPECT_EQ(stats.output_size_in_bytes, 8);
  PJRT_Program program{};
  program.struct_size = sizeof(program);
  CALL(Executable_OptimizedProgram, executable, &program);
  std::string code(program.code_size, '\0');
  program.code = code.data();
  CALL(Executable_OptimizedProgram, executable, &program);
  EXPECT_EQ(std::string(program.format, program.format_size), "hlo_with_config");
  EXPECT_TRUE(converted(code, "text").starts_with("HloModule add_one"));
  CALL(Executable_Destroy, executable);
}

TEST(Plugin, LoadsWhatItHasSerialised) {
  const Client client;
  const OwnedLoaded loaded = client.compile(add_one);
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  const auto args = CALL(Executable_Serialize, executable);
  const std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  CALL(Executable_Destroy, executable);
  const OwnedLoaded again(
      CALL(Executable_DeserializeAndLoad, client.get(), bytes.data(), bytes.size())
          .loaded_executable);
  const OwnedBuffer x = client.buffer(std::array<float, 2>{1, 2}, {2});
  EXPECT_EQ(values_of(run(again, {x.get()})[0]), (std::vector<float>{2, 3}));
  for (const size_t size : {size_t{0}, size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    const auto failure = TRY_CALL(Executable_DeserializeAndLoad, client.get(), bytes.data(), size);
    ASSERT_TRUE(failure) << size;
    EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace hilo
