// Instructions and computations by the names that a user gives, with or without '%'.
#pragma once

#include "ir/ir.h"

namespace hilo::tools {

// In any computation, the first of that name; invalid where there is none.
InstructionId find_instruction(const Module& module, std::string_view name);

// An error of kind Usage: nothing of the module has the name that an option gave. It lists up to
// three names that hold it, or else begin like it for half of its length at least.
Error no_such_name(const Module& module, std::string_view option, std::string_view kind,
                   std::string_view name);

// Of the names that are known, up to three that hold `name` or else begin like it for half of its
// length at least: "--seed, --save"; empty where none does.
std::string names_like(std::string_view name, const std::vector<std::string>& known);

}  // namespace hilo::tools
