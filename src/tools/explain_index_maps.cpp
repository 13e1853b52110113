#include "tools/explain_index_maps.h"

#include <nlohmann/json.hpp>

#include "analysis/analysis.h"

namespace hilo::tools {
namespace {

struct Line {
  size_t operand, leaf, output;
  std::string value, shape;
  std::expected<IndexMap, std::string_view> map;
};

std::vector<std::string> leaf_shapes(const Shape& shape) {
  std::vector<std::string> out;
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    out.push_back(to_string_without_layout(leaf));
  });
  return out;
}

std::vector<Line> lines_of(const Module& module, InstructionId id) {
  std::vector<Line> out;
  const auto outputs = static_cast<size_t>(leaf_count(module.shape(id)));
  for (size_t operand = 0; operand < module[id].operand_count; ++operand) {
    const InstructionId value = module.operand(id, operand);
    const auto shapes = leaf_shapes(module.shape(value));
    for (size_t leaf = 0; leaf < shapes.size(); ++leaf)
      for (size_t output = 0; output < outputs; ++output)
        out.push_back({operand, leaf, output, std::string(module[value].name), shapes[leaf],
                       index_map(module, id, operand, output, leaf)});
  }
  return out;
}

std::string text_of(const Module& module, const Line& line) {
  return line.map ? to_string(module, *line.map) : fmt::format("no map: {}", line.map.error());
}

}  // namespace

std::string index_maps_text(const Module& module, InstructionId id) {
  std::string out = fmt::format("%{} = {} {}\n", module[id].name,
                                to_string_without_layout(module.shape(id)), text_of(module[id].op));
  const bool is_tuple = module.shape(id).is_tuple();
  for (const Line& line : lines_of(module, id)) {
    const bool has_leaves = module.shape(module.operand(id, line.operand)).is_tuple();
    out += fmt::format("  %{}{} {}{}: {}\n", line.value,
                       has_leaves ? fmt::format(", array {}", line.leaf) : "", line.shape,
                       is_tuple ? fmt::format(", for result {}", line.output) : "",
                       text_of(module, line));
  }
  return out;
}

std::string index_maps_json(const Module& module, InstructionId id) {
  nlohmann::ordered_json maps = nlohmann::json::array();
  for (const Line& line : lines_of(module, id)) {
    nlohmann::ordered_json row = {{"operand", line.operand},
                                  {"value", line.value},
                                  {"shape", line.shape},
                                  {"leaf", line.leaf},
                                  {"output", line.output}};
    if (line.map) {
      row["map"] = to_string(module, *line.map);
      row["is_exact"] = line.map->is_exact;
      row["elements_each"] = line.map->needs_nothing ? 0 : element_count(line.map->range_sizes);
      row["reuse"] = reuse(*line.map);
    } else {
      row["no_map"] = std::string(line.map.error());
    }
    maps.push_back(std::move(row));
  }
  const nlohmann::ordered_json document = {{"schema", "hilo.index_maps.1"},
                                           {"instruction", std::string(module[id].name)},
                                           {"op", std::string(text_of(module[id].op))},
                                           {"shape", to_string_without_layout(module.shape(id))},
                                           {"maps", std::move(maps)}};
  return document.dump(2);
}

}  // namespace hilo::tools
