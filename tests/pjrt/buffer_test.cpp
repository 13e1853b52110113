// Buffers through the C API: arrays in any order, views, deletion, errors that arrive later.
#include "client.h"

namespace hilo {
namespace {

OwnedBuffer strided(const Client& client, const std::vector<float>& values,
                    std::vector<int64_t> dims, std::vector<int64_t> strides) {
  auto args = arguments<PJRT_Client_BufferFromHostBuffer_Args>(
      client.get(), values.data(), PJRT_Buffer_Type_F32, dims.data(), dims.size(), strides.data(),
      strides.size(), PJRT_HostBufferSemantics_kImmutableZeroCopy, client.devices()[0]);
  expect_well(plugin().PJRT_Client_BufferFromHostBuffer(&args));
  wait_and_destroy(args.done_with_host_buffer);
  return OwnedBuffer(args.buffer);
}

TEST(Buffer, TakesArraysInAnyOrder) {
  const Client client;
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(values_of(strided(client, values, {2, 4}, {4, 8})),
            (std::vector<float>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(values_of(strided(client, values, {2, 2}, {16, 4})), (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(values_of(strided(client, values, {2, 0}, {0, 0})), std::vector<float>());
  EXPECT_EQ(values_of(strided(client, values, {3}, {0})), (std::vector<float>{0, 0, 0}));
}

TEST(Buffer, GivesArraysInAnyOrder) {
  const Client client;
  const OwnedBuffer x = client.buffer(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3});
  const int64_t order[] = {0, 1};
  PJRT_Buffer_MemoryLayout layout{};
  layout.struct_size = sizeof(layout);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = sizeof(layout.tiled);
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  std::vector<float> out(6);
  wait_and_destroy(
      CALL(Buffer_ToHostBuffer, x.get(), &layout, out.data(), out.size() * sizeof(float)).event);
  EXPECT_EQ(out, (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const auto failure = TRY_CALL(Buffer_ToHostBuffer, x.get(), &layout, out.data(), size_t{4});
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->text.find("room for 4"), std::string::npos) << failure->text;
}

// NumPy's int4 has zeros above its four bits, or its sign.
TEST(Buffer, HasTheBitsOfANarrowTypeAlone) {
  const Client client;
  std::vector<int8_t> values(8192, 0x0e);  // shared, were they whole bytes
  values.front() = -2;
  values.back() = 0x37;
  const int64_t dims[] = {std::ssize(values)};
  for (const auto& [type, first, last] :
       {std::tuple(PJRT_Buffer_Type_S4, -2, 7), std::tuple(PJRT_Buffer_Type_U4, 14, 7),
        std::tuple(PJRT_Buffer_Type_S2, -2, -1), std::tuple(PJRT_Buffer_Type_F4E2M1FN, 14, 7)}) {
    const auto made =
        CALL(Client_BufferFromHostBuffer, client.get(), values.data(), type, dims, size_t{1},
             nullptr, size_t{0}, PJRT_HostBufferSemantics_kImmutableZeroCopy, client.devices()[0]);
    wait_and_destroy(made.done_with_host_buffer);
    const OwnedBuffer x(made.buffer);
    std::vector<int8_t> out(values.size());
    wait_and_destroy(CALL(Buffer_ToHostBuffer, x.get(), nullptr, out.data(), out.size()).event);
    EXPECT_EQ(out.front(), first);
    EXPECT_EQ(out[1], first);
    EXPECT_EQ(out.back(), last);
  }
}

TEST(Buffer, HasTheBitsOfANarrowTypeAloneWhenItIsFilled) {
  const Client client;
  const int8_t values[] = {0x0e, 0x37};
  const int64_t dims[] = {2};
  PJRT_ShapeSpec spec{sizeof(spec), nullptr, dims, 1, PJRT_Buffer_Type_S4};
  auto* const manager =
      CALL(Client_CreateBuffersForAsyncHostToDevice, client.get(), &spec, size_t{1}, nullptr,
           size_t{0}, CALL(Device_DefaultMemory, client.devices()[0]).memory)
          .transfer_manager;
  wait_and_destroy(CALL(AsyncHostToDeviceTransferManager_TransferData, manager, 0,
                        static_cast<const void*>(values), int64_t{0}, int64_t{2}, true)
                       .done_with_h2d_transfer);
  const OwnedBuffer x(CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, manager, 0).buffer_out);
  CALL(AsyncHostToDeviceTransferManager_Destroy, manager);
  int8_t out[2] = {};
  wait_and_destroy(CALL(Buffer_ToHostBuffer, x.get(), nullptr, out, sizeof(out)).event);
  EXPECT_EQ(out[0], -2);
  EXPECT_EQ(out[1], 7);
}

OwnedBuffer bytes_as(const Client& client, std::vector<int8_t> values, PJRT_Buffer_Type type) {
  const int64_t dims[] = {std::ssize(values)};
  const auto made =
      CALL(Client_BufferFromHostBuffer, client.get(), values.data(), type, dims, size_t{1}, nullptr,
           size_t{0}, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, client.devices()[0]);
  wait_and_destroy(made.done_with_host_buffer);
  return OwnedBuffer(made.buffer);
}

// Seen as another type, one element to a byte of the host's.
std::vector<int8_t> seen_as(const Client& client, PJRT_Buffer_Type from, PJRT_Buffer_Type to) {
  const OwnedBuffer x = bytes_as(client, {-1, 7, -8}, from);
  const int64_t dims[] = {3};
  const OwnedBuffer y(CALL(Buffer_Bitcast, x.get(), to, dims, size_t{1}, nullptr).out_buffer);
  std::vector<int8_t> out(3);
  wait_and_destroy(CALL(Buffer_ToHostBuffer, y.get(), nullptr, out.data(), out.size()).event);
  return out;
}

TEST(Buffer, IsSeenAsATypeOfAsManyBits) {
  const Client client;
  EXPECT_EQ(seen_as(client, PJRT_Buffer_Type_S4, PJRT_Buffer_Type_U4),
            (std::vector<int8_t>{15, 7, 8}));
  EXPECT_EQ(seen_as(client, PJRT_Buffer_Type_U4, PJRT_Buffer_Type_S4),
            (std::vector<int8_t>{-1, 7, -8}));
  EXPECT_EQ(seen_as(client, PJRT_Buffer_Type_S8, PJRT_Buffer_Type_F8E5M2),
            (std::vector<int8_t>{-1, 7, -8}));
}

// Four bits lie in a byte here, and two such elements in a byte of others.
TEST(Buffer, OfANarrowTypeSharesNoMemory) {
  const Client client;
  const OwnedBuffer x = bytes_as(client, {1, 2}, PJRT_Buffer_Type_S4);
  const int64_t dims[] = {2};
  EXPECT_TRUE(TRY_CALL(Buffer_Bitcast, x.get(), PJRT_Buffer_Type_S8, dims, size_t{1}, nullptr));
  EXPECT_TRUE(TRY_CALL(Buffer_UnsafePointer, x.get()));
  EXPECT_TRUE(TRY_CALL(Buffer_OpaqueDeviceMemoryDataPointer, x.get()));
  char packed = 0x21;
  const auto failure =
      TRY_CALL(Client_CreateViewOfDeviceBuffer, client.get(), static_cast<void*>(&packed), dims,
               size_t{1}, PJRT_Buffer_Type_S4, nullptr, client.devices()[0]);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_UNIMPLEMENTED);
}

TEST(Buffer, IsGoneWhenItIsDeleted) {
  const Client client;
  const OwnedBuffer x = client.buffer(std::vector<float>{1}, {1});
  EXPECT_FALSE(CALL(Buffer_IsDeleted, x.get()).is_deleted);
  CALL(Buffer_Delete, x.get());
  EXPECT_TRUE(CALL(Buffer_IsDeleted, x.get()).is_deleted);
  std::vector<float> out(1);
  EXPECT_TRUE(TRY_CALL(Buffer_ToHostBuffer, x.get(), nullptr, out.data(), sizeof(float)));
  EXPECT_TRUE(TRY_CALL(Buffer_UnsafePointer, x.get()));
}

TEST(Buffer, RefusesWhatIsNoArray) {
  const Client client;
  const int64_t dims[] = {int64_t{1} << 40, int64_t{1} << 40}, negative[] = {-1};
  const auto make = [&](PJRT_Buffer_Type type, const int64_t* sizes, size_t rank) {
    return TRY_CALL(Client_CreateUninitializedBuffer, client.get(), sizes, rank, type, nullptr,
                    client.devices()[0]);
  };
  for (const auto& failure :
       {make(PJRT_Buffer_Type_F32, dims, 2), make(PJRT_Buffer_Type_F32, negative, 1),
        make(PJRT_Buffer_Type_TOKEN, dims, 0), make(static_cast<PJRT_Buffer_Type>(99), dims, 0)}) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT) << failure->text;
  }
  const auto failure = make(PJRT_Buffer_Type_F32, dims, 1);  // 4 TiB
  if (failure) EXPECT_EQ(failure->code, PJRT_Error_Code_RESOURCE_EXHAUSTED) << failure->text;
}

TEST(Buffer, ViewsAnothersMemory) {
  const Client client;
  std::vector<float> values = {1, 2};
  const int64_t dims[] = {2};
  int deleted = 0;
  const PJRT_Buffer_OnDeleteCallback on_delete = [](void*, void* count) {
    ++*static_cast<int*>(count);
  };
  {
    const OwnedBuffer x(CALL(Client_CreateViewOfDeviceBuffer, client.get(), values.data(), dims,
                             size_t{1}, PJRT_Buffer_Type_F32, nullptr, client.devices()[0],
                             on_delete, static_cast<void*>(&deleted))
                            .buffer);
    EXPECT_EQ(values_of(x), values);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

// JAX looks for this kind of error and these words, and then copies.
TEST(Buffer, ViewsNothingBetweenElements) {
  const Client client;
  alignas(8) std::byte memory[16] = {};
  const int64_t dims[] = {2};
  const auto failure = TRY_CALL(Client_CreateViewOfDeviceBuffer, client.get(), memory + 2, dims,
                                size_t{1}, PJRT_Buffer_Type_F32, nullptr, client.devices()[0]);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_TRUE(failure->text.ends_with("is not aligned to 4 bytes")) << failure->text;
}

TEST(Buffer, HasItsErrorWhereverItIsUsed) {
  const Client client;
  const int64_t dims[] = {1};
  const std::string text = "lost on the way";
  PJRT_Memory* const memory = CALL(Device_DefaultMemory, client.devices()[0]).memory;
  const OwnedBuffer x(CALL(Client_CreateErrorBuffer, client.get(), PJRT_Error_Code_ABORTED,
                           text.data(), text.size(), dims, size_t{1}, PJRT_Buffer_Type_F32, nullptr,
                           memory)
                          .buffer);
  PJRT_Event* const event = CALL(Buffer_ReadyEvent, x.get()).event;
  const auto failure = TRY_CALL(Event_Error, event);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_ABORTED);
  EXPECT_EQ(failure->text, text);
  CALL(Event_Destroy, event);
}

TEST(Event, CallsBackWhenItHappens) {
  PJRT_Event* const event = CALL(Event_Create).event;
  struct Seen {
    PJRT_Event* event;
    int calls = 0;
    std::optional<Failure> failure;
  } seen{event, 0, {}};
  // The event may be destroyed from inside.
  const PJRT_Event_OnReadyCallback callback = [](PJRT_Error* error, void* user) {
    auto* to = static_cast<Seen*>(user);
    ++to->calls;
    to->failure = taken(error);
    CALL(Event_Destroy, to->event);
  };
  CALL(Event_OnReady, event, callback, static_cast<void*>(&seen));
  EXPECT_EQ(seen.calls, 0);
  const std::string text = "no";
  CALL(Event_Set, event, PJRT_Error_Code_INTERNAL, text.data(), text.size());
  EXPECT_EQ(seen.calls, 1);
  ASSERT_TRUE(seen.failure);
  EXPECT_EQ(seen.failure->text, "no");
}

// What buffers hold is counted, and peaks last until they are cleared.
TEST(Buffer, TakesMemoryThatIsCounted) {
  constexpr int64_t bytes = 1 << 20;
  const Client client;
  PJRT_Device* const device = client.devices()[0];
  const auto before = CALL(Device_MemoryStats, device);
  {
    const OwnedBuffer x = client.buffer(std::vector<float>(bytes / 4, 1), {bytes / 4});
    const auto held = CALL(Device_MemoryStats, device);
    EXPECT_EQ(held.bytes_in_use, before.bytes_in_use + bytes);
    EXPECT_EQ(held.num_allocs, before.num_allocs + 1);
    EXPECT_EQ(held.largest_alloc_size, bytes);
    EXPECT_TRUE(held.peak_bytes_in_use_is_set && held.num_allocs_is_set);
    EXPECT_FALSE(held.bytes_reserved_is_set);
  }
  const auto after = CALL(Device_MemoryStats, device);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.peak_bytes_in_use, before.bytes_in_use + bytes);
  EXPECT_EQ(after.pool_bytes, before.pool_bytes + bytes);
  CALL(Device_ClearMemoryStats, device);
  EXPECT_EQ(CALL(Device_MemoryStats, device).peak_bytes_in_use, before.bytes_in_use);
}

}  // namespace
}  // namespace hilo
