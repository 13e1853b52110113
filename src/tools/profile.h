// Where the time of a run went: by op, by source line, by collective, and as a trace. Private to
// `tools`.
#pragma once

#include <chrono>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "report/report.h"
#include "tools/roofline.h"

namespace hilo::tools {

// "model.py:12", by the stack frames where metadata has no file; empty when unknown.
std::string source_line(const Module& module, const Instruction& instruction);

class Profile {
 public:
  // The module must outlive the profile and be the one that runs. With estimates of its commands,
  // by instruction, tables and JSON tell of each how long it takes by estimate, too.
  explicit Profile(const Module& module, std::vector<Estimate> estimates = {});

  // The instruction took so many seconds, which end now. Callable from several threads.
  void add(InstructionId id, double seconds, int64_t device);
  // The same for the time since the device's last step; start() sets the zero. Only the first
  // device's steps are rows of the tables, for those of others took the same time: all are events.
  void start();
  // The next of several runs: rows tell the mean of all, the trace is the last one's.
  void start_run();
  void add_step(InstructionId id, int64_t device);

  // Bytes are what the ops read and write at least, and of collectives what a device sends. With a
  // roofline a column tells the part that the faster of memory and arithmetic would take of the
  // time. Rows of a terminal fit its width.
  std::string text(const std::optional<Roofline>& roofline = {}) const;
  nlohmann::ordered_json json(const std::optional<Roofline>& roofline = {}) const;
  // For ui.perfetto.dev: the first million steps.
  std::string trace() const;

 private:
  struct Row {
    double seconds = 0, bytes = 0;
    int64_t count = 0;
    std::map<InstructionId, int64_t> steps;
  };
  using Rows = std::map<std::string, Row>;
  struct Collective {
    InstructionId id;
    CollectiveBytes what;
    double seconds = 0;
    int64_t count = 0;
  };
  struct Span {
    double start, seconds;  // from the zero
  };
  template <class Key>
  std::vector<std::pair<Key, Row>> mean_rows(const std::map<Key, Row>& rows) const;  // by time
  std::vector<Collective> mean_collectives() const;
  double min_seconds(const Row& row, const Roofline& roofline) const;
  void add_collective(InstructionId id, double seconds);
  std::string collectives_text() const;
  std::string commands_text() const;
  void add_to(Row& row, InstructionId id, double seconds) const;
  void add_row(InstructionId id, const std::string& line, double seconds);
  void add_event(InstructionId id, const std::string& line, Span span, int64_t device);

  const Module& module_;
  std::vector<Cost> costs_;
  Rows by_op_, by_line_;
  // The time of a run's first step is also that of what is done before it.
  std::map<InstructionId, Row> by_command_;
  std::vector<Estimate> estimates_;                  // by instruction, of one run; empty: none
  std::map<InstructionId, Collective> collectives_;  // by their first steps
  std::map<InstructionId, InstructionId> start_of_;  // of their steps
  std::vector<TraceEvent> events_;
  int64_t runs_ = 0;
  using Time = std::chrono::steady_clock::time_point;
  Time zero_;
  std::map<int64_t, Time> last_;  // by device
  std::mutex mutex_;
};

}  // namespace hilo::tools
