// A run of which each process runs some devices. Private to `tools`.
#pragma once

#include <optional>

#include "compile/compile.h"
#include "tools/arguments.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct ProcessOptions {
  int processes = 0, rank = -1;
  std::string coordinator;
};
void add_process_options(Arguments& arguments, ProcessOptions& options);

// The processes of this run; one alone where nobody has named others.
class RunProcesses {
 public:
  // Usage and Io as join_job().
  static Result<RunProcesses> join(const ProcessOptions& options, double timeout);

  bool are_several() const { return job_ != nullptr; }
  int rank() const;
  int size() const;
  bool is_first() const { return rank() == 0; }
  Processes processes() const;
  // Input where facts of one name are not the same, on all ranks, naming who differs; of one
  // process too, where they have owners. `interrupt`: as in EvalOptions.
  Result<void> compare(const std::vector<SharedFact>& facts, const std::atomic<bool>* interrupt);
  void fail(const Error& error);  // all others end, with this error

  // Between the first rank, which asks, and another, which answers until it is released.
  Result<Message> ask(int rank, int64_t question);
  using Answer = std::function<Message(int64_t question)>;
  Result<int> answer_until_released(const Answer& answer);  // gives what release() was given
  void release(int status);

 private:
  std::shared_ptr<Job> job_;
};

}  // namespace hilo::tools
