#include "report/collective_times.h"

#include <nlohmann/json.hpp>

namespace hilo {

void add_collective_times(nlohmann::ordered_json& out, const PictureCollective& one) {
  if (one.seconds < 0) return;
  out["seconds"] = one.seconds;
  out["exposed_seconds"] = one.exposed_seconds;
  out["hidden_seconds"] = one.hidden_seconds();
  auto& list = out["hidden_by"] = nlohmann::ordered_json::array();
  for (const auto& [name, seconds] : one.behind) list.push_back(name);
}

std::string behind_text(const PictureCollective& one) {
  constexpr size_t shown = 2;
  std::string out;
  for (size_t i = 0; i < one.behind.size() && i < shown; ++i)
    out += fmt::format("{}%{}", i == 0 ? "" : ", ", one.behind[i].name);
  if (one.behind.size() > shown) out += fmt::format(" and {} more", one.behind.size() - shown);
  return out;
}

}  // namespace hilo
