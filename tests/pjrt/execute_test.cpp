// Programs through the C API: compiled, run, run by many threads, with donated arguments, wrong
// ones.
#include <thread>

#include "client.h"

namespace hilo {
namespace {

const std::string add_one = R"(HloModule add_one
ENTRY e {
  x = f32[2,3] parameter(0)
  one = f32[] constant(1)
  ones = f32[2,3] broadcast(one), dimensions={}
  ROOT r = f32[2,3] add(x, ones)
}
)";
const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
const std::vector<float> one_more = {2, 3, 4, 5, 6, 7};

TEST(Execute, GivesWhatTheProgramSays) {
  const Client client;
  const OwnedLoaded loaded = client.compile(add_one);
  const OwnedBuffer x = client.buffer(numbers, {2, 3});
  const auto results = run(loaded, {x.get()});
  ASSERT_EQ(results.size(), 1);
  EXPECT_EQ(values_of(results[0]), one_more);
  const auto dims = CALL(Buffer_Dimensions, results[0].get());
  EXPECT_EQ(std::vector<int64_t>(dims.dims, dims.dims + dims.num_dims),
            (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(CALL(Buffer_ElementType, results[0].get()).type, PJRT_Buffer_Type_F32);
  EXPECT_EQ(values_of(x), numbers);
}

TEST(Execute, GivesEachElementOfATuple) {
  const Client client;
  const OwnedLoaded loaded = client.compile(R"(HloModule two
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] negate(x)
  ROOT r = (f32[3], f32[3], f32[3]) tuple(y, x, y)
}
)");
  const OwnedBuffer x = client.buffer(std::vector<float>{1, 2, 3}, {3});
  const auto results = run(loaded, {x.get()});
  ASSERT_EQ(results.size(), 3);
  EXPECT_EQ(values_of(results[0]), (std::vector<float>{-1, -2, -3}));
  EXPECT_EQ(values_of(results[1]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values_of(results[2]), (std::vector<float>{-1, -2, -3}));
}

const std::string donating = R"(HloModule donating, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  x = f32[4096] parameter(0)
  ROOT r = f32[4096] negate(x)
}
)";

