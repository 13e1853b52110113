#include <gtest/gtest.h>

#include "numpy.h"
#include "wire/wire.h"

namespace hilo {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A .npy file by the words of NumPy Enhancement Proposal 1.
std::string npy(std::string header, std::string_view data, int version = 1) {
  header += "\n";
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + header + std::string(data);
}

std::string described(std::string_view descr, std::string_view shape, std::string_view data) {
  return npy(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape),
             data);
}

template <class T>
std::vector<T> values(const Literal& literal) {
  const auto data = literal.data<T>();
  return {data.begin(), data.end()};
}

ErrorKind kind_of_error(const std::string& file) {
  const auto out = read_npy(bytes_of(file));
  EXPECT_FALSE(out.has_value());
  return out ? ErrorKind::Interrupted : out.error().kind;
}

// numpy.save(f, numpy.asfortranarray(numpy.array([[1, 2, 3], [4, 5, 6]], '>i2')))
const std::string fortran_big =
    "\x93NUMPY\x01\x00v\x00"s + "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }" +
    std::string(59, ' ') + "\n\x00\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\x06"s;

TEST(Npy, FortranOrderAndBigEndian) {
  const auto out = read_npy(bytes_of(fortran_big));
  ASSERT_TRUE(out) << to_string(out.error());
  EXPECT_EQ(to_string_without_layout(out->shape()), "s16[2,3]");
  EXPECT_EQ(values<int16_t>(*out), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ScalarsEmptiesAndVersions) {
  const auto scalar = read_npy(bytes_of(described("<f4", "()", "\x00\x00\x20\x40"sv)));
  ASSERT_TRUE(scalar) << to_string(scalar.error());
  EXPECT_EQ(scalar->shape(), Shape::scalar(ElementType::F32));
  EXPECT_EQ(values<float>(*scalar), std::vector<float>{2.5f});
  const auto empty = read_npy(bytes_of(described("<i8", "(1152921504606846976, 16, 0)", "")));
  ASSERT_TRUE(empty) << to_string(empty.error());
  EXPECT_EQ(empty->count(), 0);
  for (int version : {2, 3}) {
    const std::string header = "{'shape': (2L,), 'fortran_order': False, \"descr\": '|u1'}";
    const auto out = read_npy(bytes_of(npy(header, "\x07\x09", version)));
    ASSERT_TRUE(out) << to_string(out.error());
    EXPECT_EQ(values<uint8_t>(*out), (std::vector<uint8_t>{7, 9}));
  }
}

TEST(Npy, BigEndianComplexSwapsHalves) {
  const auto out = read_npy(bytes_of(described(">c8", "(1,)", "\x3f\x80\0\0\x40\0\0\0"sv)));
  ASSERT_TRUE(out) << to_string(out.error());
  EXPECT_EQ(out->data<std::complex<float>>()[0], std::complex<float>(1, 2));
}

TEST(Npy, BooleansAreZeroOrOne) {
  const auto out = read_npy(bytes_of(described("|b1", "(3,)", "\x00\x01\xff"sv)));
  ASSERT_TRUE(out);
  EXPECT_EQ(static_cast<int>(out->raw()[2]), 1);
}

TEST(Npy, TypesOfMlDtypes) {
  for (const char* descr : {"<V2", "|V2", "bfloat16"}) {
    const auto out = read_npy(bytes_of(described(descr, "(1,)", "\xc0\x3f"sv)));
    ASSERT_TRUE(out) << descr;
    EXPECT_EQ(out->type(), ElementType::BF16);
    EXPECT_EQ(out->number_at(0), 1.5);
  }
  const auto out = read_npy(bytes_of(described("<V1", "(1,)", "\x38")));
  ASSERT_TRUE(out);
  const auto f8 = reinterpret_as(*out, Shape::array(ElementType::F8E4M3FN, {1}));
  ASSERT_TRUE(f8) << to_string(f8.error());
  EXPECT_EQ(f8->number_at(0), 1.0);
}

TEST(Npy, ReinterpretsOnlyRawBits) {
  const uint16_t bits[] = {0x3fc0};
  const Literal raw = Literal::from<uint16_t>({1}, bits);
  EXPECT_EQ(reinterpret_as(raw, Shape::array(ElementType::BF16, {1}))->number_at(0), 1.5);
  EXPECT_EQ(reinterpret_as(raw, Shape::array(ElementType::U16, {1}))->integer_at(0), 0x3fc0);
  for (const Shape& other :
       {Shape::array(ElementType::BF16, {1, 1}), Shape::array(ElementType::F16, {1}),
        Shape::array(ElementType::S16, {1}), Shape::array(ElementType::F8E5M2, {1}),
        Shape::token()})
    EXPECT_EQ(reinterpret_as(raw, other).error().kind, ErrorKind::Input) << to_string(other);
  const float number[] = {1};
  EXPECT_FALSE(
      reinterpret_as(Literal::from<float>({1}, number), Shape::array(ElementType::S32, {1})));
}

TEST(Npy, NarrowIntegersZeroOrSignExtended) {
  const uint8_t bits[] = {7, 8, 15, 0xf8, 0xff};
  const auto s4 =
      reinterpret_as(Literal::from<uint8_t>({5}, bits), Shape::array(ElementType::S4, {5}));
  ASSERT_TRUE(s4) << to_string(s4.error());
  std::vector<int64_t> numbers;
  for (int i = 0; i < 5; ++i) numbers.push_back(s4->integer_at(i));
  EXPECT_EQ(numbers, (std::vector<int64_t>{7, -8, -1, -8, -1}));
  const uint8_t wide[] = {16};
  const Literal too_wide = Literal::from<uint8_t>({1}, wide);
  EXPECT_EQ(reinterpret_as(too_wide, Shape::array(ElementType::S4, {1})).error().kind,
            ErrorKind::Input);
  EXPECT_EQ(reinterpret_as(too_wide, Shape::array(ElementType::U4, {1})).error().kind,
            ErrorKind::Input);
}

TEST(Npy, DamageIsAnError) {
  for (size_t size = 0; size < fortran_big.size(); ++size)
    EXPECT_FALSE(read_npy(bytes_of(fortran_big.substr(0, size)))) << size;
  EXPECT_EQ(kind_of_error("\x93NUMPX\1\0\0\0\0\0"s), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(npy("{}", "")), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(npy("{'descr': '<f4', 'descr': '<f4'}", "")), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(described("<f4", "(-1,)", "")), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(described("<f4", "(99999999999999999999,)", "")), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(described("<f4", "(4611686018427387904, 4)", "")), ErrorKind::Limit);
  EXPECT_EQ(kind_of_error(described("<f4", "(1000000000000,)", "")), ErrorKind::Format);
  EXPECT_EQ(kind_of_error(described("|O", "(1,)", "x")), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of_error(npy("{'descr': [('a', '<f4')]}", "")), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of_error(npy("{}", "", 9)), ErrorKind::Unsupported);
  EXPECT_EQ(read_npy("/nowhere/at/all.npy").error().kind, ErrorKind::Io);
}

TEST(Npy, TuplesAreNotArrays) {
  test::Folder folder;
  EXPECT_EQ(write_npy(folder / "x.npy", Literal::token()).error().kind, ErrorKind::Usage);
  EXPECT_EQ(folder.count(), 0u) << "a failed save left a file";
}

TEST(Npy, NumpyReadsWhatWasWritten) {
  REQUIRE_PYTHON(python, "numpy");
  test::Folder folder;
  const float floats[] = {1, 2, 3, 4, 5, -0.5f};
  ASSERT_TRUE(write_npy(folder / "a.npy", Literal::from<float>({2, 3}, floats)));
  ASSERT_TRUE(write_npy(folder / "b.npy", Literal::scalar(int64_t{-7})));
  ASSERT_TRUE(write_npy(folder / "c.npy", Literal::zeros(Shape::array(ElementType::C128, {0, 4}))));
  ASSERT_TRUE(write_npy(folder / "d.npy", Literal::scalar(BF16(1.5f))));
  const bool flags[] = {true, false};
  ASSERT_TRUE(write_npy(folder / "e.npy", Literal::from<bool>({2}, flags)));
  const S4 small[] = {S4(-8), S4(7)};
  ASSERT_TRUE(write_npy(folder / "f.npy", Literal::from<S4>({2}, small)));
  test::expect_python(*python, folder, R"(
import numpy as np
a = np.load('a.npy'); assert a.dtype == 'f4' and a.tolist() == [[1, 2, 3], [4, 5, -0.5]]
b = np.load('b.npy'); assert b.dtype == 'i8' and b.shape == () and b == -7
c = np.load('c.npy'); assert c.dtype == 'c16' and c.shape == (0, 4)
d = np.load('d.npy'); assert d.dtype == 'u2' and d == 0x3fc0
e = np.load('e.npy'); assert e.dtype == '?' and e.tolist() == [True, False]
f = np.load('f.npy'); assert f.dtype == 'i1' and f.tolist() == [-8, 7]
)");
}

TEST(Npy, ReadsWhatNumpyWrites) {
  REQUIRE_PYTHON(python, "numpy");
  test::Folder folder;
  test::expect_python(*python, folder, R"(
import numpy as np
for i, t in enumerate('? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16'.split()):
  for order in '<>':
    for layout in 'CF':
      x = (np.arange(24).reshape(2, 3, 4) % (2 if t == '?' else 100)).astype(t)
      x = np.array(x.astype(x.dtype.newbyteorder(order)), order=layout)
      np.save(f'{i}_{"<>".index(order)}_{layout}.npy', x)
)");
  constexpr ElementType types[] = {
      ElementType::Pred, ElementType::S8,  ElementType::S16, ElementType::S32, ElementType::S64,
      ElementType::U8,   ElementType::U16, ElementType::U32, ElementType::U64, ElementType::F16,
      ElementType::F32,  ElementType::F64, ElementType::C64, ElementType::C128};
  for (int i = 0; i < 14; ++i)
    for (int order : {0, 1})
      for (char layout : {'C', 'F'}) {
        const std::string name = fmt::format("{}_{}_{}.npy", i, order, layout);
        const auto out = read_npy(folder / name);
        ASSERT_TRUE(out) << name << to_string(out.error());
        EXPECT_EQ(out->shape(), Shape::array(types[i], {2, 3, 4})) << name;
        for (int k = 0; k < 24; ++k) EXPECT_EQ(out->number_at(k), i == 0 ? k % 2 : k) << name;
      }
}

}  // namespace
}  // namespace hilo
