// Private to report: how long a collective takes, and what hides it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/report.h"

namespace hilo {

// Keys seconds, exposed_seconds, hidden_seconds and hidden_by; none where no times are known.
void add_collective_times(nlohmann::ordered_json& out, const PictureCollective& one);
// "fusion.3, dot.1 and 4 more"; empty where nothing hides it.
std::string behind_text(const PictureCollective& one);

}  // namespace hilo
