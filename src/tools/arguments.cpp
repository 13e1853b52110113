#include "tools/arguments.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace hilo::tools {
namespace {

// CLI11 takes the largest number for one that is larger, and a negative one modulo 2^64.
std::string whole_number(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("expected a number from 0 to 2^64 - 1, found {}", text);
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option& Option::between(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::needs(const Option& other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::separated_by(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Option Arguments::add_flag(const std::string& names, bool& value, const std::string& text) {
  return Option(app_.add_flag(names, value, text));
}

void Arguments::footer(const std::string& text) { app_.footer(text); }

void Arguments::callback(std::function<void()> body) { app_.callback(std::move(body)); }

std::vector<std::string> Arguments::given() const {
  std::vector<std::string> out;
  for (const CLI::Option* option : std::as_const(app_).get_options())
    if (option->count() > 0) out.push_back(option->get_name());
  return out;
}

Option Arguments::bind(const std::string& names, const Bound& value, const std::string& text) {
  CLI::Option* const option =
      std::visit([&](auto* target) { return app_.add_option(names, *target, text); }, value);
  // Several values are several uses of an option: one that took more would take the file behind it.
  if (names.starts_with('-')) option->allow_extra_args(false);
  if (std::holds_alternative<uint64_t*>(value)) option->check(&whole_number);
  return Option(option);
}

}  // namespace hilo::tools
