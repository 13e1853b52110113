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
