// Custom calls that one device runs alone.
#include <gtest/gtest.h>

#include <atomic>

#include "eval/eval.h"
#include "pass/pass.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo {
namespace {

struct Ran {
  int calls = 0;
  std::vector<Literal> results;  // of each device
};

// The program on its devices, each with the numbers 0, 1, … ; the custom call "mine" adds 1.
Ran run_partitioned(const char* text) {
  Module module = *parse(text);
  const Result<bool> done = run_pass(module, partition_program);
  EXPECT_TRUE(done.has_value()) << (done ? "" : to_string(done.error()));
  EXPECT_TRUE(verify(module).empty()) << print(module);
  std::atomic<int> calls = 0;
  EvalOptions options;
  options.partitioning = Partitioning::Partitioned;
  options.custom_calls["mine"] = [&](const CustomCallArguments& arguments) -> Result<void> {
    ++calls;
    const auto from = arguments.operands[0].data<float>();
    const auto to = arguments.results[0].mutable_data<float>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] + 1;
    return {};
  };
  Inputs inputs;
  for (int64_t device = 0; device < module.header.num_partitions; ++device) {
    const std::vector<float> tile = {static_cast<float>(2 * device),
                                     static_cast<float>(2 * device + 1)};
    inputs.devices.push_back({Literal::from<float>({2}, std::span<const float>(tile))});
  }
  Result<Outputs> outputs = evaluate(module, std::move(inputs), options);
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : to_string(outputs.error()));
  return {calls, outputs ? outputs->devices : std::vector<Literal>()};
}

std::vector<float> values_of(const Literal& literal) {
  const auto data = literal.data<float>();
  return {data.begin(), data.end()};
}

TEST(SingleDevice, RunsOnTheNamedDeviceAndAllHaveTheResult) {
  const Ran ran = run_partitioned(R"(HloModule m, num_partitions=4
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  c = f32[8] custom-call(p), custom_call_target="mine", sharding={maximal device=2}
  ROOT r = f32[8] copy(c), sharding={replicated}
})");
  EXPECT_EQ(ran.calls, 1);
  ASSERT_EQ(ran.results.size(), 4u);
  for (const Literal& result : ran.results)
    EXPECT_EQ(values_of(result), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(SingleDevice, EffectsOfNoDeviceHappenOnce) {
  const Ran ran = run_partitioned(R"(HloModule m, num_partitions=4
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  c = f32[8] custom-call(p), custom_call_target="mine", custom_call_has_side_effect=true
  ROOT r = f32[8] add(p, p), sharding={devices=[4]<=[4]}
})");
  EXPECT_EQ(ran.calls, 1);
  EXPECT_EQ(values_of(ran.results.at(3)), (std::vector<float>{12, 14}));
}

TEST(SingleDevice, ADeviceThatIsNotThere) {
  Module module = *parse(R"(HloModule m, num_partitions=4
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  ROOT c = f32[8] custom-call(p), custom_call_target="mine", sharding={maximal device=4}
})");
  const Result<bool> done = run_pass(module, partition_program);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().place.instruction, "c");
}

}  // namespace
}  // namespace hilo
