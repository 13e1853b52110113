#include "pass/shard/halo.h"

#include <algorithm>
#include <set>

namespace hilo {
namespace {

int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Where the window has what a round brings, on all devices that receive it.
std::optional<int64_t> position_of(const HaloRound& round) {
  const int64_t out = round.transfers[0].position;
  const auto is_there = [&](const HaloRound::Transfer& one) { return one.position == out; };
  return std::ranges::all_of(round.transfers, is_there) ? std::optional(out) : std::nullopt;
}

bool are_apart(const HaloRound& a, const HaloRound& b) {
  std::set<int64_t> sources, targets;
  for (const auto& one : a.transfers) sources.insert(one.source), targets.insert(one.target);
  return std::ranges::none_of(b.transfers, [&](const HaloRound::Transfer& one) {
    return sources.contains(one.source) || targets.contains(one.target);
  });
}

}  // namespace

Halo::Halo(Dims sizes, RowWindows windows, std::optional<int64_t> tile_rows,
           std::vector<size_t> values)
    : sizes_(std::move(sizes)), windows_(std::move(windows)), values_(std::move(values)) {
  int64_t before = 0;
  for (size_t array = 0; array < sizes_.size(); ++array) {
    const int64_t cut = ceil_of(sizes_[array], std::ssize(windows_.tiles));
    before_.push_back(before);
    tile_rows_.push_back(tile_rows.value_or(cut));
    if (values_.size() == array) values_.push_back(array);
    add_rounds(array);
    before += sizes_[array];
  }
  merge_rounds(false);
  if (!stand_alike()) merge_rounds(true);
}

// A round for each distance between source and target: what is sent is what the target that reads
// most of its source does, and lies within the source's tile.
void Halo::add_rounds(size_t array) {
  const int64_t size = sizes_[array], before = before_[array], tile_rows = tile_rows_[array];
  std::map<int64_t, HaloRound> by_distance;
  for (int64_t target = 0; target < std::ssize(windows_.tiles); ++target) {
    const int64_t begin = std::max<int64_t>(windows_.tiles[target].begin - before, 0);
    const int64_t end = std::min(windows_.tiles[target].end - before, size);
    for (int64_t source = begin < end ? begin / tile_rows : 0; source * tile_rows < end; ++source) {
      const int64_t first = std::max(begin, source * tile_rows);
      const int64_t last = std::min(end, (source + 1) * tile_rows);
      if (source == target || first >= last) continue;
      HaloRound& round = by_distance[source - target];
      round.array = array;
      round.rows = std::max(round.rows, last - first);
      round.transfers.push_back({source, target, first, 0});
    }
  }
  for (auto& [distance, round] : by_distance) {
    for (HaloRound::Transfer& one : round.transfers) {
      one.row = std::min(one.row, (one.source + 1) * tile_rows - round.rows);
      one.position = before + one.row - windows_.tiles[one.target].start;
    }
    rounds_.push_back(std::move(round));
  }
}

// Rounds of as many rows of one value between other tiles are one. Behind an array that its tiles
// do not fill there are rows that another array's must be written over.
bool Halo::may_merge(const HaloRound& a, const HaloRound& b, bool at_any_position) const {
  const int64_t tiles = std::ssize(windows_.tiles);
  const bool are_filled = tile_rows_[a.array] * tiles == sizes_[a.array];
  const bool is_one_array = a.array == b.array;
  if (a.rows != b.rows || values_[a.array] != values_[b.array] || !are_apart(a, b)) return false;
  if (at_any_position && is_one_array) return true;
  return position_of(a) && position_of(a) == position_of(b) && (is_one_array || are_filled);
}

void Halo::merge_rounds(bool at_any_position) {
  std::vector<HaloRound> merged;
  for (HaloRound& round : rounds_) {
    const auto other = std::ranges::find_if(
        merged, [&](const HaloRound& one) { return may_merge(one, round, at_any_position); });
    if (other == merged.end()) merged.push_back(std::move(round));
    else
      other->transfers.insert(other->transfers.end(), round.transfers.begin(),
                              round.transfers.end());
  }
  rounds_ = std::move(merged);
}

// Whether all windows have their own rows and those of each round at the same position, and no two
// at one.
bool Halo::stand_alike() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;  // begin, end
  for (size_t array = 0; array < sizes_.size(); ++array) {
    std::optional<int64_t> own;
    for (int64_t tile = 0; tile < std::ssize(windows_.tiles); ++tile) {
      const auto& [start, begin, end] = windows_.tiles[tile];
      const int64_t first = before_[array] + tile * tile_rows_[array];
      const int64_t last = std::min(first + tile_rows_[array], before_[array] + sizes_[array]);
      if (std::max(first, begin) >= std::min(last, end)) continue;
      if (own.value_or(first - start) != first - start) return false;
      own = first - start;
    }
    if (own) ranges.push_back({*own, *own + tile_rows_[array]});
  }
  for (const HaloRound& round : rounds_) {
    const auto position = position_of(round);
    if (!position) return false;
    ranges.push_back({*position, *position + round.rows});
  }
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i - 1].second > ranges[i].first) return false;
  return true;
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
