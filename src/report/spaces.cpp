// What the allocations and values of a picture add up to, for each memory space.
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "report/chip.h"
#include "report/picture.h"
#include "report/usage.h"

namespace hilo {
namespace {

using Buffers = std::map<size_t, std::vector<Piece>>;  // by buffer

int64_t count_moments(const MemoryPicture& picture) {
  if (!picture.sequence.empty()) return static_cast<int64_t>(picture.sequence.size()) + 1;
  int64_t last = -1;
  for (const PictureValue& value : picture.values)
    if (value.has_range()) last = std::max(last, value.end);
  return last + 1;
}

std::vector<int64_t> sum_by_moment(const Buffers& buffers, int64_t moments) {
  std::vector<int64_t> changes(static_cast<size_t>(moments) + 1, 0);
  for (const auto& [buffer, pieces] : buffers) add_usage(changes, pieces);
  return usage_from(std::move(changes));
}

// Pieces of the values of a space that come and go; with `alignment`, of temporary ones alone.
Buffers changing_buffers(const MemoryPicture& picture, int64_t space,
                         std::optional<int64_t> alignment) {
  Buffers out;
  for (const PictureValue& value : picture.values) {
    if (value.space != space || value.allocation == PictureValue::no_allocation) continue;
    const PictureAllocation& allocation = picture.allocations[value.allocation];
    if (allocation.is_always_there() || allocation.is_thread_local || !value.has_range()) continue;
    if (alignment && !allocation.is_temp) continue;
    const int64_t bytes = alignment ? round_up_bytes(value.bytes, *alignment) : value.bytes;
    out[value.buffer].push_back({value.start, value.end, bytes, value.offset});
  }
  return out;
}

// What the offsets of a dump show, where that is less than the machine's.
int64_t alignment_of_offsets(const MemoryPicture& picture, int64_t space, int64_t machines) {
  auto bits = static_cast<uint64_t>(machines);
  for (const PictureValue& value : picture.values)
    if (value.space == space && value.allocation != PictureValue::no_allocation &&
        picture.allocations[value.allocation].is_temp)
      bits |= static_cast<uint64_t>(value.offset);
  return int64_t{1} << std::countr_zero(bits);
}

void add_totals(const MemoryPicture& picture, PictureSpace& space) {
  for (const PictureAllocation& allocation : picture.allocations) {
    if (allocation.space != space.space) continue;
    int64_t& sum = allocation.is_thread_local ? space.thread_local_bytes : space.total_bytes;
    sum = add_bytes(sum, allocation.bytes);
    if (allocation.is_temp) space.temp_bytes = add_bytes(space.temp_bytes, allocation.bytes);
  }
}

// Sums over moments need sums that fit; a dump with larger ones has no peak.
void add_moments(const MemoryPicture& picture, PictureSpace& space) {
  const int64_t moments = count_moments(picture);
  if (moments == 0) return;
  int64_t always = 0, all = 0;
  for (const PictureAllocation& allocation : picture.allocations)
    if (allocation.space == space.space && allocation.is_always_there())
      always = add_bytes(always, allocation.bytes);
  for (const PictureValue& value : picture.values)
    all = add_bytes(all, round_up_bytes(value.bytes, space.alignment));
  if (add_bytes(always, all) > INT64_MAX / 2) return;
  space.in_use = sum_by_moment(changing_buffers(picture, space.space, std::nullopt), moments);
  for (int64_t& bytes : space.in_use) bytes += always;
  const auto peak = std::max_element(space.in_use.begin(), space.in_use.end());
  space.peak_moment = peak - space.in_use.begin();
  space.peak_bytes = *peak;
  const auto temp = sum_by_moment(changing_buffers(picture, space.space, space.alignment), moments);
  // Only the size that ends an allocation is not rounded up.
  space.lower_bound_bytes = std::min(*std::max_element(temp.begin(), temp.end()), space.temp_bytes);
}

}  // namespace

void fill_spaces(MemoryPicture& picture, const Machine* machine, bool alignments_from_offsets) {
  std::map<int64_t, PictureSpace> spaces;
  spaces[picture.message ? picture.message->space : 0];
  for (const PictureValue& value : picture.values) spaces[value.space];
  for (const PictureAllocation& allocation : picture.allocations) spaces[allocation.space];
  for (auto& [number, space] : spaces) {
    space.space = number;
    space.name = fmt::format("space {}", number);
    if (machine) {
      const MemorySpace known = memory_space(*machine, number);
      if (!known.name.empty()) space.name = known.name;
      space.capacity = usable_bytes(*machine, number);
      space.alignment = known.alignment;
    }
    if (alignments_from_offsets)
      space.alignment = alignment_of_offsets(picture, number, space.alignment);
    add_totals(picture, space);
    add_moments(picture, space);
    picture.spaces.push_back(std::move(space));
  }
}

std::vector<PlacedBlock> temporary_blocks(const MemoryPicture& picture, int64_t space) {
  std::map<size_t, PlacedBlock> blocks;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const PictureValue& value = picture.values[i];
    if (value.space != space || value.allocation == PictureValue::no_allocation) continue;
    if (!picture.allocations[value.allocation].is_temp || !value.has_range()) continue;
    PlacedBlock& block = blocks[value.buffer];
    block.block.pieces.push_back({value.start, value.end, value.bytes, value.offset});
    block.values.push_back(i);
  }
  std::vector<PlacedBlock> out;
  for (auto& [buffer, block] : blocks) {
    int64_t first = INT64_MAX;
    for (const Piece& piece : block.block.pieces) first = std::min(first, piece.at);
    for (Piece& piece : block.block.pieces) piece.at -= first;
    out.push_back(std::move(block));
  }
  return out;
}

