// What `hilo run` watches while a module runs: printed values, the first NaN or infinity, a
// profile.
#pragma once

#include <mutex>

#include "eval/eval.h"
#include "tools/command.h"

namespace hilo::tools {

struct ObserveOptions {
  std::vector<std::string> print_values;  // instruction names
  bool check_numerics = false, profile = false;
};

class Observer {
 public:
  Observer(const Module& module, ObserveOptions options);
  bool wanted() const;
  void see(const ValueEvent& event);  // from any device's thread

  // After the run. The error of --check-numerics, if a NaN or an infinity was made.
  std::optional<Error> first_non_finite() const { return non_finite_; }
  std::vector<std::string> unseen_names() const;  // of print_values
  std::string profile_text() const;
  std::string profile_json() const;  // an array of rows

 private:
  struct Row {
    double seconds = 0;
    int64_t count = 0, bytes = 0;
  };
  using Rows = std::vector<std::pair<std::string, Row>>;
  Rows by_time(const std::map<std::string, Row>& rows) const;

  const Module& module_;
  ObserveOptions options_;
  std::mutex mutex_;
  std::map<std::string, bool> names_;  // seen?
  std::optional<Error> non_finite_;
  std::map<std::string, Row> by_op_, by_line_;
};

// "model.py:12", by the stack frames where metadata has no file; empty when unknown.
std::string source_line(const Module& module, const Instruction& instruction);

}  // namespace hilo::tools
