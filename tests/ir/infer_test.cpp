// Shape inference on modules made by the builder; expected shapes follow XLA's operation semantics.
#include <gtest/gtest.h>

#include "ir/ir.h"

namespace hilo {
namespace {

struct Maker {
  Module module;
  ComputationId main = module.add_computation("main");

  InstructionId parameter(const Shape& shape) {
    return module.add_instruction(main, Op::Parameter, shape, {});
  }
  InstructionId parameter(Dims dims, ElementType type = ElementType::F32) {
    return parameter(Shape::array(type, std::move(dims)));
  }
  // The inferred shape as text, or the error's message.
  template <class A = NoneAttributes>
  std::string infer(Op op, std::vector<InstructionId> operands, A attributes = {},
                    std::optional<Shape> stated = {}) {
    const InstructionId id = module.add_instruction(main, op, stated.value_or(Shape()), operands);
    module.mutable_attributes<A>(id) = std::move(attributes);
    if (!stated) module[id].shape = {};
    const Result<Shape> shape = infer_shape(module, module[id]);
    return shape ? to_string(*shape) : shape.error().message;
  }
};

TEST(InferShape, ElementwiseKeepsTheOperandsLayout) {
  Maker m;
  Shape shape = Shape::array(ElementType::F32, {4, 8});
  shape.layout.minor_to_major = {0, 1};
  const InstructionId p = m.parameter(shape), q = m.parameter({8, 4});
  EXPECT_EQ(m.infer(Op::Add, {p, p}), "f32[4,8]{0,1}");
  EXPECT_EQ(m.infer(Op::IsFinite, {p}), "pred[4,8]{0,1}");
  EXPECT_EQ(m.infer(Op::Add, {p, q}), "operands have different dimensions: f32[4,8] and f32[8,4]");
  EXPECT_EQ(m.infer(Op::Add, {p}), "expected 2 operands, found 1");
  EXPECT_EQ(m.infer(Op::And, {p, p}),
            "and takes pred or signed or unsigned elements, found f32[4,8]");
  EXPECT_EQ(m.infer(Op::Complex, {p, p}), "c64[4,8]{0,1}");
}

TEST(InferShape, BoundsStayDynamic) {
  Maker m;
  Shape shape = Shape::array(ElementType::S32, {4, 8});
  shape.dynamic = {true, false};
  const InstructionId p = m.parameter(shape);
  EXPECT_EQ(m.infer(Op::Negate, {p}), "s32[<=4,8]{1,0}");
  EXPECT_EQ(m.infer(Op::Transpose, {p}, DimensionsAttributes{{1, 0}}), "s32[8,<=4]{0,1}");
  EXPECT_EQ(m.infer(Op::GetDimensionSize, {p}, DimensionsAttributes{{0}}), "s32[]");
}

TEST(InferShape, DotOrdersBatchThenFreeDimensions) {
  Maker m;
  const InstructionId a = m.parameter({2, 3, 4}), b = m.parameter({4, 2, 5});
  DotAttributes dot;
  dot.lhs_batch_dims = {0}, dot.rhs_batch_dims = {1};
  dot.lhs_contracting_dims = {2}, dot.rhs_contracting_dims = {0};
  EXPECT_EQ(m.infer(Op::Dot, {a, b}, dot), "f32[2,3,5]{2,1,0}");
  dot.rhs_contracting_dims = {2};
  EXPECT_EQ(m.infer(Op::Dot, {a, b}, dot),
            "contracting dimension 2 of f32[2,3,4] is not as large as 2 of f32[4,2,5]");
}

TEST(InferShape, ConvolutionPlacesItsWindow) {
  Maker m;
  const InstructionId a = m.parameter({1, 8, 8, 3}), k = m.parameter({3, 3, 3, 16});
  ConvolutionAttributes conv;
  conv.dim_labels = {0, 3, {1, 2}, 2, 3, {0, 1}, 0, 3, {1, 2}, {}, {}};
  conv.window.dims = {{.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1}, {.size = 3}};
  EXPECT_EQ(m.infer(Op::Convolution, {a, k}, conv), "f32[1,4,6,16]{3,2,1,0}");
  conv.feature_group_count = 2;
  EXPECT_EQ(m.infer(Op::Convolution, {a, k}, conv),
            "expected 2 groups of 3 input features, found 3");
}

TEST(InferShape, GatherPutsOffsetsAmongBatch) {
  Maker m;
  const InstructionId a = m.parameter({10, 20}), i = m.parameter({7, 1}, ElementType::S32);
  GatherAttributes gather;
  gather.offset_dims = {1}, gather.collapsed_slice_dims = {0}, gather.start_index_map = {0};
  gather.index_vector_dim = 1, gather.slice_sizes = {1, 20};
  EXPECT_EQ(m.infer(Op::Gather, {a, i}, gather), "f32[7,20]{1,0}");
  gather.slice_sizes = {1, 21};
  EXPECT_EQ(m.infer(Op::Gather, {a, i}, gather),
            "slice size 21 is not within dimension 1 of f32[10,20]");
}

TEST(InferShape, ReduceTakesTypesFromItsComputation) {
  Maker m;
  const ComputationId add = m.module.add_computation("add");
  m.module.add_instruction(add, Op::Parameter, Shape::scalar(ElementType::F64), {});
  const InstructionId a = m.parameter({4, 8}), zero = m.parameter(Dims{});
  EXPECT_EQ(m.infer(Op::Reduce, {a, zero}, ReduceAttributes{{0}, add}), "f64[8]{0}");
  EXPECT_EQ(m.infer(Op::Reduce, {a, zero}, ReduceAttributes{{2}, add}),
            "dimensions 2 is not in [0, 2)");
  EXPECT_EQ(m.infer(Op::Reduce, {a, zero}, ReduceAttributes{{1}, {}}),
            "to_apply names no computation");
}

TEST(InferShape, BitcastComparesPaddedBytes) {
  Maker m;
  Shape tiled = Shape::array(ElementType::F32, {8, 9}),
        other = Shape::array(ElementType::F32, {8, 8});
  const InstructionId untiled = m.parameter(tiled);
  EXPECT_EQ(m.infer(Op::Bitcast, {untiled}, NoneAttributes(), other),
            "a bitcast keeps the padded size: f32[8,9]{1,0} has 288 bytes, f32[8,8]{1,0} has 256");
  tiled.layout.tiles = other.layout.tiles = {Tile{{8, 128}}};
  const InstructionId a = m.parameter(tiled);
  EXPECT_EQ(m.infer(Op::Bitcast, {a}, NoneAttributes(), other), to_string(other));
  other.layout.tiles = {Tile{{0, 128}}};
  EXPECT_NE(m.infer(Op::Bitcast, {a}, NoneAttributes(), other).find("positive tile dimension"),
            std::string::npos);
}

TEST(InferShape, ResultsAreCountable) {
  Maker m;
  const InstructionId a = m.parameter({int64_t{1} << 40});
  EXPECT_EQ(m.infer(Op::Pad, {a, m.parameter(Dims{})}, PadAttributes{{{{0, INT64_MAX, 0}}}}),
            "the padded dimension is not below 2^63");
  EXPECT_EQ(m.infer(Op::Broadcast, {m.parameter(Dims{})}, DimensionsAttributes{},
                    Shape::array(ElementType::F32, {int64_t{1} << 40, int64_t{1} << 40})),
            "the result f32[1099511627776,1099511627776] has more than 2^63-2 elements");
}

TEST(InferShape, OnlyFreeShapesMustBeStated) {
  Maker m;
  EXPECT_TRUE(can_infer_shape(Op::Dot));
  EXPECT_FALSE(can_infer_shape(Op::Reshape));
  EXPECT_EQ(m.infer(Op::Reshape, {m.parameter({4})}, ReshapeAttributes()),
            "the result shape of reshape cannot be inferred and must be given");
}

}  // namespace
}  // namespace hilo
