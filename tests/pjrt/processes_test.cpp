// Clients of several processes: threads of this one, each with a client of its own, which find each
// other by a store of this file.
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "client.h"

namespace hilo {
namespace {

// What a client's user gives: values under keys, each once.
class Store {
 public:
  explicit Store(std::map<std::string, std::string> values = {}) : values_(std::move(values)) {}
  template <class Args>
  static PJRT_Error* put(Args* args) {
    Store& store = *static_cast<Store*>(args->user_arg);
    const std::lock_guard lock(store.mutex_);
    const bool is_new =
        store.values_.emplace(key(args), std::string(args->value, args->value_size)).second;
    store.changed_.notify_all();
    return is_new ? nullptr : refuse(args, PJRT_Error_Code_ALREADY_EXISTS, "it is there already");
  }
  static PJRT_Error* get(PJRT_KeyValueGetCallback_Args* args) {
    return find(args, std::chrono::milliseconds(args->timeout_in_ms));
  }
  static PJRT_Error* try_get(PJRT_KeyValueTryGetCallback_Args* args) {
    return find(args, std::chrono::milliseconds(0));
  }

 private:
  template <class Args>
  static std::string key(const Args* args) {
    return std::string(args->key, args->key_size);
  }
  template <class Args>
  static PJRT_Error* refuse(const Args* args, PJRT_Error_Code code, const char* text) {
    return (*args->callback_error)(code, text, std::strlen(text));
  }
  template <class Args>
  static PJRT_Error* find(Args* args, std::chrono::milliseconds timeout) {
    Store& store = *static_cast<Store*>(args->user_arg);
    std::unique_lock lock(store.mutex_);
    const auto there = [&] { return store.values_.contains(key(args)); };
    if (!store.changed_.wait_for(lock, timeout, there))
      return refuse(args, PJRT_Error_Code_NOT_FOUND, "nobody has put it");
    const std::string& value = store.values_[key(args)];
    args->value = new char[value.size()];
    args->value_size = value.size();
    std::memcpy(args->value, value.data(), value.size());
    args->value_deleter_callback = [](char* at) { delete[] at; };
    return nullptr;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

PJRT_Client_Create_Args creation(std::span<const PJRT_NamedValue> options, Store& store) {
  auto out = arguments<PJRT_Client_Create_Args>(options.data(), options.size());
  out.kv_get_callback = Store::get;
  out.kv_put_callback = Store::put<PJRT_KeyValuePutCallback_Args>;
  out.kv_try_get_callback = Store::try_get;
  out.kv_get_user_arg = out.kv_put_user_arg = out.kv_try_get_user_arg = &store;
  return out;
}

Client client_of(int64_t rank, int64_t ranks, int64_t devices, Store& store) {
  const PJRT_NamedValue options[] = {
      number_option("node_id", rank), number_option("num_nodes", ranks),
      number_option("devices", devices), number_option("threads", 1)};
  auto args = creation(options, store);
  expect_well(plugin().PJRT_Client_Create(&args));
  return Client(args.client);
}

void on_ranks(int64_t ranks, const std::function<void(int64_t rank)>& body) {
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank) threads.emplace_back(body, rank);
  for (std::thread& thread : threads) thread.join();
}

// CompileOptionsProto with so many replicas.
std::string replicas(char count) { return {0x1a, 4, 0x20, count, 0x28, 1}; }

// The sum of f32[size] over so many devices; the constant makes it another program.
std::string sum_code(int64_t size, int devices, int factor = 1) {
  return converted(fmt::format(R"(HloModule sums_{2}, replica_count={1}
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{0}] parameter(0)
  c = f32[] constant({2})
  cs = f32[{0}] broadcast(c), dimensions={{}}
  y = f32[{0}] multiply(x, cs)
  ROOT r = f32[{0}] all-reduce(y), to_apply=add, replica_groups={{}}
}}
)",
                               size, devices, factor),
                   "proto");
}

OwnedLoaded compiled(const Client& client, const std::string& code, char devices) {
  OwnedLoaded out;
  const auto failure = client.compile_code(code, "hlo", out, replicas(devices));
  EXPECT_FALSE(failure) << failure->text;
  return out;
}

// Other numbers on each device, whose sums depend on their order.
std::vector<float> numbers_of(int64_t device, int64_t size) {
  std::vector<float> out;
  for (int64_t i = 0; i < size; ++i)
    out.push_back(1.0F / static_cast<float>(3 + i % 97 + 31 * device));
  return out;
}

