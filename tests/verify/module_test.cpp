#include "expect.h"

namespace hilo {
namespace {

TEST(VerifyModule, Header) {
  const Mistake mistakes[] = {
      {R"(HloModule m, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "entry_computation_layout: expected 1 parameters, found 2"},
      {R"(HloModule m, entry_computation_layout={(f32[5]{0})->f32[4]{0}}
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "entry_computation_layout: expected f32[4] as parameter 0, found f32[5]"},
      {R"(HloModule m, entry_computation_layout={(f32[4]{0})->s32[4]{0}}
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "entry_computation_layout: expected a result of f32[4], found s32[4]"},
      {R"(HloModule m, input_output_alias={ {}: (1, {}) }
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "input_output_alias: no parameter 1, the entry has 1"},
      {R"(HloModule m, input_output_alias={ {3}: (0, {}) }
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "input_output_alias: no output {3} in f32[4]"},
      {R"(HloModule m, input_output_alias={ {}: (0, {1}) }
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "input_output_alias: no part {1} in parameter 0 of f32[4]"},
      {R"(HloModule m, input_output_alias={ {0}: (0, {}), {0}: (1, {}) }
ENTRY main { p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT t = (f32[4], f32[4]) tuple(p, q) })",
       "input_output_alias: output {0} is aliased twice"},
      {R"(HloModule m, input_output_alias={ {0}: (0, {}), {1}: (0, {}) }
ENTRY main { p = f32[4] parameter(0)
  ROOT t = (f32[4], f32[4]) tuple(p, p) })",
       "input_output_alias: parameter 0 {} is aliased twice"},
      {R"(HloModule m, input_output_alias={ {}: (0, {}) }
ENTRY main { p = f32[4] parameter(0)
  ROOT q = f32[2] slice(p), slice={[0:2]} })",
       "input_output_alias: output {} is f32[2], parameter 0 {} is f32[4]"},
      {R"(HloModule m, buffer_donor={ (2, {}) }
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "buffer_donor: no parameter 2, the entry has 1"},
      {R"(HloModule m, input_output_alias={ {}: (0, {}) }, buffer_donor={ (0, {}) }
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "buffer_donor: parameter 0 {} is donated twice or aliased"},
      {R"(HloModule m, allow_spmd_sharding_propagation_to_parameters={true,false}
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "allow_spmd_sharding_propagation_to_parameters: expected 1 or 1 values, found 2"},
      {R"(HloModule m, allow_spmd_sharding_propagation_to_output={true,false}
ENTRY main { ROOT p = f32[4] parameter(0) })",
       "allow_spmd_sharding_propagation_to_output: expected 1 or 1 values, found 2"},
  };
  for (const Mistake& mistake : mistakes) expect_mistake(mistake);
}

// The fault of an array f32[4,8] whose layout `change` has changed.
template <class Change>
std::string fault_after(Change change) {
  Module module;
  const ComputationId main = module.add_computation("main");
  module.entry = main;
  Shape shape = Shape::array(ElementType::F32, {4, 8});
  change(shape.layout);
  module.add_instruction(main, Op::Parameter, shape, {}, "p");
  const std::vector<Error> errors = verify(module);
  return errors.size() == 1 ? errors[0].message.substr(errors[0].message.find(": ") + 2)
                            : fmt::format("{} errors", errors.size());
}

TEST(VerifyModule, Layouts) {
  EXPECT_EQ(fault_after([](Layout&) {}), "0 errors");
  EXPECT_EQ(fault_after([](Layout& l) { l.minor_to_major = {0, 0}; }),
            "the layout is not a permutation of the 2 dimensions");
  EXPECT_EQ(fault_after([](Layout& l) { l.minor_to_major = {0, 2}; }),
            "the layout is not a permutation of the 2 dimensions");
  EXPECT_EQ(fault_after([](Layout& l) { l.minor_to_major = {0}; }),
            "expected a layout of 2 dimensions, found 1");
  EXPECT_EQ(fault_after([](Layout& l) { l.tiles = {Tile{{0, 128}}}; }),
            "expected a positive tile dimension, found 0");
  EXPECT_EQ(fault_after([](Layout& l) { l.tiles = {Tile{}}; }), "a tile without dimensions");
  EXPECT_EQ(fault_after([](Layout& l) { l.tiles = {Tile{{8, Tile::combine}}}; }),
            "the last dimension of a tile cannot be combined");
  EXPECT_EQ(fault_after([](Layout& l) { l.split_configs = {{2, {1}}}; }),
            "a split of dimension 2, which there is not");
  EXPECT_EQ(fault_after([](Layout& l) { l.split_configs = {{1, {8}}}; }),
            "the split index 8 is not within dimension 1");
  EXPECT_EQ(fault_after([](Layout& l) { l.tail_padding_alignment = 0; }),
            "expected a positive alignment, found 0");
  EXPECT_EQ(fault_after([](Layout& l) { l.element_size_bits = -4; }),
            "an element size of -4 bits for f32");
  EXPECT_EQ(fault_after([](Layout& l) { l.memory_space = -1; }), "a memory space of -1");
}

