// Eight threads do at once what clients do: compile, make buffers, run, read, delete.
#include <atomic>
#include <thread>

#include "client.h"

namespace hilo {
namespace {

constexpr int threads = 8;

// x + number, of one dimension.
std::string adding(int number, int64_t count) {
  return fmt::format(R"(func.func @main(%x: tensor<{0}xf32>) -> tensor<{0}xf32> {{
  %c = stablehlo.constant dense<{1}.0> : tensor<{0}xf32>
  %y = stablehlo.add %x, %c : tensor<{0}xf32>
  return %y : tensor<{0}xf32>
}}
)",
                     count, number);
}

OwnedLoaded compiled(const Client& client, const std::string& text) {
  OwnedLoaded out;
  const auto failure = client.compile_code(text, "mlir", out);
  EXPECT_FALSE(failure) << failure->text;
  return out;
}

template <class Body>
void on_all_threads(Body&& body) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { body(t); });
  for (std::thread& thread : all) thread.join();
}

// Short programs run on the caller's thread, long ones on the device's.
class Threads : public testing::TestWithParam<int64_t> {};

TEST_P(Threads, DoAllOfAProgramEach) {
  const Client client;
  const int64_t count = GetParam();
  on_all_threads([&](int t) {
    for (int round = 0; round < 3; ++round) {
      const OwnedLoaded loaded = compiled(client, adding(t + 1, count));
      OwnedBuffer x = client.buffer(std::vector<float>(static_cast<size_t>(count), 1), {count});
      for (int i = 0; i < 10; ++i) {
        auto results = run(loaded, {x.get()});
        CALL(Buffer_Delete, x.get());
        x = std::move(results[0]);
      }
      EXPECT_EQ(values_of(x)[7], static_cast<float>(1 + 10 * (t + 1)));
    }
  });
}

// Who runs with a buffer that another deletes gets its values or is told; nothing else happens.
TEST_P(Threads, DeleteWhatOthersUse) {
  const Client client;
  const int64_t count = GetParam();
  const OwnedLoaded loaded = compiled(client, adding(1, count));
  for (int round = 0; round < 10; ++round) {
    const OwnedBuffer x = client.buffer(std::vector<float>(static_cast<size_t>(count), 1), {count});
    std::atomic<int> right = 0, told = 0;
    on_all_threads([&](int t) {
      if (t == threads / 2) {
        CALL(Buffer_Delete, x.get());
        return;
      }
      std::vector<OwnedBuffer> results;
      const auto failure = try_run(loaded, {x.get()}, results);
      if (failure) told += failure->code == PJRT_Error_Code_INVALID_ARGUMENT;
      else right += values_of(results[0])[7] == 2;
    });
    EXPECT_EQ(right + told, threads - 1);
  }
}

// A value is read, referred to and asked for by all while it is being made.
TEST_P(Threads, ReadOneValue) {
  const Client client;
  const int64_t count = GetParam();
  const OwnedLoaded loaded = compiled(client, adding(1, count));
  OwnedBuffer x = client.buffer(std::vector<float>(static_cast<size_t>(count), 1), {count});
  for (int round = 0; round < 10; ++round) {
    auto results = run(loaded, {x.get()});
    PJRT_Buffer* const y = results[0].get();
    on_all_threads([&](int) {
      CALL(Buffer_IncreaseExternalReferenceCount, y);
      wait_and_destroy(CALL(Buffer_ReadyEvent, y).event);
      EXPECT_EQ(values_of(y)[7], static_cast<float>(round + 2));
      CALL(Device_MemoryStats, client.devices()[0]);
      CALL(Buffer_DecreaseExternalReferenceCount, y);
    });
    x = std::move(results[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Threads, testing::Values(16, 300'000));

}  // namespace
}  // namespace hilo
