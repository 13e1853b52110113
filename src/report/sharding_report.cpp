// How propagation shards the arrays of a program, for readers: axes by dimension, and who said so.
#include <nlohmann/json.hpp>

#include "pass/pass.h"
#include "report/dump_reading.h"
#include "report/report_parts.h"

namespace hilo {
namespace {

using Json = nlohmann::ordered_json;

struct Annotation {
  std::string name, op_name, source;
};

Annotation annotation_of(const Module& module, InstructionId id) {
  PictureInstruction described;
  describe_instruction(described, module, id);
  return {std::string(module[id].name), described.op_name, source_text(described)};
}

std::string text_of(const Annotation& annotation) {
  std::string out = "%" + annotation.name;
  if (!annotation.op_name.empty()) out += " (" + annotation.op_name + ")";
  if (!annotation.source.empty()) out += " at " + annotation.source;
  return out;
}

std::vector<std::string> axes_of(const AxisSharding& sharding, const SubAxes& axes) {
  std::vector<std::string> out;
  for (const SubAxis& axis : axes) out.push_back(axis_text(*sharding.mesh, axis));
  return out;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

std::string sharding_text(const AxisSharding& sharding) {
  std::string out;
  for (const AxisSharding::Dim& dim : sharding.dims)
    out += (out.empty() ? "{" : ", {") + joined(axes_of(sharding, dim.axes)) + "}";
  out = "[" + out + "]";
  const auto add = [&](const char* what, const SubAxes& axes) {
    if (!axes.empty()) out += fmt::format(", {} {{{}}}", what, joined(axes_of(sharding, axes)));
  };
  if (is_single_device(*sharding.mesh))
    return fmt::format("device {}", sharding.mesh->device_ids[0]);
  add("manual", sharding.manual), add("unreduced", sharding.unreduced);
  return out;
}

std::string index_text(const Dims& index) {
  std::string out;
  for (int64_t one : index) out += fmt::format("{}{}", out.empty() ? "" : ",", one);
  return index.empty() ? "" : "{" + out + "}";
}

std::string mesh_text(const Mesh& mesh) {
  std::string out;
  for (const MeshAxis& axis : mesh.axes)
    out += fmt::format("{}'{}'={}", out.empty() ? "" : ", ", axis.name, axis.size);
  return out;
}

// A line for the array, and one for each dimension that is sharded.
std::string rows_of(const Module& module, const PropagatedSharding& row) {
  PictureInstruction described;
  describe_instruction(described, module, row.instruction);
  const std::string source = source_text(described);
  std::string out = fmt::format("  %{}{} {} {}{}{}\n", module[row.instruction].name,
                                index_text(row.index), to_string_without_layout(row.shape),
                                sharding_text(row.sharding), source.empty() ? "" : "  ", source);
  for (size_t d = 0; d < row.sharding.dims.size(); ++d) {
    if (row.sharding.dims[d].axes.empty()) continue;
    std::string origins;
    for (InstructionId id : row.said_by[d]) {
      const bool is_own = module[id].name == module[row.instruction].name;
      origins += (origins.empty() ? "" : "; ") +
                 (is_own ? "its own annotation" : text_of(annotation_of(module, id)));
    }
    out += fmt::format("      dimension {} by {}\n", d,
                       origins.empty() ? "the edge of the manual region" : origins);
  }
  return out;
}

Json json_of(const Module& module, const PropagatedSharding& row) {
  const Annotation own = annotation_of(module, row.instruction);
  Json out = {{"name", own.name},
              {"computation", module[module[row.instruction].computation].name},
              {"index", row.index},
              {"shape", to_string_without_layout(row.shape)},
              {"sharding", sharding_text(row.sharding)},
              {"op_name", own.op_name},
              {"source", own.source}};
  Json& dims = out["dimensions"] = Json::array();
  for (size_t d = 0; d < row.sharding.dims.size(); ++d) {
    Json said_by = Json::array();
    for (InstructionId id : row.said_by[d]) {
      const Annotation annotation = annotation_of(module, id);
      said_by.push_back({{"name", annotation.name},
                         {"op_name", annotation.op_name},
                         {"source", annotation.source}});
    }
    dims.push_back({{"axes", axes_of(row.sharding, row.sharding.dims[d].axes)},
                    {"said_by", std::move(said_by)}});
  }
  return out;
}

}  // namespace

Result<std::string> sharding_report(Module& module, const ReportStyle&) {
  HILO_TRY(const auto rows, explain_shardings(module, {}));
  if (rows.empty()) return "one device: nothing is sharded\n";
  std::string out = fmt::format("Mesh {}\n", mesh_text(*rows[0].sharding.mesh));
  ComputationId computation;
  for (const PropagatedSharding& row : rows) {
    if (const ComputationId other = module[row.instruction].computation; other != computation) {
      computation = other;
      out += fmt::format("{}\n", module[computation].name);
    }
    out += rows_of(module, row);
  }
  return out;
}

Result<std::string> shardings_json(Module& module) {
  HILO_TRY(const auto rows, explain_shardings(module, {}));
  Json out = {{"schema", "hilo.shardings.1"}, {"module", module.header.name}};
  Json& mesh = out["mesh"] = Json::object();
  if (!rows.empty())
    for (const MeshAxis& axis : rows[0].sharding.mesh->axes) mesh[axis.name] = axis.size;
  Json& list = out["values"] = Json::array();
  for (const PropagatedSharding& row : rows) list.push_back(json_of(module, row));
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hilo
