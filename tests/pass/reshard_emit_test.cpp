// Plans as programs: each device starts with its tile and ends with the other one.
#include "pass/shard/reshard_emit.h"

#include <gtest/gtest.h>

#include "../ir/random_sharding.h"
#include "analysis/analysis.h"
#include "eval/eval.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo {
namespace {

// Of an array whose elements are their numbers; padding holds -1.
Literal tile_of(const Dims& dims, const AxisSharding& sharding, int64_t device) {
  const ArrayBox box = DeviceTiles(sharding, dims).box_of(device);
  const Dims local = local_dims(dims, sharding), strides = row_major_strides(dims);
  std::vector<float> values;
  Dims index(local.size(), 0);
  if (element_count(std::span<const int64_t>(local)) > 0) do {
      float value = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        if (index[d] >= box.sizes[d]) value = -1;
        if (value >= 0) value += static_cast<float>((box.offset[d] + index[d]) * strides[d]);
      }
      values.push_back(value);
    } while (next_index(index, local));
  return Literal::from<float>(local, std::span<const float>(values));
}

Module identity(const Dims& local, int64_t devices) {
  Module module;
  module.header.name = "m";
  module.header.num_partitions = devices;
  module.entry = module.add_computation("main");
  const Shape shape = Shape::array(ElementType::F32, local);
  const InstructionId tile = module.add_instruction(module.entry, Op::Parameter, shape, {},
                                                    ParameterAttributes{0}, "tile");
  module[module.entry].parameters = {tile};
  module[module.entry].root =
      module.add_instruction(module.entry, Op::Copy, shape, std::array{tile}, "root");
  return module;
}

// Of f32, averaged over the devices.
double sent_bytes(const Module& module) {
  double out = 0;
  for (uint32_t id = 0; id < module.instructions.size(); ++id) {
    const Instruction& instruction = module.instructions[id];
    if (instruction.removed) continue;
    if (instruction.op == Op::CollectivePermute) {
      const auto& pairs =
          module.attributes<CollectivePermuteAttributes>(instruction).source_target_pairs.pairs;
      const auto moves = [](const auto& pair) { return pair.first != pair.second; };
      out += 4.0 * static_cast<double>(element_count(module.shape(instruction))) *
             static_cast<double>(std::ranges::count_if(pairs, moves)) /
             static_cast<double>(module.header.num_partitions);
    } else if (const auto bytes = collective_bytes(module, {id})) {
      out += bytes->sent_bytes;
    }
  }
  return out;
}

// Along unreduced axes each device has the values times a number; they add up to the values times
// the sum of these.
Literal summand_of(const Dims& dims, const AxisSharding& sharding, int64_t device,
                   const SubAxes& pending) {
  Literal out = tile_of(dims, sharding, device);
  AxisSharding numbers = replicated_sharding(sharding.mesh, 1);
  numbers.dims[0].axes = pending;
  const auto factor = static_cast<float>(1 + DeviceTiles(numbers, Dims{1}).tile_of(device)[0]);
  std::vector<float> values;
  for (int64_t i = 0; i < out.count(); ++i)
    values.push_back(static_cast<float>(out.number_at(i)) * factor);
  return Literal::from<float>(out.shape().dims, std::span<const float>(values));
}

