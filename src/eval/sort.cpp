// sort: always stable. Comparators that order by operands' values sort by keys; any other one
// merges runs in many pieces side by side, so that it compares many pairs at once.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "eval/computed_keys.h"
#include "eval/radix_sort.h"
#include "eval/routine.h"
#include "eval/sort_key.h"
#include "eval/sort_merge.h"
#include "eval/sort_short_lines.h"
#include "eval/storage.h"
#include "eval/thread_memory.h"

namespace hilo {
namespace {

struct KeyedOrder {
  std::vector<SortKey> keys;
  std::optional<ComputedKeys> computed;
};

// No keys: the comparator is not one that orders by keys.
KeyedOrder find_keys(const Module& module, ComputationId comparator) {
  SortKeys found = find_sort_keys(module, comparator);
  if (found.computed.empty()) return {std::move(found.keys), std::nullopt};
  auto computed = ComputedKeys::make(module, comparator, found.computed);
  if (!computed) return {};
  return {std::move(found.keys), std::move(computed)};
}

// What is sorted by keys: arrays of the same sizes that move together.
struct KeyedSort {
  const KeyedOrder& order;
  const std::vector<ElementType>& types;
  std::span<const std::byte* const> from;
  std::span<std::byte* const> to;

  bool is_computed(const SortKey& key) const { return key.operand >= std::ssize(types); }
  size_t computed(const SortKey& key) const { return key.operand - types.size(); }
  ElementType type(const SortKey& key) const {
    return is_computed(key) ? order.computed->type(computed(key)) : types[key.operand];
  }
  template <class Key>
  void make_keys(const SortKey& key, const Line& line, Key* out) const {
    if (is_computed(key))
      return make_sort_keys(key, type(key), order.computed->at(computed(key)), 1, line.count, out);
    make_sort_keys(key, type(key), first(key, line), line.step, line.count, out);
  }
  const std::byte* first(const SortKey& key, const Line& line) const {
    return from[key.operand] + line.base * storage_bytes(type(key));
  }
};

// The elements of a line in the order of one more key; those with equal ones stay as they are in
// `order`. Keys of at most 4 bytes stand in a word with their place.
void order_narrow(const KeyedSort& sort, const SortKey& key, const Line& line, int64_t* order) {
  const int64_t n = line.count;
  uint64_t* words = spare<uint64_t>(2 * n);
  sort.make_keys(key, line, words + n);
  for (int64_t i = 0; i < n; ++i) words[i] = words[n + order[i]] << 32 | static_cast<uint64_t>(i);
  radix_sort(words, words + n, n, 4, 4 + static_cast<int>(storage_bytes(sort.type(key))));
  std::copy_n(order, n, words + n);
  for (int64_t i = 0; i < n; ++i)
    order[i] = static_cast<int64_t>(words[n + static_cast<uint32_t>(words[i])]);
}

void order_wide(const KeyedSort& sort, const SortKey& key, const Line& line, int64_t* order) {
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
void order_once(const KeyedSort& sort, const Line& line, int64_t* order) {
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
void find_order(const KeyedSort& sort, const Line& line, int64_t* order) {
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
void sort_keys_alone(const KeyedSort& sort, const Line& line) {
  Key* keys = spare<Key>(2 * line.count);
  const SortKey& key = sort.order.keys[0];
  sort.make_keys(key, line, keys);
  radix_sort(keys, keys + line.count, line.count, 0, sizeof(Key));
  elements_of_keys(key, sort.types[0], keys, line.step, line.count,
                   sort.to[0] + line.base * static_cast<int64_t>(sizeof(Key)));
}

// The result may stand in the operand's place.
void permute(ElementType type, const std::byte* from, const Line& line, const int64_t* order,
             std::byte* to) {
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

void sort_by_keys(const KeyedSort& sort, const Line& line) {
  if (sort.order.computed) sort.order.computed->fill(sort.from, line);
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
    permute(sort.types[o], sort.from[o], line, order, sort.to[o]);
}

// The lines of arrays of these sizes along `dim`, of which the first `count` elements are sorted.
struct Lines {
  int64_t number, step, bound, count;
  Lines(const Dims& dims, int64_t dim, int64_t count)
      : step(row_major_strides(dims)[dim]), bound(dims[dim]), count(count) {
    number = bound ? element_count(dims) / bound : 0;
  }
  Line operator[](int64_t i) const { return {i / step * step * bound + i % step, step, count}; }
  int64_t grain() const { return std::max<int64_t>(1, 4096 / std::max<int64_t>(count, 1)); }
};

// Sorts lines [begin, end), those that are short many at once.
void sort_lines(const KeyedSort& sort, const Lines& lines, const std::optional<ShortLines>& shorts,
                int64_t begin, int64_t end) {
  constexpr int64_t least = 8;  // fewer leave lanes empty
  while (begin < end) {
    const Line first = lines[begin];
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

std::optional<ShortLines> find_short_lines(const KeyedOrder& order,
                                           const std::vector<ElementType>& types,
                                           const Lines& lines) {
  if (order.keys.size() != 1 || lines.count != lines.bound) return std::nullopt;
  return ShortLines::make(order.keys[0], types, lines.count);
}

// Of the candidates of each operand, side by side.
Result<LaneProgram> make_comparator(const Call& call) {
  std::vector<ElementType> types;
  for (const Literal& operand : call.operands) types.insert(types.end(), 2, operand.type());
  return LaneProgram::make(call, call.attributes<SortAttributes>().to_apply, types,
                           std::array{ElementType::Pred});
}

// Whether the comparator compares the elements as they are, and not in another precision.
bool has_own_types(const Call& call) {
  const auto& parameters = call.module[call.attributes<SortAttributes>().to_apply].parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (call.held(call.module.shape(parameters[i]).type) != call.operands[i / 2].type())
      return false;
  return true;
}

Result<void> sort_by_comparator(const Call& call, const Lines& lines,
                                std::span<std::byte* const> targets) {
  HILO_TRY(const LaneProgram program, make_comparator(call));
  std::vector<Error> errors(1);
  std::atomic<bool> failed = false;
  call.parallel(lines.number, lines.grain(), [&](int64_t begin, int64_t end) {
    Dims order(lines.count);
    for (int64_t i = begin; i < end && !failed; ++i) {
      const Line line = lines[i];
      const auto done = sort_by_merges(program, call.operands, line, order.data());
      if (!done && !failed.exchange(true)) errors[0] = done.error();
      for (size_t o = 0; done && o < targets.size(); ++o)
        permute(call.operands[o].type(), call.operands[o].raw().data(), line, order.data(),
                targets[o]);
    }
  });
  if (failed) return std::unexpected(errors[0]);
  return {};
}

}  // namespace

Routine routine_Sort(const RoutineCall& call) {
  const auto& a = call.attributes<SortAttributes>();
  const auto& parameters = call.module[a.to_apply].parameters;
  std::vector<ElementType> types;
  for (size_t i = 0; i < parameters.size() / 2; ++i) {
    types.push_back(call.operand(static_cast<int64_t>(i)).type);
    if (call.module.shape(parameters[2 * i]).type != types[i]) return {};
  }
  KeyedOrder order = find_keys(call.module, a.to_apply);
  if (order.keys.empty() || types.empty()) return {};
  const Dims& dims = call.operand(0).dims;
  const Lines lines(dims, a.dimensions[0], dims[a.dimensions[0]]);
  const auto shorts = find_short_lines(order, types, lines);
  return [order = std::move(order), types, lines, shorts](auto operands, auto results,
                                                          const Parallel& parallel) {
    const KeyedSort sort{order, types, operands, results};
    parallel(lines.number, lines.grain(),
             [&](int64_t begin, int64_t end) { sort_lines(sort, lines, shorts, begin, end); });
  };
}

Result<Literal> evaluate_Sort(Call& call) {
  const auto& a = call.attributes<SortAttributes>();
  const int64_t dim = a.dimensions[0];
  const Lines lines(call.operands[0].shape().dims, dim, call.operands[0].size(dim));
  std::vector<Literal> out;
  for (const Literal& operand : call.operands) out.push_back(writable(call, operand));
  std::vector<ElementType> types;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (size_t o = 0; o < out.size(); ++o) {
    types.push_back(out[o].type());
    sources.push_back(call.operands[o].raw().data());
    targets.push_back(out[o].mutable_raw().data());
  }
  KeyedOrder order;
  if (has_own_types(call)) order = find_keys(call.module, a.to_apply);
  if (order.computed && call.ideal()) order = {};
  if (!order.keys.empty()) {
    const KeyedSort sort{order, types, sources, targets};
    const auto shorts = find_short_lines(order, types, lines);
    call.parallel(lines.number, lines.grain(),
                  [&](int64_t begin, int64_t end) { sort_lines(sort, lines, shorts, begin, end); });
  } else {
    HILO_DO(sort_by_comparator(call, lines, targets));
  }
  return call.shape().is_tuple() ? Literal::tuple(std::move(out)) : std::move(out[0]);
}

}  // namespace hilo
