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
