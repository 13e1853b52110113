#include <algorithm>

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
  constexpr size_t most_bounds = 100;
  for (Candidate& candidate : candidates) candidate.bound = -space.saved_at_peak(candidate.change);
  const auto keep = [&](size_t count) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
    candidates.resize(std::min(candidates.size(), count));
  };
  keep(most_bounds);
  std::erase_if(candidates, [](const Candidate& candidate) { return candidate.bound >= 0; });
  for (Candidate& candidate : candidates) candidate.bound = space.bound(candidate.change);
  keep(count_to_pack(space.block_count()));
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
  for (Candidate& candidate : candidates) {
    if (candidate.bound >= packed) continue;
    const int64_t bytes = temporaries.pack_with(candidate.change);
    if (packed - bytes <= space.total_bytes / 1000) continue;
    candidate.advice.space = space.space;
    candidate.advice.saved_bytes = space.temp_bytes - bytes;
    candidate.advice.total_bytes = space.total_bytes - candidate.advice.saved_bytes;
    picture.advice.push_back(std::move(candidate.advice));
  }
}

}  // namespace

void find_advice(MemoryPicture& picture) { advise_at_peaks(picture, true); }

void advise_at_peaks(MemoryPicture& picture, bool repack) {
  if (picture.is_partial) return;
  const Dataflow flow(picture);
  for (size_t i = 0; i < picture.spaces.size(); ++i) advise_on_space(picture, flow, i, repack);
  advise_donations(picture, flow);
  sort_advice(picture);
}

void sort_advice(MemoryPicture& picture) {
  constexpr size_t most = 12;
  std::stable_sort(picture.advice.begin(), picture.advice.end(),
                   [](const Advice& a, const Advice& b) { return a.saved_bytes > b.saved_bytes; });
  if (picture.advice.size() > most) picture.advice.resize(most);
}

}  // namespace hilo
