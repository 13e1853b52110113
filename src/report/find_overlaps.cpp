#include <algorithm>
#include <queue>
#include <set>

#include "report/dump_reading.h"

namespace hilo {
namespace {

// The values of one allocation that are alive, by offset. Those at one offset share it; none of
// another offset overlaps them.
class Occupied {
 public:
  explicit Occupied(const MemoryPicture& picture) : picture_(picture) {}

  // Takes out what ended before the moment.
  void advance(int64_t moment) {
    for (; !ends_.empty() && ends_.top().first < moment; ends_.pop()) remove(ends_.top().second);
  }
  void add(size_t id) {
    by_offset_.emplace(picture_.values[id].offset, id);
    ends_.emplace(picture_.values[id].end, id);
  }
  void remove(size_t id) { by_offset_.erase({picture_.values[id].offset, id}); }

  // One of the values in the same place.
  std::optional<size_t> sharing(const PictureValue& value) const {
    const auto first = by_offset_.lower_bound({value.offset, 0});
    const bool found = first != by_offset_.end() && first->first == value.offset;
    return found ? std::optional(first->second) : std::nullopt;
  }

  // Values in other places that reach into the place of this one.
  std::vector<size_t> overlapping(const PictureValue& value) const {
    std::vector<size_t> out;
    auto after = by_offset_.lower_bound({value.offset + 1, 0});
    for (; after != by_offset_.end() && after->first < value.offset + value.bytes; ++after)
      out.push_back(after->second);
    auto before = by_offset_.lower_bound({value.offset, 0});
    if (before == by_offset_.begin()) return out;
    const int64_t offset = std::prev(before)->first;
    while (before != by_offset_.begin() && std::prev(before)->first == offset) {
      --before;
      const PictureValue& other = picture_.values[before->second];
      if (other.offset + other.bytes > value.offset) out.push_back(before->second);
    }
    return out;
  }

 private:
  using Ending = std::pair<int64_t, size_t>;
  const MemoryPicture& picture_;
  std::set<std::pair<int64_t, size_t>> by_offset_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends_;
};

// Buffers that turn out to be one.
class JoinedBuffers {
 public:
  size_t root(size_t buffer) {
    while (buffer < parents_.size() && parents_[buffer] != buffer) buffer = parents_[buffer];
    return buffer;
  }
  void join(size_t a, size_t b) {
    a = root(a), b = root(b);
    while (parents_.size() <= std::max(a, b)) parents_.push_back(parents_.size());
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parents_;
};

}  // namespace

std::vector<PlaceConflict> join_places(MemoryPicture& picture) {
  std::vector<PlaceConflict> out;
  JoinedBuffers joined;
  for (size_t i = 0; i < picture.allocations.size(); ++i) {
    std::vector<size_t> values;
    for (const size_t v : picture.allocations[i].values)
      if (picture.values[v].has_range() && picture.values[v].bytes > 0) values.push_back(v);
    std::stable_sort(values.begin(), values.end(), [&](size_t a, size_t b) {
      return picture.values[a].start < picture.values[b].start;
    });
    Occupied occupied(picture);
    for (const size_t v : values) {
      const PictureValue& value = picture.values[v];
      occupied.advance(value.start);
      if (const auto other = occupied.sharing(value))
        joined.join(value.buffer, picture.values[*other].buffer);
      bool fits = true;
      for (const size_t other : occupied.overlapping(value))
        if (picture.values[other].end == value.start) {
          joined.join(value.buffer, picture.values[other].buffer);
          occupied.remove(other);
        } else if (std::exchange(fits, false)) {
          out.push_back({i, other, v});
        }
      if (fits) occupied.add(v);
    }
  }
  for (PictureValue& value : picture.values) value.buffer = joined.root(value.buffer);
  return out;
}

void find_overlaps(DumpContents& contents) {
  MemoryPicture& picture = contents.picture;
  for (const PlaceConflict& conflict : join_places(picture))
    contents.fault({ErrorKind::Format,
                    fmt::format("{} and {} overlap in allocation {} and are alive at the same time",
                                picture.name_of(picture.values[conflict.first]),
                                picture.name_of(picture.values[conflict.second]),
                                picture.allocations[conflict.allocation].number),
                    contents.allocation_locations[conflict.allocation]});
}

}  // namespace hilo
