// Front door of `machine`: plain data about chips. machines.def lists them; nothing here acts.
#pragma once

#include "shape/shape.h"

namespace hilo {

// A memory that a layout's S(n) may name. Number 0 is the chip's main memory.
struct MemorySpace {
  int64_t number = 0;
  std::string_view name;        // "hbm", "vmem", "sflag", "host"; "" in spaces that nobody named
  int64_t bytes = 0;            // what a program may use; 0: not known
  int64_t alignment = 1;        // bytes; offsets are multiples of it
  int64_t untiled_granule = 1;  // bytes; sizes of arrays without tiles are rounded up to it
  double bytes_per_second = 0;  // read or written by the chip's cores; 0: not known
};

enum class MachineFamily : uint8_t { Cpu, Gpu, Tpu };

// What XLA calls one device: a chip, or one core of TPU v2, v3 and v7x.
struct Machine {
  std::string_view name;         // as in --target: "v5e", "h100_sxm", "cpu"
  std::string_view description;  // "TPU v5e", "NVIDIA H100 SXM 80 GB"
  MachineFamily family = MachineFamily::Cpu;
  std::span<const MemorySpace> spaces;  // by number, with gaps
  // The table of pointers that stands for a tuple of n elements takes n * pointer_bytes bytes,
  // rounded up to a multiple of tuple_granule.
  int64_t pointer_bytes = 8, tuple_granule = 1;
  // Peak rates without sparsity, operations a second; a product and its sum are two. 0: not known.
  // On TPUs those of the matrix units, which take no f32.
  double flops_f32 = 0, flops_bf16 = 0, flops_int8 = 0, flops_fp8 = 0;
};

std::span<const Machine> machines();
// By name; a topology after it is ignored ("v5e:2x2", "v5p_2x2x1", "v6e-8"), and the part before
// an underscore stands for the first machine that begins so ("h100"). Null when there is none.
const Machine* find_machine(std::string_view name);
// The space of that number; for an unknown number one without a name, aligned like main memory.
MemorySpace memory_space(const Machine& machine, int64_t number);
// Bytes that a buffer of this shape takes: tiles padded, the sizes of dynamic dimensions before the
// elements (M(n), or 4 bytes a dimension on CPU and GPU), a tuple's table of pointers without its
// elements; tokens 0. Saturates.
int64_t buffer_bytes(const Machine& machine, const Shape& shape);

}  // namespace hilo
