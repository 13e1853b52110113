// Some instructions of a computation as a module of their own. Private to `tools`.
#pragma once

#include "ir/ir.h"

namespace hilo::tools {

struct NeighbourhoodOptions {
  int depth = 0;  // operands so many steps away come along; constants always do
  int users = 0;  // and users so many steps away
};
struct Neighbourhood {
  Module module;
  // Of the module it is taken from: whose values its entry's parameters stand for, in their order,
  // and the results, in the order of the result's tuple where there are several.
  std::vector<InstructionId> parameters, results;
};
// Around the instruction of that name, or the whole computation. Called computations come along,
// parameters bear the names of the values that they stand for; metadata, layouts and the order of
// the file stay. Starts and dones of one asynchronous operation stay together. An error lists near
// names when there is none of that name.
Result<Neighbourhood> extract(const Module& module, std::string_view option, std::string_view name,
                              const NeighbourhoodOptions& options);

}  // namespace hilo::tools
