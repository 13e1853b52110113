#include "pass/shard/halo.h"

#include <algorithm>
#include <set>

namespace hilo {
namespace {

int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Whether every window has the rows of its own tile and of each round at the same position.
bool are_alike(std::span<const HaloRound> rounds, const RowWindows& windows, int64_t before,
               int64_t tile_rows) {
  std::optional<int64_t> own;
  for (int64_t tile = 0; tile < std::ssize(windows.tiles); ++tile) {
    const auto& [start, begin, end] = windows.tiles[tile];
    const int64_t first = before + tile * tile_rows;
    if (std::max(first, begin) >= std::min(first + tile_rows, end)) continue;
    if (own.value_or(first - start) != first - start) return false;
    own = first - start;
  }
  return std::ranges::all_of(rounds, [&](const HaloRound& round) {
    const auto position = [&](const HaloRound::Transfer& one) {
      return one.row - windows.tiles[one.target].start;
    };
    return std::ranges::all_of(round.transfers, [&](const auto& one) {
      return position(one) == position(round.transfers[0]);
    });
  });
}

// Rounds of as many rows between other tiles are one.
void merge_round(HaloRound round, size_t first, std::vector<HaloRound>& out) {
  const auto is_apart = [](const HaloRound& a, const HaloRound& b) {
    std::set<int64_t> sources, targets;
    for (const auto& one : a.transfers) sources.insert(one.source), targets.insert(one.target);
    return std::ranges::none_of(b.transfers, [&](const HaloRound::Transfer& one) {
      return sources.contains(one.source) || targets.contains(one.target);
    });
  };
  for (size_t i = first; i < out.size(); ++i)
    if (out[i].rows == round.rows && is_apart(out[i], round)) {
      out[i].transfers.insert(out[i].transfers.end(), round.transfers.begin(),
                              round.transfers.end());
      return;
    }
  out.push_back(std::move(round));
}

}  // namespace

Halo::Halo(Dims sizes, RowWindows windows, std::optional<int64_t> tile_rows)
    : sizes_(std::move(sizes)), windows_(std::move(windows)) {
  int64_t before = 0;
  for (size_t array = 0; array < sizes_.size(); ++array) {
    const int64_t cut = ceil_of(sizes_[array], std::ssize(windows_.tiles));
    add_rounds(array, before, tile_rows.value_or(cut));
    before += sizes_[array];
  }
}

// A round for each distance between source and target: what is sent is what the target that reads
// most of its source does, and lies within the source's tile. Where windows are not alike anyway,
// fewer rounds do.
void Halo::add_rounds(size_t array, int64_t before, int64_t tile_rows) {
  const int64_t size = sizes_[array], tiles = std::ssize(windows_.tiles);
  std::map<int64_t, HaloRound> by_distance;
  for (int64_t target = 0; target < tiles; ++target) {
    const int64_t begin = std::max<int64_t>(windows_.tiles[target].begin - before, 0);
    const int64_t end = std::min(windows_.tiles[target].end - before, size);
    for (int64_t source = begin < end ? begin / tile_rows : 0; source * tile_rows < end; ++source) {
      const int64_t first = std::max(begin, source * tile_rows);
      const int64_t last = std::min(end, (source + 1) * tile_rows);
      if (source == target || first >= last) continue;
      HaloRound& round = by_distance[source - target];
      round.array = array;
      round.rows = std::max(round.rows, last - first);
      round.transfers.push_back({source, target, first});
    }
  }
  std::vector<HaloRound> rounds;
  for (auto& [distance, round] : by_distance) {
    for (HaloRound::Transfer& one : round.transfers)
      one.row = std::min(one.row, (one.source + 1) * tile_rows - round.rows);
    rounds.push_back(std::move(round));
  }
  const size_t first = rounds_.size();
  const bool is_alike = are_alike(rounds, windows_, before, tile_rows);
  for (HaloRound& round : rounds)
    if (is_alike) rounds_.push_back(std::move(round));
    else merge_round(std::move(round), first, rounds_);
}

double Halo::rows_sent() const {
  double out = 0;
  for (const HaloRound& round : rounds_)
    out += static_cast<double>(round.rows) * static_cast<double>(round.transfers.size());
  return out / static_cast<double>(windows_.tiles.size());
}

int64_t Halo::rows() const {
  int64_t out = 0;
  for (int64_t size : sizes_) out += size;
  return out;
}

int64_t Halo::first_row() const {
  int64_t out = 0;
  for (const RowWindows::Tile& tile : windows_.tiles)
    if (windows_.uses_all) out = std::min(out, tile.start);
    else if (tile.begin < tile.end) out = std::min(out, tile.begin);
  return out;
}

int64_t Halo::last_row() const {
  int64_t out = 0;
  for (const RowWindows::Tile& tile : windows_.tiles)
    if (windows_.uses_all) out = std::max(out, tile.start + windows_.length);
    else if (tile.begin < tile.end) out = std::max(out, tile.end);
  return out;
}

double bytes_to_exchange(const Shape& local, std::span<const int64_t> dims,
                         std::span<const Halo> halos) {
  Dims sizes = local.dims;
  double elements = 0, collectives = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t& size = sizes[dims[i]];
    size = 1;
    elements += halos[i].rows_sent() * static_cast<double>(element_count(sizes));
    collectives += static_cast<double>(halos[i].rounds().size());
    size = halos[i].windows().length;
  }
  return elements * bits_of(local.type) / 8 + collectives;
}

}  // namespace hilo
