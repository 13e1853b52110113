#include "device/shared_facts.h"

#include <algorithm>
#include <map>

namespace hilo {
namespace {

std::string lines_of(const std::vector<SharedFact>& facts) {
  std::string out;
  for (const SharedFact& fact : facts)
    out += fmt::format("{}\t{}\t{}\n", fact.name, fact.value, fact.owner);
  return out;
}

// The text up to a sign, which is taken from `text` with it.
std::string take_until(std::string_view& text, char sign) {
  const size_t end = std::min(text.find(sign), text.size());
  std::string out(text.substr(0, end));
  text.remove_prefix(std::min(text.size(), end + 1));
  return out;
}

std::vector<SharedFact> facts_of(std::string_view lines) {
  std::vector<SharedFact> out;
  while (!lines.empty()) {
    const std::string line = take_until(lines, '\n');
    std::string_view rest = line;
    SharedFact& fact = out.emplace_back();
    for (std::string* field : {&fact.name, &fact.value, &fact.owner})
      *field = take_until(rest, '\t');
  }
  return out;
}

void add_facts(std::vector<SharedFact>& to, std::vector<SharedFact> facts, int rank) {
  for (SharedFact& fact : facts) {
    if (fact.owner.empty()) fact.owner = fmt::format("rank {}", rank);
    to.push_back(std::move(fact));
  }
}

// What the first of the ranks finds, and has told the others.
Result<std::string> judge(Communicator& communicator, std::span<const int> ranks,
                          const MessageTag& tag, const std::vector<SharedFact>& facts,
                          const std::atomic<bool>* interrupt) {
  std::vector<SharedFact> told;
  add_facts(told, facts, ranks[0]);
  for (const int rank : ranks.subspan(1)) {
    const std::string text = fmt::format("for rank {} to tell what it runs", rank);
    HILO_TRY(const Message said, communicator.receive(rank, tag, {nullptr, interrupt, text}));
    add_facts(told, facts_of(said.head), rank);
  }
  const std::string out = difference(told);
  for (const int rank : ranks.subspan(1)) communicator.send(rank, tag, {out, {}});
  return out;
}

}  // namespace

std::string difference(std::span<const SharedFact> facts) {
  std::map<std::string_view, std::vector<const SharedFact*>> by_name;
  for (const SharedFact& fact : facts) by_name[fact.name].push_back(&fact);
  for (const SharedFact& fact : facts) {
    const std::vector<const SharedFact*>& same = by_name[fact.name];
    std::map<std::string_view, int64_t> owners;
    for (const SharedFact* one : same) ++owners[one->value];
    if (owners.size() == 1) continue;
    const SharedFact* common = &fact;
    for (const SharedFact* one : same)
      if (owners[one->value] > owners[common->value]) common = one;
    for (const SharedFact* one : same)
      if (one->value != common->value)
        return fmt::format("{} has another {} than {}: {}, not {}", one->owner, fact.name,
                           common->owner, one->value, common->value);
  }
  return "";
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
