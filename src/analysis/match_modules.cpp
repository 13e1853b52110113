// Matching in rounds. A round gives each instruction that has no counterpart yet a key, and pairs
// those whose key is on both sides; the first keys tell most, the last ones least. After a round,
// pairs spread: operands, users and called computations of counterparts are counterparts where they
// are alike. The method is that of graph differs for machine code (Flake, "Structural comparison of
// executable objects", 2004).
#include <algorithm>

#include "analysis/signatures.h"

namespace hilo {
namespace {

// What a round's key is made of.
enum KeyBits : uint32_t {
  KeyExact = 1,
  KeyLoose = 2,
  KeyAround = 4,
  KeyNear = 8,
  KeyLabel = 16,
  KeyName = 32,
  KeyStem = 64,
  KeyKind = 128,
  KeyWithin = 256,   // computations that are counterparts
  NeedsLabel = 512,  // leaves out what has no op_name
};
// Which of those with one key are paired, in the order of the files.
enum class Take : uint8_t { TheOnly, AllOfAsMany, AsManyAsThereAre };
// How alike neighbours of a pair must be to be one.
enum Spread : uint8_t { SameExact, SameLoose, SameKind, SameOp, SpreadCount };

struct Round {
  uint32_t key;
  Take take;
  Spread spread;
};

constexpr Round rounds[] = {
    // The same value.
    {KeyExact | KeyLabel | KeyName | KeyWithin, Take::TheOnly, SameExact},
    {KeyExact | KeyLabel | KeyWithin, Take::TheOnly, SameExact},
    // The same of other sizes or constants.
    {KeyLoose | KeyLabel | KeyName | KeyWithin, Take::TheOnly, SameLoose},
    {KeyLoose | KeyLabel | KeyWithin, Take::TheOnly, SameLoose},
    {KeyExact | KeyLabel, Take::TheOnly, SameLoose},
    {KeyLoose | KeyLabel, Take::TheOnly, SameLoose},
    {KeyExact | KeyWithin, Take::TheOnly, SameLoose},
    {KeyLoose | KeyWithin, Take::TheOnly, SameLoose},
    {KeyLoose | KeyAround | KeyWithin, Take::TheOnly, SameKind},
    // Several that nothing but their order tells apart.
    {KeyExact | KeyAround | KeyWithin, Take::AllOfAsMany, SameKind},
    {KeyLoose | KeyAround | KeyWithin, Take::AllOfAsMany, SameKind},
    {KeyLoose | KeyLabel | KeyWithin, Take::AllOfAsMany, SameKind},
    // Computed from other values, and of the same surroundings.
    {KeyAround | KeyName | KeyWithin, Take::TheOnly, SameKind},
    {KeyAround | KeyWithin, Take::TheOnly, SameKind},
    {KeyNear | KeyWithin, Take::TheOnly, SameKind},
    {KeyKind | KeyLabel | KeyName | KeyWithin | NeedsLabel, Take::TheOnly, SameKind},
    {KeyKind | KeyLabel | KeyWithin | NeedsLabel, Take::TheOnly, SameOp},
    {KeyAround | KeyWithin, Take::AllOfAsMany, SameOp},
    {KeyKind | KeyLabel | KeyStem | KeyWithin | NeedsLabel, Take::AllOfAsMany, SameOp},
    {KeyExact | KeyWithin, Take::AsManyAsThereAre, SameOp},
    {KeyExact, Take::TheOnly, SameOp},
    {KeyLoose | KeyWithin, Take::AsManyAsThereAre, SameOp},
    {KeyKind | KeyLabel | NeedsLabel, Take::TheOnly, SameOp},
    {KeyLabel | KeyWithin | NeedsLabel, Take::AsManyAsThereAre, SameOp},
    {KeyName | KeyKind | KeyWithin, Take::TheOnly, SameOp},
};

struct Keyed {
  uint64_t key;
  uint32_t id;
  auto operator<=>(const Keyed&) const = default;
};

class Matcher {
 public:
  Matcher(const Module& a, const Module& b) : a_(a), b_(b) {
    std::tie(of_a_, of_b_) = signatures_of(a, b);
    out_.in_b.resize(a.instructions.size());
    out_.in_a.resize(b.instructions.size());
    out_.computations_in_b.resize(a.computations.size());
    out_.computations_in_a.resize(b.computations.size());
  }

  Matching run() {
    pair_computations(a_.entry, b_.entry, SameLoose);
    pair_uncalled();
    for (const Round& round : rounds) {
      if (pairs_.size() == std::min(a_.instructions.size(), b_.instructions.size())) break;
      pair_by_key(round);
      spread(round.spread);
    }
    pair_by_roots();
    out_.takes_others.resize(a_.instructions.size());
    for (const auto& [x, y] : pairs_) out_.takes_others[x.value] = take_others(x, y);
    return std::move(out_);
  }

