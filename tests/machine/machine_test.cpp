// Sizes on each chip: those that XLA's buffer assignments state for the same shapes.
#include "machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "text/text.h"

namespace hilo {
namespace {

int64_t bytes_on(std::string_view machine, std::string_view text) {
  const Result<Shape> shape = parse_shape(text);
  EXPECT_TRUE(shape.has_value()) << text;
  const Machine* found = find_machine(machine);
  EXPECT_NE(found, nullptr) << machine;
  return shape && found ? buffer_bytes(*found, *shape) : -1;
}

std::string name_found(std::string_view name) {
  const Machine* machine = find_machine(name);
  return machine ? std::string(machine->name) : "none";
}

TEST(Machine, NamesWithTopologyAndAbbreviations) {
  EXPECT_EQ(name_found("v5e"), "v5e");
  EXPECT_EQ(name_found("v5e:2x2"), "v5e");
  EXPECT_EQ(name_found("v5p_2x2x1"), "v5p");
  EXPECT_EQ(name_found("v6e-8"), "v6e");
  EXPECT_EQ(name_found("h100_sxm"), "h100_sxm");
  EXPECT_EQ(name_found("h100"), "h100_sxm");
  EXPECT_EQ(name_found("a100"), "a100_sxm_80");
  EXPECT_EQ(name_found("a100_sxm_40"), "a100_sxm_40");
  EXPECT_EQ(name_found("cpu"), "cpu");
  EXPECT_EQ(name_found("v5"), "none");
  EXPECT_EQ(name_found(""), "none");
  EXPECT_EQ(name_found("h100_sx"), "none");
  EXPECT_EQ(name_found("v5e:2x"), "none");
}

TEST(Machine, EveryMachineHasMainMemoryFirst) {
  for (const Machine& machine : machines()) {
    ASSERT_FALSE(machine.spaces.empty()) << machine.name;
    EXPECT_EQ(machine.spaces[0].number, 0) << machine.name;
    EXPECT_EQ(find_machine(machine.name), &machine);
    for (const MemorySpace& space : machine.spaces) {
      EXPECT_GT(space.alignment, 0) << machine.name;
      EXPECT_GT(space.untiled_granule, 0) << machine.name;
    }
  }
}

// Halves of operands go at most twice as fast, links are slower than memory, and the memory of
// cores is a small part of main memory.
TEST(Machine, PeaksHoldTogether) {
  for (const Machine& machine : machines()) {
    if (machine.family == MachineFamily::Cpu) continue;
    SCOPED_TRACE(machine.name);
    if (machine.flops_bf16 > 0) {
      EXPECT_GE(machine.flops_bf16, machine.flops_f32);
    }
    for (double rate : {machine.flops_int8, machine.flops_fp8})
      if (rate > 0) {
        EXPECT_GE(rate, machine.flops_bf16);
        EXPECT_LE(rate, 2.01 * machine.flops_bf16);
      }
    const MemorySpace memory = memory_space(machine, 0);
    const Links& links = machine.links;
    EXPECT_LT(static_cast<double>(links.count) * links.bytes_per_second, memory.bytes_per_second);
    const double flops_a_byte =
        std::max(machine.flops_f32, machine.flops_bf16) / memory.bytes_per_second;
    EXPECT_TRUE(flops_a_byte > 10 && flops_a_byte < 1000) << flops_a_byte;
    for (std::string_view name : {"vmem", "smem"})
      for (const MemorySpace& space : machine.spaces)
        if (space.name == name) {
          EXPECT_TRUE(space.bytes > 0 && space.bytes <= memory.bytes / 64) << name;
        }
  }
}

TEST(Machine, SharedMemoryOfCores) {
  EXPECT_EQ(memory_space(*find_machine("v4"), 3).name, "cmem");
  EXPECT_EQ(memory_space(*find_machine("v4"), 3).alignment, 4096);
}

TEST(Machine, TuplesOfPointers) {
  const std::string three = "(f32[], f32[], f32[])";
  EXPECT_EQ(bytes_on("v5e", three), 512);
  EXPECT_EQ(bytes_on("v4", three), 512);
  EXPECT_EQ(bytes_on("v5p", three), 32);
  EXPECT_EQ(bytes_on("h100", three), 24);
  EXPECT_EQ(bytes_on("cpu", three), 24);
  EXPECT_EQ(bytes_on("v6e", "(f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[])"), 64);
  EXPECT_EQ(bytes_on("v5e", "()"), 0);
  EXPECT_EQ(bytes_on("v6e", "((f32[], f32[]), f32[9999])"), 32);
}

TEST(Machine, ArraysInTheirTiles) {
  EXPECT_EQ(bytes_on("v5e", "f32[]{:T(128)}"), 512);
  EXPECT_EQ(bytes_on("v5e", "pred[]{:T(512)}"), 512);
  EXPECT_EQ(bytes_on("v5p", "bf16[]{:T(256)}"), 512);
  EXPECT_EQ(bytes_on("v5p", "pred[128,128]{0,1:T(8,128)(4,1)S(1)}"), 16384);
  EXPECT_EQ(bytes_on("v5p", "f32[3,3,1,32]{3,2,1,0:T(1,128)S(1)}"), 4608);
  EXPECT_EQ(bytes_on("v5e", "f32[20,16,64]{2,1,0:T(8,128)}"), 163840);
  EXPECT_EQ(bytes_on("v5p", "f32[24,100]{1,0:T(8,128)S(1)SC(0:16)}"), 8192);
  EXPECT_EQ(bytes_on("h100", "f32[20,16,64]{2,1,0}"), 81920);
  EXPECT_EQ(bytes_on("h100", "s4[10]{0:E(4)}"), 5);
  EXPECT_EQ(bytes_on("h100", "s4[10]{0}"), 10);
}

TEST(Machine, ArraysWithoutTilesFillGranulesOfTheirSpace) {
  EXPECT_EQ(bytes_on("v6e", "f32[]"), 4096);
  EXPECT_EQ(bytes_on("v6e", "u32[]{:S(6)}"), 4096);
  EXPECT_EQ(bytes_on("v5e", "s32[2]{0:S(4)}"), 4096);
  EXPECT_EQ(bytes_on("v5e", "u32[]{:S(2)}"), 4);
  EXPECT_EQ(bytes_on("v6e", "s32[12]{0:S(10)}"), 48);
  EXPECT_EQ(bytes_on("h100", "f32[]"), 4);
}

TEST(Machine, DynamicDimensionsTokensAndHugeShapes) {
  EXPECT_EQ(bytes_on("cpu", "f32[<=8,4]"), 8 * 4 * 4 + 2 * 4);
  EXPECT_EQ(bytes_on("v5e", "f32[<=8,128]{1,0:T(8,128)M(1024)}"), 8 * 128 * 4 + 1024);
  EXPECT_EQ(bytes_on("v5e", "token[]"), 0);
  EXPECT_EQ(bytes_on("cpu", "b(f32[16])"), 64);
  const Shape huge = Shape::array(ElementType::F64, {2000000000, 2000000000});
  EXPECT_GT(buffer_bytes(*find_machine("v6e"), huge), INT64_MAX / 16);
}

TEST(Machine, SpacesByNumber) {
  const Machine& chip = *find_machine("v5e");
  EXPECT_EQ(memory_space(chip, 1).name, "vmem");
  EXPECT_EQ(memory_space(chip, 2).alignment, 4);
  EXPECT_EQ(memory_space(chip, 0).bytes, int64_t{16} << 30);
  EXPECT_EQ(memory_space(chip, 77).number, 77);
  EXPECT_EQ(memory_space(chip, 77).alignment, memory_space(chip, 0).alignment);
}

TEST(Machine, ShapesOfTheTorus) {
  const Machine &v5e = *find_machine("v5e"), &v5p = *find_machine("v5p");
  EXPECT_EQ(parse_torus(v5e, "4x2"), (TorusShape{4, 2, 1}));
  EXPECT_EQ(parse_torus(v5e, "8"), (TorusShape{8, 1, 1}));
  EXPECT_EQ(parse_torus(v5p, "2x2x4"), (TorusShape{2, 2, 4}));
  for (const char* text : {"", "x", "4x", "4x2x2", "0x2", "-1x2", "4 x 2", "four"})
    EXPECT_FALSE(parse_torus(v5e, text)) << text;
  EXPECT_FALSE(parse_torus(*find_machine("h100"), "8"));
  EXPECT_EQ(default_torus(v5e, 8), (TorusShape{4, 2, 1}));
  EXPECT_EQ(default_torus(v5e, 256), (TorusShape{16, 16, 1}));
  EXPECT_EQ(default_torus(v5e, 6), (TorusShape{3, 2, 1}));
  EXPECT_EQ(default_torus(v5e, 7), (TorusShape{7, 1, 1}));
  EXPECT_EQ(default_torus(v5p, 4), (TorusShape{2, 2, 1}));
  EXPECT_EQ(default_torus(v5p, 64), (TorusShape{4, 4, 4}));
}

TEST(Machine, AxesThatCloseToRings) {
  const Links &v5e = find_machine("v5e")->links, &v5p = find_machine("v5p")->links;
  EXPECT_TRUE(closes_to_ring(v5e, {16, 8, 1}, 0));
  EXPECT_FALSE(closes_to_ring(v5e, {16, 8, 1}, 1));
  EXPECT_TRUE(closes_to_ring(v5p, {4, 4, 8}, 0));
  EXPECT_FALSE(closes_to_ring(v5p, {2, 4, 4}, 1));
}

TEST(Machine, LinksOfTorusAndNode) {
  for (const Machine& machine : machines()) {
    const Links& links = machine.links;
    EXPECT_EQ(links.are_known(), links.bytes_per_second > 0) << machine.name;
    EXPECT_EQ(machine.family == MachineFamily::Tpu, links.torus_axes > 0) << machine.name;
    if (links.torus_axes > 0) {
      EXPECT_EQ(links.count, 2 * links.torus_axes) << machine.name;
    }
  }
  EXPECT_EQ(assumed_machine().name, "v5e");
}

}  // namespace
}  // namespace hilo
