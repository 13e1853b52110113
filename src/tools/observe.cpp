#include "tools/observe.h"

#include <cmath>

#include "tools/outputs.h"

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

Observer::Observer(const Module& module, ObserveOptions options, bool keeps_values)
    : module_(module), options_(std::move(options)), keeps_values_(keeps_values) {
  for (const std::string& name : options_.print_values)
    names_[name.substr(name.starts_with('%') ? 1 : 0)] = false;
  if (options_.profiles()) profile_.emplace(module);
}

bool Observer::wanted() const { return !names_.empty() || options_.check_numerics || profile_; }

void Observer::see(const ValueEvent& event) {
  const Instruction& instruction = module_[event.instruction];
  const std::lock_guard lock(mutex_);
  if (auto name = names_.find(std::string(instruction.name)); name != names_.end()) {
    name->second = true;
    Printed printed{event.device, name->first, to_string(event.value->shape()),
                    value_text(*event.value)};
    if (keeps_values_) values_.push_back(std::move(printed));
    else
      fmt::print("device {} {} = {} {}\n", printed.device, printed.instruction, printed.shape,
                 printed.value);
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
  // Control flow is not a row: its body's instructions are.
  const bool is_control = instruction.op == Op::While || instruction.op == Op::Call ||
                          instruction.op == Op::Conditional;
  if (profile_ && event.depth >= 0 && !is_control)
    profile_->add(event.instruction, event.seconds, event.device);
}

std::vector<std::string> Observer::unseen_names() const {
  std::vector<std::string> out;
  for (const auto& [name, seen] : names_)
    if (!seen) out.push_back(name);
  return out;
}

}  // namespace hilo::tools
