// Sorts by comparators that are computations. Runs are merged in many pieces side by side, so that
// many pairs are compared at once.
#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/kernels.h"

namespace hilo {
namespace {

// Asks the comparator, with memory that is kept between calls.
struct Comparer {
  const ComparePairs& compare;
  Dims left = {}, right = {};
  std::vector<size_t> asking = {};
  std::vector<uint8_t> before = {};
};

// A part of the merge of two neighbouring runs, [first, middle) and [middle, last): its elements
// from `out` on are those of [left, left_end) and [right, right_end).
struct Piece {
  int64_t first, middle, last, out, left, left_end, right, right_end;

  // What is in front of `out` is [first, at) and as much of the second run as is missing.
  int64_t right_of(int64_t at) const { return middle + (out - first) - (at - first); }
  bool takes_both() const { return left < left_end && right < right_end; }
};

std::vector<Piece> cut_merges(int64_t n, int64_t width) {
  constexpr int64_t longest = 32, side_by_side = 512;
  const int64_t length = std::min(
      2 * width,
      int64_t(std::bit_floor(uint64_t(std::clamp<int64_t>(n / side_by_side, 1, longest)))));
  std::vector<Piece> out;
  for (int64_t at = 0; at < n; at += length) {
    const int64_t first = at / (2 * width) * 2 * width, middle = std::min(n, first + width);
    const int64_t last = std::min(n, first + 2 * width);
    // left and left_end: between which the first run is cut.
    out.push_back({first, middle, last, at,
                   first + std::max<int64_t>(0, at - first - (last - middle)), std::min(middle, at),
                   0, 0});
  }
  return out;
}

// Whether the second run's element comes before the first run's, for each piece that `asks`;
// those are given to `tell` with the answer.
Result<bool> compare_slices(Comparer& comparer, const Dims& order, std::vector<Piece>& pieces,
                            const auto& asks, const auto& pair_of, const auto& tell) {
  auto& [compare, left, right, asking, before] = comparer;
  left.clear(), right.clear(), asking.clear();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!asks(pieces[i])) continue;
    const auto [one, other] = pair_of(pieces[i]);
    left.push_back(order[other]), right.push_back(order[one]);
    asking.push_back(i);
  }
  if (asking.empty()) return false;
  HILO_DO(compare(left, right, before));
  for (size_t i = 0; i < asking.size(); ++i) tell(pieces[asking[i]], before[i] != 0);
  return true;
}

// Cuts the merges of runs of `width` (Odeh et al., "Merge path - parallel merging made simple",
// 2012). False: the comparator is no order.
Result<bool> find_merge_slices(Comparer& comparer, const Dims& order, std::vector<Piece>& pieces) {
  for (bool go = true; go;) {
    const auto middle = [](const Piece& piece) { return (piece.left + piece.left_end) / 2; };
    HILO_TRY(go, compare_slices(
                     comparer, order, pieces,
                     [](const Piece& piece) { return piece.left < piece.left_end; },
                     [&](const Piece& piece) {
                       return std::pair(middle(piece), piece.right_of(middle(piece)) - 1);
                     },
                     [&](Piece& piece, bool before) {
                       (before ? piece.left_end : piece.left) = middle(piece) + !before;
                     }));
  }
  for (Piece& piece : pieces) piece.right = piece.right_of(piece.left);
  for (size_t i = 0; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    const bool is_last = i + 1 == pieces.size() || pieces[i + 1].first != piece.first;
    piece.left_end = is_last ? piece.middle : pieces[i + 1].left;
    piece.right_end = is_last ? piece.last : pieces[i + 1].right;
    if (piece.left > piece.left_end || piece.right > piece.right_end) return false;
  }
  return true;
}

// Runs of `width` become runs of twice that; false: the comparator is no order.
Result<bool> merge_runs(Comparer& comparer, const Dims& order, int64_t width, Dims& next) {
  std::vector<Piece> pieces = cut_merges(static_cast<int64_t>(order.size()), width);
  HILO_TRY(const bool is_order, find_merge_slices(comparer, order, pieces));
  if (!is_order) return false;
  for (bool go = true; go;) {
    HILO_TRY(go, compare_slices(
                     comparer, order, pieces, [](const Piece& piece) { return piece.takes_both(); },
                     [](const Piece& piece) { return std::pair(piece.left, piece.right); },
                     [&](Piece& piece, bool before) {
                       next[piece.out++] = order[before ? piece.right++ : piece.left++];
                     }));
  }
  for (Piece& piece : pieces) {
    while (piece.left < piece.left_end) next[piece.out++] = order[piece.left++];
    while (piece.right < piece.right_end) next[piece.out++] = order[piece.right++];
  }
  return true;
}

}  // namespace

Result<void> sort_by_merges(int64_t count, const ComparePairs& compare, int64_t* out) {
  Dims order(static_cast<size_t>(count)), next(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Comparer comparer{compare};
  for (int64_t width = 1; width < count; width *= 2) {
    HILO_TRY(const bool is_order, merge_runs(comparer, order, width, next));
    if (!is_order) break;
    order.swap(next);
  }
  std::ranges::copy(order, out);
  return {};
}

}  // namespace hilo
