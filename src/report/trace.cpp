#include <nlohmann/json.hpp>
#include <set>

#include "report/report.h"

namespace hilo {

// "Trace Event Format", Google, 2016: complete events ("X"), a process for each device.
std::string trace_json(std::string_view title, std::span<const TraceEvent> events) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  std::set<int64_t> devices;
  for (const TraceEvent& event : events) {
    devices.insert(event.device);
    Json row = {{"name", event.name},
                {"cat", event.category},
                {"ph", "X"},
                {"ts", event.start * 1e6},
                {"dur", event.seconds * 1e6},
                {"pid", event.device},
                {"tid", 0}};
    for (const auto& [name, value] : event.arguments) row["args"][name] = value;
    rows.push_back(std::move(row));
  }
  for (int64_t device : devices)
    rows.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", device},
                    {"args", {{"name", fmt::format("{}, device {}", title, device)}}}});
  const Json out = {{"displayTimeUnit", "ns"}, {"traceEvents", rows}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hilo
