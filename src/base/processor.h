// What of this machine's processor the project uses. The variable HILO_PROCESSOR, for tests and
// measurements, lets a process do as if it ran on a lesser one: x86-64, x86-64-v2, x86-64-v3 (AVX2,
// FMA) or x86-64-v4 (AVX-512), the levels of the x86-64 psABI; functions of this project and
// emitted code keep to it, the C library does not. Shown through base.h.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace hilo {

struct Processor {
  std::string_view limit;        // what HILO_PROCESSOR says; empty: none
  int64_t first_cache_ways = 8;  // of data; as most have where the C library does not know
  int64_t second_cache_bytes = 1 << 20;
  bool has_avx2 = false;    // and FMA and F16C
  bool has_avx512 = false;  // F, BW, DQ and VL
  bool has_vnni = false;    // of AVX-512
  // AVX-512's dot products of pairs of bf16 (vdpbf16ps) are faster than those of f32: Intel's
  // processors do them at half the rate of f32, AMD's at twice it (docs/dependencies.md).
  bool has_fast_bf16_pairs = false;
  bool has_tiles = false;  // AMX, of bf16 and bytes, and the kernel lets this process use it
  // A product of bf16 is faster than one of f32 whose operands are widened.
  bool has_fast_bf16() const { return has_fast_bf16_pairs || has_tiles; }
};

// Linux gives registers of tiles to a process that asks for them (its Documentation/arch/x86/
// xstate.rst); it asks for all of its threads.
inline bool may_have_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long ask_for_state = 0x1023, tile_data = 18;
  return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
         __builtin_cpu_supports("amx-int8") &&
         syscall(SYS_arch_prctl, ask_for_state, tile_data) == 0;
#else
  return false;
#endif
}

inline Processor find_processor() {
  Processor out;
  if (const char* limit = std::getenv("HILO_PROCESSOR")) out.limit = limit;
#ifdef _SC_LEVEL1_DCACHE_ASSOC
  if (const long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC); ways > 0) out.first_cache_ways = ways;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) out.second_cache_bytes = bytes;
#endif
#ifdef __x86_64__
  const bool is_v1 = out.limit == "x86-64" || out.limit == "x86-64-v2";
  const bool is_v3 = out.limit == "x86-64-v3", is_v4 = out.limit == "x86-64-v4";
  const bool is_free = !is_v1 && !is_v3 && !is_v4;
  out.has_avx2 = !is_v1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("f16c");
  out.has_avx512 = out.has_avx2 && (is_free || is_v4) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq");
  out.has_vnni = is_free && out.has_avx512 && __builtin_cpu_supports("avx512vnni");
  out.has_fast_bf16_pairs =
      is_free && out.has_avx512 && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
  out.has_tiles = is_free && out.has_avx512 && may_have_tiles();
#endif
  return out;
}

// It does not change while the process runs.
inline const Processor& processor() {
  static const Processor found = find_processor();
  return found;
}

}  // namespace hilo
