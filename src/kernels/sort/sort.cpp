// Sorts by keys, always stable.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/sort/radix_sort.h"
#include "kernels/sort/sort_key.h"
#include "kernels/sort/sort_short_lines.h"
#include "kernels/thread_memory.h"

namespace hilo {
namespace {

// What is sorted by keys: arrays of the same sizes that move together.
struct KeyedSort {
  const SortOrder& order;
  const std::vector<ElementType>& types;
  std::span<const std::byte* const> from;
  std::span<std::byte* const> to;
  std::vector<const std::byte*> computed_keys = {};  // of the line that is sorted

  bool is_computed(const SortKey& key) const { return key.operand >= std::ssize(types); }
  size_t computed(const SortKey& key) const { return key.operand - types.size(); }
  ElementType type(const SortKey& key) const {
    return is_computed(key) ? order.computed.types[computed(key)] : types[key.operand];
  }
  template <class Key>
  void make_keys(const SortKey& key, const SortLine& line, Key* out) const {
    if (is_computed(key))
      return make_sort_keys(key, type(key), computed_keys[computed(key)], 1, line.count, out);
    make_sort_keys(key, type(key), first(key, line), line.step, line.count, out);
  }
  const std::byte* first(const SortKey& key, const SortLine& line) const {
    return from[key.operand] + line.base * storage_bytes(type(key));
  }
};

// The elements of a line in the order of one more key; those with equal ones stay as they are in
// `order`. Keys of at most 4 bytes stand in a word with their place.
void order_narrow(const KeyedSort& sort, const SortKey& key, const SortLine& line, int64_t* order) {
  const int64_t n = line.count;
  uint64_t* words = spare<uint64_t>(2 * n);
  sort.make_keys(key, line, words + n);
  for (int64_t i = 0; i < n; ++i) words[i] = words[n + order[i]] << 32 | static_cast<uint64_t>(i);
  radix_sort(words, words + n, n, 4, 4 + static_cast<int>(storage_bytes(sort.type(key))));
  std::copy_n(order, n, words + n);
  for (int64_t i = 0; i < n; ++i)
    order[i] = static_cast<int64_t>(words[n + static_cast<uint32_t>(words[i])]);
}

void order_wide(const KeyedSort& sort, const SortKey& key, const SortLine& line, int64_t* order) {
  const int64_t n = line.count;
  uint64_t* keys = spare<uint64_t>(n);
  sort.make_keys(key, line, keys);
  PlacedKey* placed = spare<PlacedKey>(2 * n);
  for (int64_t i = 0; i < n; ++i) placed[i] = {keys[order[i]], i};
  radix_sort(placed, placed + n, n, 0, 8);
  std::copy_n(order, n, keys);
  for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int64_t>(keys[placed[i].place]);
}

// The order of a line by its only key.
void order_once(const KeyedSort& sort, const SortLine& line, int64_t* order) {
  const SortKey& key = sort.order.keys[0];
  uint64_t* words = spare<uint64_t>(2 * line.count);
  sort.make_keys(key, line, words);
  for (int64_t i = 0; i < line.count; ++i) words[i] = words[i] << 32 | static_cast<uint64_t>(i);
  radix_sort(words, words + line.count, line.count, 4,
             4 + static_cast<int>(storage_bytes(sort.type(key))));
  for (int64_t i = 0; i < line.count; ++i) order[i] = static_cast<uint32_t>(words[i]);
}

// By the last key first: what it leaves equal, and what it orders, stays so among equals of those
// before it.
void find_order(const KeyedSort& sort, const SortLine& line, int64_t* order) {
  const auto is_narrow = [&](const SortKey& key) {
    return storage_bytes(sort.type(key)) <= 4 && line.count <= int64_t{1} << 32;
  };
  const std::vector<SortKey>& keys = sort.order.keys;
  if (keys.size() == 1 && is_narrow(keys[0])) return order_once(sort, line, order);
  std::iota(order, order + line.count, int64_t{0});
  for (size_t i = keys.size(); i-- > 0;)
    is_narrow(keys[i]) ? order_narrow(sort, keys[i], line, order)
                       : order_wide(sort, keys[i], line, order);
}

// Of a single array whose keys tell its elements: they are sorted themselves.
template <class Key>
void sort_keys_alone(const KeyedSort& sort, const SortLine& line) {
  Key* keys = spare<Key>(2 * line.count);
  const SortKey& key = sort.order.keys[0];
  sort.make_keys(key, line, keys);
  radix_sort(keys, keys + line.count, line.count, 0, sizeof(Key));
  elements_of_keys(key, sort.types[0], keys, line.step, line.count,
                   sort.to[0] + line.base * static_cast<int64_t>(sizeof(Key)));
}

void sort_by_keys(KeyedSort& sort, const SortLine& line) {
  if (!sort.order.computed.types.empty())
    sort.computed_keys = sort.order.computed.compute(sort.from, line);
  const SortKey& first = sort.order.keys[0];
  if (sort.types.size() == 1 && !sort.is_computed(first) &&
      keys_are_exact(first, sort.types[0], sort.first(first, line), line.step, line.count)) {
    const int64_t bytes = storage_bytes(sort.types[0]);
    if (bytes == 8) return sort_keys_alone<uint64_t>(sort, line);
    if (bytes == 4) return sort_keys_alone<uint32_t>(sort, line);
    if (bytes == 2) return sort_keys_alone<uint16_t>(sort, line);
    return sort_keys_alone<uint8_t>(sort, line);
  }
  int64_t* order = spare<int64_t, struct OrderOfLine>(line.count);
  find_order(sort, line, order);
  for (size_t o = 0; o < sort.types.size(); ++o)
    permute_line(sort.types[o], sort.from[o], line, order, sort.to[o]);
}

// Sorts lines [begin, end), those that are short many at once.
void sort_lines(KeyedSort sort, const SortLines& lines, const std::optional<ShortLines>& shorts,
                int64_t begin, int64_t end) {
  constexpr int64_t least = 8;  // fewer leave lanes empty
  while (begin < end) {
    const SortLine first = lines[begin];
    int64_t together = std::min(max_short_lines, end - begin);
    const int64_t blocks = begin % first.step == 0 ? together / first.step : 0;
    together =
        blocks > 0 ? blocks * first.step : std::min(together, first.step - begin % first.step);
    if (!shorts || together < least ||
        !shorts->sort(sort.from, sort.to, first.base, first.step, together))
      for (int64_t i = 0; i < together; ++i) sort_by_keys(sort, lines[begin + i]);
    begin += together;
  }
}

std::optional<ShortLines> find_short_lines(const SortOrder& order,
                                           const std::vector<ElementType>& types,
                                           const SortLines& lines) {
  if (order.keys.size() != 1 || lines.count != lines.bound) return std::nullopt;
  return ShortLines::make(order.keys[0], types, lines.count);
}

}  // namespace

SortLines::SortLines(const Dims& dims, int64_t dim, int64_t count)
    : number(0), step(row_major_strides(dims)[dim]), bound(dims[dim]), count(count) {
  number = bound ? element_count(dims) / bound : 0;
}

void permute_line(ElementType type, const std::byte* from, const SortLine& line,
                  const int64_t* order, std::byte* to) {
  visit_storage(type, [&]<class T>(std::type_identity<T>) {
    const T* source = reinterpret_cast<const T*>(from) + line.base;
    T* target = reinterpret_cast<T*>(to) + line.base;
    if (source != target) {
      for (int64_t i = 0; i < line.count; ++i) target[i * line.step] = source[order[i] * line.step];
      return;
    }
    using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    Stored* moved = spare<Stored>(line.count);
    for (int64_t i = 0; i < line.count; ++i) moved[i] = Stored(source[order[i] * line.step]);
    for (int64_t i = 0; i < line.count; ++i) target[i * line.step] = T(moved[i]);
  });
}

struct PreparedSort::State {
  SortOrder order;
  std::vector<ElementType> types;
  SortLines lines;
  std::optional<ShortLines> shorts;
};

PreparedSort::PreparedSort(SortOrder order, std::vector<ElementType> types,
                           const SortLines& lines) {
  auto shorts = find_short_lines(order, types, lines);
  state_ = std::make_shared<const State>(
      State{std::move(order), std::move(types), lines, std::move(shorts)});
}

void PreparedSort::run(std::span<const std::byte* const> operands,
                       std::span<std::byte* const> results, const Parallel& parallel) const {
  const auto& [order, types, lines, shorts] = *state_;
  parallel(lines.number, lines.grain(), [&](int64_t begin, int64_t end) {
    sort_lines({order, types, operands, results}, lines, shorts, begin, end);
  });
}

}  // namespace hilo
