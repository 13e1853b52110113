// Which chip a text was written for, by comparing what it shows with what is known of chips. A
// comparison that no chip passes says nothing: the text may be of a chip that is not known.
#include <algorithm>

#include "report/chip.h"
#include "report/picture.h"

namespace hilo {
namespace {

class Candidates {
 public:
  explicit Candidates(MachineFamily family) : left_(chips_of(family)) {}

  template <class Predicate>
  void keep(Predicate&& fits, std::string reason) {
    std::vector<Chip> kept;
    std::copy_if(left_.begin(), left_.end(), std::back_inserter(kept), fits);
    if (kept.empty() || kept.size() == left_.size()) return;
    left_ = std::move(kept);
    reasons_.push_back(std::move(reason));
  }

  AssumedMachine result(std::string reason) const {
    for (const std::string& one : reasons_) reason += (reason.empty() ? "" : "; ") + one;
    AssumedMachine out{left_.front().machine, std::move(reason), left_.size() == 1, {}};
    for (size_t i = 1; i < left_.size(); ++i) out.others.emplace_back(left_[i].machine->name);
    return out;
  }

 private:
  std::vector<Chip> left_;
  std::vector<std::string> reasons_;
};

std::string space_name(MachineFamily family, int64_t space) {
  for (const Chip& chip : chips_of(family))
    if (const MemorySpace known = memory_space(*chip.machine, space); !known.name.empty())
      return std::string(known.name);
  return fmt::format("space {}", space);
}

// A text names all of a memory, or what of it is left to programs: the nearer, the better.
void compare_capacity(const ChipEvidence::Capacity& stated, MachineFamily family,
                      Candidates& candidates) {
  const int64_t rounding = std::max<int64_t>(stated.rounding, 1);
  const auto is_near = [&](int64_t bytes) {
    return bytes > 0 && bytes - rounding <= stated.bytes && stated.bytes <= bytes + rounding;
  };
  const std::string text = fmt::format("a capacity of {} of {}", human_bytes(stated.bytes),
                                       space_name(family, stated.space));
  const auto whole = [&](const Chip& chip) {
    return std::max(memory_space(*chip.machine, stated.space).bytes,
                    usable_bytes(*chip.machine, stated.space));
  };
  candidates.keep(
      [&](const Chip& chip) {
        return whole(chip) + rounding >= stated.bytes &&
               usable_bytes(*chip.machine, stated.space) - rounding <= stated.bytes;
      },
      text);
  candidates.keep(
      [&](const Chip& chip) { return is_near(usable_bytes(*chip.machine, stated.space)); },
      text + ", what is left to programs");
  candidates.keep([&](const Chip& chip) { return is_near(whole(chip)); }, text);
}

void compare_use(int64_t space, int64_t bytes, MachineFamily family, Candidates& candidates) {
  candidates.keep(
      [&](const Chip& chip) {
        const int64_t usable = usable_bytes(*chip.machine, space);
        const bool is_missing = space == 3 && usable == 0;
        return !is_missing && (usable == 0 || bytes <= usable);
      },
      fmt::format("{} of {} in use", human_bytes(bytes), space_name(family, space)));
}

}  // namespace

AssumedMachine infer_machine(const ChipEvidence& evidence) {
  if (evidence.named) return {evidence.named, evidence.named_reason, true, {}};
  if (!evidence.family) return {};
  const MachineFamily family = *evidence.family;
  if (family == MachineFamily::Cpu) return {find_machine("cpu"), evidence.family_reason, true, {}};
  Candidates candidates(family);
  candidates.keep(
      [&](const Chip& chip) { return chip.architecture.starts_with(evidence.architecture); },
      fmt::format("an architecture {}", evidence.architecture));
  if (family == MachineFamily::Tpu)
    for (const ChipEvidence::Capacity& stated : evidence.capacities)
      compare_capacity(stated, family, candidates);
  if (evidence.reserved > 0)
    candidates.keep(
        [&](const Chip& chip) {
          return std::abs(chip.reserved - evidence.reserved) <= evidence.reserved / 100;
        },
        fmt::format("{} reserved", human_bytes(evidence.reserved)));
  for (const auto& [space, bytes] : evidence.in_use) compare_use(space, bytes, family, candidates);
  if (evidence.tuple_granule > 0)
    candidates.keep(
        [&](const Chip& chip) { return chip.machine->tuple_granule == evidence.tuple_granule; },
        fmt::format("tuple tables of multiples of {} bytes", evidence.tuple_granule));
  if (evidence.cores > 0)
    candidates.keep([&](const Chip& chip) { return chip.cores == evidence.cores; },
                    fmt::format("{} cores work as one device", evidence.cores));
  return candidates.result(evidence.family_reason);
}

void set_machine(MemoryPicture& picture, const AssumedMachine& machine) {
  picture.machine = machine.machine->name;
  picture.other_machines = machine.others;
  picture.is_machine_assumed = !machine.is_certain;
  const bool is_named = machine.reason.starts_with("named");
  picture.machine_reason = (is_named             ? ""
                            : machine.is_certain ? "inferred: "
                                                 : "assumed: ") +
                           machine.reason;
}

}  // namespace hilo