void check_program(const Dims& dims, const AxisSharding& from, const AxisSharding& to,
                   const ReshardOptions& options) {
  const auto plan = plan_reshard(dims, from, to, options);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const int64_t devices = mesh_size(*from.mesh);
  const SubAxes pending = axes_outside(*from.mesh, from.unreduced, to.unreduced);
  const int64_t summands = axes_size(pending);
  const auto factor = static_cast<double>(summands * (summands + 1) / 2);
  Module module = identity(local_dims(dims, from), devices);
  const InstructionId root = module[module.entry].root;
  int64_t channel = 1;
  {
    Editor editor(module);
    const auto out = emit_reshard(editor, root, dims, *plan, channel);
    ASSERT_TRUE(out) << to_string(out.error());
    module[module.entry].root = *out;
  }
  EXPECT_EQ(channel - 1, plan->collectives);
  SCOPED_TRACE(print(module));
  for (const Error& error : verify(module)) FAIL() << to_string(error);
  Inputs inputs;
  for (int64_t device = 0; device < devices; ++device)
    inputs.devices.push_back({summand_of(dims, from, device, pending)});
  EvalOptions eval;
  eval.partitioning = Partitioning::Partitioned;
  const auto outputs = evaluate(module, inputs, eval);
  ASSERT_TRUE(outputs) << to_string(outputs.error());
  ASSERT_EQ(std::ssize(outputs->devices), devices);
  for (int64_t device = 0; device < devices; ++device) {
    const Literal expected = tile_of(dims, to, device), &found = outputs->devices[device];
    ASSERT_EQ(found.shape().dims, expected.shape().dims);
    for (int64_t i = 0; i < expected.count(); ++i)
      if (expected.number_at(i) >= 0) {
        ASSERT_EQ(found.number_at(i), expected.number_at(i) * factor)
            << "device " << device << " at " << i;
      }
  }
}

class EmitReshard : public testing::TestWithParam<int> {};

