// The commands of a planned program, for readers: what runs in which order, where its arrays lie,
// and why a step is no kernel.
#include <map>
#include <nlohmann/json.hpp>

#include "report/report_parts.h"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;
using Side = TextTable::Side;

std::string slots_text(const std::vector<ArraySlot>& slots) {
  std::string out;
  for (const ArraySlot& slot : slots)
    if (slot.allocation != UINT32_MAX)
      out += fmt::format("{}{}+{}", out.empty() ? "" : " ", slot.allocation, slot.offset);
  return out;
}

Json slots_json(const std::vector<ArraySlot>& slots) {
  Json out = Json::array();
  for (const ArraySlot& slot : slots)
    if (slot.allocation != UINT32_MAX)
      out.push_back(
          {{"allocation", slot.allocation}, {"offset", slot.offset}, {"bytes", slot.bytes}});
  return out;
}

class CommandsReport {
 public:
  CommandsReport(const Module& module, const Plan& plan, const Machine& machine)
      : module_(module),
        plan_(plan),
        costs_(count_cost(module)),
        estimates_(estimate_commands(module, plan, machine)) {}

  std::string text(const ReportStyle& style) const {
    std::string out = totals() + "\n";
    for (ComputationId computation : order()) {
      out += fmt::format("\n%{}\n", plain_text(module_[computation].name));
      TextTable table({{"command"},
                       {"instruction"},
                       {"shape"},
                       {"bytes", Side::Right},
                       {"flops", Side::Right},
                       {"us", Side::Right},
                       {"bound by"},
                       {"reads"},
                       {"writes"},
                       {"why no kernel"}});
      for (const Command& command : plan_.commands.orders[computation.value])
        table.add(row_of(command));
      out += table.text(2, static_cast<size_t>(style.width));
    }
    return out;
  }

  std::string json() const {
    Json commands = Json::array();
    for (ComputationId computation : order())
      for (const Command& command : plan_.commands.orders[computation.value])
        commands.push_back(json_of(computation, command));
    const Json document = {{"schema", "hilo.commands.1"}, {"commands", std::move(commands)}};
    return document.dump(2);
  }

 private:
  // The entry first, then what is called, in the order of the calls.
  std::vector<ComputationId> order() const {
    std::vector<ComputationId> out = {module_.entry};
    for (size_t i = 0; i < out.size(); ++i)
      for (const Command& command : plan_.commands.orders[out[i].value])
        if (runs_others(command))
          for (ComputationId called : module_.called(module_[command.instruction]))
            out.push_back(called);
    return out;
  }
  static bool runs_others(const Command& command) {
    using enum CommandKind;
    return command.kind == Loop || command.kind == Branch || command.kind == Call;
  }

  std::string totals() const {
    std::map<CommandKind, size_t> counts;
    size_t all = 0;
    for (const auto& commands : plan_.commands.orders)
      for (const Command& command : commands) ++counts[command.kind], ++all;
    std::string out = counted(all, "command");
    std::string_view before = ": ";
    for (const auto& [kind, count] : counts) {
      out += fmt::format("{}{} {}", before, count, text_of(kind));
      before = ", ";
    }
    return out;
  }

  const Estimate& estimate_of(const Command& command) const {
    return estimates_[command.instruction.value];
  }
  double bytes_of(const Command& command) const {
    const Cost& cost = costs_[command.instruction.value];
    return cost.bytes_read + cost.bytes_written;
  }

  std::vector<std::string> row_of(const Command& command) const {
    const Estimate& estimate = estimate_of(command);
    const bool is_known = estimate.bound != Bound::Unknown;
    return {std::string(text_of(command.kind)),
            "%" + plain_text(module_[command.instruction].name),
            to_string_without_layout(module_.shape(command.instruction)),
            fixed(bytes_of(command), 0),
            fixed(costs_[command.instruction.value].flops, 0),
            is_known ? fixed(estimate.seconds * 1e6, 2) : "?",
            is_known ? std::string(hilo::text_of(estimate.bound)) : "",
            slots_text(command.reads),
            slots_text(command.writes),
            plain_text(describe(module_, command))};
  }

  Json json_of(ComputationId computation, const Command& command) const {
    Json out = {{"computation", std::string(module_[computation].name)},
                {"kind", std::string(text_of(command.kind))},
                {"name", std::string(module_[command.instruction].name)},
                {"op", std::string(hilo::text_of(module_[command.instruction].op))},
                {"shape", to_string_without_layout(module_.shape(command.instruction))},
                {"bytes", bytes_of(command)},
                {"flops", costs_[command.instruction.value].flops}};
    if (const Estimate& estimate = estimate_of(command); estimate.bound != Bound::Unknown) {
      out["seconds"] = estimate.seconds;
      out["bound"] = std::string(hilo::text_of(estimate.bound));
      out["threads"] = estimate.threads;
    }
    out["reads"] = slots_json(command.reads);
    out["writes"] = slots_json(command.writes);
    if (runs_others(command)) {
      Json runs = Json::array();
      for (ComputationId called : module_.called(module_[command.instruction]))
        runs.push_back(std::string(module_[called].name));
      out["runs"] = std::move(runs);
    }
    if (command.refusal) out["reason"] = describe(module_, command);
    return out;
  }

  const Module& module_;
  const Plan& plan_;
  const std::vector<Cost> costs_;
  const std::vector<Estimate> estimates_;  // by instruction
};

}  // namespace

std::string commands_report(const Module& module, const Plan& plan, const Machine& machine,
                            const ReportStyle& style) {
  return CommandsReport(module, plan, machine).text(style);
}

std::string commands_json(const Module& module, const Plan& plan, const Machine& machine) {
  return CommandsReport(module, plan, machine).json();
}

}  // namespace hilo
