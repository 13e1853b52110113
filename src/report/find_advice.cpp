#include <algorithm>
#include <numeric>

#include "report/advice.h"

namespace hilo {
namespace {

// Packing a candidate takes time in proportion to the blocks; only the best by bound are packed.
size_t count_to_pack(size_t blocks) { return std::clamp<size_t>(60'000 / (blocks + 1), 3, 24); }

void add_repacking(MemoryPicture& picture, const PictureSpace& space, int64_t packed) {
  if (packed >= space.temp_bytes) return;
  Advice advice;
  advice.kind = "repack";
  advice.text = "the same values at other offsets";
  advice.space = space.space;
  advice.saved_bytes = space.temp_bytes - packed;
  advice.total_bytes = space.total_bytes - advice.saved_bytes;
  picture.advice.push_back(std::move(advice));
}

// The best of the candidates by what they save at the peak, then by their bounds.
void keep_best(const TemporarySpace& space, Candidates& candidates) {
  constexpr size_t max_bounds = 100;
  for (Candidate& candidate : candidates) candidate.bound = -space.saved_at_peak(candidate.change);
  const auto keep = [&](size_t count) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    candidates.resize(std::min(candidates.size(), count));
  };
  keep(max_bounds);
  std::erase_if(candidates, [](const Candidate& candidate) { return candidate.bound >= 0; });
  for (Candidate& candidate : candidates) candidate.bound = space.bound(candidate.change);
  keep(count_to_pack(space.block_count()));
}

// What the space must come down to.
int64_t goal_of(const MemoryPicture& picture, const PictureSpace& space) {
  if (picture.limit && space.space == 0) return *picture.limit;
  return space.capacity > 0 && space.total_bytes > space.capacity ? space.capacity : 0;
}

// Whether one of them says something else of a value.
bool are_apart(const Change& a, const Change& b) {
  return std::none_of(b.pieces.begin(), b.pieces.end(),
                      [&](const auto& piece) { return a.pieces.contains(piece.first); });
}

// The accepted candidates together, those that round values last; `first` is the advice of the
// first of them.
void combine(MemoryPicture& picture, const PictureSpace& space, const TemporarySpace& temporaries,
             std::span<const Change> changes, size_t first) {
  std::vector<size_t> order(changes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Advice &x = picture.advice[first + a], &y = picture.advice[first + b];
    const bool rounds_x = x.kind == "narrow", rounds_y = y.kind == "narrow";
    return rounds_x == rounds_y ? x.saved_bytes > y.saved_bytes : rounds_y;
  });
  const int64_t goal = goal_of(picture, space), others = space.total_bytes - space.temp_bytes;
  Change all;
  CombinedAdvice out{space.space, space.total_bytes, 0};
  for (const size_t i : order) {
    if (out.total_bytes <= goal) break;
    if (!are_apart(all, changes[i])) continue;
    Change tried = all;
    tried.pieces.insert(changes[i].pieces.begin(), changes[i].pieces.end());
    tried.added.insert(tried.added.end(), changes[i].added.begin(), changes[i].added.end());
    const int64_t total = add_bytes(others, temporaries.pack_with(tried));
    if (total >= out.total_bytes) continue;
    all = std::move(tried);
    out.total_bytes = total;
    ++out.count;
    picture.advice[first + i].is_combined = true;
  }
  picture.combined.push_back(out);
}

void advise_on_space(MemoryPicture& picture, const Dataflow& flow, size_t index, bool repack) {
  const PictureSpace space = picture.spaces[index];
  if (space.in_use.empty() || space.temp_bytes == 0) return;
  const TemporarySpace temporaries(picture, space);
  int64_t packed = space.temp_bytes;
  if (repack && packed > temporaries.bound({}))
    packed = std::min(packed, temporaries.pack_with({}));
  add_repacking(picture, space, packed);
  Candidates candidates;
  propose_dropped_copies(picture, flow, temporaries, candidates);
  propose_recomputing(picture, flow, temporaries, candidates);
  propose_other_layouts(picture, temporaries, candidates);
  propose_narrower_types(picture, temporaries, candidates);
  keep_best(temporaries, candidates);
  const size_t first = picture.advice.size();
  std::vector<Change> changes;
  for (Candidate& candidate : candidates) {
    if (candidate.bound >= packed) continue;
    const int64_t bytes = temporaries.pack_with(candidate.change);
    if (packed - bytes <= space.total_bytes / 1000) continue;
    candidate.advice.space = space.space;
    candidate.advice.saved_bytes = space.temp_bytes - bytes;
    candidate.advice.total_bytes = space.total_bytes - candidate.advice.saved_bytes;
    picture.advice.push_back(std::move(candidate.advice));
    changes.push_back(std::move(candidate.change));
  }
  combine(picture, space, temporaries, changes, first);
}

// A result in a parameter's place takes nothing from what is packed, so it adds up with the rest.
void combine_donations(MemoryPicture& picture, size_t first) {
  for (size_t i = first; i < picture.advice.size(); ++i)
    for (CombinedAdvice& combined : picture.combined) {
      Advice& advice = picture.advice[i];
      if (combined.space != advice.space) continue;
      advice.is_combined = true;
      combined.total_bytes -= advice.saved_bytes;
      ++combined.count;
    }
}

}  // namespace

void find_advice(MemoryPicture& picture) {
  for (MemoryPicture& other : picture.further) find_advice(other);
  if (!picture.message) return advise_at_peaks(picture, true);
  advise_on_scoped(picture);
  advise_on_runtime(picture);
  advise_on_buffers(picture);
  sort_advice(picture);
}

void advise_at_peaks(MemoryPicture& picture, bool repack) {
  if (picture.is_partial) return;
  const Dataflow flow(picture);
  for (size_t i = 0; i < picture.spaces.size(); ++i) advise_on_space(picture, flow, i, repack);
  const size_t first = picture.advice.size();
  advise_donations(picture, flow);
  combine_donations(picture, first);
  std::erase_if(picture.combined, [](const CombinedAdvice& one) { return one.count < 2; });
  sort_advice(picture);
}

void sort_advice(MemoryPicture& picture) {
  constexpr size_t most = 12;
  std::stable_sort(picture.advice.begin(), picture.advice.end(),
                   [](const Advice& a, const Advice& b) { return a.saved_bytes > b.saved_bytes; });
  size_t kept = 0;
  std::erase_if(picture.advice,
                [&](const Advice& advice) { return ++kept > most && !advice.is_combined; });
}

}  // namespace hilo