TEST_P(EmitReshard, DevicesEndWithTheirTiles) {
  RandomSharding random(GetParam());
  for (int round = 0; round < 40; ++round) {
    const SharedMesh mesh = random.mesh(Dims{2, 2, 3, 4, 4}, 3, true);
    if (mesh_size(*mesh) > 16) continue;
    const size_t rank = 1 + static_cast<size_t>(random.number(3));
    AxisSharding from = random.sharding(mesh, rank, true);
    const AxisSharding to = random.sharding(mesh, rank, false);
    from.manual.clear();
    const bool is_even = random.number(2) == 0;
    Dims dims;
    for (size_t d = 0; d < rank; ++d)
      dims.push_back(is_even ? std::lcm(tile_count(from, d), tile_count(to, d))
                             : random.number(rank == 3 ? 7 : 13));
    if (element_count(std::span<const int64_t>(dims)) > 2000) continue;
    for (const ReshardOptions& options : {ReshardOptions{}, ReshardOptions{.max_transfers = 0}}) {
      ASSERT_NO_FATAL_FAILURE(check_program(dims, from, to, options));
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EmitReshard, testing::Range(0, 10));

// What the program sends is what the plan says.
TEST(EmitReshard, SendsThePlansBytes) {
  const SharedMesh mesh = *make_mesh(Mesh{{{"x", 2}, {"y", 4}}, {}, {}});
  const ShardyMeshes meshes = {{"m", mesh}};
  const char* const pairs[] = {"<@m, [{\"x\"}, {\"y\"}]>, <@m, [{\"y\"}, {\"x\"}]>",
                               "<@m, [{\"x\"}, {}]>, <@m, [{}, {\"x\"}]>",
                               "<@m, [{\"x\", \"y\"}, {}]>, <@m, [{}, {\"x\"}]>",
                               "<@m, [{\"x\"}, {\"y\"}]>, <@m, [{}, {}]>",
                               "<@m, [{\"y\"}, {}]>, <@m, [{\"x\"}, {\"y\"}]>",
                               "<@m, [{}, {}]>, <@m, [{\"x\"}, {\"y\"}]>"};
  for (const char* pair : pairs) {
    const auto both =
        parse_shardy_shardings(fmt::format("#sdy.sharding_per_value<[{}]>", pair), meshes);
    ASSERT_TRUE(both) << to_string(both.error());
    const Dims dims = {16, 32};
    const auto plan = plan_reshard(dims, both->at(0), both->at(1));
    Module module = identity(local_dims(dims, both->at(0)), 8);
    const InstructionId root = module[module.entry].root;
    int64_t channel = 1;
    {
      Editor editor(module);
      const auto out = emit_reshard(editor, root, dims, *plan, channel);
      ASSERT_TRUE(out) << to_string(out.error());
      module[module.entry].root = *out;
    }
    EXPECT_EQ(sent_bytes(module), plan->bytes_per_device(ElementType::F32)) << pair;
  }
}

int64_t count_op(const Module& module, Op op) {
  return std::ranges::count_if(module.instructions, [&](const Instruction& instruction) {
    return !instruction.removed && instruction.op == op;
  });
}

// Every round brings every device a box, its own one or another's: none has to take out of its new
// tile what it keeps there, and tables of small numbers take a byte a device.
TEST(EmitReshard, OwnBoxesComeInTheSameRounds) {
  const SharedMesh mesh = *make_mesh(Mesh{{{"x", 2}, {"y", 4}}, {}, {}});
  const ShardyMeshes meshes = {{"m", mesh}};
  const Dims dims = {16, 32};
  const auto pair = *parse_shardy_shardings(
      R"(#sdy.sharding_per_value<[<@m, [{"x"}, {"y"}]>, <@m, [{"y"}, {"x"}]>]>)", meshes);
  const auto plan = plan_reshard(dims, pair[0], pair[1]);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->steps.size(), 1u);
  ASSERT_EQ(plan->steps[0].kind, ReshardStep::Kind::Chunks);
  Module module = identity(local_dims(dims, pair[0]), 8);
  {
    Editor editor(module);
    int64_t channel = 1;
    const auto out = emit_reshard(editor, module[module.entry].root, dims, *plan, channel);
    ASSERT_TRUE(out);
    module[module.entry].root = *out;
  }
  EXPECT_EQ(count_op(module, Op::CollectivePermute), 2);
  EXPECT_EQ(count_op(module, Op::Select), 0);
  for (const Instruction& instruction : module.instructions)
    if (instruction.op == Op::Constant && module.shape(instruction).dims.size() == 2 &&
        module.shape(instruction).dims[0] == 8) {
      EXPECT_EQ(module.shape(instruction).type, ElementType::U8);
    }
}

struct Reduction {
  const char *from, *to;
  double bytes;
  std::vector<ReshardStep::Kind> kinds;
};

TEST(EmitReshard, SumsAreScatteredWhereTheTargetIsSharded) {
  using Kind = ReshardStep::Kind;
  const SharedMesh mesh = *make_mesh(Mesh{{{"x", 2}, {"y", 4}}, {}, {}});
  const ShardyMeshes meshes = {{"m", mesh}};
  const Reduction cases[] = {
      {"[{}, {}], unreduced={\"x\"}", "[{}, {}]", 2048, {Kind::AllReduce}},
      {"[{}, {}], unreduced={\"x\"}", "[{\"x\"}, {}]", 1024, {Kind::ReduceScatter}},
      {"[{}, {}], unreduced={\"x\"}",
       "[{\"y\"}, {\"x\"}]",
       256,
       {Kind::Slice, Kind::ReduceScatter}},
      {"[{}, {}], unreduced={\"x\", \"y\"}", "[{\"x\"}, {\"y\"}]", 1792, {Kind::ReduceScatter}},
      {"[{\"y\"}, {}], unreduced={\"x\"}", "[{\"y\"}, {}]", 512, {Kind::AllReduce}},
      {"[{\"y\"}, {}], unreduced={\"x\"}", "[{\"y\"}, {}], unreduced={\"x\"}", 0, {}},
  };
  for (const auto& [from, to, bytes, kinds] : cases) {
    const auto both = parse_shardy_shardings(
        fmt::format("#sdy.sharding_per_value<[<@m, {}>, <@m, {}>]>", from, to), meshes);
    ASSERT_TRUE(both) << to_string(both.error());
    const Dims dims = {16, 32};
    const auto plan = plan_reshard(dims, both->at(0), both->at(1));
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_EQ(plan->bytes_per_device(ElementType::F32), bytes) << from << to;
    std::vector<Kind> found;
    for (const ReshardStep& step : plan->steps) found.push_back(step.kind);
    EXPECT_EQ(found, kinds) << from << to;
    if (!both->at(1).unreduced.empty()) continue;
    ASSERT_NO_FATAL_FAILURE(check_program(dims, both->at(0), both->at(1), {}));
  }
}

TEST(EmitReshard, ReplicasAreUnsupported) {
  Module module = identity({4}, 2);
  module.header.replica_count = 2;
  Editor editor(module);
  int64_t channel = 1;
  const auto out = emit_reshard(editor, module[module.entry].root, Dims{4}, {}, channel);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace hilo
