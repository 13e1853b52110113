// One HTML file that draws a picture: the page of report/page with the picture as JSON in it, in
// columns, each text once. The page reads no file and opens no connection; texts of the picture
// only ever become text nodes of it.
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "report/collective_times.h"
#include "report/report_parts.h"

namespace hilo {

extern const std::string_view memory_page;

namespace {

using nlohmann::json;

// Kinds of allocations, by their numbers in report/page/model.js.
enum Kind { Parameter, Constant, Output, Temporary, ThreadLocal };

class PageData {
 public:
  explicit PageData(const MemoryPicture& picture) : picture_(picture) {
    number_.assign(picture.instructions.size(), -1);
  }

  std::string text() {
    json out;
    out["schema"] = "hilo.page.1";
    out["module"] = picture_.module_name, out["made_from"] = picture_.read_from;
    out["machine"] = picture_.machine, out["machine_reason"] = picture_.machine_reason;
    out["notes"] = picture_.notes;
    out["faults"] = json::array();
    for (const Error& fault : picture_.faults) out["faults"].push_back(to_string(fault));
    out["sequence"] = json::array();
    for (size_t i : picture_.sequence) out["sequence"].push_back(instruction(i));
    add_values(out);
    out["allocations"] = allocations();
    out["spaces"] = json::array();
    for (const PictureSpace& space : picture_.spaces) out["spaces"].push_back(space_of(space));
    out["advice"] = advice();
    out["collectives"] = collectives();
    out["instructions"] = instructions();
    out["texts"] = texts_;  // last: the others add to it
    return out.dump(-1, ' ', true, json::error_handler_t::replace);
  }

 private:
  int64_t text_number(std::string_view text) {
    const auto [place, is_new] = text_numbers_.emplace(text, texts_.size());
    if (is_new) texts_.push_back(place->first);
    return place->second;
  }
  // Of those that something refers to.
  int64_t instruction(size_t i) {
    if (number_[i] < 0) {
      number_[i] = static_cast<int64_t>(instructions_.size());
      instructions_.push_back(i);
    }
    return number_[i];
  }

  void add_values(json& out) {
    json& columns = out["values"];
    for (const char* key : {"instruction", "index", "number", "shape", "bytes", "unpadded",
                            "allocation", "offset", "space", "start", "end", "buffer", "use_count"})
      columns[key] = json::array();
    json &uses = out["use_instructions"] = json::array(), &operands = out["use_operands"] = uses;
    for (const PictureValue& value : picture_.values) {
      const std::string name = picture_.name_of(value);
      const std::string& base = picture_.instruction_of(value).name;
      columns["instruction"].push_back(instruction(value.defined.instruction));
      columns["index"].push_back(text_number(std::string_view(name).substr(base.size())));
      columns["number"].push_back(value.number);
      columns["shape"].push_back(text_number(value.shape));
      columns["bytes"].push_back(value.bytes);
      columns["unpadded"].push_back(value.unpadded_bytes);
      const bool placed = value.allocation < picture_.allocations.size();
      columns["allocation"].push_back(placed ? static_cast<int64_t>(value.allocation) : -1);
      columns["offset"].push_back(value.offset);
      columns["space"].push_back(value.space);
      columns["start"].push_back(value.start);
      columns["end"].push_back(value.end);
      columns["buffer"].push_back(value.buffer);
      columns["use_count"].push_back(value.uses.size());
      for (const PicturePosition& use : value.uses) {
        uses.push_back(instruction(use.instruction));
        operands.push_back(use.operand);
      }
    }
  }

