// The collectives of a partitioned module, for readers: what each sends and why it is there.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/collective_times.h"
#include "report/dump_reading.h"
#include "report/report_parts.h"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;
using Side = TextTable::Side;

double sent(const PictureCollective& one) { return one.link_bytes * one.runs; }

std::string line_of(const PictureCollective& one) {
  const std::string out = short_source(one.instruction);
  return out.empty() ? "(unknown)" : out;
}

std::string axes_of(const PictureCollective& one) {
  return one.axes.empty() ? fmt::format("{} devices", one.devices) : one.axes;
}

bool is_whole(std::string_view sharding) {
  return sharding.find('\'') == std::string_view::npos;  // no axis
}

std::string why(const PictureCollective& one) {
  if (!one.reason) return "the program asks for it";
  const auto& [array, wanted_by, from, to] = *one.reason;
  const std::string_view what =
      is_whole(to) && one.kind == "all-gather" ? " (the whole array)" : "";
  return fmt::format("{} is {}, {} wants {}{}", array, from, wanted_by, to, what);
}

// The annotation that would avoid it; empty where nothing is known.
std::string cure(const PictureCollective& one) {
  if (!one.reason) return "";
  const auto& [array, wanted_by, from, to] = *one.reason;
  if (one.kind == "all-reduce")
    return fmt::format(
        "a sharding of the result of {} along {} sends half: each device then needs "
        "the sum of its own part only",
        wanted_by, axes_of(one));
  if (one.kind == "reduce-scatter")
    return fmt::format(
        "{} sums over a dimension that is sharded along {}: nothing is sent where "
        "another dimension has that axis",
        wanted_by, axes_of(one));
  return fmt::format(
      "nothing is sent where {} comes as {}, or {} works on {}: constrain either at "
      "{}",
      array, to, wanted_by, from, line_of(one));
}

std::map<std::string, double> sums(const std::vector<PictureCollective>& all,
                                   const std::function<std::string(const PictureCollective&)>& by) {
  std::map<std::string, double> out;
  for (const PictureCollective& one : all) out[by(one)] += sent(one);
  return out;
}

std::string sum_table(const std::map<std::string, double>& sums, const char* heading,
                      const ReportStyle& style) {
  std::vector<std::pair<double, std::string>> rows;
  for (const auto& [name, bytes] : sums) rows.emplace_back(-bytes, name);
  std::ranges::sort(rows);
  TextTable table({{"bytes", Side::Right}, {heading}});
  for (size_t i = 0; i < rows.size() && i < static_cast<size_t>(style.rows); ++i)
    table.add({fixed(-rows[i].first, 0), rows[i].second});
  return table.text(2, static_cast<size_t>(style.width));
}

// How long all runs take is said in columns that are left out where nothing is known.
std::string rows_of(const std::vector<PictureCollective>& all, const ReportStyle& style) {
  TextTable table({{"bytes", Side::Right},
                   {"runs", Side::Right},
                   {"takes", Side::Right},
                   {"exposed", Side::Right},
                   {"collective"},
                   {"along"},
                   {"source"},
                   {"hidden behind"},
                   {"why"}});
  const auto seconds = [](const PictureCollective& one, double each) {
    return one.seconds < 0 ? "?" : human_seconds(each * one.runs);
  };
  for (size_t i = 0; i < all.size() && i < static_cast<size_t>(style.rows); ++i)
    table.add({fixed(sent(all[i]), 0), (all[i].runs_known ? "" : ">=") + fixed(all[i].runs, 0),
               seconds(all[i], all[i].seconds), seconds(all[i], all[i].exposed_seconds),
               fmt::format("{} %{}", all[i].kind, all[i].instruction.name), axes_of(all[i]),
               line_of(all[i]), all[i].seconds < 0 ? "?" : behind_text(all[i]), why(all[i])});
  return table.text(2, static_cast<size_t>(style.width));
}