// What XLA counts to find its peak: an element of a tuple counts like the tuple's table.
static int64_t counted_bytes(const PictureValue& value,
                             const std::unordered_map<size_t, int64_t>& tables) {
  if (!value.defined.has_index || value.defined.index.empty()) return value.unpadded_bytes;
  const auto table = tables.find(value.defined.instruction);
  return table == tables.end() ? value.unpadded_bytes : table->second;
}

int64_t find_unpadded_peak(const MemoryPicture& picture) {
  std::unordered_map<size_t, int64_t> tables;
  for (const PictureValue& value : picture.values)
    if (value.defined.has_index && value.defined.index.empty())
      tables.emplace(value.defined.instruction, value.unpadded_bytes);
  const int64_t moments = count_moments(picture);
  std::vector<int64_t> sums(static_cast<size_t>(moments) + 1, 0);
  int64_t all = 0, sum = 0, most = -1, peak = -1;
  for (const PictureValue& value : picture.values) {
    if (!value.has_range()) continue;
    const int64_t bytes = counted_bytes(value, tables);
    all = add_bytes(all, bytes);
    if (bytes < 0 || all > INT64_MAX / 2) return -1;
    sums[static_cast<size_t>(value.start)] += bytes;
    sums[static_cast<size_t>(value.end) + 1] -= bytes;
  }
  for (int64_t moment = 0; moment < moments; ++moment) {
    sum += sums[static_cast<size_t>(moment)];
    if (sum > most) most = sum, peak = moment;
  }
  return peak;
}

void fill_unpadded_peak(MemoryPicture& picture, int64_t moment) {
  auto& peak = picture.unpadded_peak;
  peak = {};
  if (moment < 0) return;
  peak.moment = moment;
  peak.bytes = 0;
  for (size_t i = 0; i < picture.values.size(); ++i)
    if (picture.values[i].start <= moment && moment <= picture.values[i].end) {
      peak.bytes = add_bytes(peak.bytes, std::max<int64_t>(picture.values[i].unpadded_bytes, 0));
      peak.values.push_back(i);
    }
  std::sort(peak.values.begin(), peak.values.end(), [&](size_t a, size_t b) {
    const PictureValue &x = picture.values[a], &y = picture.values[b];
    if (x.unpadded_bytes != y.unpadded_bytes) return x.unpadded_bytes > y.unpadded_bytes;
    return picture.name_of(x) < picture.name_of(y);
  });
}

}  // namespace hilo