TEST(VerifyModule, CountsAndGroupsThatOnlyProtosCanHold) {
  Result<Module> module = parse(R"(HloModule m, num_partitions=4
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main { p = f32[8] parameter(0)
  ROOT x = f32[8] all-reduce(p), replica_groups=[2,2]<=[4], channel_id=1, use_global_device_ids=true, to_apply=add })");
  ASSERT_TRUE(module);
  const InstructionId x = (*module)[module->entry].root;
  IotaDevices& iota = module->mutable_attributes<AllReduceAttributes>(x).replica_groups.iota;
  iota.reshape = {2, 4};
  EXPECT_EQ(verify(*module).at(0).message, "replica_groups: {2,4} and {4} are not as many devices");
  iota.reshape = {2, 2}, iota.permutation = {1};
  EXPECT_EQ(verify(*module).at(0).message,
            "replica_groups: {1} is not a permutation of 1 dimensions");
  iota.permutation = {}, iota.reshape = {4};
  EXPECT_EQ(verify(*module).at(0).message, "replica_groups: expected [groups,size], found {4}");
  module->header.replica_count = 0;
  EXPECT_EQ(verify(*module).at(0).message,
            "expected positive replica_count and num_partitions, found 0 and 4");
}

TEST(VerifyModule, ScheduleAndNumbers) {
  Module module;
  EXPECT_EQ(verify(module).at(0).message, "the module has no entry computation");
  const ComputationId main = module.add_computation("main");
  module.entry = main;
  EXPECT_EQ(verify(module).at(0).message, "the computation has no root");
  const Shape shape = Shape::array(ElementType::F32, {4});
  const InstructionId p = module.add_instruction(main, Op::Parameter, shape, {}, "p");
  const InstructionId a = module.add_instruction(main, Op::Negate, shape, std::array{p}, "a");
  const InstructionId b = module.add_instruction(main, Op::Negate, shape, std::array{a}, "b");
  EXPECT_TRUE(verify(module).empty());

  Module scheduled = module;
  scheduled.header.is_scheduled = true;
  std::swap(scheduled[main].instructions[1], scheduled[main].instructions[2]);
  EXPECT_EQ(verify(scheduled).at(0).message, "a stands after its user in the schedule");
  scheduled.header.is_scheduled = false;
  EXPECT_TRUE(verify(scheduled).empty());

  Module cycle = module;
  cycle.set_operand(a, 0, b);
  EXPECT_NE(verify(cycle).at(0).message.find("waits for itself"), std::string::npos);
  Module control = module;
  control.mutable_extra(a).control_predecessors = {b};
  EXPECT_NE(verify(control).at(0).message.find("waits for itself"), std::string::npos);

  Module numbers = module;
  numbers.mutable_attributes<ParameterAttributes>(p).number = 1;
  EXPECT_EQ(verify(numbers).at(0).message, "parameter number 1 stands twice or is not below 1");
  numbers[main].parameters = {InstructionId(), p};
  EXPECT_EQ(verify(numbers).at(0).message,
            "parameter 0 is missing, parameters are numbered from 0");

  Module foreign = module;
  const ComputationId other = foreign.add_computation("other");
  const InstructionId q = foreign.add_instruction(other, Op::Parameter, shape, {}, "q");
  foreign.set_operand(b, 0, q);
  EXPECT_EQ(verify(foreign).at(0).message, "an operand is not of the same computation");
  foreign.set_operand(b, 0, a);
  foreign.mutable_extra(b).control_predecessors = {q};
  EXPECT_EQ(verify(foreign).at(0).message, "a control predecessor is not of the same computation");

  Module shapeless = module;
  shapeless[a].shape = {};
  EXPECT_EQ(verify(shapeless).at(0).message, "expected a result shape");
}

TEST(VerifyModule, RanksAreBounded) {
  Module module;
  module.entry = module.add_computation("main");
  const Shape shape = Shape::array(ElementType::F32, Dims(1025, 1));
  module.add_instruction(module.entry, Op::Parameter, shape, {}, "p");
  EXPECT_EQ(verify(module).at(0).message, "an array of more than 1024 dimensions");
}

TEST(VerifyModule, ComputationsThatCallEachOther) {
  Module module;
  const Shape shape = Shape::array(ElementType::F32, {4});
  const ComputationId one = module.add_computation("one"), two = module.add_computation("two");
  for (auto [from, to] : {std::pair(one, two), std::pair(two, one)}) {
    const InstructionId p = module.add_instruction(from, Op::Parameter, shape, {});
    module.add_instruction(from, Op::Call, shape, std::array{p}, CallAttributes{to, false, {}});
  }
  module.entry = one;
  ASSERT_EQ(verify(module).size(), 1u);
  EXPECT_EQ(verify(module)[0].message, "the computation calls itself, perhaps through others");
}

TEST(VerifyModule, StopsAfterTheGivenNumber) {
  Module module;
  const ComputationId main = module.add_computation("main");
  module.entry = main;
  const Shape shape = Shape::array(ElementType::F32, {4}),
              other = Shape::array(ElementType::F32, {5});
  const InstructionId p = module.add_instruction(main, Op::Parameter, shape, {});
  for (int i = 0; i < 30; ++i) module.add_instruction(main, Op::Negate, other, std::array{p});
  EXPECT_EQ(verify(module).size(), 20u);
  EXPECT_EQ(verify(module, {.max_errors = 3}).size(), 3u);
  EXPECT_EQ(verify(module, {.max_errors = 100}).size(), 30u);
}

TEST(VerifyModule, AFaultOfALayoutIsToldOnce) {
  expect_mistake({R"(HloModule m
ENTRY e { a = s8[4]{0:E(4)} parameter(0)  b = s8[4]{0:E(4)} negate(a)  ROOT c = s8[4]{0} negate(b) })",
                  "an element size of 4 bits for s8", "a"});
  EXPECT_TRUE(std::string_view(
                  mistakes_of(R"(HloModule m, entry_computation_layout={(s8[4]{0:E(4)})->s8[4]{0}}
ENTRY e { a = s8[4]{0} parameter(0)  ROOT c = s8[4]{0} negate(a) })"))
                  .contains("parameter 0: an element size of 4 bits for s8"));
}

}  // namespace
}  // namespace hilo
