#include "tools/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/text.h"

namespace hilo::tools {
namespace {

constexpr size_t most_events = 1'000'000;

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

double bytes_of(const Cost& cost) { return cost.bytes_read + cost.bytes_written; }

template <class Rows>
auto by_time(const Rows& rows) {
  std::vector<std::pair<std::string, typename Rows::mapped_type>> out(rows.begin(), rows.end());
  std::ranges::stable_sort(out, std::greater(), [](const auto& row) { return row.second.seconds; });
  return out;
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

Profile::Profile(const Module& module) : module_(module), costs_(count_cost(module)) { start(); }

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
  add_event(id, line, {seconds_between(zero_, last), seconds}, device);
  last = Clock::now();
}

void Profile::add(InstructionId id, double seconds, int64_t device) {
  const double end = seconds_between(zero_, Clock::now());
  const std::string line = source_line(module_, module_[id]);
  const std::lock_guard lock(mutex_);
  add_row(id, line, seconds);
  add_event(id, line, {end - seconds, seconds}, device);
}

void Profile::add_row(InstructionId id, const std::string& line, double seconds) {
  const std::string op(text_of(module_[id].op));
  for (Row* row : {&by_op_[op], &by_line_[line.empty() ? "(unknown)" : line]}) {
    row->seconds += seconds;
    row->bytes += bytes_of(costs_[id.value]);
    ++row->count;
    ++row->steps[id];
  }
}

void Profile::add_event(InstructionId id, const std::string& line, Span span, int64_t device) {
  if (events_.size() == most_events) return;
  const Instruction& instruction = module_[id];
  events_.push_back({std::string(instruction.name),
                     std::string(text_of(instruction.op)),
                     device,
                     span.start,
                     span.seconds,
                     {}});
  if (!line.empty()) events_.back().arguments.emplace_back("source", line);
}

double Profile::least_seconds(const Row& row, const Roofline& roofline) const {
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
  for (const auto& [title, rows] :
       {std::pair{"op", &by_op_}, std::pair{"source line", &by_line_}}) {
    double total = 0;
    for (const auto& [name, row] : *rows) total += row.seconds;
    out += fmt::format("{:>10} {:>6} {:>9} {:>10}{}  {}\n", "ms", "%", "count", "MiB",
                       roofline ? "  % of roofline" : "", title);
    for (const auto& [name, row] : by_time(*rows)) {
      out +=
          fmt::format("{:>10.3f} {:>6.1f} {:>9} {:>10.2f}", row.seconds * 1e3,
                      total > 0 ? 100 * row.seconds / total : 0, row.count, row.bytes / (1 << 20));
      if (roofline)
        out += fmt::format("{:>15.1f}", 100 * least_seconds(row, *roofline) / row.seconds);
      out += fmt::format("  {}\n", name);
    }
  }
  if (roofline)
    out += fmt::format("roofline, measured: copies {:.1f} GB/s, products {:.0f} Gflop/s\n",
                       roofline->bytes_per_second / 1e9, roofline->flops_per_second / 1e9);
  return out;
}

nlohmann::ordered_json Profile::json(const std::optional<Roofline>& roofline) const {
  nlohmann::ordered_json out;
  if (roofline)
    out["roofline"] = {{"bytes_per_second", roofline->bytes_per_second},
                       {"flops_per_second", roofline->flops_per_second}};
  for (const auto& [title, rows] : {std::pair{"by_op", &by_op_}, std::pair{"by_line", &by_line_}}) {
    out[title] = nlohmann::ordered_json::array();
    for (const auto& [name, row] : by_time(*rows)) {
      out[title].push_back(
          {{"name", name}, {"seconds", row.seconds}, {"count", row.count}, {"bytes", row.bytes}});
      if (roofline) out[title].back()["least_seconds"] = least_seconds(row, *roofline);
    }
  }
  return out;
}

std::string Profile::trace() const { return trace_json(module_.header.name, events_); }

}  // namespace hilo::tools
