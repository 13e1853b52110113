// CPUs: rows that hold together, and the names by which they are found.
#include <gtest/gtest.h>

#include <cmath>

#include "machine/machine.h"

namespace hilo {
namespace {

constexpr std::string_view rows[] = {
    "x86-64",         "x86-64-v2",      "x86-64-v3",   "x86-64-v4",  "haswell", "skylake-avx512",
    "icelake-server", "sapphirerapids", "znver2",      "znver3",     "znver4",  "znver5",
    "neoverse-n1",    "neoverse-n2",    "neoverse-v1", "neoverse-v2"};

// Nearer caches are smaller and faster, and no rate is unknown.
void expect_sound(const Machine& machine) {
  const Cores& cores = machine.cores;
  EXPECT_EQ(machine.family, MachineFamily::Cpu);
  EXPECT_GT(cores.count, 0) << machine.name;
  EXPECT_GT(memory_space(machine, 0).bytes_per_second, 0) << machine.name;
  for (size_t i = 0; i + 1 < cores.caches.size(); ++i) {
    const Cache &near = cores.caches[i], &far = cores.caches[i + 1];
    EXPECT_LT(near.bytes, far.bytes) << machine.name;
    EXPECT_GE(near.bytes_per_second, far.bytes_per_second) << machine.name;
    EXPECT_GT(near.ways, 0) << machine.name;
  }
  EXPECT_GT(cores.caches.back().bytes_per_second, cores.bytes_per_second) << machine.name;
  EXPECT_LE(cores.bytes_per_second, memory_space(machine, 0).bytes_per_second) << machine.name;
  for (const FloatRates& rates :
       {cores.multiply_adds, cores.divisions, cores.square_roots, cores.transcendentals}) {
    EXPECT_GT(rates.f64, 0) << machine.name;
    EXPECT_GT(rates.f32, rates.f64) << machine.name;
    EXPECT_LE(rates.f32, cores.multiply_adds.f32) << machine.name;
  }
  for (double one : {cores.gathers, cores.bytes_per_second, cores.thread_seconds,
                     cores.kernel_seconds, cores.routine_seconds, machine.flops_f32})
    EXPECT_TRUE(one > 0 && std::isfinite(one)) << machine.name;
}

TEST(Processors, RowsHoldTogether) {
  for (std::string_view name : rows) {
    EXPECT_EQ(find_cpu(name).name, name);
    expect_sound(find_cpu(name));
  }
}

TEST(Processors, FiguresOfOneChip) {
  const Cores& zen3 = find_cpu("znver3").cores;
  EXPECT_EQ(zen3.caches[0].bytes, 32 << 10);
  EXPECT_EQ(zen3.caches[1].bytes, 512 << 10);
  EXPECT_EQ(zen3.caches[2].cores, 8);
  EXPECT_EQ(zen3.vector_bytes, 32);
  EXPECT_DOUBLE_EQ(zen3.multiply_adds.f32, 16 * 3.45e9);
  EXPECT_EQ(find_cpu("sapphirerapids").cores.vector_registers, 32);
}

TEST(Processors, NamesThatHaveNoRow) {
  EXPECT_EQ(find_cpu("cascadelake").name, "skylake-avx512");
  EXPECT_EQ(find_cpu("broadwell").name, "haswell");
  EXPECT_EQ(&find_cpu("no such"), &find_cpu(""));
  EXPECT_EQ(find_cpu("no such").cores.vector_bytes, 16);
}

TEST(Processors, ThisMachine) {
  const Machine& host = host_machine();
  Cores whole = find_cpu("native").cores;
  whole.count = host.cores.count;
  EXPECT_EQ(whole, host.cores);
  expect_sound(host);
  EXPECT_EQ(host.cores.count, usable_cores());
  if (processor().has_avx512) {
    EXPECT_EQ(host.cores.vector_bytes, 64);
  }
}

}  // namespace
}  // namespace hilo
