#include <nlohmann/json.hpp>

#include "report/comparison_parts.h"
#include "report/dump_reading.h"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;

Json known(int64_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json json_of_memory(const MemoryPicture* picture) {
  if (picture == nullptr) return nullptr;
  Json spaces = Json::array();
  for (const PictureSpace& space : picture->spaces)
    spaces.push_back({{"space", space.space},
                      {"name", space.name},
                      {"total_bytes", known(space.total_bytes)},
                      {"temp_bytes", known(space.temp_bytes)},
                      {"peak_bytes", known(space.peak_bytes)}});
  return {{"made_from", picture->read_from},
          {"machine", picture->machine},
          {"spaces", spaces},
          {"unpadded_peak_bytes", known(picture->unpadded_peak.bytes)}};
}

Json json_of_side(const Module& module, const ModuleTotals& totals, const ComparedSide& side) {
  Json collectives = Json::object();
  for (const auto& [kind, one] : totals.collectives)
    collectives[kind] = {{"count", one.count}, {"bytes", one.bytes}};
  return {{"file", side.file},
          {"module", module.header.name},
          {"instructions", totals.instructions},
          {"computations", totals.computations},
          {"parameters", totals.parameters},
          {"results", totals.results},
          {"flops", totals.flops},
          {"transcendentals", totals.transcendentals},
          {"bytes_moved", totals.bytes},
          {"costs_known", totals.is_known},
          {"collectives", collectives},
          {"memory", json_of_memory(side.memory)}};
}

Json json_of_changes(const std::vector<Difference>& changes) {
  Json out = Json::array();
  for (const Difference& change : changes)
    out.push_back({{"what", change.what}, {"from", change.from}, {"to", change.to}});
  return out;
}

class InstructionJson {
 public:
  explicit InstructionJson(const Module& module) : module_(module), fusions_(fusions_of(module)) {}

  Json operator()(InstructionId id) const {
    PictureInstruction described;
    describe_instruction(described, module_, id);
    const InstructionId fusion = fusions_[module_[id].computation.value];
    return {{"name", module_[id].name},
            {"op", described.op},
            {"computation", described.computation},
            {"fusion", fusion ? Json(module_[fusion].name) : Json(nullptr)},
            {"shape", to_string(module_.shape(id))},
            {"bytes", bytes_of_result(module_, id)},
            {"op_name", described.op_name},
            {"source_file", described.source_file},
            {"source_line", described.source_line}};
  }

 private:
  const Module& module_;
  std::vector<InstructionId> fusions_;
};

Json list_of(const std::vector<InstructionId>& ids, const InstructionJson& json_of) {
  Json out = Json::array();
  for (const InstructionId id : ids) out.push_back(json_of(id));
  return out;
}

}  // namespace

std::string comparison_json(const ModuleComparison& comparison, const ComparedSide& a,
                            const ComparedSide& b) {
  const InstructionJson in_a(*comparison.a), in_b(*comparison.b);
  Json changed = Json::array();
  for (const ChangedInstruction& one : comparison.changed)
    changed.push_back(
        {{"a", in_a(one.in_a)}, {"b", in_b(one.in_b)}, {"changes", json_of_changes(one.changes)}});
  const Json out = {{"schema", "hilo.diff.1"},
                    {"equal", comparison.is_equal()},
                    {"a", json_of_side(*comparison.a, comparison.totals_a, a)},
                    {"b", json_of_side(*comparison.b, comparison.totals_b, b)},
                    {"matched", comparison.matched},
                    {"renamed", comparison.renamed},
                    {"reordered", comparison.reordered},
                    {"header", json_of_changes(comparison.header)},
                    {"changed", changed},
                    {"new", list_of(comparison.added, in_b)},
                    {"gone", list_of(comparison.gone, in_a)}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hilo
