#include "tools/run_processes.h"

#include <numeric>

namespace hilo::tools {
namespace {

// The first numbers of tags, of messages outside of runs.
enum Purpose : int64_t { Facts, Question, Reply };
constexpr int64_t no_question = -1;

MessageTag tag_of(Purpose purpose) { return {0, {purpose}}; }

}  // namespace

void add_process_options(Arguments& arguments, ProcessOptions& options) {
  constexpr int max_processes = 1 << 16;
  arguments
      .add_option("--processes", options.processes,
                  "this is one of so many processes, which share the devices; with mpirun, it is "
                  "known without")
      .between(1, max_processes);
  arguments.add_option("--rank", options.rank, "with --processes: which one, from 0")
      .between(0, max_processes - 1);
  arguments.add_option("--coordinator", options.coordinator,
                       "with --processes: HOST:PORT, where rank 0 listens");
}

Result<RunProcesses> RunProcesses::join(const ProcessOptions& options, double timeout) {
  JobOptions job = {options.processes, options.rank, options.coordinator};
  if (timeout > 0) job.timeout_s = timeout;
  job.communicator.finds_deadlocks = true;
  HILO_TRY(std::optional<Job> joined, join_job(job));
  RunProcesses out;
  if (joined && joined->communicator->size() > 1)
    out.job_ = std::make_shared<Job>(std::move(*joined));
  return out;
}

int RunProcesses::rank() const { return job_ ? job_->communicator->rank() : 0; }
int RunProcesses::size() const { return job_ ? job_->communicator->size() : 1; }

Processes RunProcesses::processes() const {
  Processes out;
  if (job_) out.communicator = job_->communicator;
  return out;
}

Result<void> RunProcesses::compare(const std::vector<SharedFact>& facts,
                                   const std::atomic<bool>* interrupt) {
  if (!job_) {
    const std::string found = difference(facts);
    return found.empty() ? Result<void>() : hilo::fail(ErrorKind::Input, "{}", found);
  }
  std::vector<int> ranks(static_cast<size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return compare_facts(*job_->communicator, ranks, tag_of(Facts), facts, interrupt);
}

void RunProcesses::fail(const Error& error) {
  if (job_) job_->communicator->stop(0, error);
}

Result<Message> RunProcesses::ask(int rank, int64_t question) {
  Communicator& all = *job_->communicator;
  all.send(rank, tag_of(Question), {fmt::format("{}", question), {}});
  const std::string text = fmt::format("for outputs of rank {}", rank);
  return all.receive(rank, tag_of(Reply), {nullptr, nullptr, text});
}

Result<int> RunProcesses::answer_until_released(const Answer& answer) {
  Communicator& all = *job_->communicator;
  while (true) {
    HILO_TRY(const Message asked,
             all.receive(0, tag_of(Question), {nullptr, nullptr, "for rank 0 to end"}));
    char* rest = nullptr;
    const int64_t question = std::strtoll(asked.head.c_str(), &rest, 10);
    if (question == no_question) return static_cast<int>(std::strtol(rest, nullptr, 10));
    all.send(0, tag_of(Reply), answer(question));
  }
}

void RunProcesses::release(int status) {
  for (int rank = 1; rank < size(); ++rank)
    job_->communicator->send(rank, tag_of(Question),
                             {fmt::format("{} {}", no_question, status), {}});
}

}  // namespace hilo::tools