std::vector<OwnedBuffer> arguments_of(const Client& client, int64_t first, int64_t size) {
  std::vector<OwnedBuffer> out;
  for (size_t local = 0; local < client.devices().size(); ++local)
    out.push_back(
        client.buffer(numbers_of(first + static_cast<int64_t>(local), size), {size}, local));
  return out;
}

std::vector<PJRT_Buffer*> pointers(const std::vector<OwnedBuffer>& buffers) {
  std::vector<PJRT_Buffer*> out;
  for (const OwnedBuffer& buffer : buffers) out.push_back(buffer.get());
  return out;
}

std::optional<Failure> try_sum(const Client& client, const OwnedLoaded& loaded, int64_t size,
                               int64_t first = 0) {
  const std::vector<OwnedBuffer> x = arguments_of(client, first, size);
  std::vector<OwnedBuffer> results;
  return try_run(loaded, pointers(x), results, x.size());
}

TEST(Processes, SayHowManyDevicesTheyHave) {
  for (const char* said : {"1000000000000", "0", "-1", "2x", ""}) {
    Store store(std::map<std::string, std::string>{{"hilo/0/devices/1", said}});
    const PJRT_NamedValue options[] = {number_option("node_id", 0), number_option("num_nodes", 2)};
    auto args = creation(options, store);
    const auto failure = taken(plugin().PJRT_Client_Create(&args));
    ASSERT_TRUE(failure) << said;
    const std::string wanted = fmt::format("rank 1 says that it has '{}' devices", said);
    EXPECT_NE(failure->text.find(wanted), std::string::npos) << failure->text;
  }
}

TEST(Processes, KnowTheDevicesOfAll) {
  Store store;
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1 + rank, store);
    EXPECT_EQ(CALL(Client_ProcessIndex, client.get()).process_index, rank);
    const auto all = CALL(Client_Devices, client.get());
    ASSERT_EQ(all.num_devices, 3);
    EXPECT_EQ(client.devices().size(), static_cast<size_t>(1 + rank));
    for (int32_t id = 0; id < 3; ++id) {
      PJRT_Device* const device = all.devices[id];
      PJRT_DeviceDescription* const described =
          CALL(Device_GetDescription, device).device_description;
      const int process = id == 0 ? 0 : 1;
      EXPECT_EQ(CALL(DeviceDescription_Id, described).id, id);
      EXPECT_EQ(CALL(DeviceDescription_ProcessIndex, described).process_index, process);
      EXPECT_EQ(CALL(Device_IsAddressable, device).is_addressable, process == rank);
      EXPECT_EQ(CALL(Device_LocalHardwareId, device).local_hardware_id, id - process);
      EXPECT_EQ(CALL(Device_AddressableMemories, device).num_memories, process == rank ? 3 : 0);
      EXPECT_EQ(CALL(Client_LookupDevice, client.get(), id).device, device);
    }
    EXPECT_EQ(CALL(Client_LookupAddressableDevice, client.get(), int32_t{0}).addressable_device,
              all.devices[rank]);
    PJRT_Device* const other = all.devices[1 - rank];
    const auto failure = TRY_CALL(Device_DefaultMemory, other);
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->text.find(fmt::format("one of process {}", 1 - rank)), std::string::npos);
  });
}

TEST(Processes, DescribeTheirDevicesInATopology) {
  Store store;
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1 + rank, store);
    PJRT_TopologyDescription* const own = CALL(Client_TopologyDescription, client.get()).topology;
    const auto bytes = CALL(TopologyDescription_Serialize, own);
    PJRT_TopologyDescription* const read =
        CALL(TopologyDescription_Deserialize, bytes.serialized_bytes, bytes.serialized_bytes_size)
            .topology;
    const auto described = CALL(TopologyDescription_GetDeviceDescriptions, read);
    ASSERT_EQ(described.num_descriptions, 3);
    EXPECT_EQ(CALL(DeviceDescription_ProcessIndex, described.descriptions[2]).process_index, 1);
    EXPECT_EQ(CALL(TopologyDescription_Fingerprint, read).fingerprint,
              CALL(TopologyDescription_Fingerprint, own).fingerprint);
    CALL(TopologyDescription_Destroy, read);
  });
}