std::string cures(const std::vector<PictureCollective>& all, const ReportStyle& style) {
  std::string out;
  int shown = 0;
  for (const PictureCollective& one : all) {
    const std::string text = cure(one);
    if (text.empty() || sent(one) == 0 || shown++ >= std::min(style.rows, 5)) continue;
    out += wrapped(fmt::format("  %{}: {}\n", one.instruction.name, text), 4,
                   static_cast<size_t>(style.width));
  }
  return out.empty() ? "" : "What would save the most\n" + out;
}

Json json_of(const PictureCollective& one) {
  Json out = {{"name", one.instruction.name},
              {"kind", one.kind},
              {"bytes", one.link_bytes},
              {"runs", one.runs},
              {"is_known", one.runs_known},
              {"devices", one.devices},
              {"axes", one.axes},
              {"op_name", one.instruction.op_name},
              {"source", source_text(one.instruction)}};
  add_collective_times(out, one);
  if (one.reason)
    out["reason"] = {{"array", one.reason->array},
                     {"wanted_by", one.reason->wanted_by},
                     {"from", one.reason->from},
                     {"to", one.reason->to},
                     {"cure", cure(one)}};
  return out;
}

double total(const std::vector<PictureCollective>& all) {
  double out = 0;
  for (const PictureCollective& one : all) out += sent(one);
  return out;
}

std::optional<StepTimes> times_on(const Machine* machine, const Module& module) {
  std::optional<StepTimes> out;
  if (machine) out.emplace(module, *machine);
  if (out && !out->is_known()) out.reset();
  return out;
}

std::string torus_text(const StepTimes& times, const Machine& machine) {
  std::string out;
  for (size_t axis = 0; axis < static_cast<size_t>(machine.links.torus_axes); ++axis)
    out += fmt::format("{}{}", axis == 0 ? " " : "x", times.network().torus()[axis]);
  return out;
}

std::string times_line(const StepTimes& times, const Machine& machine, const Module& module) {
  const Timeline step = times.along(module.entry);
  return fmt::format(
      "On {}{} a step takes {}: {} are computation, {} communication that nothing hides, of {} "
      "(by the roofline and the links, in the order of the {})\n",
      machine.name, torus_text(times, machine), human_seconds(step.step),
      human_seconds(step.compute), human_seconds(step.exposed()), human_seconds(step.communication),
      module.header.is_scheduled ? "schedule" : "file, which is no schedule");
}

}  // namespace

std::string collective_report(const Module& module, const Machine* machine,
                              const ReportStyle& style) {
  const auto times = times_on(machine, module);
  const auto all = find_collectives(module, count_cost(module), times ? &*times : nullptr);
  if (all.empty()) return "no collectives: no device needs what another has\n";
  std::string out = fmt::format("A device sends {:.0f} bytes in one run, in {} collectives\n",
                                total(all), all.size());
  if (times) out += times_line(*times, *machine, module);
  out += rows_of(all, style);
  out += "By axis of the mesh\n" + sum_table(sums(all, axes_of), "axes", style);
  out += "By source line\n" + sum_table(sums(all, line_of), "source", style);
  return out + cures(all, style);
}

std::string collectives_json(const Module& module, const Machine* machine) {
  const auto times = times_on(machine, module);
  const auto all = find_collectives(module, count_cost(module), times ? &*times : nullptr);
  Json out = {
      {"schema", "hilo.collectives.1"}, {"module", module.header.name}, {"bytes", total(all)}};
  if (times) {
    const Timeline step = times->along(module.entry);
    out["machine"] = machine->name;
    out["topology"] = times->network().torus();
    out["step_seconds"] = step.step;
    out["compute_seconds"] = step.compute;
    out["communication_seconds"] = step.communication;
    out["exposed_communication_seconds"] = step.exposed();
  }
  Json& list = out["collectives"] = Json::array();
  for (const PictureCollective& one : all) list.push_back(json_of(one));
  out["by_axis"] = sums(all, axes_of);
  out["by_line"] = sums(all, line_of);
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hilo
