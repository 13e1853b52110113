// Programs on several devices: each with arguments of its own, and whole programs whose values lie
// on the devices in shards.
#include "client.h"

namespace hilo {
namespace {

// CompileOptionsProto with so many replicas and partitions.
std::string options_of(char replicas, char partitions) {
  return {0x1a, 4, 0x20, replicas, 0x28, partitions};
}

std::vector<PJRT_Buffer*> pointers(const std::vector<OwnedBuffer>& buffers) {
  std::vector<PJRT_Buffer*> out;
  for (const OwnedBuffer& buffer : buffers) out.push_back(buffer.get());
  return out;
}

TEST(Devices, ReplicasMeet) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(R"(HloModule sums, replica_count=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(x), to_apply=add, replica_groups={}
}
)",
                                            options_of(2, 1));
  std::vector<OwnedBuffer> x;
  x.push_back(client.buffer(std::vector<float>{1, 2}, {2}, 0));
  x.push_back(client.buffer(std::vector<float>{10, 20}, {2}, 1));
  const auto results = run(loaded, pointers(x), 2);
  ASSERT_EQ(results.size(), 2);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(values_of(results[i]), (std::vector<float>{11, 22}));
    EXPECT_EQ(CALL(Buffer_Device, results[i].get()).device, client.devices()[i]);
  }
}

// One device's run of a program of several.
std::optional<Failure> try_run_on(PJRT_Device* device, const OwnedLoaded& loaded, PJRT_Buffer* x,
                                  OwnedBuffer& to) {
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** const results = &result;
  PJRT_Buffer* const* const argument_list = &x;
  PJRT_Event* done = nullptr;
  PJRT_ExecuteOptions options{};
  options.struct_size = sizeof(options);
  auto args = arguments<PJRT_LoadedExecutable_Execute_Args>(
      loaded.get(), &options, &argument_list, size_t{1}, size_t{1}, &results, &done, device);
  std::optional<Failure> failure = taken(plugin().PJRT_LoadedExecutable_Execute(&args));
  if (failure) return failure;
  wait_and_destroy(done);
  to.reset(result);
  return std::nullopt;
}

TEST(Devices, ReplicasThatDoNotMeetRunAlone) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(R"(HloModule doubled, replica_count=2
ENTRY e {
  x = f32[2] parameter(0)
  ROOT r = f32[2] add(x, x)
}
)",
                                            options_of(2, 1));
  std::vector<OwnedBuffer> x;
  x.push_back(client.buffer(std::vector<float>{1, 2}, {2}, 0));
  x.push_back(client.buffer(std::vector<float>{10, 20}, {2}, 1));
  const auto of_both = run(loaded, pointers(x), 2);
  ASSERT_EQ(of_both.size(), 2);
  EXPECT_EQ(values_of(of_both[0]), (std::vector<float>{2, 4}));
  EXPECT_EQ(values_of(of_both[1]), (std::vector<float>{20, 40}));
  OwnedBuffer of_one;
  const auto failure = try_run_on(client.devices()[1], loaded, x[1].get(), of_one);
  ASSERT_FALSE(failure) << failure->text;
  EXPECT_EQ(values_of(of_one), (std::vector<float>{20, 40}));
  EXPECT_EQ(CALL(Buffer_Device, of_one.get()).device, client.devices()[1]);
}

TEST(Devices, ReplicasThatAreToldApartRunTogether) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(R"(HloModule numbered, replica_count=2
ENTRY e {
  x = f32[] parameter(0)
  id = u32[] replica-id()
  f = f32[] convert(id)
  ROOT r = f32[] add(x, f)
}
)",
                                            options_of(2, 1));
  std::vector<OwnedBuffer> x;
  x.push_back(client.buffer(std::vector<float>{1}, {}, 0));
  x.push_back(client.buffer(std::vector<float>{1}, {}, 1));
  const auto results = run(loaded, pointers(x), 2);
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(values_of(results[1]), (std::vector<float>{2}));
  OwnedBuffer of_one;
  const auto failure = try_run_on(client.devices()[1], loaded, x[1].get(), of_one);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("runs on 2 devices together"), std::string::npos) << failure->text;
}

