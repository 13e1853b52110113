#include "tools/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/text.h"
#include "tools/terminal.h"

namespace hilo::tools {
namespace {

constexpr size_t max_events = 1'000'000;

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double bytes_of(const Cost& cost) { return cost.bytes_read + cost.bytes_written; }

// The collective that a -update or -done ends is its first operand, or that one's.
InstructionId start_of(const Module& module, InstructionId id) {
  const auto ends = [&] {
    const std::string_view op = text_of(module[id].op);
    return op.ends_with("-done") || op.ends_with("-update");
  };
  while (ends()) id = module.operand(id, 0);
  return id;
}

}  // namespace

std::string source_line(const Module& module, const Instruction& instruction) {
  const Metadata& metadata = module.metadata_of(instruction);
  if (!metadata.source_file.empty())
    return fmt::format("{}:{}", metadata.source_file, metadata.source_line);
  const StackFrameTables& tables = module.header.stack_frames;
  const auto frame = static_cast<size_t>(metadata.stack_frame_id) - 1;
  if (frame >= tables.frames.size()) return "";
  const auto location = static_cast<size_t>(tables.frames[frame].file_location_id) - 1;
  if (location >= tables.locations.size()) return "";
  const auto file = static_cast<size_t>(tables.locations[location].file_name_id) - 1;
  if (file >= tables.file_names.size()) return "";
  return fmt::format("{}:{}", tables.file_names[file], tables.locations[location].line);
}

Profile::Profile(const Module& module, std::vector<Estimate> estimates)
    : module_(module), costs_(count_cost(module)), estimates_(std::move(estimates)) {
  for (const Computation& computation : module.computations)
    for (InstructionId id : computation.instructions) {
      const InstructionId first = start_of(module, id);
      const auto what = collective_bytes(module, first);
      if (!what) continue;
      start_of_[id] = first;
      collectives_.try_emplace(first, Collective{first, *what});
    }
  start();
}

void Profile::start_run() {
  ++runs_;
  events_.clear();
  start();
}

void Profile::start() {
  zero_ = Clock::now();
  last_.clear();
}

void Profile::add_step(InstructionId id, int64_t device) {
  const Clock::time_point end = Clock::now();  // before other devices are waited for
  const std::string line = source_line(module_, module_[id]);
  const std::lock_guard lock(mutex_);
  Clock::time_point& last = last_.try_emplace(device, zero_).first->second;
  const double seconds = seconds_between(last, end);
  if (device == 0) add_row(id, line, seconds);
  if (device == 0) add_to(by_command_[id], id, seconds);
  if (device == 0) add_collective(id, seconds);
  add_event(id, line, {seconds_between(zero_, last), seconds}, device);
  last = Clock::now();
}

void Profile::add(InstructionId id, double seconds, int64_t device) {
  const double end = seconds_between(zero_, Clock::now());
  const std::string line = source_line(module_, module_[id]);
  const std::lock_guard lock(mutex_);
  add_row(id, line, seconds);
  if (device == 0) add_collective(id, seconds);
  add_event(id, line, {end - seconds, seconds}, device);
}

void Profile::add_row(InstructionId id, const std::string& line, double seconds) {
  const std::string op(text_of(module_[id].op));
  add_to(by_op_[op], id, seconds);
  add_to(by_line_[line.empty() ? "(unknown)" : line], id, seconds);
}

void Profile::add_to(Row& row, InstructionId id, double seconds) const {
  row.seconds += seconds;
  row.bytes += bytes_of(costs_[id.value]);
  ++row.count;
  ++row.steps[id];
}

void Profile::add_collective(InstructionId id, double seconds) {
  const auto step = start_of_.find(id);
  if (step == start_of_.end()) return;
  Collective& row = collectives_.at(step->second);
  row.seconds += seconds;
  row.count += step->second == id;
}

template <class Key>
std::vector<std::pair<Key, Profile::Row>> Profile::mean_rows(const std::map<Key, Row>& rows) const {
  const int64_t runs = std::max<int64_t>(1, runs_);
  std::vector<std::pair<Key, Row>> out(rows.begin(), rows.end());
  for (auto& [name, row] : out) {
    row.seconds /= static_cast<double>(runs);
    row.bytes /= static_cast<double>(runs);
    row.count /= runs;
    for (auto& [id, count] : row.steps) count /= runs;
  }
  std::ranges::stable_sort(out, std::greater(), [](const auto& row) { return row.second.seconds; });
  return out;
}

std::vector<Profile::Collective> Profile::mean_collectives() const {
  const int64_t runs = std::max<int64_t>(1, runs_);
  std::vector<Collective> out;
  for (const auto& [id, row] : collectives_) {
    if (row.count == 0) continue;  // within a fusion, or never run
    out.push_back(row);
    out.back().seconds /= static_cast<double>(runs);
    out.back().count /= runs;
  }
  std::ranges::stable_sort(out, std::greater(), &Collective::seconds);
  return out;
}

void Profile::add_event(InstructionId id, const std::string& line, Span span, int64_t device) {
  if (events_.size() == max_events) return;
  const Instruction& instruction = module_[id];
  events_.push_back({std::string(instruction.name),
                     std::string(text_of(instruction.op)),
                     device,
                     span.start,
                     span.seconds,
                     {}});
  if (!line.empty()) events_.back().arguments.emplace_back("source", line);
}

double Profile::min_seconds(const Row& row, const Roofline& roofline) const {
  double out = 0;
  for (const auto& [id, count] : row.steps) {
    const Cost& cost = costs_[id.value];
    out += static_cast<double>(count) * std::max(bytes_of(cost) / roofline.bytes_per_second,
                                                 cost.flops / roofline.flops_per_second);
  }
  return out;
}

std::string Profile::text(const std::optional<Roofline>& roofline) const {
  std::string out;
  const size_t width = terminal_width();
  for (const auto& [title, rows] :
       {std::pair{"op", &by_op_}, std::pair{"source line", &by_line_}}) {
    double total = 0;
    const auto means = mean_rows(*rows);
    for (const auto& [name, row] : means) total += row.seconds;
    out += fmt::format("{:>10} {:>6} {:>9} {:>10}{}  {}\n", "ms", "%", "count", "MiB",
                       roofline ? "  % of roofline" : "", title);
    for (const auto& [name, row] : means) {
      std::string cells =
          fmt::format("{:>10.3f} {:>6.1f} {:>9} {:>10.2f}", row.seconds * 1e3,
                      total > 0 ? 100 * row.seconds / total : 0, row.count, row.bytes / (1 << 20));
      if (roofline)
        cells += fmt::format("{:>15.1f}", 100 * min_seconds(row, *roofline) / row.seconds);
      cells += "  ";
      out += cells + fit_to(name, width > cells.size() ? width - cells.size() : 0) + "\n";
    }
  }
  out += commands_text() + collectives_text();
  if (roofline)
    out += fmt::format("roofline, measured: copies {:.1f} GB/s, products {:.0f} Gflop/s\n",
                       roofline->bytes_per_second / 1e9, roofline->flops_per_second / 1e9);
  return out;
}

std::string Profile::commands_text() const {
  if (estimates_.empty()) return "";
  constexpr size_t max_rows = 20;
  const size_t width = terminal_width();
  std::string out = fmt::format("{:>10} {:>12} {:>9}  {:<18}command\n", "ms", "estimated ms",
                                "count", "bound by");
  auto rows = mean_rows(by_command_);
  rows.resize(std::min(rows.size(), max_rows));
  for (const auto& [id, row] : rows) {
    const Estimate& each = estimates_[id.value];
    const double estimated = each.seconds * static_cast<double>(row.count) * 1e3;
    const bool is_known = each.bound != Bound::Unknown;
    const std::string cells = fmt::format("{:>10.3f} {:>12} {:>9}  {:<18}", row.seconds * 1e3,
                                          is_known ? fixed(estimated, 3) : "?", row.count,
                                          is_known ? hilo::text_of(each.bound) : "");
    const std::string name = fmt::format("{} {}", text_of(module_[id].op), module_[id].name);
    out += cells + fit_to(name, width > cells.size() ? width - cells.size() : 0) + "\n";
  }
  return out;
}

std::string Profile::collectives_text() const {
  const std::vector<Collective> rows = mean_collectives();
  if (rows.empty()) return "";
  const size_t width = terminal_width();
  std::string out = fmt::format("{:>10} {:>6} {:>9} {:>10}  collective; MiB that a device sends\n",
                                "ms", "group", "count", "MiB");
  for (const Collective& row : rows) {
    const std::string line = source_line(module_, module_[row.id]);
    const std::string cells =
        fmt::format("{:>10.3f} {:>6} {:>9} {:>10.2f}  ", row.seconds * 1e3, row.what.group,
                    row.count, row.what.sent_bytes * static_cast<double>(row.count) / (1 << 20));
    const std::string name = fmt::format("{} {}{}{}", text_of(row.what.kind), module_[row.id].name,
                                         line.empty() ? "" : ", ", line);
    out += cells + fit_to(name, width > cells.size() ? width - cells.size() : 0) + "\n";
  }
  return out;
}

nlohmann::ordered_json Profile::json(const std::optional<Roofline>& roofline) const {
  nlohmann::ordered_json out;
  if (roofline)
    out["roofline"] = {{"bytes_per_second", roofline->bytes_per_second},
                       {"flops_per_second", roofline->flops_per_second}};
  for (const auto& [title, rows] : {std::pair{"by_op", &by_op_}, std::pair{"by_line", &by_line_}}) {
    out[title] = nlohmann::ordered_json::array();
    for (const auto& [name, row] : mean_rows(*rows)) {
      out[title].push_back(
          {{"name", name}, {"seconds", row.seconds}, {"count", row.count}, {"bytes", row.bytes}});
      if (roofline) out[title].back()["least_seconds"] = min_seconds(row, *roofline);
    }
  }
  if (!estimates_.empty()) out["by_command"] = nlohmann::ordered_json::array();
  for (const auto& [id, row] : mean_rows(by_command_))
    if (!estimates_.empty()) {
      const Estimate& each = estimates_[id.value];
      out["by_command"].push_back(
          {{"name", module_[id].name},
           {"op", text_of(module_[id].op)},
           {"seconds", row.seconds},
           {"count", row.count},
           {"estimated_seconds", each.seconds * static_cast<double>(row.count)},
           {"bound", hilo::text_of(each.bound)}});
    }
  out["collectives"] = nlohmann::ordered_json::array();
  for (const Collective& row : mean_collectives())
    out["collectives"].push_back({{"name", module_[row.id].name},
                                  {"kind", text_of(row.what.kind)},
                                  {"group", row.what.group},
                                  {"sent_bytes", row.what.sent_bytes},
                                  {"count", row.count},
                                  {"seconds", row.seconds},
                                  {"source", source_line(module_, module_[row.id])}});
  return out;
}

std::string Profile::trace() const { return trace_json(module_.header.name, events_); }

}  // namespace hilo::tools
