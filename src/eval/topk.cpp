// topk: the k largest (or smallest) of the last dimension and their places, floats in total order,
// the lower place first among equals.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "eval/convert.h"
#include "eval/sort_short_lines.h"
#include "eval/thread_memory.h"
#include "eval/topk.h"

namespace hilo {
namespace {

struct Selection {
  SortKey key;
  ElementType keyed;  // that has sort keys, in the order of the operand's type
  int64_t bytes, n, k;
  // The lines of the operand, as they are and as `keyed`, and of the results.
  const std::byte *operand, *keyed_operand;
  std::byte *values, *places;
  std::vector<Exchange> exchanges;  // of short lines

  void run_line(int64_t line) const {
    thread_local std::vector<uint32_t> best;
    best.clear();
    const std::byte* from = keyed_operand + line * n * storage_bytes(keyed);
    const bool is_narrow = storage_bytes(keyed) <= 4, are_few = k > 0 && k <= most_few;
    if (are_few && is_narrow) select_few<uint32_t>(from, best);
    else if (are_few) select_few<uint64_t>(from, best);
    else if (is_narrow) select_narrow(from, best);
    else select_wide(from, best);
    for (int64_t i = 0; i < k; ++i) {
      const auto place = static_cast<int32_t>(best[i]);
      std::memcpy(places + (line * k + i) * 4, &place, 4);
      std::copy_n(operand + (line * n + place) * bytes, bytes, values + (line * k + i) * bytes);
    }
  }

  // In order all the time. A place comes after all that have the same key and are there already.
  template <class Key>
  void select_few(const std::byte* from, std::vector<uint32_t>& best) const {
    best.resize(k);
    Key keys[piece], first[most_few] = {};
    int64_t found = 0;
    const auto insert = [&](Key next, int64_t place) {
      int64_t to = found < k ? found++ : k - 1;
      for (; to > 0 && next < first[to - 1]; --to)
        first[to] = first[to - 1], best[to] = best[to - 1];
      first[to] = next, best[to] = static_cast<uint32_t>(place);
    };
    for (int64_t at = 0; at < n; at += piece) {
      const int64_t count = std::min(piece, n - at);
      make_sort_keys(key, keyed, from + at * storage_bytes(keyed), 1, count, keys);
      std::fill(keys + count, keys + (count + beside - 1) / beside * beside, Key(-1));
      for (int64_t i = 0; i < count; i += beside) {
        // Most have none.
        unsigned some = found < k;
        for (int64_t j = i; j < i + beside; ++j) some |= keys[j] < first[k - 1];
        for (int64_t j = i; some && j < i + beside; ++j)
          if (found < k || keys[j] < first[k - 1]) insert(keys[j], at + j);
      }
    }
  }

  // Keys with their places in one word. Those that come before the k-th found so far are kept
  // until there are so many that the k first are found again.
  void select_narrow(const std::byte* from, std::vector<uint32_t>& best) const {
    thread_local std::vector<uint64_t> kept;
    kept.clear();
    const size_t most = 2 * static_cast<size_t>(k) + 2 * piece;
    uint64_t limit = UINT64_MAX;  // a key that no new one of use reaches
    const auto shrink = [&] {
      if (static_cast<int64_t>(kept.size()) <= k) return;
      std::nth_element(kept.begin(), kept.begin() + k, kept.end());
      kept.resize(k);
      limit = k ? *std::ranges::max_element(kept) >> 32 : 0;
    };
    uint32_t keys[piece];
    for (int64_t at = 0; at < n; at += piece) {
      const int64_t count = std::min(piece, n - at);
      make_sort_keys(key, keyed, from + at * storage_bytes(keyed), 1, count, keys);
      if (limit <= UINT32_MAX) {
        unsigned some = 0;
        for (int64_t i = 0; i < count; ++i) some |= keys[i] < static_cast<uint32_t>(limit);
        if (!some) continue;
      }
      for (int64_t i = 0; i < count; ++i)
        if (keys[i] < limit)
          kept.push_back(uint64_t{keys[i]} << 32 | static_cast<uint64_t>(at + i));
      if (kept.size() >= most || limit > UINT32_MAX) shrink();
    }
    shrink();
    std::ranges::sort(kept);
    for (uint64_t word : kept) best.push_back(static_cast<uint32_t>(word));
  }