 private:
  // Of a module, computations that nothing calls, by what they compute.
  static std::vector<Keyed> uncalled(const Module& module, const Signatures& of) {
    std::vector<bool> called(module.computations.size());
    for (const Instruction& instruction : module.instructions)
      if (!instruction.removed)
        for (const ComputationId id : module.called(instruction)) called[id.value] = true;
    std::vector<Keyed> out;
    for (uint32_t i = 0; i < called.size(); ++i)
      if (!called[i] && ComputationId{i} != module.entry)
        out.push_back({of.exact[module.computations[i].root.value], i});
    std::ranges::sort(out);
    return out;
  }

  // Nothing else is known of them.
  void pair_uncalled() {
    const auto left = uncalled(a_, of_a_), right = uncalled(b_, of_b_);
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (left[i].key == right[j].key)
        pair_computations({left[i].id}, {right[j].id}, SameExact), ++i, ++j;
      else left[i].key < right[j].key ? ++i : ++j;
    }
  }

  // The keys of those that have no counterpart, sorted; `in_other`: the counterparts of this side.
  std::vector<Keyed> keys_of(const Module& module, const Signatures& of, uint32_t key,
                             const std::vector<InstructionId>& in_other,
                             const std::vector<ComputationId>& computations, bool is_a) const {
    const std::vector<uint64_t>* const parts[] = {
        key & KeyExact ? &of.exact : nullptr,   key & KeyLoose ? &of.loose : nullptr,
        key & KeyAround ? &of.around : nullptr, key & KeyNear ? &of.near : nullptr,
        key & KeyLabel ? &of.label : nullptr,   key & KeyName ? &of.name : nullptr,
        key & KeyStem ? &of.stem : nullptr,     key & KeyKind ? &of.kind : nullptr};
    std::vector<Keyed> out;
    for (uint32_t i = 0; i < in_other.size(); ++i) {
      const Instruction& instruction = module.instructions[i];
      if (in_other[i] || instruction.removed) continue;
      if ((key & NeedsLabel) && of.label[i] == 0) continue;
      uint64_t seed = of.op[i];
      if (key & KeyWithin) {
        const ComputationId other = computations[instruction.computation.value];
        if (!other) continue;
        seed = mix(seed, is_a ? instruction.computation.value : other.value);
      }
      for (const auto* numbers : parts)
        if (numbers) seed = mix(seed, (*numbers)[i]);
      out.push_back({seed, i});
    }
    std::ranges::sort(out);
    return out;
  }

  static uint64_t mix(uint64_t seed, uint64_t value) {
    return (seed ^ (value + (seed << 6) + (seed >> 2))) * 0x9e3779b97f4a7c15ull;
  }

  void pair_by_key(const Round& round) {
    const auto left = keys_of(a_, of_a_, round.key, out_.in_b, out_.computations_in_b, true);
    const auto right = keys_of(b_, of_b_, round.key, out_.in_a, out_.computations_in_a, false);
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      const uint64_t key = std::max(left[i].key, right[j].key);
      const auto end_of = [key](const std::vector<Keyed>& all, size_t from) {
        while (from < all.size() && all[from].key == key) ++from;
        return from;
      };
      while (i < left.size() && left[i].key < key) ++i;
      while (j < right.size() && right[j].key < key) ++j;
      const size_t end_i = end_of(left, i), end_j = end_of(right, j);
      pair_group({left.data() + i, end_i - i}, {right.data() + j, end_j - j}, round.take);
      i = end_i, j = end_j;
    }
  }

  void pair_group(std::span<const Keyed> left, std::span<const Keyed> right, Take take) {
    if (left.empty() || right.empty()) return;
    if (take == Take::TheOnly && (left.size() > 1 || right.size() > 1)) return;
    if (take == Take::AllOfAsMany && left.size() != right.size()) return;
    if (left.size() > 1 || right.size() > 1) pair_by_name(left, right);
    size_t j = 0;
    for (const Keyed& one : left) {
      while (j < right.size() && out_.in_a[right[j].id]) ++j;
      if (j == right.size()) return;
      if (!out_.in_b[one.id]) pair({one.id}, {right[j].id});
    }
  }

  // Of those that are all alike, first the ones that still have their name.
  void pair_by_name(std::span<const Keyed> left, std::span<const Keyed> right) {
    std::vector<Keyed> names;
    for (const Keyed& one : right) names.push_back({of_b_.name[one.id], one.id});
    std::ranges::sort(names);
    for (const Keyed& one : left) {
      const auto same = std::ranges::lower_bound(names, of_a_.name[one.id], {}, &Keyed::key);
      if (same != names.end() && same->key == of_a_.name[one.id] && !out_.in_a[same->id])
        pair({one.id}, {same->id});
    }
  }

  void pair(InstructionId x, InstructionId y) {
    out_.in_b[x.value] = y;
    out_.in_a[y.value] = x;
    pairs_.emplace_back(x, y);
  }

  bool are_alike(InstructionId x, InstructionId y, Spread spread) const {
    const size_t i = x.value, j = y.value;
    if (of_a_.op[i] != of_b_.op[j]) return false;
    return spread == SameExact   ? of_a_.exact[i] == of_b_.exact[j]
           : spread == SameLoose ? of_a_.loose[i] == of_b_.loose[j]
           : spread == SameKind  ? of_a_.kind[i] == of_b_.kind[j]
                                 : true;
  }

