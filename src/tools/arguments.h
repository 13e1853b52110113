// What a subcommand reads from the command line. CLI11 parses it; its header costs each file that
// includes it five seconds, so that only arguments.cpp and main.cpp do. Private to `tools`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hilo::tools {

// One option, to be restricted further.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& one_of(const std::vector<std::string>& values);
  Option& between(int least, int most);
  Option& excludes(const Option& other);
  Option& needs(const Option& other);
  Option& separated_by(char delimiter);  // one argument gives several values

 private:
  CLI::Option* option_;
};

// The options of one subcommand. Values are written where they are bound before the callback runs.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  // `names` as in "-o,--output"; without dashes the argument is positional. `text` is its help.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& text) {
    return bind(names, &value, text);
  }
  Option add_flag(const std::string& names, bool& value, const std::string& text);
  void footer(const std::string& text);  // examples, behind the options
  void callback(std::function<void()> body);
  // Names of the options and positional arguments that the command line gives.
  std::vector<std::string> given() const;

 private:
  using Bound = std::variant<int*, int64_t*, uint64_t*, double*, std::optional<double>*,
                             std::string*, std::vector<std::string>*>;
  Option bind(const std::string& names, const Bound& value, const std::string& text);

  CLI::App& app_;
};

}  // namespace hilo::tools
