#include <nlohmann/json.hpp>

#include "report/collective_times.h"
#include "report/picture.h"
#include "report/roles.h"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;

Json known(int64_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json instruction_at(const MemoryPicture& picture, int64_t moment) {
  if (moment < 0 || moment >= static_cast<int64_t>(picture.sequence.size())) return nullptr;
  return picture.instructions[picture.sequence[static_cast<size_t>(moment)]].name;
}

Json json_of_value(const MemoryPicture& picture, const PictureValue& value) {
  const PictureInstruction& instruction = picture.instruction_of(value);
  Json out = {{"name", picture.name_of(value)},
              {"shape", value.shape},
              {"bytes", value.bytes},
              {"unpadded_bytes", known(value.unpadded_bytes)},
              {"space", value.space}};
  const bool placed = value.allocation != PictureValue::no_allocation;
  out["allocation"] = placed ? Json(picture.allocations[value.allocation].number) : Json(nullptr);
  out["offset"] = placed ? Json(value.offset) : Json(nullptr);
  out["start"] = value.has_range() ? Json(value.start) : Json(nullptr);
  out["end"] = value.has_range() ? Json(value.end) : Json(nullptr);
  if (!value.kind.empty()) out["kind"] = value.kind;
  out["op"] = instruction.op;
  out["op_name"] = instruction.op_name;
  out["source"] = picture.source_of(value);
  return out;
}

Json json_of_space(const MemoryPicture& picture, const PictureSpace& space) {
  Json out = {{"space", space.space},
              {"name", space.name},
              {"total_bytes", known(space.total_bytes)},
              {"temp_bytes", known(space.temp_bytes)},
              {"lower_bound_bytes", known(space.lower_bound_bytes)},
              {"peak_at", instruction_at(picture, space.peak_moment)},
              {"peak_moment", known(space.peak_moment)},
              {"peak_bytes", known(space.peak_bytes)},
              {"fragmentation_bytes", known(space.fragmentation_bytes())},
              {"thread_local_bytes", space.thread_local_bytes},
              {"alignment", space.alignment}};
  out["capacity_bytes"] = space.capacity > 0 ? Json(space.capacity) : Json(nullptr);
  Json& roles = out["bytes_by_role"] = Json::object();
  for (const RoleBytes& one : bytes_by_role(picture, space))
    roles[std::string(text_of(one.role))] = one.bytes;
  Json& values = out["at_peak"] = Json::array();
  if (space.peak_moment >= 0 && !picture.is_partial)
    for (const size_t i : values_at(picture, space.peak_moment, space.space))
      values.push_back(picture.name_of(picture.values[i]));
  return out;
}

Json json_of_allocation(const PictureAllocation& allocation) {
  Json out = {{"number", allocation.number},
              {"bytes", allocation.bytes},
              {"space", allocation.space},
              {"is_constant", allocation.is_constant},
              {"is_thread_local", allocation.is_thread_local},
              {"is_live_out", allocation.is_live_out},
              {"is_temp", allocation.is_temp}};
  out["parameter"] = allocation.parameter ? Json(*allocation.parameter) : Json(nullptr);
  return out;
}

Json json_of_advice(const MemoryPicture& picture, const Advice& advice) {
  Json out = {{"kind", advice.kind},
              {"text", advice.text},
              {"space", advice.space},
              {"saved_bytes", known(advice.saved_bytes)},
              {"total_bytes", known(advice.total_bytes)}};
  out["is_combined"] = advice.is_combined;
  out["role"] = advice.values.empty() ? Json(nullptr) : Json(text_of(role_of(picture, advice)));
  Json& values = out["values"] = Json::array();
  for (const size_t i : advice.values) values.push_back(picture.name_of(picture.values[i]));
  return out;
}

Json json_of_instruction(const PictureInstruction& instruction) {
  Json out = {{"name", instruction.name}, {"op", instruction.op}};
  if (!instruction.has_cost) return out;
  const Cost& cost = instruction.cost;
  out["flops"] = cost.flops;
  out["transcendentals"] = cost.transcendentals;
  out["bytes_read"] = cost.bytes_read;
  out["bytes_written"] = cost.bytes_written;
  out["runs"] = cost.runs;
  out["is_known"] = cost.flops_known && cost.runs_known;
  return out;
}

Json json_of_message(const MemoryMessage& message) {
  static constexpr std::string_view sources[] = {"tpu_compiler", "tpu_runtime", "gpu_runtime",
                                                 "host"};
  Json out = {{"source", sources[static_cast<size_t>(message.source)]},
              {"allocator", message.allocator},
              {"task", message.task},
              {"space", message.space},
              {"needed_bytes", known(message.needed)},
              {"limit_bytes", known(message.limit)},
              {"asked_bytes", known(message.asked)},
              {"free_bytes", known(message.free)},
              {"largest_free_bytes", known(message.largest_free)},
              {"in_use_bytes", known(message.in_use)},
              {"scoped_bytes", known(message.scoped)},
              {"scoped_limit_bytes", known(message.scoped_limit)},
              {"remat_goal_bytes", known(message.remat_goal)},
              {"remat_reached_bytes", known(message.remat_reached)}};
  Json& parts = out["parts"] = Json::array();
  for (const MemoryMessage::Part& part : message.parts)
    parts.push_back({{"name", part.name}, {"bytes", known(part.bytes)}});
  Json& chunks = out["blocks_in_use"] = Json::array();
  for (const MemoryMessage::Chunks& one : message.chunks)
    chunks.push_back({{"count", one.count}, {"bytes", one.bytes}});
  return out;
}

Json json_of_collective(const PictureCollective& one) {
  Json out = {{"name", one.instruction.name},
              {"op", one.instruction.op},
              {"op_name", one.instruction.op_name},
              {"source", source_text(one.instruction)},
              {"devices", one.devices},
              {"link_bytes", one.link_bytes},
              {"runs", one.runs},
              {"is_known", one.runs_known}};
  add_collective_times(out, one);
  return out;
}

template <class T, class Convert>
Json list_of(const T& items, Convert&& convert) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(convert(item));
  return out;
}

