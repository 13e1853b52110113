// sort: always stable. Comparators that order by one operand's value sort by keys; any other one
// merges by rank: an element's place in the merge of two runs is its own place plus the number of
// elements of the other run before it, which a binary search finds for all elements at once.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "eval/lanes.h"
#include "eval/sort_key.h"
#include "eval/storage.h"

namespace hilo {
namespace {

struct Line {  // the elements sorted together stand `step` apart, from `base`
  int64_t base, step, count;
};

void sort_by_key(const SortKey& key, const Literal& operand, const Line& line, int64_t* order) {
  thread_local std::vector<uint64_t> keys;
  keys.resize(line.count);
  const int64_t bytes = storage_bytes(operand.type());
  make_sort_keys(key, operand.type(), operand.raw().data() + line.base * bytes, line.step,
                 line.count, keys.data());
  if (bytes <= 4 && line.count <= int64_t{1} << 32) {  // key and place in one word
    for (int64_t i = 0; i < line.count; ++i) keys[i] = keys[i] << 32 | static_cast<uint64_t>(i);
    std::ranges::sort(keys);
    for (int64_t i = 0; i < line.count; ++i) order[i] = static_cast<uint32_t>(keys[i]);
    return;
  }
  std::iota(order, order + line.count, int64_t{0});
  std::stable_sort(order, order + line.count,
                   [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
}

// Compares pairs of elements of one line, many at a time.
class Comparer {
 public:
  Comparer(const LaneProgram& program, std::span<const Literal> operands, const Line& line)
      : program_(program), operands_(operands), line_(line) {}

  // out[i] = whether element left[i] comes before element right[i].
  Result<void> run(const Dims& left, const Dims& right, std::vector<uint8_t>& out) {
    std::vector<std::vector<std::byte>> values(operands_.size() * 2);
    std::vector<const void*> inputs(values.size());
    for (size_t o = 0; o < values.size(); ++o) {
      const Literal& operand = operands_[o / 2];
      const int64_t bytes = storage_bytes(operand.type());
      values[o].resize(left.size() * bytes);
      const std::byte* from = operand.raw().data() + line_.base * bytes;
      const Dims& at = o % 2 ? right : left;
      for (size_t i = 0; i < at.size(); ++i)
        std::memcpy(values[o].data() + i * bytes, from + at[i] * line_.step * bytes, bytes);
      inputs[o] = values[o].data();
    }
    out.resize(left.size());
    void* outputs[] = {out.data()};
    return program_.run(inputs, outputs, left.size());
  }

 private:
  const LaneProgram& program_;
  std::span<const Literal> operands_;
  const Line& line_;
};

// For each i in [0, order.size()): its place in the merge of the runs of `width` that it is in.
Result<Dims> merge_places(Comparer& comparer, const Dims& order, int64_t width) {
  const int64_t n = order.size();
  Dims low(n), high(n), left(n), right(n), active(n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = i / (2 * width) * 2 * width, middle = std::min(n, first + width);
    const bool in_first = i < middle;
    low[i] = in_first ? middle : first;
    high[i] = in_first ? std::min(n, first + 2 * width) : middle;
  }
  std::vector<uint8_t> before;
  for (bool go = true; go;) {
    left.clear(), right.clear(), active.clear();
    for (int64_t i = 0; i < n; ++i) {
      if (low[i] >= high[i]) continue;
      const int64_t other = order[(low[i] + high[i]) / 2];
      const bool in_first = i / width % 2 == 0;
      left.push_back(in_first ? other : order[i]), right.push_back(in_first ? order[i] : other);
      active.push_back(i);
    }
    go = !active.empty();
    if (go) HILO_DO(comparer.run(left, right, before));
    for (size_t a = 0; a < active.size(); ++a) {
      const int64_t i = active[a], middle = (low[i] + high[i]) / 2;
      const bool in_first = i / width % 2 == 0;
      if ((before[a] != 0) == in_first) low[i] = middle + 1;
      else high[i] = middle;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = i / (2 * width) * 2 * width, middle = std::min(n, first + width);
    low[i] += i - middle;
  }
  return low;
}

// Whether `places` names each place once: a comparator that is no order can break that.
bool is_permutation(const Dims& places) {
  std::vector<bool> seen(places.size());
  for (int64_t place : places) {
    if (place < 0 || place >= static_cast<int64_t>(seen.size()) || seen[place]) return false;
    seen[place] = true;
  }
  return true;
}

Result<void> sort_by_rank(const LaneProgram& program, std::span<const Literal> operands,
                          const Line& line, int64_t* out) {
  Dims order(line.count), next(line.count);
  std::iota(order.begin(), order.end(), int64_t{0});
  Comparer comparer(program, operands, line);
  for (int64_t width = 1; width < line.count; width *= 2) {
    HILO_TRY(const Dims places, merge_places(comparer, order, width));
    if (!is_permutation(places)) break;
    for (int64_t i = 0; i < line.count; ++i) next[places[i]] = order[i];
    order.swap(next);
  }
  std::ranges::copy(order, out);
  return {};
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

void permute(const Literal& from, const Line& line, const int64_t* order, std::byte* to) {
  visit_storage(from.type(), [&]<class T>(std::type_identity<T>) {
    const T* source = from.data<T>().data() + line.base;
    T* target = reinterpret_cast<T*>(to) + line.base;
    for (int64_t i = 0; i < line.count; ++i) target[i * line.step] = source[order[i] * line.step];
  });
}

}  // namespace

Result<Literal> evaluate_Sort(Call& call) {
  const auto& a = call.attributes<SortAttributes>();
  const Shape& shape = call.operands[0].shape();
  const int64_t dim = a.dimensions[0], step = row_major_strides(shape.dims)[dim];
  const int64_t count = call.operands[0].size(dim), bound = shape.dims[dim];
  std::vector<Literal> out;
  for (const Literal& operand : call.operands) out.push_back(writable(call, operand));
  HILO_TRY(const LaneProgram program, make_comparator(call));
  const auto key = has_own_types(call) ? find_sort_key(call.module, a.to_apply) : std::nullopt;
  std::vector<std::byte*> targets;
  for (Literal& result : out) targets.push_back(result.mutable_raw().data());
  std::vector<Error> errors(1);
  std::atomic<bool> failed = false;
  const int64_t lines = bound ? element_count(shape) / bound : 0;
  call.parallel(lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(count, 1)),
                [&](int64_t begin, int64_t end) {
                  Dims order(count);
                  for (int64_t i = begin; i < end && !failed; ++i) {
                    const Line line{i / step * step * bound + i % step, step, count};
                    Result<void> done;
                    if (key) sort_by_key(*key, call.operands[key->operand], line, order.data());
                    else done = sort_by_rank(program, call.operands, line, order.data());
                    if (!done && !failed.exchange(true)) errors[0] = done.error();
                    for (size_t o = 0; done && o < out.size(); ++o)
                      permute(call.operands[o], line, order.data(), targets[o]);
                  }
                });
  if (failed) return std::unexpected(errors[0]);
  return call.shape().is_tuple() ? Literal::tuple(std::move(out)) : std::move(out[0]);
}

}  // namespace hilo