  void pair_if_alike(InstructionId x, InstructionId y, Spread spread) {
    if (!out_.in_b[x.value] && !out_.in_a[y.value] && are_alike(x, y, spread)) pair(x, y);
  }

  void pair_computations(ComputationId x, ComputationId y, Spread spread) {
    if (out_.computations_in_b[x.value] || out_.computations_in_a[y.value]) return;
    out_.computations_in_b[x.value] = y;
    out_.computations_in_a[y.value] = x;
    pair_if_alike(a_[x].root, b_[y].root, spread);
    const auto &left = a_[x].parameters, &right = b_[y].parameters;
    if (left.size() != right.size() || x == a_.entry) return;
    for (size_t i = 0; i < left.size(); ++i) pair_if_alike(left[i], right[i], spread);
  }

  // Computations whose callers are no counterparts, though what they compute is.
  void pair_by_roots() {
    for (const auto& [x, y] : pairs_) {
      const ComputationId in_a = a_[x].computation, in_b = b_[y].computation;
      if (out_.computations_in_b[in_a.value] || out_.computations_in_a[in_b.value]) continue;
      if (a_[in_a].root != x || b_[in_b].root != y) continue;
      out_.computations_in_b[in_a.value] = in_b;
      out_.computations_in_a[in_b.value] = in_a;
    }
  }

  // To all that hangs together with a pair; each pair once for each kind of spreading.
  void spread(Spread spread) {
    for (size_t& at = spread_[spread]; at < pairs_.size(); ++at) {
      const auto [x, y] = pairs_[at];
      const auto called_a = a_.called(a_[x]), called_b = b_.called(b_[y]);
      if (called_a.size() == called_b.size())
        for (size_t i = 0; i < called_a.size(); ++i)
          pair_computations(called_a[i], called_b[i], spread);
      const auto left = a_.operands(x), right = b_.operands(y);
      if (left.size() == right.size())
        for (size_t i = 0; i < left.size(); ++i) pair_if_alike(left[i], right[i], spread);
      pair_users(x, y, spread);
    }
  }

  struct UserKey {
    uint64_t key;
    InstructionId id;
    auto operator<=>(const UserKey&) const = default;
  };
  // Users without a counterpart, by what they do with the value.
  static std::vector<UserKey> free_users(const Module& module, const Signatures& of,
                                         InstructionId id, Spread spread,
                                         const std::vector<InstructionId>& in_other) {
    std::vector<UserKey> out;
    for (const InstructionId user : module.users(id)) {
      if (in_other[user.value]) continue;
      const size_t i = user.value;
      const uint64_t alike = spread == SameExact   ? of.exact[i]
                             : spread == SameLoose ? of.loose[i]
                             : spread == SameKind  ? of.kind[i]
                                                   : 0;
      const auto operands = module.operands(user);
      const auto slot = std::ranges::find(operands, id) - operands.begin();
      out.push_back(
          {mix(mix(of.op[i], alike), mix(of.label[i], static_cast<uint64_t>(slot))), user});
    }
    std::ranges::sort(out);
    const auto again = std::ranges::unique(out);
    out.erase(again.begin(), again.end());
    return out;
  }

  void pair_users(InstructionId x, InstructionId y, Spread spread) {
    const auto left = free_users(a_, of_a_, x, spread, out_.in_b);
    if (left.empty()) return;
    const auto right = free_users(b_, of_b_, y, spread, out_.in_a);
    const auto is_only = [](const std::vector<UserKey>& all, size_t i) {
      return (i == 0 || all[i - 1].key != all[i].key) &&
             (i + 1 == all.size() || all[i + 1].key != all[i].key);
    };
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      if (left[i].key != right[j].key) {
        left[i].key < right[j].key ? ++i : ++j;
        continue;
      }
      if (is_only(left, i) && is_only(right, j)) pair_if_alike(left[i].id, right[j].id, spread);
      const uint64_t key = left[i].key;
      while (i < left.size() && left[i].key == key) ++i;
      while (j < right.size() && right[j].key == key) ++j;
    }
  }

  bool are_same_operand(InstructionId x, InstructionId y) const {
    return of_a_.loose[x.value] == of_b_.loose[y.value] || out_.in_b[x.value] == y ||
           out_.in_b[of_a_.source[x.value].value] == of_b_.source[y.value];
  }

  // What a fusion or call takes shows inside it.
  bool take_others(InstructionId x, InstructionId y) const {
    const auto left = a_.operands(x), right = b_.operands(y);
    if (of_a_.source[x.value] != x && of_b_.source[y.value] != y) return false;
    return !std::ranges::equal(left, right, [&](auto l, auto r) { return are_same_operand(l, r); });
  }

  const Module &a_, &b_;
  Signatures of_a_, of_b_;
  Matching out_;
  std::vector<std::pair<InstructionId, InstructionId>> pairs_;
  size_t spread_[SpreadCount] = {};  // pairs that have been spread so
};

}  // namespace

Matching match_modules(const Module& a, const Module& b) { return Matcher(a, b).run(); }

}  // namespace hilo
