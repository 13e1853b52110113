#include <gtest/gtest.h>

#include "ir/ir.h"

namespace hilo {
namespace {

TEST(Module, UsersFollowEdits) {
  Module module;
  const ComputationId main = module.add_computation("main");
  const Shape shape = Shape::array(ElementType::F32, {4});
  const InstructionId p = module.add_instruction(main, Op::Parameter, shape, {}, "p");
  const InstructionId q = module.add_instruction(main, Op::Parameter, shape, {}, "q");
  const InstructionId sum = module.add_instruction(main, Op::Add, shape, std::array{p, p}, "sum");
  EXPECT_EQ(module.users(p).size(), 2u);
  module.replace_all_uses(p, q);
  EXPECT_FALSE(module.has_users(p));
  EXPECT_EQ(module.operand(sum, 1), q);
  module.set_operand(sum, 0, p);
  EXPECT_EQ(module.users(p), std::vector{sum});
  const InstructionId negated = module.add_instruction(main, Op::Negate, shape, std::array{p}, "n");
  module.replace_all_uses(sum, negated);
  module.remove(sum);
  module.compact();
  EXPECT_EQ(module.instructions.size(), 3u);
  EXPECT_EQ(module[module[main].root].name, "n");
}

// A name that is taken gets the least number that makes it new.
TEST(Module, ComputationsHaveNamesOfTheirOwn) {
  Module module;
  for (const std::string_view name : {"f", "f.2", "f.03", "f.4x", "f.", "g.1"})
    EXPECT_EQ(module[module.add_computation(name)].name, name);
  for (const std::string_view name : {"f.1", "f.3", "f.4", "f.5"})
    EXPECT_EQ(module[module.add_computation("f")].name, name);
  for (const std::string_view name : {"g", "g.2"})
    EXPECT_EQ(module[module.add_computation("g")].name, name);
}

TEST(Module, AttributesAreCopiedAndCallsReplaced) {
  Module module;
  const ComputationId main = module.add_computation("main");
  const ComputationId a = module.add_computation("a"), b = module.add_computation("b");
  const InstructionId call =
      module.add_instruction(main, Op::Conditional, Shape::scalar(ElementType::F32), {},
                             ConditionalAttributes{.branch_computations = {a, b, a}});
  EXPECT_EQ(module.called(module[call]), (std::vector{a, b, a}));
  const AttributesId copy = module.copy_attributes(Op::Conditional, module[call].attributes);
  module.set_called(call, std::array{b, b, a});
  EXPECT_EQ(module.called(module[call]), (std::vector{b, b, a}));
  module[call].attributes = copy;
  EXPECT_EQ(module.called(module[call]), (std::vector{a, b, a}));
  module[call].attributes = module.default_attributes(Op::Conditional);
  EXPECT_TRUE(module.called(module[call]).empty());
}

// Shapes are found again among many, also after the table has grown and was copied.
TEST(ShapeTable, EqualShapesHaveOneId) {
  ShapeTable table;
  std::vector<ShapeId> ids;
  const auto shape = [](int64_t i) { return Shape::array(ElementType::F32, {i % 40, i / 40}); };
  for (int64_t i = 0; i < 1000; ++i) ids.push_back(table.intern(shape(i)));
  EXPECT_EQ(table.size(), 1000u);
  ShapeTable copy = table;
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(copy.intern(shape(i)), ids[i]);
  EXPECT_EQ(copy.intern(shape(1000)).value, 1000u);
  EXPECT_EQ(table.size(), 1000u);
}

TEST(ReplicaGroups, MeshAndIotaExpand) {
  ReplicaGroups iota;
  iota.form = ReplicaGroups::Form::Iota;
  iota.iota = {{2, 2}, {2, 2}, {1, 0}};
  EXPECT_EQ(iota.expand(), (std::vector<Dims>{{0, 2}, {1, 3}}));
  ReplicaGroups mesh;
  mesh.form = ReplicaGroups::Form::Mesh;
  mesh.mesh.axes = {{"axis_0", 2}, {"axis_1", 2}};
  mesh.axes = {{"axis_1", {}}};
  EXPECT_EQ(mesh.expand(), (std::vector<Dims>{{0, 1}, {2, 3}}));
}

}  // namespace
}  // namespace hilo
