#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "shape/shape.h"

namespace hilo {
namespace {

Literal iota(int64_t count) {
  std::vector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return Literal::from<int32_t>({count}, values);
}

TEST(Literal, HoldsValuesInRowMajorOrder) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const Literal literal = Literal::from<float>({2, 3}, values);
  EXPECT_EQ(literal.count(), 6);
  EXPECT_EQ(literal.data<float>()[4], 5);
  EXPECT_EQ(literal.raw().size(), 24u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(literal.raw().data()) % 64, 0u);
  EXPECT_EQ(Literal::scalar(true).data<bool>()[0], true);
  EXPECT_FALSE(Literal().has_value());
}

TEST(Literal, CopiesShareUntilWritten) {
  Literal first = iota(4);
  EXPECT_TRUE(first.is_unique());
  Literal second = first;
  EXPECT_FALSE(first.is_unique());
  EXPECT_EQ(first.raw().data(), second.raw().data());
  second.mutable_data<int32_t>()[0] = 9;
  EXPECT_EQ(first.data<int32_t>()[0], 0);
  EXPECT_EQ(second.data<int32_t>()[0], 9);
  const std::byte* where = second.raw().data();
  second.mutable_raw()[0] = std::byte{7};
  EXPECT_EQ(second.raw().data(), where);  // alone: written in place
  EXPECT_EQ(second.data<int32_t>()[0], 7);
}

TEST(Literal, ViewShowsForeignStorage) {
  Bytes bytes = allocate_bytes(16);
  Literal view = Literal::view(Shape::array(ElementType::S32, {4}), bytes);
  reinterpret_cast<int32_t*>(bytes.get())[2] = 42;
  EXPECT_EQ(view.data<int32_t>()[2], 42);
  view.mutable_data<int32_t>()[2] = 1;  // shared with `bytes`: copied first
  EXPECT_EQ(reinterpret_cast<int32_t*>(bytes.get())[2], 42);
}

TEST(Literal, UninitializedAsksTheAllocatorForEachLeaf) {
  std::vector<int64_t> asked;
  const Shape f = Shape::array(ElementType::F64, {3});
  const Shape shape = Shape::tuple({f, Shape::tuple({Shape::array(ElementType::S4, {5})})});
  const Literal literal = Literal::uninitialized(shape, [&](int64_t bytes) {
    asked.push_back(bytes);
    return allocate_bytes(bytes);
  });
  EXPECT_EQ(asked, (std::vector<int64_t>{24, 5}));
  EXPECT_EQ(literal.elements()[1].elements()[0].count(), 5);
}

TEST(Literal, DynamicSizesStandBesideTheBound) {
  Shape shape = Shape::array(ElementType::S32, {4});
  shape.dynamic = {true};
  Literal literal = iota(4).with_shape(shape);
  EXPECT_EQ(literal.size(0), 4);
  EXPECT_TRUE(literal.dynamic_sizes().empty());
  literal.set_size(0, 2);
  EXPECT_EQ(literal.size(0), 2);
  EXPECT_EQ(literal.count(), 4);
  EXPECT_FALSE(same_bits(literal, iota(4).with_shape(shape)));
  EXPECT_EQ(literal.with_shape(shape).size(0), 2);
}

TEST(Literal, SameBitsTellsZerosAndNansApart) {
  EXPECT_TRUE(same_bits(Literal::scalar(1.5f), Literal::scalar(1.5f)));
  EXPECT_FALSE(same_bits(Literal::scalar(0.0f), Literal::scalar(-0.0f)));
  EXPECT_FALSE(same_bits(Literal::scalar(1.0f), Literal::scalar(1.0)));
  const float nan = std::nanf(""), payload = std::nanf("5");
  EXPECT_TRUE(same_bits(Literal::scalar(nan), Literal::scalar(nan)));
  EXPECT_FALSE(same_bits(Literal::scalar(nan), Literal::scalar(payload)));
  const Literal one = Literal::tuple({iota(3), Literal::token()});
  EXPECT_TRUE(same_bits(one, Literal::tuple({iota(3), Literal::token()})));
  EXPECT_FALSE(same_bits(one, Literal::tuple({iota(3)})));
  EXPECT_TRUE(same_bits(Literal::zeros(one.shape()), Literal::zeros(one.shape())));
}

TEST(Literal, SameBitsLooksPastLayouts) {
  Shape column = Shape::array(ElementType::S32, {2, 2});
  column.layout.minor_to_major = {0, 1};
  const Literal row = iota(4).with_shape(Shape::array(ElementType::S32, {2, 2}));
  EXPECT_TRUE(same_bits(row, iota(4).with_shape(column)));
}

TEST(Literal, NumbersOfAnyType) {
  EXPECT_EQ(Literal::scalar(BF16(1.5)).number_at(0), 1.5);
  EXPECT_EQ(Literal::scalar(F8E4M3FN(448.0)).number_at(0), 448);
  EXPECT_EQ(Literal::scalar(std::complex<float>(2, 3)).number_at(0), 2);
  EXPECT_EQ(Literal::scalar(int64_t{INT64_MIN}).integer_at(0), INT64_MIN);
  EXPECT_EQ(Literal::scalar(uint64_t{UINT64_MAX}).integer_at(0), -1);
  EXPECT_EQ(Literal::scalar(S4(-8)).integer_at(0), -8);
  EXPECT_EQ(Literal::scalar(true).integer_at(0), 1);
}

TEST(Literal, LeavesInOrder) {
  int leaves = 0;
  for_each_leaf(Literal::tuple({iota(1), Literal::tuple({iota(2), iota(3)})}),
                [&](const Literal& leaf) { EXPECT_EQ(leaf.count(), ++leaves); });
  EXPECT_EQ(leaves, 3);
}

TEST(LiteralDeathTest, WrongStorageTypeIsOurMistake) {
  EXPECT_DEATH(iota(2).data<float>(), "wrong type");
  EXPECT_DEATH(iota(2).with_shape(Shape::array(ElementType::S32, {3})), "another size");
  const float five[] = {1, 2, 3, 4, 5};
  EXPECT_DEATH(Literal::from<float>({2, 3}, five), "f32.2,3. has 6 elements, 5 values were given");
  EXPECT_DEATH(Literal::from<float>({2, 2}, five), "4 elements, 5 values");
  EXPECT_DEATH(Literal::zeros(Shape::array(ElementType::F32, {-5})), "negative");
}

TEST(Literal, FaultsOfGivenValues) {
  const Shape four = Shape::array(ElementType::S32, {4});
  EXPECT_EQ(literal_fault(iota(4), four), "");
  EXPECT_EQ(literal_fault(iota(3), four), "s32[3]");
  EXPECT_EQ(literal_fault(Literal(), four), "nothing");
  EXPECT_EQ(literal_fault(Literal::tuple({iota(4)}), Shape::tuple({four})), "");
  Literal pair = Literal::tuple({iota(4), iota(4)});
  pair.mutable_elements().pop_back();
  EXPECT_EQ(literal_fault(pair, Shape::tuple({four, four})), "a tuple of 1 elements");
}

TEST(Literal, MemoryThatIsNotThere) {
  EXPECT_THROW(Literal::zeros(Shape::array(ElementType::F32, {int64_t{1} << 60})), OutOfMemory);
  EXPECT_THROW(
      Literal::uninitialized(Shape::array(ElementType::F32, {4}), [](int64_t) { return Bytes(); }),
      OutOfMemory);
}

}  // namespace
}  // namespace hilo
