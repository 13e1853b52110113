// `hilo run --in-plan`: the evaluation keeps its values where a memory plan puts them.
#pragma once

#include "eval/eval.h"
#include "plan/plan.h"

namespace hilo::tools {

// A plan of `module` for the chip named `target` ("": the one it seems made for). A module that is
// not scheduled first gets the copies that its aliases need. A plan that fails its check is an
// Error: it is ours.
Result<std::shared_ptr<const Plan>> plan_to_run(Module& module, const std::string& target);

}  // namespace hilo::tools
