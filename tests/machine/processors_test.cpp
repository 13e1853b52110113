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

// Nearer caches are smaller, faster and of fewer cores, and no rate is unknown.
void expect_sound(const Machine& machine) {
  const Cores& cores = machine.cores;
  EXPECT_EQ(machine.family, MachineFamily::Cpu);
  EXPECT_GT(cores.count, 0) << machine.name;
  EXPECT_GT(memory_space(machine, 0).bytes_per_second, 0) << machine.name;
  for (size_t i = 0; i + 1 < cores.caches.size(); ++i) {
    const Cache &near = cores.caches[i], &far = cores.caches[i + 1];
    EXPECT_LT(near.bytes, far.bytes) << machine.name;
    EXPECT_GE(near.bytes_per_second, far.bytes_per_second) << machine.name;
    EXPECT_LE(near.cores, far.cores) << machine.name;
    EXPECT_GT(near.ways, 0) << machine.name;
  }
  EXPECT_GT(cores.caches.back().bytes_per_second, cores.bytes_per_second) << machine.name;
  EXPECT_LE(cores.bytes_per_second, memory_space(machine, 0).bytes_per_second) << machine.name;
  EXPECT_LE(cores.square_roots.f32, cores.divisions.f32) << machine.name;
  EXPECT_LE(cores.square_roots.f64, cores.divisions.f64) << machine.name;
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

bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

// What holds of chips that are sold whole, and not of the part of one that a machine may be.
TEST(Processors, RowsAreWholeChips) {
  for (std::string_view name : rows) {
    const Machine& machine = find_cpu(name);
    const Cores& cores = machine.cores;
    SCOPED_TRACE(name);
    for (const Cache& cache : cores.caches) {
      EXPECT_GT(cache.ways, 0);
      EXPECT_EQ(cache.bytes % (cache.ways * cores.cache_line), 0);
      EXPECT_EQ(cores.count % cache.cores, 0);
    }
    // Bits of an address choose the set of a cache of one core.
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(cores.caches[i].cores, 1);
      EXPECT_TRUE(
          is_power_of_two(cores.caches[i].bytes / (cores.caches[i].ways * cores.cache_line)));
    }
    EXPECT_TRUE(is_power_of_two(cores.vector_bytes) && is_power_of_two(cores.vector_registers));
    // All cores multiply at once, and read all that memory gives.
    EXPECT_DOUBLE_EQ(machine.flops_f32,
                     2 * cores.multiply_adds.f32 * static_cast<double>(cores.count));
    const double memory = memory_space(machine, 0).bytes_per_second;
    EXPECT_GE(cores.bytes_per_second * static_cast<double>(cores.count), memory);
    const double flops_a_byte = machine.flops_f32 / memory;
    EXPECT_TRUE(flops_a_byte > 4 && flops_a_byte < 64) << flops_a_byte;
    // The first cache gives a multiply-add of f32 half an operand to two.
    const double operands = cores.caches[0].bytes_per_second / 4 / cores.multiply_adds.f32;
    EXPECT_TRUE(operands >= 0.5 && operands <= 2) << operands;
    // Addresses of their own never come as fast as whole vectors do.
    EXPECT_LT(cores.gathers, cores.caches[0].bytes_per_second / 4);
    EXPECT_GT(cores.gathers, 1e9);
  }
}

TEST(Processors, FiguresOfOneChip) {
  const Cores& zen3 = find_cpu("znver3").cores;
  EXPECT_EQ(zen3.caches[0].bytes, 32 << 10);
  EXPECT_EQ(zen3.caches[1].bytes, 512 << 10);
  EXPECT_EQ(zen3.caches[2].cores, 8);
  EXPECT_EQ(zen3.vector_bytes, 32);
  EXPECT_DOUBLE_EQ(zen3.multiply_adds.f32, 16 * 3.5e9);
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
