#include <algorithm>

#include "report/comparison_parts.h"

namespace hilo {
namespace {

template <class T>
void add_if_other(std::vector<Difference>& out, std::string what, const T& from, const T& to) {
  if (from != to) out.push_back({std::move(what), fmt::format("{}", from), fmt::format("{}", to)});
}

std::string aliases_text(const std::vector<BufferAlias>& aliases) {
  std::string out;
  for (const BufferAlias& alias : aliases)
    out += fmt::format("{}{}: ({}, {}{})", out.empty() ? "" : ", ",
                       text_of_index(alias.output_index), alias.parameter,
                       text_of_index(alias.parameter_index), alias.must_alias ? ", must" : "");
  return out;
}

std::string donors_text(const std::vector<BufferDonor>& donors) {
  std::string out;
  for (const BufferDonor& donor : donors)
    out += fmt::format("{}({}, {})", out.empty() ? "" : ", ", donor.parameter,
                       text_of_index(donor.parameter_index));
  return out;
}

std::vector<Difference> compare_headers(const ModuleHeader& a, const ModuleHeader& b) {
  std::vector<Difference> out;
  add_if_other(out, "is_scheduled", a.is_scheduled, b.is_scheduled);
  add_if_other(out, "replica_count", a.replica_count, b.replica_count);
  add_if_other(out, "num_partitions", a.num_partitions, b.num_partitions);
  add_if_other(out, "input_output_alias", aliases_text(a.input_output_alias),
               aliases_text(b.input_output_alias));
  add_if_other(out, "buffer_donor", donors_text(a.buffer_donor), donors_text(b.buffer_donor));
  return out;
}

// The fewest that must go to other positions for all to stand in order: what is left of the
// longest increasing sequence.
int64_t count_reordered(const std::vector<size_t>& positions) {
  std::vector<size_t> ends;  // the least end of an increasing sequence of each length
  for (const size_t position : positions) {
    const auto at = std::ranges::lower_bound(ends, position);
    if (at == ends.end()) ends.push_back(position);
    else *at = position;
  }
  return static_cast<int64_t>(positions.size() - ends.size());
}

int64_t count_reordered(const Module& a, const Module& b, const Matching& matching) {
  if (!a.header.is_scheduled || !b.header.is_scheduled) return 0;
  const std::vector<InstructionId> fusions = fusions_of(a);
  std::vector<size_t> position(b.instructions.size());
  for (const Computation& computation : b.computations)
    for (size_t i = 0; i < computation.instructions.size(); ++i)
      position[computation.instructions[i].value] = i;
  int64_t out = 0;
  for (uint32_t c = 0; c < a.computations.size(); ++c) {
    std::vector<size_t> positions;
    for (const InstructionId id : a.computations[c].instructions) {
      const InstructionId other = matching.in_b[id.value];
      if (other && matching.computations_in_b[c] == b[other].computation)
        positions.push_back(position[other.value]);
    }
    if (!fusions[c]) out += count_reordered(positions);
  }
  return out;
}

}  // namespace

ModuleComparison compare_modules(const Module& a, const Module& b) {
  const Matching matching = match_modules(a, b);
  ModuleComparison out{&a, &b, totals_of(a), totals_of(b), compare_headers(a.header, b.header)};
  const ChangeFinder changes(a, b, matching);
  for (uint32_t i = 0; i < matching.in_b.size(); ++i)
    if (!matching.in_b[i] && !a.instructions[i].removed) out.gone.push_back({i});
  for (uint32_t i = 0; i < matching.in_a.size(); ++i) {
    if (b.instructions[i].removed) continue;
    const InstructionId in_a = matching.in_a[i], in_b = {i};
    if (!in_a) {
      out.added.push_back(in_b);
      continue;
    }
    ++out.matched;
    out.renamed += a[in_a].name != b[in_b].name;
    if (auto found = changes.find(in_a, in_b); !found.empty())
      out.changed.push_back({in_a, in_b, std::move(found)});
  }
  out.reordered = count_reordered(a, b, matching);
  return out;
}

}  // namespace hilo
