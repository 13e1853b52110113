// The k largest or smallest of each line.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/sort/sort_short_lines.h"
#include "kernels/thread_memory.h"

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
    if (storage_bytes(keyed) <= 4) select<uint32_t>(from, best);
    else select<uint64_t>(from, best);
    for (int64_t i = 0; i < k; ++i) {
      const auto place = static_cast<int32_t>(best[i]);
      std::memcpy(places + (line * k + i) * 4, &place, 4);
      std::copy_n(operand + (line * n + place) * bytes, bytes, values + (line * k + i) * bytes);
    }
  }

  template <class Key>
  void select(const std::byte* from, std::vector<uint32_t>& best) const {
    if (k == 0) return;
    if (k <= max_inserted && (k == 1 || n > max_counted)) return select_few<Key>(from, best);
    select_many<Key>(from, best);
  }

  // In order all the time. A place comes after all that have the same key and are there already.
  template <class Key>
  void select_few(const std::byte* from, std::vector<uint32_t>& best) const {
    best.resize(k);
    Key keys[piece], first[max_inserted] = {};
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

  template <class Key>
  struct Found {
    Key key;
    uint32_t place;
    auto operator<=>(const Found&) const = default;
  };

  // Of the first part of the line exactly the first k, then those that come before the k-th found
  // so far, until there are so many that the k first are found again.
  template <class Key>
  void select_many(const std::byte* from, std::vector<uint32_t>& best) const {
    thread_local std::vector<Found<Key>> kept;
    kept.clear();
    const size_t most = 2 * static_cast<size_t>(k) + 2 * piece;
    Key keys[max_counted];
    int64_t at = std::min(n, max_counted);
    make_sort_keys(key, keyed, from, 1, at, keys);
    Key limit = keep_first(keys, at, kept);
    const auto shrink = [&] {
      if (std::ssize(kept) <= k) return;
      std::nth_element(kept.begin(), kept.begin() + (k - 1), kept.end());
      limit = kept[static_cast<size_t>(k - 1)].key;
      kept.resize(static_cast<size_t>(k));
    };
    for (; at < n; at += piece) {
      const int64_t count = std::min(piece, n - at);
      make_sort_keys(key, keyed, from + at * storage_bytes(keyed), 1, count, keys);
      std::fill(keys + count, keys + (count + beside - 1) / beside * beside, Key(-1));
      for (int64_t i = 0; i < count; i += beside) {
        unsigned some = std::ssize(kept) < k;
        for (int64_t j = i; j < i + beside; ++j) some |= keys[j] < limit;
        for (int64_t j = i; some && j < std::min(i + beside, count); ++j)
          if (std::ssize(kept) < k || keys[j] < limit)
            kept.push_back({keys[j], static_cast<uint32_t>(at + j)});
      }
      if (kept.size() >= most) shrink();
    }
    shrink();
    std::ranges::sort(kept);
    for (const Found<Key>& one : kept) best.push_back(one.place);
  }

  // Keeps the first k of so many keys, or all of fewer. What no later key of use reaches.
  template <class Key>
  Key keep_first(const Key* keys, int64_t count, std::vector<Found<Key>>& kept) const {
    const auto [end, equal] = count <= k ? End<Key>{Key(-1), count} : end_of_first(keys, count);
    // What is below the end goes where the next one would, so that nothing has to be foreseen.
    uint32_t below[max_counted + 1];
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
      below[found] = static_cast<uint32_t>(i);
      found += keys[i] < end;
    }
    for (int64_t i = 0; i < found; ++i) kept.push_back({keys[below[i]], below[i]});
    for (int64_t i = 0, left = equal; i < count && left > 0; ++i)
      if (keys[i] == end) kept.push_back({end, static_cast<uint32_t>(i)}), --left;
    return end;
  }

  // The first k are all keys below `key`, and the first `equal` ones of those that are it.
  template <class Key>
  struct End {
    Key key;
    int64_t equal;
  };

  // By counting what is below the middle between two ends, until that is k or they meet. Signed
  // numbers are compared in vectors by one step.
  template <class Key>
  End<Key> end_of_first(const Key* keys, int64_t count) const {
    using Number = std::make_signed_t<Key>;
    constexpr Key top = Key{1} << (8 * sizeof(Key) - 1);
    Number numbers[max_counted];
    for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<Number>(keys[i] ^ top);
    const auto count_below = [&](Key end) {
      Number out = 0;
      for (int64_t i = 0; i < count; ++i) out += numbers[i] < static_cast<Number>(end ^ top);
      return static_cast<int64_t>(out);
    };
    Key low = 0, high = Key(-1);  // count_below(low) < k, and some end up to `high` has k
    while (low < high) {
      const Key middle = high - (high - low) / 2;
      const int64_t below = count_below(middle);
      if (below == k) return {middle, 0};
      if (below < k) low = middle;
      else high = middle - 1;
    }
    return {low, k - count_below(low)};
  }

  // Lines [first, first + number), many at once.
  template <class Key>
  void run_short(int64_t first, int64_t number) const {
    Key* keys = spare<Key, struct KeysOfTile>(number * n);
    uint16_t* from = spare<uint16_t, struct PlacesOfTile>(number * n);
    make_sort_keys(key, keyed, keyed_operand + first * n * static_cast<int64_t>(sizeof(Key)), 1,
                   number * n, keys);
    find_sorted_indices({number, n, 1}, keys, exchanges, from);
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
    for (int64_t line = begin; line < end; line += max_short_lines) {
      const int64_t number = std::min(max_short_lines, end - line);
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
  static constexpr int64_t max_inserted = 8, beside = 16;
  static constexpr int64_t max_counted = 2048;  // keys of which the k-th is found by counting
};

}  // namespace

struct PreparedTopK::State {
  Selection selection;
};

PreparedTopK::PreparedTopK(int64_t k, bool largest, ElementType type, ElementType keyed,
                           int64_t n) {
  Selection out{{0, largest, true, false, false}, keyed, storage_bytes(type), n, k};
  if (n > 1 && n <= max_short_line && k > 0 && storage_bytes(keyed) <= 4)
    out.exchanges = find_exchanges(n, k);
  state_ = std::make_shared<const State>(State{std::move(out)});
}

void PreparedTopK::run(int64_t lines, const std::byte* operand, const std::byte* keyed_operand,
                       std::byte* values, std::byte* indices, const Parallel& parallel) const {
  Selection now = state_->selection;
  now.operand = operand, now.keyed_operand = keyed_operand;
  now.values = values, now.places = indices;
  now.run(lines, parallel);
}

}  // namespace hilo