  void select_wide(const std::byte* from, std::vector<uint32_t>& best) const {
    thread_local std::vector<uint64_t> keys;
    keys.resize(n), best.resize(n);
    make_sort_keys(key, keyed, from, 1, n, keys.data());
    std::iota(best.begin(), best.end(), 0U);
    std::partial_sort(best.begin(), best.begin() + k, best.end(), [&](auto x, auto y) {
      return keys[x] != keys[y] ? keys[x] < keys[y] : x < y;
    });
  }

  // Lines [first, first + number), many at once.
  template <class Key>
  void run_short(int64_t first, int64_t number) const {
    Key* keys = spare<Key, struct KeysOfTile>(number * n);
    uint16_t* from = spare<uint16_t, struct PlacesOfTile>(number * n);
    make_sort_keys(key, keyed, keyed_operand + first * n * static_cast<int64_t>(sizeof(Key)), 1,
                   number * n, keys);
    find_places({number, n, 1}, keys, exchanges, from);
    for (int64_t line = 0; line < number; ++line)
      for (int64_t i = 0; i < k; ++i) {
        const int32_t place = from[line * n + i];
        const int64_t to = (first + line) * k + i;
        std::memcpy(places + to * 4, &place, 4);
        std::copy_n(operand + ((first + line) * n + place) * bytes, bytes, values + to * bytes);
      }
  }

  void run_lines(int64_t begin, int64_t end) const {
    if (exchanges.empty()) {
      for (int64_t line = begin; line < end; ++line) run_line(line);
      return;
    }
    const int64_t key_bytes = storage_bytes(keyed);
    for (int64_t line = begin; line < end; line += most_short_lines) {
      const int64_t number = std::min(most_short_lines, end - line);
      if (key_bytes == 4) run_short<uint32_t>(line, number);
      else if (key_bytes == 2) run_short<uint16_t>(line, number);
      else run_short<uint8_t>(line, number);
    }
  }

  void run(int64_t lines, const Parallel& parallel) const {
    parallel(lines, std::max<int64_t>(1, 8192 / std::max<int64_t>(n, 1)),
             [&](int64_t begin, int64_t end) { run_lines(begin, end); });
  }

  static constexpr int64_t piece = 256;  // keys that are made at once
  static constexpr int64_t most_few = 8, beside = 16;
};

Selection selection_of(const TopKAttributes& a, ElementType type, ElementType keyed, int64_t n) {
  Selection out{{0, a.largest, true, false, false}, keyed, storage_bytes(type), n, a.k};
  if (n > 1 && n <= most_short_line && a.k > 0 && storage_bytes(keyed) <= 4)
    out.exchanges = find_exchanges(n, a.k);
  return out;
}

}  // namespace

Routine topk_routine(const Shape& operand, const TopKAttributes& a) {
  if (operand.rank() < 1 || a.k > operand.dims.back()) return {};
  const int64_t n = operand.dims.back(), lines = n ? element_count(operand) / n : 0;
  if (!is_integral(operand.type) && !is_floating(operand.type)) return {};
  if (is_floating(operand.type) && bits_of(operand.type) < 16) return {};
  return [selection = selection_of(a, operand.type, operand.type, n), lines](
             auto operands, auto results, const Parallel& parallel) {
    Selection now = selection;
    now.operand = now.keyed_operand = operands[0];
    now.values = results[0], now.places = results[1];
    now.run(lines, parallel);
  };
}

Routine routine_TopK(const RoutineCall& call) {
  return topk_routine(call.operand(0), call.attributes<TopKAttributes>());
}

Result<Literal> evaluate_TopK(Call& call) {
  const auto& a = call.attributes<TopKAttributes>();
  const Literal& operand = call.operands[0];
  const int64_t n = operand.shape().dims.back(), lines = n ? operand.count() / n : 0;
  if (!is_integral(operand.type()) && !is_floating(operand.type()))
    return call.error(ErrorKind::Unsupported, "topk of " + std::string(text_of(operand.type())));
  if (a.k > n) return call.error(ErrorKind::Shape, "topk: k is larger than the last dimension");
  // Floats narrower than those that have sort keys are ordered as f32, which holds them all.
  const bool narrow = is_floating(operand.type()) && bits_of(operand.type()) < 16;
  const Literal keyed = narrow ? converted(call, operand, ElementType::F32) : operand;
  Literal out = call.make();
  std::vector<Literal>& parts = out.mutable_elements();
  Selection selection = selection_of(a, operand.type(), keyed.type(), n);
  selection.operand = operand.raw().data(), selection.keyed_operand = keyed.raw().data();
  selection.values = parts[0].mutable_raw().data(),
  selection.places = parts[1].mutable_raw().data();
  selection.run(lines, call.in_pieces());
  return out;
}

}  // namespace hilo
