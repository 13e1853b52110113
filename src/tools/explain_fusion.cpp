#include "tools/explain_fusion.h"

#include <algorithm>

#include "tools/profile.h"

namespace hilo::tools {
namespace {

std::string_view name_of(FusionPair::Outcome outcome) {
  static constexpr std::string_view names[] = {"one loop", "recomputed", "stored"};
  return names[static_cast<size_t>(outcome)];
}

}  // namespace

FusionExplanation::Instruction FusionExplanation::instruction_of(const Module& module,
                                                                 InstructionId id) {
  return {std::string(module[id].name), source_line(module, module[id])};
}

void FusionExplanation::add(const Module& module, const FusionPair& pair) {
  rows_.push_back(
      {instruction_of(module, pair.producer), instruction_of(module, pair.consumer), pair});
}

void FusionExplanation::end_run(const PassRun& run) {
  if (run.name == "fusion") runs_.push_back({run.number, std::exchange(rows_, {})});
}

std::string FusionExplanation::text_of(const std::vector<Row>& rows) {
  const auto shown = [](const Instruction& instruction) {
    return instruction.source.empty()
               ? instruction.name
               : fmt::format("{} ({})", instruction.name, instruction.source);
  };
  std::string out;
  for (const Row& row : rows) {
    out += fmt::format("{} -> {}: {}\n", shown(row.producer), shown(row.consumer),
                       name_of(row.pair.outcome));
    for (const auto& [question, decision] : row.pair.refusals)
      out += fmt::format("  {}: {}\n", hilo::name_of(question), describe(decision));
  }
  const auto count = [&](FusionPair::Outcome outcome) {
    return std::ranges::count_if(rows, [&](const Row& row) { return row.pair.outcome == outcome; });
  };
  return out + fmt::format("{} {}: {} in one loop, {} recomputed, {} stored\n", rows.size(),
                           rows.size() == 1 ? "pair" : "pairs", count(FusionPair::Outcome::OneLoop),
                           count(FusionPair::Outcome::Recomputed),
                           count(FusionPair::Outcome::Stored));
}

std::string FusionExplanation::text() const {
  std::string out;
  for (const Run& run : runs_) {
    if (runs_.size() > 1) out += fmt::format("run {}, fusion\n", run.number);
    out += text_of(run.rows);
  }
  return out;
}

nlohmann::ordered_json FusionExplanation::json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Run& run : runs_)
    for (const Row& row : run.rows) out.push_back(json_of(run, row));
  return out;
}

nlohmann::ordered_json FusionExplanation::json_of(const Run& run, const Row& row) {
  nlohmann::ordered_json refusals = nlohmann::ordered_json::array();
  for (const auto& [question, decision] : row.pair.refusals) {
    nlohmann::ordered_json refusal = {{"question", hilo::name_of(question)},
                                      {"reason", hilo::name_of(*decision.reason)},
                                      {"text", describe(decision)}};
    if (decision.count > 0) refusal["count"] = decision.count;
    if (decision.limit > 0) refusal["limit"] = decision.limit;
    refusals.push_back(std::move(refusal));
  }
  return {{"run", run.number},
          {"producer", row.producer.name},
          {"producer_source", row.producer.source},
          {"consumer", row.consumer.name},
          {"consumer_source", row.consumer.source},
          {"outcome", name_of(row.pair.outcome)},
          {"refusals", std::move(refusals)}};
}

}  // namespace hilo::tools
