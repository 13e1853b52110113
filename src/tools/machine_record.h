// What is known of a CPU, as a file. Private to `tools`.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "machine/machine.h"

namespace hilo::tools {

// A CPU whose figures may be changed.
struct MachineRecord {
  explicit MachineRecord(const Machine& known)
      : name(known.name),
        cores(known.cores),
        bytes_per_second(memory_space(known, 0).bytes_per_second) {}

  std::string name;
  Cores cores;
  double bytes_per_second;  // of main memory, by all cores
  // The record must outlive it.
  Machine machine() const;

 private:
  mutable std::vector<MemorySpace> spaces_;
};

std::string record_text(const MachineRecord& record);         // a figure a line
nlohmann::ordered_json json_of(const MachineRecord& record);  // schema "hilo.machine.1"
// What the text does not name is as in the row of the processor that it names. An error names the
// field that is no such number as a chip has, or that no record has.
Result<MachineRecord> parse_record(std::string_view text);
Result<MachineRecord> read_record(const std::string& path);

// Of this machine: what `hilo bench --machine` keeps in the folder that HILO_CACHE names, or else
// its row.
// A record that cannot be read or trusted counts as missing; `warn` is told of it.
MachineRecord known_host_record(const std::function<void(const Error&)>& warn);
Result<void> keep_host_record(const MachineRecord& record);  // does nothing without HILO_CACHE

}  // namespace hilo::tools