  json instructions() {
    json columns;
    for (const char* key : {"name", "op", "op_name", "computation", "file", "line", "moment"})
      columns[key] = json::array();
    bool has_text = false, has_cost = false;
    for (size_t i : instructions_) {
      const PictureInstruction& one = picture_.instructions[i];
      columns["name"].push_back(text_number(one.name));
      columns["op"].push_back(text_number(one.op));
      columns["op_name"].push_back(text_number(one.op_name));
      columns["computation"].push_back(text_number(one.computation));
      columns["file"].push_back(text_number(one.source_file));
      columns["line"].push_back(one.source_line);
      columns["moment"].push_back(one.moment);
      has_text = has_text || !one.text.empty();
      has_cost = has_cost || one.has_cost;
    }
    if (has_text)
      for (size_t i : instructions_)
        columns["text"].push_back(text_number(picture_.instructions[i].text));
    if (has_cost) add_costs(columns);
    return columns;
  }
  void add_costs(json& columns) {
    for (size_t i : instructions_) {
      const PictureInstruction& one = picture_.instructions[i];
      columns["flops"].push_back(one.cost.flops);
      columns["transcendentals"].push_back(one.cost.transcendentals);
      columns["traffic"].push_back(one.has_cost ? one.cost.bytes_read + one.cost.bytes_written
                                                : -1.0);
      columns["runs"].push_back(one.cost.runs);
    }
  }

  json allocations() {
    json columns;
    for (const char* key : {"number", "bytes", "space", "kind", "label"})
      columns[key] = json::array();
    for (const PictureAllocation& a : picture_.allocations) {
      Kind kind = a.is_live_out ? Output : Temporary;
      if (a.is_thread_local) kind = ThreadLocal;
      if (a.is_constant) kind = Constant;
      if (a.parameter) kind = Parameter;
      columns["number"].push_back(a.number);
      columns["bytes"].push_back(a.bytes);
      columns["space"].push_back(a.space);
      columns["kind"].push_back(kind);
      columns["label"].push_back(text_number(label_of(a)));
    }
    return columns;
  }
  static std::string label_of(const PictureAllocation& a) {
    if (!a.parameter) return "";
    std::string label = fmt::format(" {}", *a.parameter), index;
    for (int64_t i : a.parameter_index) index += fmt::format("{}{}", index.empty() ? "" : ",", i);
    return index.empty() ? label : label + "{" + index + "}";
  }

  json space_of(const PictureSpace& s) const {
    return {{"space", s.space},
            {"limit", s.space == 0 ? picture_.limit.value_or(0) : 0},
            {"name", s.name},
            {"capacity", s.capacity},
            {"total", s.total_bytes},
            {"temp", s.temp_bytes},
            {"lower_bound", s.lower_bound_bytes},
            {"fragmentation", s.fragmentation_bytes()},
            {"in_use", s.in_use},
            {"peak_moment", s.peak_moment},
            {"peak_bytes", s.peak_bytes}};
  }

  json advice() const {
    json out = json::array();
    for (const Advice& a : picture_.advice)
      out.push_back({{"kind", a.kind},
                     {"text", a.text},
                     {"space", a.space},
                     {"saved", a.saved_bytes},
                     {"total", a.total_bytes},
                     {"values", a.values}});
    return out;
  }

  json collectives() const {
    json out = json::array();
    for (const PictureCollective& one : picture_.collectives) {
      nlohmann::ordered_json row = {{"name", one.instruction.name},
                                    {"kind", one.kind},
                                    {"source", short_source(one.instruction)},
                                    {"axes", one.axes},
                                    {"devices", one.devices},
                                    {"bytes", one.link_bytes},
                                    {"runs", one.runs}};
      add_collective_times(row, one);
      out.emplace_back(json(row));
    }
    return out;
  }

  const MemoryPicture& picture_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int64_t> text_numbers_;
  std::vector<size_t> instructions_;  // of the picture, in the order of the page's columns
  std::vector<int64_t> number_;       // and back; -1: not referred to
};

// A "<" of JSON stands inside a string; written as an escape it ends no script element.
std::string without_tags(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (char c : text) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

}  // namespace

std::string html_page(const MemoryPicture& picture) {
  constexpr std::string_view mark = "@DATA@";
  const size_t at = memory_page.find(mark);
  check(at != memory_page.npos, "the page has no place for its data");
  std::string out(memory_page.substr(0, at));
  out += without_tags(PageData(picture).text());
  out += memory_page.substr(at + mark.size());
  return out;
}

}  // namespace hilo
