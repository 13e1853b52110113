// Whether this machine's products of bf16 are faster than those of f32.
#pragma once

namespace hilo {

// AVX-512's dot products of pairs (vdpbf16ps). Intel's processors do them at half the rate of f32,
// AMD's at twice it (docs/dependencies.md).
inline bool has_fast_bf16_pairs() {
#ifdef __x86_64__
  static const bool found = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
  return found;
#else
  return false;
#endif
}

}  // namespace hilo
