// Private to report: what tells one chip from another, and which chip that makes.
#pragma once

#include <map>

#include "report/report.h"

namespace hilo {

// What programs see of a chip beside its Machine; 0: not known.
struct Chip {
  const Machine* machine = nullptr;
  int64_t usable = 0;             // bytes of the main memory that programs may take
  int64_t reserved = 0;           // bytes of it that compile errors call reserved
  int64_t cores = 0;              // of one device
  int64_t scoped = 0;             // limit of an instruction's scoped vmem, bytes
  std::string_view architecture;  // "sm_9.0"
};
// Of a family in the order in which they are assumed; null when the machine has no row.
std::vector<Chip> chips_of(MachineFamily family);
const Chip* chip_of(const Machine& machine);
// What a program may take of a space; 0: not known.
int64_t usable_bytes(const Machine& machine, int64_t space);

// What a text shows of the chip that it was written for.
struct ChipEvidence {
  std::optional<MachineFamily> family;
  std::string family_reason;               // "GPU_0_bfc is the allocator of a GPU"
  const Machine* named = nullptr;          // by the text itself
  std::string named_reason, architecture;  // of a GPU, or what it begins with
  struct Capacity {
    int64_t space = 0, bytes = 0;
    int64_t rounding = 0;  // of the number as printed
  };
  std::vector<Capacity> capacities;   // that the text states
  std::map<int64_t, int64_t> in_use;  // bytes at least, by space
  int64_t reserved = 0, tuple_granule = 0, cores = 0;
};
void gather_evidence(const Module& module, ChipEvidence& evidence);
void gather_evidence(const MemoryPicture& picture, ChipEvidence& evidence);
void gather_from_file_name(std::string_view file, ChipEvidence& evidence);
// The first chip of the family that nothing contradicts, and what spoke for it. Null without a
// family.
AssumedMachine infer_machine(const ChipEvidence& evidence);

}  // namespace hilo
