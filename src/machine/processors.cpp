// The rows of CPUs, and which of them this machine is.
#include "machine/processors.h"

#include <unistd.h>

#include <algorithm>
#ifdef __x86_64__
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace hilo {
namespace {

// Figures a cycle as a row has them. Cycles: of a whole vector.
struct Row {
  std::string_view name, description;
  int64_t count;
  double gigahertz, memory_rate, core_memory_rate;
  int64_t vector_bytes, vector_registers;
  double multiply_adds, gathers;
  double division_f32, division_f64, root_f32, root_f64;
  Cache first, second, third;
};

// Multiply-adds that an exponential takes, of f32 and of f64 (emit/math_exponential.cpp), with the
// conversions and shifts beside them.
constexpr FloatRates exponential_steps = {14, 28};
// The system's rather than the chip's: what servers take, within a factor of a few. `hilo bench
// --machine` measures them.
constexpr double thread_seconds = 5e-6, kernel_seconds = 20e-9, routine_seconds = 60e-9;
// Between virtual devices, which all share them: what a device has for another is handed from one
// thread to the next. One for all chips, so that processes on unlike ones join the same
// collectives. Measured on two cores of a Xeon, 2 to 16 devices: an all-reduce of single numbers
// takes 0.9 to 1.0 times so long as its steps here, an all-gather 1.5 to 1.9 times; bytes go at 3
// to 18 GB/s.
constexpr Links device_links = {
    .count = 1, .bytes_per_second = 10e9, .step_seconds = thread_seconds};

constexpr Cores cores_of(const Row& row) {
  const double clock = row.gigahertz * 1e9;
  const auto lanes = [&](double bytes) { return static_cast<double>(row.vector_bytes) / bytes; };
  Cores out;
  out.count = row.count;
  out.caches = {row.first, row.second, row.third};
  for (Cache& cache : out.caches) cache.bytes_per_second *= clock;
  out.vector_bytes = row.vector_bytes;
  out.vector_registers = row.vector_registers;
  out.multiply_adds = {row.multiply_adds * clock, row.multiply_adds / 2 * clock};
  out.divisions = {lanes(4) / row.division_f32 * clock, lanes(8) / row.division_f64 * clock};
  out.square_roots = {lanes(4) / row.root_f32 * clock, lanes(8) / row.root_f64 * clock};
  out.transcendentals = {out.multiply_adds.f32 / exponential_steps.f32,
                         out.multiply_adds.f64 / exponential_steps.f64};
  out.gathers = row.gathers * clock;
  out.bytes_per_second = row.core_memory_rate;
  out.thread_seconds = thread_seconds;
  out.kernel_seconds = kernel_seconds;
  out.routine_seconds = routine_seconds;
  return out;
}

#define TPU(...)
#define GPU(...)
#define CPU(...)
#define PROCESSOR(...) Row{__VA_ARGS__},
constexpr Row rows[] = {
#include "machine/machines.def"
};
#undef PROCESSOR

struct Names {
  std::string_view name, row;
};
#define LIKE(name, row) {name, row},
constexpr Names likenesses[] = {
#include "machine/machines.def"
};
#undef LIKE

constexpr size_t count = std::size(rows);
constexpr auto all_spaces = [] {
  std::array<std::array<MemorySpace, 2>, count> out;
  for (size_t i = 0; i < count; ++i) {
    out[i] = cpu_spaces();
    out[i][0].bytes_per_second = rows[i].memory_rate;
  }
  return out;
}();

constexpr auto all_processors = [] {
  std::array<Machine, count> out;
  for (size_t i = 0; i < count; ++i) {
    out[i].name = rows[i].name;
    out[i].description = rows[i].description;
    out[i].spaces = all_spaces[i];
    out[i].cores = cores_of(rows[i]);
    out[i].links = device_links;
    const double multiply_adds = out[i].cores.multiply_adds.f32;
    out[i].flops_f32 = 2 * multiply_adds * static_cast<double>(out[i].cores.count);
  }
  return out;
}();

const Machine* row_of(std::string_view name) {
  for (const Names& one : likenesses)
    if (one.name == name) name = one.row;
  const auto found = std::ranges::find(all_processors, name, &Machine::name);
  return found == all_processors.end() ? nullptr : &*found;
}

// The plainest that code for this architecture is for.
const Machine& plainest() {
#ifdef __aarch64__
  return *row_of("neoverse-n1");
#else
  return *row_of("x86-64");
#endif
}

#ifdef __x86_64__
std::string_view name_of_host() {
  struct Range {
    std::string_view name;
    unsigned family, first, last;
  };
#define HOST_X86(name, family, first, last) {name, family, first, last},
  constexpr Range ranges[] = {
#include "machine/machines.def"
  };
#undef HOST_X86
  unsigned signature = 0, unused = 0;
  if (__get_cpuid(1, &signature, &unused, &unused, &unused) == 0) return "";
  unsigned family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;
  if (family == 0xf) family += signature >> 20 & 0xff;
  if (family == 0x6 || family >= 0xf) model += (signature >> 16 & 0xf) << 4;
  for (const Range& range : ranges)
    if (range.family == family && range.first <= model && model <= range.last) return range.name;
  return "";
}

// Of a processor without a row.
std::string_view level_of_host() {
  const Processor& here = processor();
  return here.has_avx512 ? "x86-64-v4" : here.has_avx2 ? "x86-64-v3" : "x86-64-v2";
}

// A machine may hide instructions that its chip has.
int64_t vector_bytes_of_host(const Machine& row) {
  const Processor& here = processor();
  return std::min<int64_t>(row.cores.vector_bytes, here.has_avx512 ? 64 : here.has_avx2 ? 32 : 16);
}
#elif defined(__aarch64__)
std::string_view name_of_host() {
  struct Part {
    std::string_view name;
    uint64_t part;
  };
#define HOST_ARM(name, part) {name, part},
  constexpr Part parts[] = {
#include "machine/machines.def"
  };
#undef HOST_ARM
  uint64_t identity = 0;
  if (getauxval(AT_HWCAP) & HWCAP_CPUID) asm("mrs %0, MIDR_EL1" : "=r"(identity));
  for (const Part& one : parts)
    if (one.part == (identity >> 4 & 0xfff)) return one.name;
  return "";
}
std::string_view level_of_host() { return plainest().name; }
int64_t vector_bytes_of_host(const Machine& row) { return row.cores.vector_bytes; }
#else
std::string_view name_of_host() { return ""; }
std::string_view level_of_host() { return plainest().name; }
int64_t vector_bytes_of_host(const Machine& row) { return row.cores.vector_bytes; }
#endif

// What the C library knows of the caches; it knows little on AArch64 and in some containers.
void set_caches_of_system(Cores& cores) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  struct Names {
    int bytes, ways;
  };
  constexpr std::array<Names, 3> names = {{{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC},
                                           {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC},
                                           {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC}}};
  for (size_t i = 0; i < names.size(); ++i) {
    if (const long bytes = sysconf(names[i].bytes); bytes > 0) cores.caches[i].bytes = bytes;
    if (const long ways = sysconf(names[i].ways); ways > 0) cores.caches[i].ways = ways;
  }
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE); bytes > 0) cores.cache_line = bytes;
#endif
  if (const long bytes = sysconf(_SC_PAGESIZE); bytes > 0) cores.page = bytes;
}

Machine find_host() {
  const Machine* named = row_of(processor().limit);
  if (!named) named = row_of(name_of_host());
  Machine out = named ? *named : *row_of(level_of_host());
  if (!named) set_caches_of_system(out.cores);
  out.cores.vector_bytes = vector_bytes_of_host(out);
  return out;
}

const Machine& host_chip() {
  static const Machine host = find_host();
  return host;
}

}  // namespace

std::span<const Machine> processors() { return all_processors; }

const Machine& find_cpu(std::string_view name) {
  if (name == "native") return host_chip();
  const Machine* found = row_of(name);
  return found ? *found : plainest();
}

const Machine& host_machine() {
  static const Machine host = [] {
    Machine out = host_chip();
    out.cores.count = usable_cores();
    out.flops_f32 = 2 * out.cores.multiply_adds.f32 * static_cast<double>(out.cores.count);
    return out;
  }();
  return host;
}

}  // namespace hilo
