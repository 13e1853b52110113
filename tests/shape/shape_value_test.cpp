#include <gtest/gtest.h>

#include <set>

#include "shape/shape.h"

namespace hilo {
namespace {

Shape tiled(ElementType type, Dims dims, Dims minor_to_major, std::vector<Tile> tiles) {
  Shape out = Shape::array(type, std::move(dims));
  out.layout.minor_to_major = std::move(minor_to_major);
  out.layout.tiles = std::move(tiles);
  return out;
}

TEST(ShapeText, Arrays) {
  EXPECT_EQ(to_string(Shape::scalar(ElementType::F32)), "f32[]");
  EXPECT_EQ(to_string(Shape::array(ElementType::BF16, {4, 8})), "bf16[4,8]{1,0}");
  EXPECT_EQ(to_string_without_layout(Shape::array(ElementType::BF16, {4, 8})), "bf16[4,8]");
  Shape dynamic = Shape::array(ElementType::S32, {4, Shape::unbounded});
  dynamic.dynamic = {true, true};
  EXPECT_EQ(to_string_without_layout(dynamic), "s32[<=4,?]");
  Shape bare = Shape::array(ElementType::Pred, {2});
  bare.has_layout = false;
  EXPECT_EQ(to_string(bare), "pred[2]");
}

TEST(ShapeText, LayoutSuffixesStandInXlasOrder) {
  Shape shape = tiled(ElementType::S4, {4, 8}, {0, 1}, {{{8, 128}}, {{Tile::combine, 2}}});
  Layout& layout = shape.layout;
  layout.tail_padding_alignment = 16;
  layout.index_type = layout.pointer_type = ElementType::U32;
  layout.element_size_bits = 4;
  layout.memory_space = 5;
  layout.split_configs = {{1, {4, 6}}};
  layout.dynamic_shape_metadata_prefix_bytes = 64;
  EXPECT_EQ(to_string(shape), "s4[4,8]{0,1:T(8,128)(*,2)L(16)#(u32)*(u32)E(4)S(5)SC(1:4,6)M(64)}");
  Shape scalar = Shape::scalar(ElementType::U32);
  scalar.layout.memory_space = 2;
  EXPECT_EQ(to_string(scalar), "u32[]{:S(2)}");
}

TEST(ShapeText, Tuples) {
  EXPECT_EQ(to_string(Shape::tuple({})), "()");
  const Shape f = Shape::scalar(ElementType::F32);
  EXPECT_EQ(to_string(Shape::tuple({f, Shape::token(), f, f, f, f})),
            "(f32[], token[], f32[], f32[], f32[], /*index=5*/f32[])");
}

// Sizes seen in XLA's own dumps of TPU programs.
TEST(Sizes, TiledBytes) {
  EXPECT_EQ(padded_bytes(tiled(ElementType::Pred, {32, 513}, {0, 1}, {{{8, 128}}, {{4, 1}}})),
            66560);
  EXPECT_EQ(padded_bytes(tiled(ElementType::BF16, {}, {}, {{{256}}})), 512);
  Shape flag = Shape::scalar(ElementType::U32);
  flag.layout.memory_space = 2;
  EXPECT_EQ(padded_bytes(flag), 4);
  EXPECT_EQ(padded_bytes(tiled(ElementType::F32, {8, 9}, {1, 0}, {{{8, 128}}})), 4096);
  EXPECT_EQ(padded_bytes(tiled(ElementType::F32, {8, 8}, {1, 0}, {{{8, 128}}})), 4096);
  EXPECT_EQ(padded_bytes(tiled(ElementType::F32, {8, 1000}, {1, 0}, {{{8, 128}}})), 8 * 1024 * 4);
}

// Between cores: a memory of each holds one share.
TEST(Sizes, LargestShareOfSplitArrays) {
  Shape shape = tiled(ElementType::F32, {24, 100}, {1, 0}, {{{8, 128}}});
  EXPECT_EQ(padded_bytes(shape), 3 * 4096);
  shape.layout.split_configs = {{0, {16}}};
  EXPECT_EQ(padded_bytes(shape), 2 * 4096);
  shape.layout.split_configs = {{0, {8, 9}}};
  EXPECT_EQ(padded_bytes(shape), 2 * 4096);
  EXPECT_EQ(shape.dims[0], 24);
}

TEST(Sizes, SubByteElementsPackOnlyByLayout) {
  Shape shape = Shape::array(ElementType::S4, {8, 129});
  EXPECT_EQ(padded_bytes(shape), 8 * 129);
  shape.layout.element_size_bits = 4;
  EXPECT_EQ(padded_bytes(shape), 8 * 129 / 2);
  EXPECT_EQ(unpadded_bytes(shape), 8 * 129 / 2);
  EXPECT_EQ(literal_bytes(shape), 8 * 129);
  shape.layout.tail_padding_alignment = 1000;
  EXPECT_EQ(physical_count(shape), 2000);
}

TEST(Sizes, TuplesAndSaturation) {
  const Shape f = Shape::array(ElementType::F32, {3});
  const Shape nested = Shape::tuple({f, Shape::tuple({f, Shape::token()}), Shape::tuple({})});
  EXPECT_EQ(unpadded_bytes(nested), 24);
  EXPECT_EQ(unpadded_bytes(nested, 4), 12);
  EXPECT_EQ(literal_bytes(nested), 24);
  EXPECT_EQ(leaf_count(nested), 3);
  std::vector<Dims> places;
  for_each_leaf(nested, [&](const Shape&, std::span<const int64_t> index) {
    places.emplace_back(index.begin(), index.end());
  });
  EXPECT_EQ(places, (std::vector<Dims>{{0}, {1, 0}, {1, 1}}));
  const Shape huge = Shape::array(ElementType::F64, {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(element_count(huge), INT64_MAX);
  EXPECT_EQ(literal_bytes(huge), INT64_MAX);
  EXPECT_EQ(physical_count(huge), INT64_MAX);
  EXPECT_EQ(element_count(Shape::array(ElementType::F64, {int64_t{1} << 62, 0, 9})), 0);
}

int64_t position(const Shape& shape, const Dims& index) { return physical_position(shape, index); }

// Every index has its own place inside the padded array.
void expect_injective(const Shape& shape) {
  std::set<int64_t> places;
  Dims index(shape.dims.size());
  do {
    const int64_t place = position(shape, index);
    EXPECT_GE(place, 0);
    EXPECT_LT(place, physical_count(shape));
    EXPECT_TRUE(places.insert(place).second) << to_string(shape) << " at " << place;
  } while (next_index(index, shape.dims));
}

TEST(Position, DimensionOrder) {
  const Shape row = Shape::array(ElementType::F32, {3, 5});
  EXPECT_EQ(position(row, {2, 3}), 13);
  const Shape column = tiled(ElementType::F32, {3, 5}, {0, 1}, {});
  EXPECT_EQ(position(column, {2, 3}), 11);
  Shape bare = row;
  bare.has_layout = false;
  EXPECT_EQ(position(bare, {2, 3}), 13);
}

// The worked example of "Tiled layout" in XLA's documentation.
TEST(Position, PublishedExample) {
  const Shape shape = tiled(ElementType::F32, {3, 5}, {1, 0}, {{{2, 2}}});
  EXPECT_EQ(position(shape, {2, 3}), 17);
  EXPECT_EQ(physical_count(shape), 24);
  expect_injective(shape);
}

TEST(Position, TpuTiles) {
  const Shape f32 = tiled(ElementType::F32, {16, 256}, {1, 0}, {{{8, 128}}});
  const Shape bf16 = tiled(ElementType::BF16, {16, 256}, {1, 0}, {{{8, 128}}, {{2, 1}}});
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 256; ++j) {
      const int64_t tile = ((i / 8) * 2 + j / 128) * 1024;
      ASSERT_EQ(position(f32, {i, j}), tile + i % 8 * 128 + j % 128);
      ASSERT_EQ(position(bf16, {i, j}), tile + i % 8 / 2 * 256 + j % 128 * 2 + i % 2);
    }
}

// bf16[8,4,8,128]{3,2,1,0:T(8,128)(2,1)} and bf16[64,512]{1,0:T(8,128)(2,1)} have the same bytes:
// the tiles of 8 rows by 128 columns stand in the same order.
TEST(Position, BitcastBetweenTiledShapes) {
  const Shape four = tiled(ElementType::BF16, {8, 4, 8, 128}, {3, 2, 1, 0}, {{{8, 128}}, {{2, 1}}});
  const Shape two = tiled(ElementType::BF16, {64, 512}, {1, 0}, {{{8, 128}}, {{2, 1}}});
  EXPECT_EQ(physical_count(four), physical_count(two));
  Dims index(4);
  do {
    const auto [a, b, c, d] = std::array{index[0], index[1], index[2], index[3]};
    ASSERT_EQ(position(four, index), position(two, {a * 8 + c, b * 128 + d}));
  } while (next_index(index, four.dims));
}

// `*` folds a dimension into the next more minor one: here [2,7,8,11,10] is tiled as [112,110].
TEST(Position, CombinedDimensions) {
  constexpr int64_t fold = Tile::combine;
  const Shape five =
      tiled(ElementType::F32, {2, 7, 8, 11, 10}, {4, 3, 2, 1, 0}, {{{fold, fold, 2, fold, 3}}});
  const Shape two = tiled(ElementType::F32, {112, 110}, {1, 0}, {{{2, 3}}});
  EXPECT_EQ(physical_count(five), 56 * 37 * 6);
  Dims index(5);
  do {
    const int64_t row = (index[0] * 7 + index[1]) * 8 + index[2];
    ASSERT_EQ(position(five, index), position(two, {row, index[3] * 10 + index[4]}));
  } while (next_index(index, five.dims));
}

TEST(Position, TilesOfHigherRankThanTheArray) {
  const Shape vector = tiled(ElementType::F32, {300}, {0}, {{{8, 128}}});
  EXPECT_EQ(physical_count(vector), 3 * 1024);
  EXPECT_EQ(position(vector, {299}), 2 * 1024 + 43);
  expect_injective(vector);
}

TEST(Index, StridesAndOrder) {
  EXPECT_EQ(row_major_strides(Dims{2, 3, 4}), (Dims{12, 4, 1}));
  Dims index(2);
  const Dims dims = {2, 2};
  std::vector<Dims> seen;
  do seen.push_back(index);
  while (next_index(index, dims));
  EXPECT_EQ(seen, (std::vector<Dims>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(index, (Dims{0, 0}));
}

TEST(Shape, ComparesAndHashes) {
  const Shape a = Shape::array(ElementType::F32, {3, 5});
  const Shape b = tiled(ElementType::F32, {3, 5}, {0, 1}, {});
  EXPECT_TRUE(same_dims(a, b));
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(same_dims_any_type(a, Shape::array(ElementType::BF16, {3, 5})));
  EXPECT_FALSE(same_dims(a, Shape::array(ElementType::BF16, {3, 5})));
  Shape dynamic = a;
  dynamic.dynamic = {false, true};
  EXPECT_FALSE(same_dims(a, dynamic));
  EXPECT_EQ(hash_of(a), hash_of(Shape::array(ElementType::F32, {3, 5})));
  EXPECT_NE(hash_of(a), hash_of(b));
}

TEST(ElementType, TextsAndNumbersAreThoseOfXla) {
  EXPECT_EQ(element_type_of("f8e4m3b11fnuz"), ElementType::F8E4M3B11FNUZ);
  EXPECT_EQ(element_type_of("f33"), std::nullopt);
  EXPECT_EQ(proto_number(ElementType::BF16), 16);
  EXPECT_EQ(proto_number(ElementType::F32), 11);
  EXPECT_EQ(element_type_of_number(12), ElementType::F64);
  EXPECT_EQ(element_type_of_number(999), std::nullopt);
  EXPECT_EQ(bits_of(ElementType::F6E2M3FN), 6);
  EXPECT_EQ(storage_bytes(ElementType::U1), 1);
  EXPECT_EQ(storage_bytes(ElementType::C128), 16);
  EXPECT_EQ(real_type_of(ElementType::C64), ElementType::F32);
  EXPECT_EQ(complex_type_of(ElementType::F64), ElementType::C128);
}

}  // namespace
}  // namespace hilo
