// What `hilo run` watches while a module runs: printed values, the first NaN or infinity, a
// profile.
#pragma once

#include <mutex>

#include "eval/eval.h"
#include "tools/command.h"
#include "tools/profile.h"

namespace hilo::tools {

struct ObserveOptions {
  std::vector<std::string> print_values;  // instruction names
  bool check_numerics = false, profile = false;
  std::string trace;  // file for the trace of the profile
  bool profiles() const { return profile || !trace.empty(); }
};

class Observer {
 public:
  // A value that was asked for, as text.
  struct Printed {
    int64_t device;
    std::string instruction, shape, value;
  };
  // Values are printed as they come, or kept where one document is to be printed.
  Observer(const Module& module, ObserveOptions options, bool keeps_values);
  bool wanted() const;
  void start_run() {  // the first, or the next of several
    if (profile_) profile_->start_run();
  }
  void see(const ValueEvent& event);  // from any device's thread

  // After the run. The error of --check-numerics, if a NaN or an infinity was made.
  std::optional<Error> first_non_finite() const { return non_finite_; }
  std::vector<std::string> unseen_names() const;                      // of print_values
  const std::vector<Printed>& values() const { return values_; }      // that were kept
  const std::optional<Profile>& profile() const { return profile_; }  // where one is asked for

 private:
  const Module& module_;
  ObserveOptions options_;
  bool keeps_values_;
  std::mutex mutex_;
  std::map<std::string, bool> names_;  // seen?
  std::vector<Printed> values_;
  std::optional<Error> non_finite_;
  std::optional<Profile> profile_;
};

}  // namespace hilo::tools
