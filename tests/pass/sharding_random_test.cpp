// Random programs with random shardings: propagation ends, what it leaves verifies, closed
// shardings hold, and a second run changes nothing.
#include <algorithm>

#include "../ir/random_sharding.h"
#include "random_module.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {
namespace {

// Some values get a sharding over the mesh, as tiles.
void add_shardings(Module& module, uint64_t seed) {
  RandomSharding random(seed);
  constexpr int64_t sizes[] = {1, 2, 3, 4, 6};
  SharedMesh mesh = random.mesh(sizes, 3, false);
  while (mesh_size(*mesh) < 2) mesh = random.mesh(sizes, 3, false);
  module.header.num_partitions = mesh_size(*mesh);
  const auto flags = [&](std::vector<bool>& out, size_t count) {
    for (size_t i = 0; i < count; ++i) out.push_back(random.number(2) == 0);
  };
  flags(module.header.allow_spmd_sharding_propagation_to_parameters,
        module[module.entry].parameters.size());
  flags(module.header.allow_spmd_sharding_propagation_to_output, 3);
  for (InstructionId id : module[module.entry].instructions) {
    const Shape& shape = module.shape(id);
    if (!shape.is_array() || shape.dims.empty() || random.number(4) != 0) continue;
    if (module[id].op == Op::GetTupleElement) continue;
    module.mutable_extra(id).sharding = std::make_shared<const Sharding>(
        tile_sharding(random.sharding(mesh, shape.dims.size(), false)));
  }
}

// The same in Shardy's notation, with open dimensions and priorities: parameters have attributes,
// other values a constraint behind them.
void add_shardy(Module& module, uint64_t seed) {
  RandomSharding random(seed);
  constexpr int64_t sizes[] = {1, 2, 3, 4, 6};
  SharedMesh mesh = random.mesh(sizes, 3, false);
  while (mesh_size(*mesh) < 2) mesh = random.mesh(sizes, 3, false);
  const ShardyMeshes meshes = {{"mesh", mesh}};
  module.header.num_partitions = mesh_size(*mesh);
  module.header.frontend_attributes["xla.sdy.meshes"] = {print_shardy_meshes(meshes), true};
  const InstructionId root = module[module.entry].root;
  for (InstructionId id : std::vector(module[module.entry].instructions)) {
    const Shape shape = module.shape(id);
    if (!shape.is_array() || shape.dims.empty() || random.number(4) != 0) continue;
    AxisSharding sharding = random.sharding(mesh, shape.dims.size(), false);
    for (AxisSharding::Dim& dim : sharding.dims) {
      dim.is_open = random.number(2) == 0;
      dim.priority = random.number(3);
    }
    InstructionId holder = id;
    if (module[id].op != Op::Parameter) {
      CustomCallAttributes call;
      call.custom_call_target = "Sharding";
      holder = module.add_instruction(module.entry, Op::CustomCall, shape, std::array{id},
                                      std::move(call));
      module.replace_all_uses(id, holder);
      module.set_operand(holder, 0, id);
    }
    module.mutable_extra(holder).frontend_attributes["xla.sdy.sharding"] = {
        print_shardy(std::vector{sharding}, meshes), false};
  }
  module[module.entry].root = root;
  restore_order(module, 0);
}

std::map<std::string, std::string> shardings_of(const Module& module) {
  std::map<std::string, std::string> out;
  for (InstructionId id : module[module.entry].instructions)
    if (const auto& sharding = module.extra(module[id]).sharding)
      out[std::string(module[id].name)] = print(*sharding);
  return out;
}

bool may_change(const Module& module, InstructionId id) {
  if (module[id].op == Op::Call) return true;  // a copy has it
  const auto& flags = module.header.allow_spmd_sharding_propagation_to_parameters;
  return module[id].op == Op::Parameter && flags[module.attributes<ParameterAttributes>(id).number];
}

class RandomShardings : public testing::TestWithParam<int> {};

TEST_P(RandomShardings, LawsHold) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 10 + i;
    SCOPED_TRACE(seed);
    Module module = RandomModule(seed).make(30);
    add_shardings(module, seed);
    const Module before = module;
    const auto done = run_pass(module, propagate_all_shardings);
    ASSERT_TRUE(done) << to_string(done.error()) << print(before);
    for (const Error& error : verify(module)) ADD_FAILURE() << to_string(error);
    const auto after = shardings_of(module);
    for (InstructionId id : before[before.entry].instructions)
      if (const auto& said = before.extra(before[id]).sharding; said && !may_change(before, id))
        if (const auto found = after.find(std::string(before[id].name)); found != after.end())
          EXPECT_EQ(found->second, print(*said)) << before[id].name;
    const std::string once = print(module);
    ASSERT_TRUE(run_pass(module, propagate_all_shardings));
    ASSERT_EQ(print(module), once) << print(before);
  }
}

TEST_P(RandomShardings, LawsHoldInShardysNotation) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 10 + i;
    SCOPED_TRACE(seed);
    Module module = RandomModule(seed).make(30);
    add_shardy(module, seed);
    const Module before = module;
    const auto faults = verify(before);
    ASSERT_TRUE(faults.empty()) << to_string(faults[0]);
    const auto done = run_pass(module, propagate_all_shardings);
    ASSERT_TRUE(done) << to_string(done.error()) << print(before);
    for (const Error& error : verify(module)) ADD_FAILURE() << to_string(error);
    const std::string once = print(module);
    ASSERT_TRUE(run_pass(module, propagate_all_shardings));
    ASSERT_EQ(print(module), once) << print(before);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomShardings, testing::Range(0, 4));

}  // namespace
}  // namespace hilo::test
