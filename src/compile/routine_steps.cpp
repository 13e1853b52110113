#include "compile/routine_steps.h"

namespace hilo {
namespace {

struct Range {
  Address address;
  int64_t bytes;

  bool overlaps(const Range& other) const {
    return address.allocation == other.address.allocation &&
           address.offset < other.address.offset + other.bytes &&
           other.address.offset < address.offset + bytes;
  }
  bool is_place_of(const Range& other) const {
    return address.allocation == other.address.allocation &&
           address.offset == other.address.offset && bytes == other.bytes;
  }
};

void add_ranges(const Shape& shape, std::span<const Address> addresses, std::vector<Range>& out) {
  size_t leaf = 0;
  for_each_leaf(shape, [&](const Shape& one, std::span<const int64_t>) {
    out.push_back({addresses[leaf++], one.is_array() ? literal_bytes(one) : 0});
  });
}

// What find_routine() asks of the places of arrays.
bool suits_routine(const Module& module, const LibraryStep& step) {
  std::vector<Range> read, written;
  const auto operands = module.operands(step.instruction);
  for (size_t i = 0; i < operands.size(); ++i)
    add_ranges(module.shape(operands[i]), step.operands[i], read);
  add_ranges(module.shape(step.instruction), step.results, written);
  const Op op = module[step.instruction].op;
  const auto may_replace = [&](size_t i, size_t o) {
    return op == Op::CustomCall || (op == Op::Sort && i == o) ||
           (op == Op::TriangularSolve && i == 1);
  };
  for (size_t i = 0; i < read.size(); ++i)
    for (size_t o = 0; o < written.size(); ++o)
      if (read[i].overlaps(written[o]) && !(may_replace(i, o) && read[i].is_place_of(written[o])))
        return false;
  return true;
}

}  // namespace

std::vector<RoutineStep> find_routines(const Module& module, std::span<const LibraryStep> steps,
                                       const EvalOptions& options) {
  std::vector<RoutineStep> out;
  for (const LibraryStep& step : steps) {
    RoutineStep& one = out.emplace_back();
    if (suits_routine(module, step)) one.routine = find_routine(module, step.instruction, options);
    if (!one.routine) continue;
    for (const std::vector<Address>& leaves : step.operands)
      one.operands.insert(one.operands.end(), leaves.begin(), leaves.end());
    one.results = step.results;
  }
  return out;
}

RoutineStep::Pointers RoutineStep::pointers(const DeviceMemory& memory) const {
  Pointers out;
  const auto pointer = [&](const Address& address) {
    return memory.pointers[address.allocation] + address.offset;
  };
  for (const Address& address : operands) out.from.push_back(pointer(address));
  for (const Address& address : results) out.to.push_back(pointer(address));
  return out;
}

void RoutineStep::run(const DeviceMemory& memory, const Parallel& parallel) const {
  const auto [from, to] = pointers(memory);
  routine(from, to, parallel);
}

bool RoutineStep::run_in_parts(const DeviceMemory& memory, const Parallel& parallel, int64_t width,
                               const TakePart& take) const {
  if (!routine || !routine.run_in_parts) return false;
  const auto [from, to] = pointers(memory);
  return routine.run_in_parts(from, to, parallel, width, take);
}

}  // namespace hilo
