// `hilo explain --commands`: what a compiled program consists of, before there is code.
#pragma once

#include "report/report.h"

namespace hilo::tools {

// Of the module as device cpu would run it, with estimates for the machine. `json`: one document
// instead of tables.
Result<std::string> commands_of_program(const Module& module, const Machine& machine, bool json,
                                        const ReportStyle& style);

}  // namespace hilo::tools
