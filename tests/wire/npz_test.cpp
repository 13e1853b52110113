#include <gtest/gtest.h>

#include "numpy.h"
#include "wire/wire.h"

namespace hilo {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

Result<Literal> read_bytes(std::string_view bytes, std::string_view name) {
  HILO_TRY(const NpzReader reader,
           NpzReader::from(ByteSource::memory(std::as_bytes(std::span(bytes)))));
  return reader.read(name);
}

// numpy.savez_compressed(f, a=numpy.arange(3, dtype='u1'))
const std::string deflated = from_hex(
    "504b03042d00000008000000210048ea66ecffffffffffffffff05001400612e6e7079010010008300000000000000"
    "47000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e06462600504b01022d032d0000000800000021"
    "0048ea66ec4700000083000000050000000000000000000000800100000000612e6e7079504b050600000000010001"
    "00330000007e0000000000");

TEST(Npz, DeflatedBytes) {
  const auto out = read_bytes(deflated, "a");
  ASSERT_TRUE(out) << to_string(out.error());
  EXPECT_EQ(out->shape(), Shape::array(ElementType::U8, {3}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out->integer_at(i), i);
}

TEST(Npz, DamageIsAnError) {
  for (size_t size = 0; size < deflated.size(); ++size)
    EXPECT_FALSE(read_bytes(deflated.substr(0, size), "a")) << size;
  EXPECT_EQ(read_bytes(deflated, "b").error().kind, ErrorKind::Input);
  for (size_t i = 0; i < deflated.size(); ++i) {
    std::string changed = deflated;
    changed[i] ^= 0x55;
    const auto out = read_bytes(changed, "a");  // may be fine: dates, flags
    EXPECT_EQ(out ? out->count() : 3, 3) << i;
  }
  std::string wrong_sum = deflated;
  wrong_sum[wrong_sum.size() - 22 - 0x33 + 16] ^= 1;
  EXPECT_EQ(read_bytes(wrong_sum, "a").error().kind, ErrorKind::Format);
}

TEST(Npz, ManyArraysBothWays) {
  test::Folder folder;
  for (bool deflate : {false, true}) {
    std::vector<NamedLiteral> arrays;
    std::vector<float> numbers(300'000);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 1000) * 0.5f;
    arrays.push_back({"in_0", Literal::from<float>({300, 1000}, numbers)});
    arrays.push_back({"in_1_dev3", Literal::scalar(BF16(-2.0f))});
    arrays.push_back({"", Literal::zeros(Shape::array(ElementType::Pred, {0}))});
    ASSERT_TRUE(write_npz(folder / "x.npz", arrays, deflate));
    const auto back = read_npz(folder / "x.npz");
    ASSERT_TRUE(back) << to_string(back.error());
    ASSERT_EQ(back->size(), 3u);
    EXPECT_TRUE(same_bits((*back)[0].literal, arrays[0].literal));
    EXPECT_EQ((*back)[1].name, "in_1_dev3");
    EXPECT_TRUE(same_bits(*reinterpret_as((*back)[1].literal, Shape::scalar(ElementType::BF16)),
                          arrays[1].literal));
    EXPECT_EQ((*back)[2].literal.shape(), Shape::array(ElementType::Pred, {0}));
  }
}

TEST(Npz, FailedSaveLeavesTheOldFile) {
  test::Folder folder;
  const std::string path = folder / "x.npz";
  const NamedLiteral good[] = {{"a", Literal::scalar(1.0f)}};
  ASSERT_TRUE(write_npz(path, good));
  const NamedLiteral bad[] = {{"a", Literal::scalar(2.0f)}, {"b", Literal::token()}};
  EXPECT_EQ(write_npz(path, bad).error().kind, ErrorKind::Usage);
  EXPECT_EQ(folder.count(), 1u);
  EXPECT_EQ(read_npz(path)->at(0).literal.number_at(0), 1.0);
  EXPECT_EQ(write_npz(folder / "no/such.npz", good).error().kind, ErrorKind::Io);
}

TEST(Npz, NumpyReadsWhatWasWritten) {
  REQUIRE_PYTHON(python, "numpy");
  test::Folder folder;
  std::vector<double> numbers(100'000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const NamedLiteral arrays[] = {{"out_0", Literal::from<double>({100, 1000}, numbers)},
                                 {"\xc3\xa9", Literal::scalar(uint8_t{200})}};
  ASSERT_TRUE(write_npz(folder / "stored.npz", arrays));
  ASSERT_TRUE(write_npz(folder / "deflated.npz", arrays, true));
  test::expect_python(*python, folder, R"(
import numpy as np, zipfile
for name in ['stored', 'deflated']:
  assert zipfile.ZipFile(name + '.npz').testzip() is None
  f = np.load(name + '.npz')
  assert f.files == ['out_0', '\u00e9'], f.files
  assert (f['out_0'] == np.arange(100000).reshape(100, 1000)).all() and f['\u00e9'] == 200
)");
}

TEST(Npz, ReadsWhatNumpyWrites) {
  REQUIRE_PYTHON(python, "numpy");
  test::Folder folder;
  test::expect_python(*python, folder, R"(
import io, numpy as np, zipfile
x = np.arange(100000, dtype='i4').reshape(10, 10000)
np.savez('stored.npz', x=x, y=np.float16(3))
np.savez_compressed('deflated.npz', x=x, y=np.float16(3))
class Pipe(io.RawIOBase):  # not seekable: sizes go to data descriptors
  def __init__(self): self.f = open('piped.npz', 'wb')
  def writable(self): return True
  def write(self, b): return self.f.write(b)
p = Pipe()
with zipfile.ZipFile(p, 'w', zipfile.ZIP_DEFLATED) as z:
  z.comment = b'PK\5\6 a comment'
  for name, value in [('x', x), ('y', np.float16(3))]:
    with z.open(name + '.npy', 'w', force_zip64=True) as f: np.save(f, value)
  z.writestr('notes.txt', 'no array')
p.f.close()
)");
  for (const char* file : {"stored.npz", "deflated.npz", "piped.npz"}) {
    const auto reader = NpzReader::open(folder / file);
    ASSERT_TRUE(reader) << file << to_string(reader.error());
    EXPECT_EQ(reader->names(), (std::vector<std::string>{"x", "y"})) << file;
    EXPECT_TRUE(reader->contains("x") && !reader->contains("notes"));
    const auto x = reader->read("x");
    ASSERT_TRUE(x) << file << to_string(x.error());
    EXPECT_EQ(x->shape(), Shape::array(ElementType::S32, {10, 10000}));
    for (int i = 0; i < 100000; i += 777) EXPECT_EQ(x->integer_at(i), i);
    EXPECT_EQ(reader->read("y")->number_at(0), 3.0);
  }
}

}  // namespace
}  // namespace hilo