// Three numbers on two devices, the second of which has padding, and a sum that does not count it.
TEST(Devices, HoldShardsWithPadding) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(R"(HloModule uneven, num_partitions=2
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[3] parameter(0), sharding={devices=[2]0,1}
  y = f32[3] add(x, x)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply=add
  ROOT r = (f32[3], f32[]) tuple(y, s), sharding={{devices=[2]0,1}, {replicated}}
}
)",
                                            options_of(1, 2));
  std::vector<OwnedBuffer> x;
  x.push_back(client.buffer(std::vector<float>{1, 2}, {2}, 0));
  x.push_back(client.buffer(std::vector<float>{3, 100}, {2}, 1));
  const auto results = run(loaded, pointers(x), 2);
  ASSERT_EQ(results.size(), 4);
  EXPECT_EQ(values_of(results[0]), (std::vector<float>{2, 4}));
  EXPECT_EQ(values_of(results[2])[0], 6);
  EXPECT_EQ(values_of(results[1]), (std::vector<float>{6}));
  EXPECT_EQ(values_of(results[3]), (std::vector<float>{6}));
}

const std::string sharded = R"(HloModule sharded, num_partitions=4
ENTRY e {
  x = f32[4,4] parameter(0), sharding={devices=[2,2]<=[4]}
  y = f32[4,4] add(x, x)
  t = f32[4,4] transpose(y), dimensions={1,0}
  ROOT r = (f32[4,4], f32[4,4]) tuple(t, y), sharding={{devices=[4,1]<=[4]}, {replicated}}
}
)";

std::vector<OwnedBuffer> quarters(const Client& client) {
  std::vector<OwnedBuffer> out;
  for (size_t device = 0; device < 4; ++device) {
    std::vector<float> values;
    for (size_t row = 0; row < 2; ++row)
      for (size_t column = 0; column < 2; ++column)
        values.push_back(static_cast<float>((row + device / 2 * 2) * 4 + column + device % 2 * 2));
    out.push_back(client.buffer(values, {2, 2}, device));
  }
  return out;
}

TEST(Devices, HoldShardsOfAWholeProgram) {
  const Client client(4);
  const OwnedLoaded loaded = client.compile(sharded, options_of(1, 4));
  const std::vector<OwnedBuffer> x = quarters(client);
  const auto results = run(loaded, pointers(x), 4);
  ASSERT_EQ(results.size(), 8);
  for (size_t device = 0; device < 4; ++device) {
    const auto d = static_cast<float>(device);
    EXPECT_EQ(values_of(results[2 * device]),
              (std::vector<float>{2 * d, 2 * d + 8, 2 * d + 16, 2 * d + 24}));
    const std::vector<float> whole = values_of(results[2 * device + 1]);
    ASSERT_EQ(whole.size(), 16);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(whole[i], 2 * static_cast<float>(i));
  }
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  const auto dims = CALL(Executable_OutputDimensions, executable);
  EXPECT_EQ(std::vector<int64_t>(dims.dims, dims.dims + 4), (std::vector<int64_t>{1, 4, 4, 4}));
  CALL(Executable_Destroy, executable);
}

// Clients without the extension for shardings read them here: HloModuleProto's fields 12 and 14.
TEST(Devices, OptimizedProgramSaysShardings) {
  const Client client(4);
  const OwnedLoaded loaded = client.compile(sharded, options_of(1, 4));
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  PJRT_Program program{};
  program.struct_size = sizeof(program);
  CALL(Executable_OptimizedProgram, executable, &program);
  std::string code(program.code_size, 0);
  program.code = code.data();
  CALL(Executable_OptimizedProgram, executable, &program);
  CALL(Executable_Destroy, executable);
  const std::string rows = {8, 3, 0x1a, 2, 4, 1, 0x22, 4, 0, 1, 2, 3};
  const std::string quarters = {8, 3, 0x1a, 2, 2, 2, 0x22, 4, 0, 1, 2, 3};
  const std::string tuple_of_rows = {8, 2, 0x2a, static_cast<char>(rows.size())};
  EXPECT_NE(code.find(tuple_of_rows + rows), std::string::npos);
  EXPECT_NE(code.find(std::string{0x72, static_cast<char>(quarters.size())} + quarters),
            std::string::npos);
}

TEST(Devices, MustBeThereAndHaveTheirShards) {
  const Client client(4);
  OwnedLoaded none;
  auto failure = client.try_compile(sharded, none, options_of(2, 4));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("there are 4 devices"), std::string::npos) << failure->text;
  const OwnedLoaded loaded = client.compile(sharded, options_of(1, 4));
  std::vector<OwnedBuffer> x = quarters(client), results;
  x[2] = client.buffer(std::vector<float>(16, 1), {4, 4}, 2);
  failure = try_run(loaded, pointers(x), results, 4);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("is f32[2,2], but f32[4,4] was given"), std::string::npos)
      << failure->text;
  failure = try_run(loaded, pointers(quarters(client)), results, 2);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("runs on 4"), std::string::npos) << failure->text;
}

}  // namespace
}  // namespace hilo
