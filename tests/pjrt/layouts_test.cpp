// Arrays whose dimensions lie in another order than row by row: buffers from and to the host,
// views, arguments and results of programs.
#include "client.h"

namespace hilo {
namespace {

// By columns, as PJRT_Buffer_MemoryLayout has it.
struct ByColumns {
  int64_t order[2] = {0, 1};
  PJRT_Buffer_MemoryLayout layout{};

  ByColumns() {
    layout.struct_size = sizeof(layout);
    layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
    layout.tiled.struct_size = sizeof(layout.tiled);
    layout.tiled.minor_to_major = order;
    layout.tiled.minor_to_major_size = 2;
  }
};

// f32[2,3] of 1 to 6, row by row on the host.
OwnedBuffer buffer_by_columns(const Client& client) {
  static const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  const int64_t dims[] = {2, 3};
  ByColumns wanted;
  auto args = arguments<PJRT_Client_BufferFromHostBuffer_Args>(
      client.get(), numbers.data(), PJRT_Buffer_Type_F32, dims, size_t{2}, nullptr, size_t{0},
      PJRT_HostBufferSemantics_kImmutableOnlyDuringCall, client.devices()[0], nullptr,
      &wanted.layout);
  expect_well(plugin().PJRT_Client_BufferFromHostBuffer(&args));
  wait_and_destroy(args.done_with_host_buffer);
  return OwnedBuffer(args.buffer);
}

std::vector<int64_t> order_of(const OwnedBuffer& buffer) {
  const auto args = CALL(Buffer_GetMemoryLayout, buffer.get());
  const auto& tiled = args.layout.tiled;
  return {tiled.minor_to_major, tiled.minor_to_major + tiled.minor_to_major_size};
}
std::vector<int64_t> dims_of(const OwnedBuffer& buffer) {
  const auto args = CALL(Buffer_Dimensions, buffer.get());
  return {args.dims, args.dims + args.num_dims};
}

std::vector<float> rows_of(const OwnedBuffer& buffer) {
  ByColumns by_rows;
  by_rows.order[0] = 1, by_rows.order[1] = 0;
  std::vector<float> out(6);
  wait_and_destroy(
      CALL(Buffer_ToHostBuffer, buffer.get(), &by_rows.layout, out.data(), size_t{24}).event);
  return out;
}

const std::vector<float> by_rows = {1, 2, 3, 4, 5, 6}, by_columns = {1, 4, 2, 5, 3, 6};

TEST(Layouts, OfABuffer) {
  const Client client;
  const OwnedBuffer x = buffer_by_columns(client);
  EXPECT_EQ(order_of(x), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(dims_of(x), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values_of(x), by_columns);  // no layout asked for: as in memory
  EXPECT_EQ(rows_of(x), by_rows);
  const auto copy = CALL(Buffer_CopyToDevice, x.get(), client.devices()[0]);
  const OwnedBuffer y(copy.dst_buffer);
  EXPECT_EQ(order_of(y), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(rows_of(y), by_rows);
}

TEST(Layouts, OfAView) {
  const Client client;
  std::vector<float> numbers = by_columns;
  const int64_t dims[] = {2, 3};
  ByColumns wanted;
  const auto args = CALL(Client_CreateViewOfDeviceBuffer, client.get(), numbers.data(), dims,
                         size_t{2}, PJRT_Buffer_Type_F32, &wanted.layout, client.devices()[0]);
  const OwnedBuffer x(args.buffer);
  EXPECT_EQ(rows_of(x), by_rows);
}

TEST(Layouts, ThatDoNotFit) {
  const Client client;
  const float number = 1;
  const int64_t dims[] = {2, 3};
  ByColumns wrong;
  wrong.order[1] = 0;
  const auto failure =
      TRY_CALL(Client_BufferFromHostBuffer, client.get(), &number, PJRT_Buffer_Type_F32, dims,
               size_t{2}, nullptr, size_t{0}, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
               client.devices()[0], nullptr, &wrong.layout);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, PJRT_Error_Code_INVALID_ARGUMENT);
}

const std::string layout_program = R"(module @m {
  func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
      -> (tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"}, tensor<3x2xf32> {mhlo.layout_mode = "auto"},
          tensor<2x3xf32>) {
    %sum = stablehlo.add %x, %x : tensor<2x3xf32>
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %sum, %t, %x : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
  }
}
)";

// What lies otherwise than the program takes it is put in order for it.
TEST(Layouts, OfArgumentsAndResults) {
  const Client client;
  OwnedLoaded loaded;
  const auto failure = client.compile_code(layout_program, "mlir", loaded);
  ASSERT_FALSE(failure) << failure->text;
  const OwnedBuffer x = buffer_by_columns(client), plain = client.buffer(by_rows, {2, 3});
  for (const OwnedBuffer* argument : {&x, &plain}) {
    const auto results = run(loaded, {argument->get()});
    ASSERT_EQ(results.size(), 3);
    EXPECT_EQ(order_of(results[0]), (std::vector<int64_t>{0, 1}));
    EXPECT_EQ(values_of(results[0]), (std::vector<float>{2, 8, 4, 10, 6, 12}));
    EXPECT_EQ(order_of(results[1]), (std::vector<int64_t>{1, 0}));  // the bytes of x by columns
    EXPECT_EQ(dims_of(results[1]), (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(values_of(results[1]), by_columns);
    EXPECT_EQ(order_of(results[2]), (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(values_of(results[2]), by_rows);
  }
  const OwnedBuffer other = client.buffer(by_rows, {3, 2});
  std::vector<OwnedBuffer> none;
  const auto wrong = try_run(loaded, {other.get()}, none);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(wrong->text.find("f32[2,3]"), std::string::npos) << wrong->text;
}

}  // namespace
}  // namespace hilo
