// The files that XLA would write under --xla_dump_to, of a plan of ours.
#pragma once

#include "report/report.h"

namespace hilo::tools {

struct DumpFiles {
  std::string folder;
  std::string module_file;  // whose name is kept when it is one of XLA's dump names
  DumpForm form = DumpForm::Today;
};
// Writes the module, scheduled as planned, and its texts; returns their paths.
Result<std::vector<std::string>> write_dumps(const DumpFiles& files, const Module& module,
                                             const Machine& machine, const Plan& plan);

}  // namespace hilo::tools
