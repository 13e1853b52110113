// Front door of `machine`: plain data about chips. machines.def lists them; nothing here acts.
#pragma once

#include <algorithm>
#include <array>

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

// How a device reaches others: its neighbours along each axis of a torus, or all of its node.
struct Links {
  int64_t count = 0;            // of a device; of a torus two an axis. 0: not known
  double bytes_per_second = 0;  // of one, one way
  double step_seconds = 0;      // from a device to the next, beside the bytes
  double start_seconds = 0;     // of a collective, beside its steps and its bytes; 0: not known
  int64_t torus_axes = 0;       // 0: no torus, a device sends to any other at the rate of all links
  // When the links of an axis close to a ring: at this size; of all axes, where the size of each is
  // a multiple.
  int64_t ring_size = 0, ring_multiple = 0;
  // With which a product does the steps of a gather that goes on meanwhile; 0: products do not.
  int64_t gather_flags = 0;
  bool are_known() const { return count > 0 && bytes_per_second > 0; }
};

// Devices along each axis of a torus, 1 along those that it has not; all 0: not known.
using TorusShape = std::array<int64_t, 3>;

enum class MachineFamily : uint8_t { Cpu, Gpu, Tpu };

// A cache of data.
struct Cache {
  int64_t bytes = 0;  // 0: there is none
  int64_t ways = 0;
  int64_t cores = 1;            // that share it
  double bytes_per_second = 0;  // read by one core; written at half of it
  bool operator==(const Cache&) const = default;
};

// Of one core, elements a second, in whole vectors that lie in the first cache.
struct FloatRates {
  double f32 = 0, f64 = 0;
  bool operator==(const FloatRates&) const = default;
};

// The cores of a CPU, all alike. Rates are those of one core; 0: not known.
struct Cores {
  int64_t count = 0;
  std::array<Cache, 3> caches = {};  // nearest first
  int64_t cache_line = 64, page = 4096, huge_page = 1 << 21;
  int64_t vector_bytes = 16, vector_registers = 16;
  FloatRates multiply_adds = {}, divisions = {}, square_roots = {};
  FloatRates transcendentals = {};  // exponentials; others take as long or a few times that
  double gathers = 0;               // elements of any type at addresses of their own
  double bytes_per_second = 0;      // read by one core of main memory
  double thread_seconds = 0;        // to hand work to threads that wait, and wait for its end
  double kernel_seconds = 0;        // to start a kernel
  double routine_seconds = 0;       // to call a function of the library
  // Until a line comes that nothing fetched ahead: from a cache, nearest first, and from main
  // memory; servers differ by a third. And lines that a core waits for at once. (AnandTech, "AMD
  // Rome Second Generation EPYC Review", 14694, "Cloud Clash", 15578; Intel's Optimization
  // Reference Manual.)
  static constexpr std::array<double, 4> line_seconds = {1.2e-9, 4e-9, 14e-9, 120e-9};
  static constexpr double lines_at_once = 10;
  // What a core has of the last cache, or twice the second one where that is more: larger arrays
  // come from memory, or from a cache that is as far.
  int64_t near_cache_bytes() const {
    return std::max(2 * caches[1].bytes, caches[2].bytes / std::max<int64_t>(1, caches[2].cores));
  }
  bool operator==(const Cores&) const = default;
};

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
  Links links = {};
  TorusShape torus = {};  // of the devices that run a program
  Cores cores = {};       // of CPUs
};

std::span<const Machine> machines();
// By name; a topology after it is ignored ("v5e:2x2", "v5p_2x2x1", "v6e-8"), and the part before
// an underscore stands for the first machine that begins so ("h100"). Null when there is none.
const Machine* find_machine(std::string_view name);
// The CPU that LLVM, and --target-cpu, call so: that of its row, or of the row that it is like; for
// other names, and on other architectures, the plainest one. "native": this machine's processor, or
// the lesser one that HILO_PROCESSOR names: its row as it stands, so that two machines with one
// chip decide alike; of a chip without a row the one for its level, with the caches that the system
// tells of.
const Machine& find_cpu(std::string_view name);
// That with the cores that this process may use: usable_cores(), which takes a tenth of a
// millisecond to ask the system.
const Machine& host_machine();
// Whose links and rates count where no machine is named: that of the first row of TORUS.
const Machine& assumed_machine();
// "4x2", "2x2x4", of at most as many axes as the machine's torus has. Nothing for other texts.
std::optional<TorusShape> parse_torus(const Machine& machine, std::string_view text);
// The shape that so many devices have where nobody says it: as near to a cube as their number lets
// them be, as slices come ("TPU versions", Google Cloud), larger axes first.
TorusShape default_torus(const Machine& machine, int64_t devices);
// Whether the links along an axis of that shape close to a ring.
bool closes_to_ring(const Links& links, const TorusShape& torus, size_t axis);
// The space of that number; for an unknown number one without a name, aligned like main memory.
MemorySpace memory_space(const Machine& machine, int64_t number);
// Bytes that a buffer of this shape takes: tiles padded, the sizes of dynamic dimensions before the
// elements (M(n), or 4 bytes a dimension on CPU and GPU), a tuple's table of pointers without its
// elements; tokens 0. Saturates.
int64_t buffer_bytes(const Machine& machine, const Shape& shape);

}  // namespace hilo
