// Random single ops under random shardings over 2 to 16 devices: each device ends with its tile of
// what one device computes, whatever padding holds. HILO_RANDOM_FIRST and HILO_RANDOM_COUNT: seeds
// for a longer run.
#include "random_ops.h"
#include "../../base/environment.h"
#include "partition_judge.h"
#include "random_shardings.h"

namespace hilo::test {
namespace {

std::string fault_of(const Module& before, const std::vector<Literal>& arguments, uint64_t seed,
                     Module& after) {
  after = before;
  const auto pipeline = parse_pipeline("spmd-partitioner", all_passes(), all_pipelines());
  check(pipeline.has_value(), "fault_of: a pass that is not");
  if (const auto ran = run_pipeline(after, *pipeline, {}); !ran)
    return "partitioner: " + to_string(ran.error());
  for (const Error& error : verify(after)) return "not sound: " + to_string(error);
  if (std::string fault = count_collectives(after).fault; !fault.empty()) return fault;
  return difference_on_devices(before, after, seed, arguments);
}

// What says nothing of the result leaves open what devices end with.
void state_result(Module& module, RandomShardings& shardings) {
  const InstructionId root = module[module.entry].root;
  const Shape shape = module.shape(root);
  if (!module.extra(module[root]).sharding)
    module.mutable_extra(root).sharding =
        std::make_shared<const Sharding>(shardings.sharding(shape));
}

TEST(RandomOps, DevicesEndWithTheirTiles) {
  const uint64_t first = number_from("HILO_RANDOM_FIRST", 1);
  const uint64_t count = number_from("HILO_RANDOM_COUNT", 600);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    OpCase one = RandomOps(seed).make();
    ASSERT_TRUE(verify(one.module).empty())
        << seed << to_string(verify(one.module)[0]) << print(one.module);
    RandomShardings shardings(seed);
    shardings.annotate(one.module);
    state_result(one.module, shardings);
    Module after;
    const std::string fault = fault_of(one.module, one.arguments, seed, after);
    EXPECT_EQ(fault, "") << "seed " << seed << '\n' << print(one.module) << print(after);
  }
}

TEST(RandomOps, WholeArraysSendNothing) {
  for (uint64_t seed = 1; seed < 200; ++seed) {
    OpCase one = RandomOps(seed).make();
    one.module.header.num_partitions = 4;
    Module after;
    const std::string fault = fault_of(one.module, one.arguments, seed, after);
    EXPECT_EQ(fault, "") << "seed " << seed << '\n' << print(one.module) << print(after);
    EXPECT_EQ(count_collectives(after).count, 0) << seed << print(after);
  }
}

}  // namespace
}  // namespace hilo::test
