// Callers of other versions, and calls that lack what they need: errors, never crashes.
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "client.h"

namespace hilo {
namespace {

const std::string sum_over_replicas = R"(HloModule sum, replica_count=2
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=sum }
)";
const std::string add_one = R"(HloModule add_one
ENTRY e {
  x = f32[2] parameter(0)
  one = f32[] constant(1)
  ones = f32[2] broadcast(one), dimensions={}
  ROOT r = f32[2] add(x, ones)
}
)";
// CompileOptionsProto: executable_build_options { num_replicas num_partitions }.
std::string counts(uint64_t replicas, uint64_t partitions) {
  const auto varint = [](uint64_t value) {
    std::string out;
    for (; value > 127; value >>= 7) out += static_cast<char>(value | 128);
    return out + static_cast<char>(value);
  };
  const std::string build = "\x20" + varint(replicas) + "\x28" + varint(partitions);
  return std::string{0x1a, static_cast<char>(build.size())} + build;
}

// A copy of the first bytes of a struct, behind which nothing may be read or written.
template <class Struct>
class Shorter {
 public:
  Shorter(const Struct& whole, size_t size) : pages_(map()) {
    protect(PROT_NONE);
    at_ = static_cast<std::byte*>(pages_) + page - size;
    std::memcpy(at_, &whole, size);
    std::memcpy(at_, &size, sizeof(size));  // struct_size
  }
  ~Shorter() { munmap(pages_, 2 * page); }
  Shorter(const Shorter&) = delete;
  Shorter& operator=(const Shorter&) = delete;
  Struct* get() const { return reinterpret_cast<Struct*>(at_); }

 private:
  static constexpr size_t page = 4096;
  static void* map() {
    return mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void protect(int how) { mprotect(static_cast<std::byte*>(pages_) + page, page, how); }

  void* pages_;
  std::byte* at_;
};

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

TEST(Callers, GiveArgumentsThatAreThere) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(add_one);
  std::vector<OwnedBuffer> none;
  auto failure = try_run(loaded, {nullptr}, none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "argument 0 for device 0 is null");
  const OwnedBuffer other = client.buffer(std::array<float, 2>{1, 2}, {2}, 1);
  failure = try_run(loaded, {other.get()}, none);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "argument 0 for device 0 is on device 1");
  const auto no_lists = TRY_CALL(LoadedExecutable_Execute, loaded.get(), nullptr, nullptr,
                                 size_t{1}, size_t{1}, nullptr);
  ASSERT_TRUE(no_lists);
  EXPECT_EQ(no_lists->text, "argument_lists: the pointer to 1 elements is null");
}

// Slices of some languages are never at null.
TEST(Callers, SeeEmptyListsSomewhere) {
  const Client client;
  PJRT_Device* const device = client.devices()[0];
  PJRT_DeviceDescription* const description =
      CALL(Device_GetDescription, device).device_description;
  EXPECT_TRUE(CALL(DeviceDescription_Attributes, description).attributes);
  EXPECT_TRUE(CALL(Device_GetAttributes, device).attributes);
  const OwnedBuffer scalar = client.buffer(std::array<float, 1>{1}, {});
  EXPECT_TRUE(CALL(Buffer_Dimensions, scalar.get()).dims);
  EXPECT_TRUE(CALL(Buffer_UnpaddedDimensions, scalar.get()).unpadded_dims);
  EXPECT_TRUE(CALL(Buffer_DynamicDimensionIndices, scalar.get()).dynamic_dim_indices);
  EXPECT_TRUE(CALL(Buffer_GetMemoryLayout, scalar.get()).layout.tiled.minor_to_major);
  const OwnedLoaded empty = client.compile("HloModule n\nENTRY e {\n  ROOT t = () tuple()\n}\n");
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, empty.get()).executable;
  EXPECT_TRUE(CALL(Executable_OutputElementTypes, executable).output_types);
  EXPECT_TRUE(CALL(Executable_OutputDimensions, executable).dims);
  EXPECT_TRUE(CALL(Executable_OutputMemoryKinds, executable).memory_kinds);
  CALL(Executable_Destroy, executable);
}

TEST(Callers, MayKnowFewerOptions) {
  const Client client(2);
  const OwnedLoaded loaded = client.compile(sum_over_replicas, counts(2, 1));
  const OwnedBuffer x = client.buffer(std::array<float, 2>{1, 2}, {2}, 0),
                    y = client.buffer(std::array<float, 2>{3, 4}, {2}, 1);
  const Shorter<PJRT_ExecuteOptions> options({}, offsetof(PJRT_ExecuteOptions, context));
  PJRT_Buffer* const arguments_of_all[] = {x.get(), y.get()};
  PJRT_Buffer* const* const argument_lists[] = {arguments_of_all, arguments_of_all + 1};
  PJRT_Buffer* results[2] = {};
  PJRT_Buffer** const output_lists[] = {results, results + 1};
  CALL(LoadedExecutable_Execute, loaded.get(), options.get(), argument_lists, size_t{2}, size_t{1},
       output_lists);
  for (PJRT_Buffer* result : results)
    EXPECT_EQ(values_of(OwnedBuffer(result)), (std::vector<float>{4, 6}));
}

TEST(Callers, HaveNoBillionsOfDevices) {
  const Client client;
  OwnedLoaded none;
  const auto failure = client.try_compile(add_one, none, counts(1 << 16, 1 << 16));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "compile options: 65536 replicas of 65536 partitions");
}

TEST(Callers, HearWhereAProgramIsWrong) {
  const Client client;
  OwnedLoaded none;
  const auto failure =
      client.compile_code("module @m {\n  func.func public @main( }\n}", "mlir", none);
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->text.starts_with("2:")) << failure->text;
}

}  // namespace
}  // namespace hilo
