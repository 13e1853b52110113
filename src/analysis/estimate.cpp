#include "analysis/estimate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "analysis/cost.h"

namespace hilo {
namespace {

// Sums of a few such stay finite.
constexpr double max_seconds = 1e200;

// 0 where there is nothing to do, or the machine does not know the rate.
double seconds(double amount, double rate) {
  if (!(amount > 0) || !(rate > 0)) return 0;
  const double out = amount / rate;
  return out < max_seconds ? out : max_seconds;
}
double seconds(const FloatCounts& amounts, const FloatRates& rates) {
  return seconds(amounts.f32, rates.f32) + seconds(amounts.f64, rates.f64);
}
// Calls take a time rather than have a rate.
double calls(double count, double each) { return each > 0 ? seconds(count, 1 / each) : 0; }

constexpr size_t bounds = static_cast<size_t>(Bound::Memory) + 1;
using Times = std::array<double, bounds>;
double& at(Times& times, Bound bound) { return times[static_cast<size_t>(bound)]; }

// Seconds of one core.
Times arithmetic_times(const Work& work, const Cores& cores) {
  Times out = {};
  at(out, Bound::Arithmetic) = seconds(work.operations, cores.multiply_adds) +
                               seconds(work.multiply_adds, cores.multiply_adds);
  at(out, Bound::Divisions) = seconds(work.divisions, cores.divisions);
  at(out, Bound::SquareRoots) = seconds(work.square_roots, cores.square_roots);
  at(out, Bound::Transcendentals) = seconds(work.transcendentals, cores.transcendentals);
  at(out, Bound::Gathers) = seconds(work.gathers, cores.gathers);
  return out;
}

// What the threads have of a cache: all of it for each group of cores that they fill. Cores of a
// group that are not this machine's have their part of it.
double capacity(const Cache& cache, const Cores& cores, double threads, int64_t stride) {
  const auto sharing = static_cast<double>(std::max<int64_t>(1, cache.cores));
  const double part = std::min(1.0, static_cast<double>(cores.count) / sharing);
  return held_bytes(cache, cores, stride) * part * std::max(1.0, threads / sharing);
}

Bound level_of(const Access& access, const Cores& cores, double threads) {
  constexpr std::array<Bound, 3> levels = {Bound::FirstCache, Bound::SecondCache,
                                           Bound::ThirdCache};
  for (size_t i = 0; i < levels.size(); ++i)
    if (access.distance <= capacity(cores.caches[i], cores, threads, access.stride))
      return levels[i];
  return Bound::Memory;
}

// A store to a cache takes as long as two loads: chips have half as many ports for it, and beyond
// the first cache a line is read before it is written. Large results go past the caches.
double loads_of(const Access& access, Bound level) {
  return access.is_written && level != Bound::Memory ? 2 * access.bytes : access.bytes;
}

// Seconds of all threads together.
Times memory_times(const Work& work, const Machine& machine, double threads) {
  const Cores& cores = machine.cores;
  const double all = memory_space(machine, 0).bytes_per_second;
  const double shared = threads * cores.bytes_per_second;
  const std::array<double, 4> rates = {
      threads * cores.caches[0].bytes_per_second, threads * cores.caches[1].bytes_per_second,
      threads * cores.caches[2].bytes_per_second, all > 0 ? std::min(all, shared) : shared};
  Times out = {};
  for (const Access& access : work.accesses) {
    const Bound level = level_of(access, cores, threads);
    const size_t rate = static_cast<size_t>(level) - static_cast<size_t>(Bound::FirstCache);
    at(out, level) += seconds(loads_of(access, level), rates[rate]) +
                      calls(access.waits, Cores::line_seconds[rate] / threads);
  }
  return out;
}

double sum_of(const Times& times) {
  double out = 0;
  for (double one : times) out = std::min(out + one, max_seconds);
  return out;
}
Bound largest(const Times& times) {
  return static_cast<Bound>(std::ranges::max_element(times) - times.begin());
}

// Units of arithmetic wait for each other, as do levels of memory; memory is read meanwhile.
Estimate on_threads(const Work& work, const Machine& machine, int64_t threads) {
  const auto n = static_cast<double>(threads);
  const Times arithmetic = arithmetic_times(work, machine.cores);
  const Times memory = memory_times(work, machine, n);
  const double computing = sum_of(arithmetic) / n, moving = sum_of(memory);
  const Cores& cores = machine.cores;
  const double starting = calls(work.kernels, cores.kernel_seconds) +
                          calls(work.routines, cores.routine_seconds) +
                          (threads > 1 ? std::max(0.0, cores.thread_seconds) : 0);
  const double working = std::max(computing, moving);
  Estimate out = {std::min(working + starting, max_seconds), Bound::Nothing, threads};
  if (starting > working) out.bound = Bound::Start;
  else if (working > 0) out.bound = largest(computing >= moving ? arithmetic : memory);
  return out;
}

// Chips that are known by their peaks alone.
Estimate by_roofline(const Work& work, const Machine& machine) {
  const double flops = std::max(machine.flops_f32, machine.flops_bf16);
  const double rate = memory_space(machine, 0).bytes_per_second;
  if (!(flops > 0) && !(rate > 0)) return {};
  double bytes = 0;
  for (const Access& access : work.accesses) bytes += access.bytes;
  const double operations = work.operations.f32 + work.operations.f64 +
                            2 * (work.multiply_adds.f32 + work.multiply_adds.f64);
  const double computing = seconds(operations, flops), moving = seconds(bytes, rate);
  if (computing > moving) return {computing, Bound::Arithmetic};
  return {moving, moving > 0 ? Bound::Memory : Bound::Nothing};
}

}  // namespace

std::string_view text_of(Bound bound) {
  constexpr std::array<std::string_view, bounds> texts = {
      "unknown",         "nothing", "start",       "arithmetic",   "divisions",   "roots",
      "transcendentals", "gathers", "first cache", "second cache", "third cache", "memory"};
  return texts[static_cast<size_t>(bound)];
}

double held_bytes(const Cache& cache, const Cores& cores, int64_t stride) {
  const auto bytes = static_cast<double>(cache.bytes);
  if (stride <= 0 || cache.ways <= 0 || cache.cores > 1) return bytes;
  const int64_t way = cache.bytes / cache.ways, sets = way / cores.cache_line;
  const int64_t used = std::min(sets, way / std::gcd(way, stride));
  return bytes * static_cast<double>(used) / static_cast<double>(std::max<int64_t>(1, sets));
}

// Threads share it where that is faster.
Estimate estimate(const Work& work, const Machine& machine) {
  const Cores& cores = machine.cores;
  if (cores.count == 0) return by_roofline(work, machine);
  Estimate out = on_threads(work, machine, 1);
  out.serial_seconds = out.seconds;
  if (cores.count == 1) return out;
  const Estimate together = on_threads(work, machine, cores.count);
  if (!(together.seconds < out.seconds)) return out;
  return {together.seconds, together.bound, together.threads, out.serial_seconds};
}

Work work_of(const Cost& cost) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Work out;
  out.operations.f32 = cost.flops;
  out.transcendentals.f32 = cost.transcendentals;
  out.accesses = {{cost.bytes_read, far, false}, {cost.bytes_written, far, true}};
  return out;
}

}  // namespace hilo
