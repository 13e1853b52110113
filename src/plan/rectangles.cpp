// Pieces of one block as disjoint rectangles.
#include <algorithm>
#include <queue>

#include "plan/packing.h"

namespace hilo {
namespace {

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Lengthens `last` when `next` goes on where it ended, with the same sizes.
bool lengthen(Rectangle& last, const Rectangle& next) {
  if (last.end + 1 != next.start || last.at != next.at || last.bytes != next.bytes ||
      last.used != next.used)
    return false;
  last.end = next.end;
  return true;
}

// All pieces begin at the same place: the largest alive counts.
std::vector<Rectangle> stack_rectangles(std::vector<Piece> pieces, uint32_t block,
                                        int64_t alignment) {
  std::ranges::stable_sort(pieces, {}, &Piece::start);
  const auto smaller = [](const Piece& a, const Piece& b) { return a.bytes < b.bytes; };
  std::priority_queue<Piece, std::vector<Piece>, decltype(smaller)> alive(smaller);
  std::vector<Rectangle> out;
  size_t next = 0;
  int64_t moment = pieces.front().start;
  while (next < pieces.size() || !alive.empty()) {
    if (alive.empty()) moment = std::max(moment, pieces[next].start);
    while (next < pieces.size() && pieces[next].start <= moment) alive.push(pieces[next++]);
    const Piece top = alive.top();
    if (top.end < moment) {
      alive.pop();
      continue;
    }
    int64_t end = top.end;  // until a larger piece starts
    if (next < pieces.size()) end = std::min(end, pieces[next].start - 1);
    const Rectangle part = {block, moment, end, top.at, round_up(top.bytes, alignment), top.bytes};
    if (out.empty() || !lengthen(out.back(), part)) out.push_back(part);
    moment = end + 1;
  }
  return out;
}

// Pieces at several places: at each moment the unions of those that overlap.
std::vector<Rectangle> union_rectangles(std::vector<Piece> pieces, uint32_t block,
                                        int64_t alignment) {
  std::ranges::stable_sort(pieces, {}, &Piece::at);
  std::vector<int64_t> moments;
  for (const Piece& piece : pieces) moments.insert(moments.end(), {piece.start, piece.end + 1});
  std::ranges::sort(moments);
  moments.erase(std::ranges::unique(moments).begin(), moments.end());
  std::vector<Rectangle> out;
  std::vector<size_t> before;  // those alive at the moments before
  for (size_t i = 0; i + 1 < moments.size(); ++i) {
    std::vector<Rectangle> alive;
    for (const Piece& piece : pieces) {
      if (piece.start > moments[i] || piece.end < moments[i]) continue;
      const int64_t bytes = round_up(piece.bytes, alignment);
      if (alive.empty() || alive.back().at + alive.back().bytes <= piece.at) {
        alive.push_back({block, moments[i], moments[i + 1] - 1, piece.at, bytes, piece.bytes});
        continue;
      }
      Rectangle& under = alive.back();
      under.bytes = std::max(under.bytes, piece.at + bytes - under.at);
      under.used = std::max(under.used, piece.at + piece.bytes - under.at);
    }
    std::vector<size_t> now;
    for (const Rectangle& part : alive) {
      const auto same =
          std::ranges::find_if(before, [&](size_t j) { return lengthen(out[j], part); });
      now.push_back(same == before.end() ? out.size() : *same);
      if (same == before.end()) out.push_back(part);
    }
    before = std::move(now);
  }
  return out;
}

}  // namespace

std::vector<Rectangle> rectangles_of(const Block& block, uint32_t number, int64_t alignment) {
  // Blocks with more pieces at several places would take quadratic time; as one stack they take
  // more room, but never too little.
  constexpr size_t max_union_intervals = 64;
  std::vector<Piece> pieces;
  bool has_offsets = false;
  for (const Piece& piece : block.pieces) {
    if (piece.bytes <= 0 || piece.start > piece.end) continue;
    pieces.push_back(piece);
    has_offsets |= piece.at != 0;
  }
  if (pieces.empty()) return {};
  if (pieces.size() == 1 && !has_offsets) {
    const Piece& piece = pieces[0];
    return {{number, piece.start, piece.end, 0, round_up(piece.bytes, alignment), piece.bytes}};
  }
  if (has_offsets && pieces.size() <= max_union_intervals)
    return union_rectangles(pieces, number, alignment);
  for (Piece& piece : pieces) piece.bytes += std::exchange(piece.at, 0);
  return stack_rectangles(pieces, number, alignment);
}

}  // namespace hilo
