#include <algorithm>
#include <charconv>
#include <functional>

#include "machine/machine.h"
#include "machine/processors.h"

namespace hilo {
namespace {

// Numbers of the spaces: jax/_src/tpu_custom_call.py, MemorySpace.color; 3 is the memory that the
// cores of v4 share, 6 a second memory for scalars that compiled modules use and nobody names, 10
// to 12 hold what a SparseCore is told with its program. Alignments are measured on offsets in
// XLA's buffer assignments.
constexpr std::array<MemorySpace, 11> tpu_spaces(int64_t hbm, double rate, int64_t vmem,
                                                 int64_t cmem, int64_t smem) {
  return {{{0, "hbm", hbm, 16384, 4096, rate},
           {1, "vmem", vmem, 4096, 4096, 0},
           {2, "sflag", 0, 4, 1, 0},
           {3, "cmem", cmem, 4096, 4096, 0},
           {4, "smem", smem, 512, 4096, 0},
           {5, "host", 0, 4096, 4096, 0},
           {6, "scalar", 0, 512, 4096, 0},
           {8, "sparsecore_sflag", 0, 4, 1, 0},
           {10, "", 0, 4, 1, 0},
           {11, "", 0, 4, 1, 0},
           {12, "", 0, 4, 1, 0}}};
}

// 1 holds what collectives read in place, 5 is Layout::kHostMemorySpace.
constexpr std::array<MemorySpace, 3> gpu_spaces(int64_t bytes, double rate) {
  return {{{0, "hbm", bytes, 256, 1, rate},
           {1, "collective", bytes, 256, 1, rate},
           {5, "host", 0, 256, 1, 0}}};
}

#define TPU(name, description, hbm, rate, vmem, cmem, smem, granule, bf16, int8, fp8) \
  constexpr auto spaces_##name = tpu_spaces(hbm, rate, vmem, cmem, smem);
#define GPU(name, description, bytes, rate, f32, bf16, int8, fp8) \
  constexpr auto spaces_##name = gpu_spaces(bytes, rate);
#define CPU(name, description) constexpr auto spaces_##name = cpu_spaces();
#include "machine/machines.def"
#undef TPU
#undef GPU
#undef CPU

struct LinksRow {
  std::string_view name;
  Links links;
};
#define TPU(...)
#define GPU(...)
#define CPU(...)
#define TORUS(name, links, rate, step, start, axes, ring_size, ring_multiple, flags) \
  {#name, {links, rate, step, start, axes, ring_size, ring_multiple, flags}},
#define NODE(name, links, rate, step, start) {#name, {links, rate, step, start}},
constexpr LinksRow links_rows[] = {
#include "machine/machines.def"
};
#undef TPU
#undef GPU
#undef CPU

constexpr Links links_of(std::string_view name) {
  for (const LinksRow& row : links_rows)
    if (row.name == name) return row.links;
  return {};
}

#define TPU(name, description, hbm, rate, vmem, cmem, smem, granule, bf16, int8, fp8) \
  Machine{#name, description, MachineFamily::Tpu, spaces_##name, 4, granule, 0, bf16, \
          int8,  fp8,         links_of(#name)},
#define GPU(name, description, bytes, rate, f32, bf16, int8, fp8)                 \
  Machine{#name, description, MachineFamily::Gpu, spaces_##name, 8, 1, f32, bf16, \
          int8,  fp8,         links_of(#name)},
#define CPU(name, description) \
  Machine{#name, description, MachineFamily::Cpu, spaces_##name, 8, 1, 0, 0, 0, 0},
constexpr Machine all_machines[] = {
#include "machine/machines.def"
};
#undef TPU
#undef GPU
#undef CPU

// Whether the text is numbers with an x between them.
bool is_grid(std::string_view text) {
  bool digit = false;
  for (char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c == 'x' && digit)) return false;
    digit = is_digit;
  }
  return digit;
}

std::string_view without_topology(std::string_view name) {
  const size_t mark = name.find_last_of(":_-");
  if (mark == std::string_view::npos || !is_grid(name.substr(mark + 1))) return name;
  const bool has_x = name.find('x', mark) != std::string_view::npos;
  return name[mark] != '_' || has_x ? name.substr(0, mark) : name;
}

int64_t round_up(int64_t bytes, int64_t granule) {
  return bytes > INT64_MAX - granule ? INT64_MAX : (bytes + granule - 1) / granule * granule;
}

int64_t saturating_add(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

// Bytes before the elements that hold the sizes of dynamic dimensions.
int64_t size_prefix_bytes(const Machine& machine, const Shape& shape) {
  if (shape.has_layout && shape.layout.dynamic_shape_metadata_prefix_bytes > 0)
    return shape.layout.dynamic_shape_metadata_prefix_bytes;
  if (machine.family == MachineFamily::Tpu || !shape.has_dynamic_dims()) return 0;
  return 4 * shape.rank();
}

}  // namespace

std::span<const Machine> machines() { return all_machines; }

const Machine* find_machine(std::string_view name) {
  const std::string_view base = without_topology(name);
  for (const Machine& machine : all_machines)
    if (machine.name == name || machine.name == base) return &machine;
  for (const Machine& machine : all_machines)
    if (machine.name.size() > base.size() && machine.name.starts_with(base) &&
        machine.name[base.size()] == '_')
      return &machine;
  return nullptr;
}

const Machine& assumed_machine() { return *find_machine(links_rows[0].name); }

std::optional<TorusShape> parse_torus(const Machine& machine, std::string_view text) {
  TorusShape out;
  out.fill(1);
  const auto axes = static_cast<size_t>(machine.links.torus_axes);
  for (size_t axis = 0; axis < axes; ++axis) {
    const size_t end = std::min(text.find('x'), text.size());
    const auto [rest, error] = std::from_chars(text.data(), text.data() + end, out[axis]);
    if (error != std::errc() || rest != text.data() + end || out[axis] < 1) return std::nullopt;
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

TorusShape default_torus(const Machine& machine, int64_t devices) {
  TorusShape out;
  out.fill(1);
  Dims axes(static_cast<size_t>(machine.links.torus_axes), 1), primes;
  for (int64_t factor = 2; devices > 1;)
    if (devices % factor == 0) primes.push_back(factor), devices /= factor;
    else factor = factor * factor > devices ? devices : factor + 1;
  for (size_t i = primes.size(); i-- > 0 && !axes.empty();)
    *std::ranges::min_element(axes) *= primes[i];
  std::ranges::sort(axes, std::greater());
  std::ranges::copy(axes, out.begin());
  return out;
}

bool closes_to_ring(const Links& links, const TorusShape& torus, size_t axis) {
  if (links.ring_size > 0) return torus[axis] == links.ring_size;
  if (links.ring_multiple == 0) return false;
  return std::ranges::all_of(std::span(torus).first(static_cast<size_t>(links.torus_axes)),
                             [&](int64_t size) { return size % links.ring_multiple == 0; });
}

MemorySpace memory_space(const Machine& machine, int64_t number) {
  for (const MemorySpace& space : machine.spaces)
    if (space.number == number) return space;
  const MemorySpace& main = machine.spaces[0];
  return {number, "", 0, main.alignment, main.untiled_granule, 0};
}

int64_t buffer_bytes(const Machine& machine, const Shape& shape) {
  if (shape.is_tuple())
    return round_up(unpadded_bytes(shape, machine.pointer_bytes), machine.tuple_granule);
  if (shape.type == ElementType::Buffer) return buffer_bytes(machine, shape.elements[0]);
  if (shape.type == ElementType::Opaque) return machine.pointer_bytes;
  if (!shape.is_array()) return 0;
  int64_t bytes = saturating_add(padded_bytes(shape), size_prefix_bytes(machine, shape));
  if (!shape.has_layout || shape.layout.tiles.empty())
    bytes = round_up(
        bytes,
        memory_space(machine, shape.has_layout ? shape.layout.memory_space : 0).untiled_granule);
  return bytes;
}

}  // namespace hilo