// Small arrays, and large ones, which are read where they lie.
TEST(Processes, SumWithTheBitsOfOne) {
  for (const int64_t size : {int64_t{5}, int64_t{300'001}}) {
    const std::string code = sum_code(size, 4);
    const Client alone(4);
    const auto expected =
        values_of(run(compiled(alone, code, 4), pointers(arguments_of(alone, 0, size)), 4).front());
    Store store;
    on_ranks(2, [&](int64_t rank) {
      const Client client = client_of(rank, 2, 2, store);
      const OwnedLoaded loaded = compiled(client, code, 4);
      for (int step = 0; step < 3; ++step) {
        const auto results =
            run(loaded, pointers(arguments_of(client, 2 * rank, size)), client.devices().size());
        ASSERT_EQ(results.size(), 2);
        for (const OwnedBuffer& result : results) EXPECT_EQ(values_of(result), expected);
      }
    });
  }
}

TEST(Processes, CompareTheirPrograms) {
  const std::string codes[] = {sum_code(8, 2), sum_code(8, 2, 2)};
  Store store;
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1, store);
    const OwnedLoaded loaded = compiled(client, codes[rank], 2);
    const auto failure = try_sum(client, loaded, 8);
    ASSERT_TRUE(failure);
    for (const char* said : {"rank 1 has another program than rank 0", "sums_1", "sums_2"})
      EXPECT_NE(failure->text.find(said), std::string::npos) << failure->text;
    // Both can go on with what they have alike.
    EXPECT_FALSE(try_sum(client, compiled(client, codes[0], 2), 8));
  });
}

TEST(Processes, AtOtherStepsAreNamed) {
  const std::string codes[] = {sum_code(8, 2), sum_code(8, 2, 2)};
  Store store;
  std::barrier both_know(2);  // or the other one hears that a rank has ended
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1, store);
    const OwnedLoaded loaded[] = {compiled(client, codes[0], 2), compiled(client, codes[1], 2)};
    for (const OwnedLoaded& one : loaded) EXPECT_FALSE(try_sum(client, one, 8));
    const auto failure = try_sum(client, loaded[rank], 8);
    both_know.arrive_and_wait();
    ASSERT_TRUE(failure);
    for (const char* said : {"rank 0: device 0 waits in all-reduce", "rank 1: device 1 waits in"})
      EXPECT_NE(failure->text.find(said), std::string::npos) << failure->text;
  });
}

TEST(Processes, ThatEndAreNamed) {
  const std::string code = sum_code(8, 2);
  Store store;
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1, store);
    if (rank == 1) return;
    const auto failure = try_sum(client, compiled(client, code, 2), 8);
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->text.find("rank 1 has ended"), std::string::npos) << failure->text;
  });
}

// An argument of one of them is wrong: all of them end that run, and the next one goes well.
TEST(Processes, HearOfWhatFailsElsewhere) {
  const std::string code = sum_code(8, 2);
  Store store;
  on_ranks(2, [&](int64_t rank) {
    const Client client = client_of(rank, 2, 1, store);
    const OwnedLoaded loaded = compiled(client, code, 2);
    const auto failure = try_sum(client, loaded, rank == 1 ? 7 : 8);
    ASSERT_TRUE(failure);
    EXPECT_NE(failure->text.find("f32[8]"), std::string::npos) << failure->text;
    EXPECT_EQ(failure->text.find("rank 1: ") != std::string::npos, rank == 0) << failure->text;
    EXPECT_FALSE(try_sum(client, loaded, 8));
  });
}

// A store outlives its clients.
TEST(Processes, MayCreateAnotherClient) {
  Store store;
  on_ranks(2, [&](int64_t rank) {
    for (int64_t devices = 1; devices < 3; ++devices) {
      const Client client = client_of(rank, 2, devices, store);
      EXPECT_EQ(CALL(Client_Devices, client.get()).num_devices, static_cast<size_t>(2 * devices));
    }
  });
}

TEST(Processes, ThatDoNotComeAreNamed) {
  Store store;
  const PJRT_NamedValue options[] = {number_option("node_id", 0), number_option("num_nodes", 2),
                                     number_option("timeout", 1)};
  auto args = creation(options, store);
  const auto failure = taken(plugin().PJRT_Client_Create(&args));
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("rank 1 has not come within 1 s"), std::string::npos)
      << failure->text;
}

TEST(Processes, NeedAStoreAndARank) {
  const PJRT_NamedValue alone[] = {number_option("num_nodes", 2)};
  auto failure = TRY_CALL(Client_Create, alone, size_t{1});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("key-value store"), std::string::npos) << failure->text;
  const PJRT_NamedValue beyond[] = {number_option("num_nodes", 2), number_option("node_id", 2)};
  failure = TRY_CALL(Client_Create, beyond, size_t{2});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("node_id: 2 is none of 2 processes"), std::string::npos)
      << failure->text;
}

}  // namespace
}  // namespace hilo
