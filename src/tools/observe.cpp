#include "tools/observe.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/text.h"

namespace hilo::tools {
namespace {

// Position of the first NaN or infinity, or -1.
int64_t first_bad(const Literal& literal) {
  if (!literal.shape().is_array()) return -1;
  return visit_storage(literal.type(), [&]<class T>(std::type_identity<T>) -> int64_t {
    const auto data = literal.data<T>();
    for (size_t i = 0; i < data.size(); ++i) {
      if constexpr (requires { data[i].imag(); }) {
        if (!std::isfinite(data[i].real()) || !std::isfinite(data[i].imag())) return i;
      } else if (!std::is_integral_v<T> && !std::isfinite(static_cast<double>(data[i]))) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  });
}

std::string index_text(const Shape& shape, int64_t position) {
  std::string out;
  const Dims strides = row_major_strides(shape.dims);
  for (size_t i = 0; i < strides.size(); ++i)
    out += fmt::format("{}{}", i > 0 ? "," : "", position / strides[i] % shape.dims[i]);
  return "[" + out + "]";
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

Observer::Observer(const Module& module, ObserveOptions options)
    : module_(module), options_(std::move(options)) {
  for (const std::string& name : options_.print_values) names_[name] = false;
}

bool Observer::wanted() const {
  return !names_.empty() || options_.check_numerics || options_.profile;
}

void Observer::see(const ValueEvent& event) {
  const Instruction& instruction = module_[event.instruction];
  const std::lock_guard lock(mutex_);
  if (auto name = names_.find(std::string(instruction.name)); name != names_.end()) {
    name->second = true;
    fmt::print("device {} {} = {} {}\n", event.device, instruction.name,
               to_string(event.value->shape()), print(*event.value));
  }
  if (options_.check_numerics && !non_finite_) {
    for_each_leaf(*event.value, [&](const Literal& leaf) {
      const int64_t bad = non_finite_ ? -1 : first_bad(leaf);
      if (bad < 0) return;
      const std::string line = source_line(module_, instruction);
      non_finite_ =
          Error{ErrorKind::Evaluation,
                fmt::format("first {} on device {} at {}{}{}",
                            std::isnan(leaf.number_at(bad)) ? "NaN" : "infinity", event.device,
                            index_text(leaf.shape(), bad), line.empty() ? "" : ", from ", line),
                module_.place(event.instruction)};
    });
  }
  const bool is_call = !module_.called(instruction).empty() && instruction.op != Op::Fusion &&
                       !is_elementwise(instruction.op);
  if (!options_.profile || event.depth < 0) return;
  int64_t bytes = literal_bytes(event.value->shape());
  for (InstructionId operand : module_.operands(instruction))
    bytes += literal_bytes(module_.shape(operand));
  // Control flow is not a row: its body's instructions are.
  const bool is_control = is_call && (instruction.op == Op::While || instruction.op == Op::Call ||
                                      instruction.op == Op::Conditional);
  if (is_control) return;
  const std::string line = source_line(module_, instruction);
  for (Row* row : {&by_op_[std::string(text_of(instruction.op))],
                   &by_line_[line.empty() ? "(unknown)" : line]}) {
    row->seconds += event.seconds;
    row->count += 1;
    row->bytes += bytes;
  }
}

std::vector<std::string> Observer::unseen_names() const {
  std::vector<std::string> out;
  for (const auto& [name, seen] : names_)
    if (!seen) out.push_back(name);
  return out;
}

Observer::Rows Observer::by_time(const std::map<std::string, Row>& rows) const {
  Rows out(rows.begin(), rows.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  return out;
}

std::string Observer::profile_text() const {
  std::string out;
  for (const auto& [title, rows] :
       {std::pair{"op", &by_op_}, std::pair{"source line", &by_line_}}) {
    double total = 0;
    for (const auto& [name, row] : *rows) total += row.seconds;
    out += fmt::format("{:>10} {:>6} {:>9} {:>10}  {}\n", "ms", "%", "count", "MiB", title);
    for (const auto& [name, row] : by_time(*rows))
      out += fmt::format("{:>10.3f} {:>6.1f} {:>9} {:>10.2f}  {}\n", row.seconds * 1e3,
                         total > 0 ? 100 * row.seconds / total : 0, row.count,
                         static_cast<double>(row.bytes) / (1 << 20), name);
  }
  return out;
}

std::string Observer::profile_json() const {
  nlohmann::ordered_json out;
  for (const auto& [title, rows] : {std::pair{"by_op", &by_op_}, std::pair{"by_line", &by_line_}}) {
    out[title] = nlohmann::ordered_json::array();
    for (const auto& [name, row] : by_time(*rows))
      out[title].push_back(
          {{"name", name}, {"seconds", row.seconds}, {"count", row.count}, {"bytes", row.bytes}});
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hilo::tools
