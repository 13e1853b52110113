#include "tools/run_processes.h"

#include <algorithm>
#include <limits>
#include <map>

namespace hilo::tools {
namespace {

// The first numbers of tags, of messages outside of runs.
enum Purpose : int64_t { Facts, Verdict, Question, Reply };
constexpr int64_t no_question = -1;

MessageTag tag_of(Purpose purpose) { return {0, {purpose}}; }

std::string lines_of(const std::vector<SharedFact>& facts) {
  std::string out;
  for (const SharedFact& fact : facts) out += fact.name + '\t' + fact.value + '\n';
  return out;
}

std::vector<SharedFact> facts_of(std::string_view lines) {
  std::vector<SharedFact> out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const size_t tab = std::min(line.find('\t'), line.size());
    out.push_back({std::string(line.substr(0, tab)),
                   std::string(line.substr(std::min(line.size(), tab + 1)))});
  }
  return out;
}

std::string value_of(const std::vector<SharedFact>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &SharedFact::name);
  return found == facts.end() ? "none" : found->value;
}

// What few of the ranks have otherwise than most, or than the first rank where none are more; ""
// where all agree.
std::string difference(const std::vector<std::vector<SharedFact>>& ranks) {
  for (const SharedFact& fact : ranks[0]) {
    std::map<std::string, std::vector<size_t>> having;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      having[value_of(ranks[rank], fact.name)].push_back(rank);
    if (having.size() == 1) continue;
    const std::string* common = &fact.value;
    for (const auto& [value, those] : having)
      if (those.size() > having[*common].size()) common = &value;
    for (const auto& [value, those] : having)
      if (value != *common)
        return fmt::format("rank {} has another {} than rank {}: {}, not {}", those[0], fact.name,
                           having[*common][0], value, *common);
  }
  return "";
}

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

// Fowler, Noll and Vo's 1a over words, from two starts.
std::string fingerprint(std::span<const std::byte> bytes) {
  uint64_t sums[2] = {0xcbf29ce484222325, 0x84222325cbf29ce4};
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::copy_n(bytes.data() + at, std::min(sizeof(word), bytes.size() - at),
                reinterpret_cast<std::byte*>(&word));
    for (uint64_t& sum : sums) {
      sum = (sum ^ word) * 0x100000001b3;
      sum ^= sum >> 29;
    }
  }
  return fmt::format("{:016x}{:016x}", sums[0] ^ bytes.size(), sums[1]);
}

std::string fingerprint(std::string_view text) {
  return fingerprint(std::as_bytes(std::span(text)));
}

Result<RunProcesses> RunProcesses::join(const ProcessOptions& options, double timeout) {
  JobOptions job = {options.processes, options.rank, options.coordinator, {}, {}};
  constexpr double default_timeout = 60;
  job.timeout_s = timeout > 0 ? timeout : default_timeout;
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
  if (!job_) return {};
  Communicator& all = *job_->communicator;
  std::string verdict;
  if (is_first()) {
    std::vector<std::vector<SharedFact>> ranks = {facts};
    for (int rank = 1; rank < size(); ++rank) {
      const std::string text = fmt::format("for rank {} to tell what it runs", rank);
      HILO_TRY(const Message said, all.receive(rank, tag_of(Facts), {nullptr, interrupt, text}));
      ranks.push_back(facts_of(said.head));
    }
    verdict = difference(ranks);
    for (int rank = 1; rank < size(); ++rank) all.send(rank, tag_of(Verdict), {verdict, {}});
  } else {
    all.send(0, tag_of(Facts), {lines_of(facts), {}});
    HILO_TRY(const Message said,
             all.receive(0, tag_of(Verdict), {nullptr, interrupt, "for the other ranks to begin"}));
    verdict = said.head;
  }
  if (!verdict.empty()) return hilo::fail(ErrorKind::Input, "{}", verdict);
  return {};
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
