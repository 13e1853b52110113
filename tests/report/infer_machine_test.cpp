// Which chip a module was made for: what it shows excludes others, and no more is claimed.
#include <gtest/gtest.h>

#include "report/report.h"
#include "text/text.h"

namespace hilo {
namespace {

AssumedMachine chip_of(const std::string& shape, const std::string& attributes = "",
                       const std::string& file = "") {
  const std::string text =
      "HloModule m, is_scheduled=true\n\nENTRY %main (x: " + shape.substr(0, shape.find('{')) +
      ") -> " + shape.substr(0, shape.find('{')) + " {\n  %x = " + shape +
      " parameter(0)\n  ROOT %y = " + shape + " negate(%x)" + attributes + "\n}\n";
  auto module = parse(text);
  EXPECT_TRUE(module) << to_string(module.error());
  return module ? assume_machine(*module, {file, nullptr}) : AssumedMachine();
}

bool agrees(const AssumedMachine& machine, std::string_view name) {
  if (machine.machine->name == name) return true;
  return std::find(machine.others.begin(), machine.others.end(), name) != machine.others.end();
}

TEST(InferMachine, TilesAloneSayOnlyThatItIsATpu) {
  const AssumedMachine machine = chip_of("f32[8,128]{1,0:T(8,128)}");
  EXPECT_EQ(machine.machine->name, "v5e");
  EXPECT_FALSE(machine.is_certain);
  for (const std::string_view other : {"v6e", "v5p", "v4", "v7x", "v3", "v2"})
    EXPECT_TRUE(agrees(machine, other)) << other;
}

TEST(InferMachine, MoreVmemThanAChipHasExcludesIt) {
  const AssumedMachine machine = chip_of("f32[20480,1024]{1,0:T(8,128)S(1)}");  // 80 MiB
  EXPECT_EQ(machine.machine->name, "v5e");
  EXPECT_TRUE(agrees(machine, "v6e"));
  EXPECT_FALSE(agrees(machine, "v5p"));
  EXPECT_FALSE(agrees(machine, "v4"));
  EXPECT_TRUE(machine.reason.contains("80.00MiB of vmem")) << machine.reason;
}

TEST(InferMachine, Space3IsThatOfV4) {
  const AssumedMachine machine = chip_of("f32[8192,1024]{1,0:T(8,128)S(3)}");
  EXPECT_EQ(machine.machine->name, "v4");
  EXPECT_FALSE(agrees(machine, "v5e"));
}

TEST(InferMachine, ScopedMemoryAndTwoCores) {
  const AssumedMachine scoped = chip_of(
      "f32[8,128]{1,0:T(8,128)}",
      ", backend_config={\"scoped_memory_configs\":[{\"memory_space\":\"1\",\"offset\":\"0\","
      "\"size\":\"33554432\"}]}");
  EXPECT_FALSE(agrees(scoped, "v4")) << scoped.reason;
  EXPECT_TRUE(agrees(scoped, "v7x"));
  const AssumedMachine cores =
      chip_of("f32[8,128]{1,0:T(8,128)}",
              ", backend_config={\"megacore_config\":{\"megacore_split_dim\":\"0\"}}");
  EXPECT_EQ(cores.machine->name, "v5p");
  EXPECT_EQ(cores.others, std::vector<std::string>{"v4"});
}

TEST(InferMachine, NamesOfDumpFiles) {
  EXPECT_EQ(
      chip_of("f32[8,128]{1,0:T(8,128)}", "", "d/module_0001.jit_f.v6e_after_optimizations.txt")
          .machine->name,
      "v6e");
  const AssumedMachine gpu =
      chip_of("f32[8]{0}", "", "module_0001.jit_f.sm_8.0_gpu_after_optimizations.txt");
  EXPECT_EQ(gpu.machine->name, "a100_sxm_80");
  EXPECT_FALSE(gpu.is_certain);
  const AssumedMachine cpu =
      chip_of("f32[8]{0}", "", "module_0001.jit_f.cpu_after_optimizations.txt");
  EXPECT_EQ(cpu.machine->name, "cpu");
  EXPECT_TRUE(cpu.is_certain);
  EXPECT_FALSE(chip_of("f32[8]{0}").is_certain);
}

TEST(InferMachine, TheReportSaysWhatIsAssumed) {
  MemoryPicture picture;
  set_machine(picture, chip_of("f32[8,128]{1,0:T(8,128)}"));
  const std::string report = memory_report(picture);
  EXPECT_TRUE(report.contains("chip: v5e (assumed: layouts have tiles")) << report;
  EXPECT_TRUE(report.contains("it may as well be v6e, v5p")) << report;
  EXPECT_TRUE(report.contains("--target=CHIP")) << report;
  set_machine(picture, {find_machine("v6e"), "named by --target", true, {}});
  EXPECT_TRUE(memory_report(picture).contains("chip: v6e (named by --target)\n"));
}

}  // namespace
}  // namespace hilo