TEST(Execute, WritesOverADonatedArgument) {
  const Client client;
  const OwnedLoaded loaded = client.compile(donating);
  const OwnedBuffer x = client.buffer(std::vector<float>(4096, 2), {4096});
  const auto address = CALL(Buffer_UnsafePointer, x.get()).buffer_pointer;
  const auto results = run(loaded, {x.get()});
  EXPECT_EQ(values_of(results[0]), std::vector<float>(4096, -2));
  EXPECT_TRUE(CALL(Buffer_IsDeleted, x.get()).is_deleted);
  EXPECT_EQ(CALL(Buffer_UnsafePointer, results[0].get()).buffer_pointer, address);
  std::vector<OwnedBuffer> none;
  const auto failure = try_run(loaded, {x.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(failure->text.find("deleted or donated"), std::string::npos) << failure->text;
}

TEST(Execute, RefusesADonatedBufferThatIsAnotherArgumentToo) {
  const Client client;
  const OwnedLoaded loaded =
      client.compile(R"(HloModule sum, input_output_alias={ {}: (1, {}, may-alias) }
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  z = f32[3] parameter(2)
  s = f32[3] add(x, y)
  ROOT r = f32[3] add(s, z)
}
)");
  const OwnedBuffer x = client.buffer(std::vector<float>{1, 2, 3}, {3});
  const OwnedBuffer y = client.buffer(std::vector<float>{4, 5, 6}, {3});
  std::vector<OwnedBuffer> none;
  const auto failure = try_run(loaded, {x.get(), y.get(), y.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_EQ(failure->text, "arguments 1 and 2 are the same buffer, but argument 1 is donated");
  EXPECT_EQ(values_of(y), (std::vector<float>{4, 5, 6}));  // nothing was taken
  EXPECT_EQ(values_of(run(loaded, {x.get(), y.get(), x.get()})[0]), (std::vector<float>{6, 9, 12}));
}

// What others look at keeps its values though the program takes the argument.
TEST(Execute, DoesNotWriteOverWhatOthersHold) {
  const Client client;
  const OwnedLoaded loaded = client.compile(donating);
  const std::vector<float> host(4096, 2);
  const int64_t dims[] = {4096};
  auto args = arguments<PJRT_Client_BufferFromHostBuffer_Args>(
      client.get(), host.data(), PJRT_Buffer_Type_F32, dims, size_t{1}, nullptr, size_t{0},
      PJRT_HostBufferSemantics_kImmutableZeroCopy, client.devices()[0]);
  expect_well(plugin().PJRT_Client_BufferFromHostBuffer(&args));
  OwnedBuffer x(args.buffer);
  EXPECT_EQ(CALL(Buffer_UnsafePointer, x.get()).buffer_pointer,
            reinterpret_cast<uintptr_t>(host.data()));
  EXPECT_FALSE(CALL(Event_IsReady, args.done_with_host_buffer).is_ready);
  auto results = run(loaded, {x.get()});
  EXPECT_EQ(values_of(results[0]), std::vector<float>(4096, -2));
  EXPECT_EQ(host, std::vector<float>(4096, 2));
  x.reset();
  EXPECT_TRUE(CALL(Event_IsReady, args.done_with_host_buffer).is_ready);
  CALL(Event_Destroy, args.done_with_host_buffer);

  const OwnedBuffer y = std::move(results[0]);
  CALL(Buffer_IncreaseExternalReferenceCount, y.get());
  const auto* seen = static_cast<const float*>(
      CALL(Buffer_OpaqueDeviceMemoryDataPointer, y.get()).device_memory_ptr);
  const auto again = run(loaded, {y.get()});
  EXPECT_EQ(values_of(again[0])[0], 2);
  EXPECT_EQ(seen[0], -2);
  CALL(Buffer_DecreaseExternalReferenceCount, y.get());
}

// A result that is an argument is not written over either when it is given away.
TEST(Execute, KeepsAnArgumentThatIsAResult) {
  const Client client;
  const OwnedLoaded same = client.compile(R"(HloModule same
ENTRY e {
  ROOT x = f32[4096] parameter(0)
}
)");
  const OwnedLoaded loaded = client.compile(donating);
  const OwnedBuffer x = client.buffer(std::vector<float>(4096, 3), {4096});
  const auto copies = run(same, {x.get()});
  const auto results = run(loaded, {copies[0].get()});
  EXPECT_EQ(values_of(results[0])[7], -3);
  EXPECT_EQ(values_of(x)[7], 3);
}

TEST(Execute, TellsWhatIsWrongWithArguments) {
  const Client client;
  const OwnedLoaded loaded = client.compile(add_one);
  const OwnedBuffer x = client.buffer(numbers, {3, 2});
  std::vector<OwnedBuffer> none;
  auto failure = try_run(loaded, {x.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(failure->text.find("f32[2,3]"), std::string::npos) << failure->text;
  failure = try_run(loaded, {x.get(), x.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("supplied 2 buffers but compiled program expected 1"),
            std::string::npos)
      << failure->text;
  CALL(LoadedExecutable_Delete, loaded.get());
  failure = try_run(loaded, {x.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("deleted"), std::string::npos);
}

// Large programs run behind the caller's back, one after another; what they take is theirs.
TEST(Execute, DoesLongRunsLater) {
  const Client client;
  const OwnedLoaded loaded =
      client.compile(R"(HloModule long, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  x = f32[512,512] parameter(0)
  half = f32[] constant(0.001953125)
  halves = f32[512,512] broadcast(half), dimensions={}
  y = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[512,512] multiply(y, halves)
}
)");
  OwnedBuffer x = client.buffer(std::vector<float>(512 * 512, 1), {512, 512});
  for (int i = 0; i < 40; ++i) {
    auto results = run(loaded, {x.get()});
    EXPECT_TRUE(CALL(Buffer_IsDeleted, x.get()).is_deleted);
    x = std::move(results[0]);
  }
  EXPECT_EQ(values_of(x), std::vector<float>(512 * 512, 1));
}

// Clients give no list of arguments where there are none, nor of results.
TEST(Execute, TakesNoListsOfNothing) {
  const Client client;
  const OwnedLoaded loaded =
      client.compile("HloModule c\nENTRY e {\n  ROOT c = f32[] constant(7)\n}\n");
  const OwnedLoaded empty = client.compile("HloModule n\nENTRY e {\n  ROOT t = () tuple()\n}\n");
  PJRT_ExecuteOptions options{};
  options.struct_size = sizeof(options);
  PJRT_Buffer* result = nullptr;
  PJRT_Buffer** results[] = {&result};
  CALL(LoadedExecutable_Execute, loaded.get(), &options, nullptr, size_t{1}, size_t{0}, results);
  EXPECT_EQ(values_of(OwnedBuffer(result)), std::vector<float>{7});
  CALL(LoadedExecutable_Execute, empty.get(), &options, nullptr, size_t{1}, size_t{0}, nullptr);
}

TEST(Execute, RunsOnManyThreadsAtOnce) {
  const Client client;
  const OwnedLoaded loaded = client.compile(add_one);
  const OwnedBuffer x = client.buffer(numbers, {2, 3});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(values_of(run(loaded, {x.get()})[0]), one_more);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hilo