Json document_of(const MemoryPicture& picture) {
  Json out = {{"schema", "hilo.explain.1"},
              {"module", picture.module_name},
              {"made_from", picture.read_from},
              {"machine", picture.machine},
              {"machine_reason", picture.machine_reason},
              {"is_machine_assumed", picture.is_machine_assumed},
              {"other_machines", picture.other_machines},
              {"is_partial", picture.is_partial}};
  out["memory_spaces"] =
      list_of(picture.spaces, [&](const auto& space) { return json_of_space(picture, space); });
  const auto& peak = picture.unpadded_peak;
  out["unpadded_peak"] = {{"bytes", known(peak.bytes)},
                          {"moment", known(peak.moment)},
                          {"peak_at", instruction_at(picture, peak.moment)}};
  if (picture.message) out["message"] = json_of_message(*picture.message);
  out["advice"] =
      list_of(picture.advice, [&](const auto& advice) { return json_of_advice(picture, advice); });
  Json& combined = out["combined_advice"] = Json::array();
  for (const CombinedAdvice& one : picture.combined)
    combined.push_back({{"space", one.space},
                        {"count", one.count},
                        {"total_bytes", one.total_bytes},
                        {"in_found_order", one.in_found_order}});
  if (picture.limit) out["limit"] = {{"bytes", *picture.limit}, {"fits", picture.fits()}};
  out["collectives"] = list_of(picture.collectives, json_of_collective);
  out["notes"] = picture.notes;
  out["faults"] = list_of(picture.faults, [](const Error& fault) {
    return Json{{"message", fault.message}, {"file", fault.place.file}, {"line", fault.place.line}};
  });
  out["allocations"] = list_of(picture.allocations, json_of_allocation);
  out["values"] =
      list_of(picture.values, [&](const auto& value) { return json_of_value(picture, value); });
  out["sequence"] = list_of(picture.sequence,
                            [&](size_t i) { return json_of_instruction(picture.instructions[i]); });
  if (!picture.further.empty()) out["further"] = list_of(picture.further, document_of);
  return out;
}

}  // namespace

std::string memory_json(const MemoryPicture& picture) {
  return document_of(picture).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hilo
