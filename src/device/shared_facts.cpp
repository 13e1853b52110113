#include "device/shared_facts.h"

#include <algorithm>
#include <map>

namespace hilo {
namespace {

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
// where all agree. told: by each of the ranks.
std::string difference(std::span<const int> ranks,
                       const std::vector<std::vector<SharedFact>>& told) {
  for (const SharedFact& fact : told[0]) {
    std::map<std::string, std::vector<int>> having;
    for (size_t i = 0; i < told.size(); ++i)
      having[value_of(told[i], fact.name)].push_back(ranks[i]);
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

// What the first of the ranks finds, and has told the others.
Result<std::string> judge(Communicator& communicator, std::span<const int> ranks,
                          const MessageTag& tag, const std::vector<SharedFact>& facts,
                          const std::atomic<bool>* interrupt) {
  std::vector<std::vector<SharedFact>> told = {facts};
  for (const int rank : ranks.subspan(1)) {
    const std::string text = fmt::format("for rank {} to tell what it runs", rank);
    HILO_TRY(const Message said, communicator.receive(rank, tag, {nullptr, interrupt, text}));
    told.push_back(facts_of(said.head));
  }
  const std::string out = difference(ranks, told);
  for (const int rank : ranks.subspan(1)) communicator.send(rank, tag, {out, {}});
  return out;
}

}  // namespace

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

Result<void> compare_facts(Communicator& communicator, std::span<const int> ranks,
                           const MessageTag& tag, const std::vector<SharedFact>& facts,
                           const std::atomic<bool>* interrupt) {
  std::string verdict;
  if (communicator.rank() == ranks[0]) {
    HILO_TRY(verdict, judge(communicator, ranks, tag, facts, interrupt));
  } else {
    communicator.send(ranks[0], tag, {lines_of(facts), {}});
    HILO_TRY(
        const Message said,
        communicator.receive(ranks[0], tag, {nullptr, interrupt, "for the other ranks to begin"}));
    verdict = said.head;
  }
  if (!verdict.empty()) return fail(ErrorKind::Input, "{}", verdict);
  return {};
}

}  // namespace hilo
