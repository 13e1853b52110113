#include <gtest/gtest.h>

#include "numpy.h"
#include "wire/wire.h"

namespace hilo {
namespace {

using namespace std::string_literals;

std::string file_of(std::string_view header, std::string_view data) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return out + std::string(header) + std::string(data);
}

Result<SafetensorsReader> open_bytes(std::string_view bytes) {
  return SafetensorsReader::from(ByteSource::memory(std::as_bytes(std::span(bytes))));
}

TEST(Safetensors, ReadsByTheFormat) {
  const std::string file = file_of(
      R"({"__metadata__":{"format":"pt"},"late":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},)"
      R"("early":{"dtype":"I32","shape":[],"data_offsets":[0,4]},)"
      R"("half":{"dtype":"F4","shape":[1,4],"data_offsets":[8,10]}}  )",
      "\x05\0\0\0\xc0\x3f\0\xc0\x21\x43"s);
  const auto reader = open_bytes(file);
  ASSERT_TRUE(reader) << to_string(reader.error());
  EXPECT_EQ(reader->names(), (std::vector<std::string>{"early", "late", "half"}));
  EXPECT_EQ(reader->read("early")->integer_at(0), 5);
  const auto late = reader->read("late");
  ASSERT_TRUE(late);
  EXPECT_EQ(late->type(), ElementType::BF16);
  EXPECT_EQ(late->number_at(0), 1.5);
  EXPECT_EQ(late->number_at(1), -2.0);
  const auto half = reader->read("half");  // codes 1 2 3 4 of f4e2m1fn
  ASSERT_TRUE(half) << to_string(half.error());
  EXPECT_EQ(half->shape(), Shape::array(ElementType::F4E2M1FN, {1, 4}));
  const double wanted[] = {0.5, 1.0, 1.5, 2.0};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(half->number_at(i), wanted[i]);
  EXPECT_EQ(reader->read("other").error().kind, ErrorKind::Input);
}

TEST(Safetensors, DamageIsAnError) {
  const auto kind = [](std::string_view header, std::string_view data = "") {
    const std::string file = file_of(header, data);
    const auto out = open_bytes(file);
    EXPECT_FALSE(out) << header;
    return out ? ErrorKind::Interrupted : out.error().kind;
  };
  EXPECT_EQ(kind("{"), ErrorKind::Format);
  EXPECT_EQ(kind("[]"), ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":[]})"), ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F32","shape":[1]}})"), ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", "abcd"),
            ErrorKind::Unsupported);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abc"),
            ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "abcd"),
            ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "abcd"),
            ErrorKind::Format);
  EXPECT_EQ(kind(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"),
            ErrorKind::Limit);
  EXPECT_EQ(kind(std::string(100'000, '[')), ErrorKind::Format);
  EXPECT_FALSE(open_bytes("\xff\xff\xff\xff\xff\xff\xff\xff"));
  EXPECT_FALSE(open_bytes("\x01"));
}

TEST(Safetensors, BothWays) {
  test::Folder folder;
  const float floats[] = {1, -2, 3};
  const NamedLiteral arrays[] = {
      {"w.0", Literal::from<float>({3, 1}, floats)},
      {"w.1", Literal::scalar(BF16(4.0f))},
      {"w.2", Literal::zeros(Shape::array(ElementType::F8E4M3FN, {0, 7}))},
      {"w.3", Literal::scalar(S4(-3))}};
  ASSERT_TRUE(write_safetensors(folder / "x.safetensors", arrays));
  const auto back = read_safetensors(folder / "x.safetensors");
  ASSERT_TRUE(back) << to_string(back.error());
  ASSERT_EQ(back->size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const auto literal = reinterpret_as(back->at(i).literal, arrays[i].literal.shape());
    ASSERT_TRUE(literal) << to_string(literal.error());
    EXPECT_EQ(back->at(i).name, arrays[i].name);
    EXPECT_TRUE(same_bits(*literal, arrays[i].literal)) << i;
  }
  const NamedLiteral twice[] = {arrays[0], arrays[0]};
  EXPECT_EQ(write_safetensors(folder / "y", twice).error().kind, ErrorKind::Name);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Safetensors, PythonReadsWhatWasWritten) {
  REQUIRE_PYTHON(python, "numpy");
  test::Folder folder;
  const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
  const NamedLiteral arrays[] = {{"\"a\"", Literal::from<int32_t>({2, 3}, numbers)},
                                 {"b", Literal::scalar(2.5)}};
  ASSERT_TRUE(write_safetensors(folder / "x.safetensors", arrays));
  test::expect_python(*python, folder, R"(
import json, numpy as np
f = open('x.safetensors', 'rb').read()
n = int.from_bytes(f[:8], 'little')
assert n % 8 == 0 and f[8:9] == b'{'
h, data = json.loads(f[8:8+n]), f[8+n:]
assert h == {'"a"': {'dtype': 'I32', 'shape': [2, 3], 'data_offsets': [0, 24]},
             'b': {'dtype': 'F64', 'shape': [], 'data_offsets': [24, 32]}}, h
assert np.frombuffer(data[:24], '<i4').tolist() == [1, 2, 3, 4, 5, 6]
assert np.frombuffer(data[24:], '<f8')[0] == 2.5
)");
}

}  // namespace
}  // namespace hilo
