// Callers of other versions, and calls that lack what they need: errors, never crashes.
#include <array>

#include "client.h"

namespace hilo {
namespace {

TEST(Callers, NameWhatTheyDoNotGive) {
  int refusals = 0;
#define FIELD(type, name)
#define REQUIRED(type, name) is_refused = true;
#define FUNCTION(function, fields)                                                     \
  {                                                                                    \
    bool is_refused = false;                                                           \
    fields auto args = arguments<PJRT_##function##_Args>();                            \
    for (size_t size : {sizeof(args), 2 * sizeof(void*)}) {                            \
      args.struct_size = size;                                                         \
      if (!is_refused) continue;                                                       \
      const auto failure = taken(plugin().PJRT_##function(&args));                     \
      ASSERT_TRUE(failure) << #function;                                               \
      EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT) << #function;         \
      EXPECT_TRUE(failure->text.starts_with("PJRT_" #function ": ")) << failure->text; \
      ++refusals;                                                                      \
    }                                                                                  \
  }
#define VOID_FUNCTION(function, fields)
#define ABSENT(function)
#include "pjrt/functions.def"
#undef FIELD
#undef REQUIRED
#undef FUNCTION
#undef VOID_FUNCTION
#undef ABSENT
  EXPECT_GT(refusals, 180);
  EXPECT_TRUE(taken(plugin().PJRT_Client_Devices(nullptr)));
}

TEST(Callers, MayDestroyNothing) {
  EXPECT_FALSE(TRY_CALL(Event_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(Client_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(Buffer_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(Executable_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(LoadedExecutable_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(TopologyDescription_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(ExecuteContext_Destroy, nullptr));
  EXPECT_FALSE(TRY_CALL(AsyncHostToDeviceTransferManager_Destroy, nullptr));
}

TEST(Callers, GiveNoListsWithoutAPlace) {
  const Client client;
  PJRT_Device* const device = client.devices()[0];
  const auto make = [&](const int64_t* dims, size_t rank) {
    return TRY_CALL(Client_CreateUninitializedBuffer, client.get(), dims, rank,
                    PJRT_Buffer_Type_F32, nullptr, device);
  };
  const int64_t dims[] = {2};
  EXPECT_TRUE(make(nullptr, 1));
  EXPECT_TRUE(make(dims, size_t{1} << 60));
  EXPECT_TRUE(TRY_CALL(Client_Create, nullptr, size_t{1}));
  EXPECT_TRUE(TRY_CALL(Client_DefaultDeviceAssignment, client.get(), 1, 1, size_t{1}, nullptr));
  const auto from_host = TRY_CALL(Client_BufferFromHostBuffer, client.get(), nullptr,
                                  PJRT_Buffer_Type_F32, dims, size_t{1}, nullptr, size_t{0},
                                  PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, device);
  ASSERT_TRUE(from_host);
  EXPECT_EQ(from_host->text, "data: the pointer to 8 elements is null");
  const OwnedBuffer x = client.buffer(std::array<float, 2>{1, 2}, {2});
  EXPECT_TRUE(TRY_CALL(Buffer_CopyRawToHost, x.get(), nullptr, int64_t{0}, int64_t{8}));
}

}  // namespace
}  // namespace hilo
