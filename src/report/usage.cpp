#include "report/usage.h"

#include <algorithm>
#include <map>

namespace hilo {
namespace {

class Cover {
 public:
  void add(const Piece& piece) { ++pieces_[{piece.at, piece.bytes}]; }
  void remove(const Piece& piece) {
    const auto found = pieces_.find({piece.at, piece.bytes});
    if (--found->second == 0) pieces_.erase(found);
  }
  int64_t bytes() const {
    int64_t sum = 0, end = INT64_MIN;
    for (const auto& [piece, count] : pieces_) {
      const int64_t from = std::max(piece.first, end), to = piece.first + piece.second;
      if (to > from) sum += to - from, end = to;
    }
    return sum;
  }

 private:
  std::map<std::pair<int64_t, int64_t>, int64_t> pieces_;  // how many of each
};

}  // namespace

void add_usage(std::vector<int64_t>& changes, std::span<const Piece> pieces, int64_t sign) {
  if (pieces.size() == 1) {
    changes[static_cast<size_t>(pieces[0].start)] += sign * pieces[0].bytes;
    changes[static_cast<size_t>(pieces[0].end) + 1] -= sign * pieces[0].bytes;
    return;
  }
  struct Event {
    std::vector<size_t> begins, ends;
  };
  std::map<int64_t, Event> events;
  for (size_t i = 0; i < pieces.size(); ++i) {
    events[pieces[i].start].begins.push_back(i);
    events[pieces[i].end + 1].ends.push_back(i);
  }
  Cover cover;
  int64_t before = 0;
  for (const auto& [moment, event] : events) {
    for (const size_t i : event.begins) cover.add(pieces[i]);
    for (const size_t i : event.ends) cover.remove(pieces[i]);
    const int64_t now = cover.bytes();
    changes[static_cast<size_t>(moment)] += sign * (now - before);
    before = now;
  }
}

std::vector<int64_t> usage_from(std::vector<int64_t> changes) {
  for (size_t i = 1; i < changes.size(); ++i) changes[i] += changes[i - 1];
  changes.pop_back();
  return changes;
}

}  // namespace hilo
