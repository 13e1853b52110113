#include "report/chip.h"

namespace hilo {
namespace {

#define KIB(n) (int64_t{n} << 10)
#define MIB(n) (int64_t{n} << 20)
#define GIB(n) (int64_t{n} << 30)

// Nothing else of the rows counts here.
#define TPU(...)
#define GPU(...)
#define CPU(...)
#define TPU_PROGRAMS(name, usable, reserved, cores, scoped) \
  Chip{find_machine(#name), usable, reserved, cores, scoped, ""},
#define GPU_PROGRAMS(name, architecture) Chip{find_machine(#name), 0, 0, 0, 0, architecture},

const std::vector<Chip>& all_chips() {
  static const std::vector<Chip> chips = {
#include "machine/machines.def"
  };
  return chips;
}

}  // namespace

std::vector<Chip> chips_of(MachineFamily family) {
  std::vector<Chip> out;
  for (const Chip& chip : all_chips())
    if (chip.machine->family == family) out.push_back(chip);
  return out;
}

const Chip* chip_of(const Machine& machine) {
  for (const Chip& chip : all_chips())
    if (chip.machine->name == machine.name) return &chip;
  return nullptr;
}

int64_t usable_bytes(const Machine& machine, int64_t space) {
  const Chip* chip = chip_of(machine);
  if (chip && space == 0 && chip->usable > 0) return chip->usable;
  return memory_space(machine, space).bytes;
}

}  // namespace hilo
