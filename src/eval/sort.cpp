// sort: always stable. Comparators that order by operands' values sort by keys; any other one is
// asked about many pairs at once.
#include <cstring>

#include "eval/computed_keys.h"
#include "eval/lanes.h"
#include "eval/reference/reference.h"
#include "eval/routine.h"
#include "eval/sort_key.h"
#include "eval/storage.h"

namespace hilo {
namespace {

// No keys: the comparator is not one that orders by keys.
SortOrder find_order(const Module& module, ComputationId comparator) {
  SortKeys found = find_sort_keys(module, comparator);
  SortOrder out{std::move(found.keys), {}};
  if (found.computed.empty()) return out;
  auto computed = find_computed_keys(module, comparator, found.computed);
  if (!computed) return {};
  out.computed = std::move(*computed);
  return out;
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

// Compares pairs of elements of one line, many at a time.
class Comparer {
 public:
  Comparer(const LaneProgram& program, std::span<const Literal> operands, const SortLine& line)
      : program_(program),
        operands_(operands),
        line_(line),
        values_(operands.size() * 2),
        inputs_(operands.size() * 2) {}

  Result<void> operator()(const Dims& left, const Dims& right, std::vector<uint8_t>& before) {
    for (size_t o = 0; o < values_.size(); ++o) {
      const Literal& operand = operands_[o / 2];
      const int64_t bytes = storage_bytes(operand.type());
      values_[o].resize(left.size() * bytes);
      const std::byte* from = operand.raw().data() + line_.base * bytes;
      const Dims& at = o % 2 ? right : left;
      for (size_t i = 0; i < at.size(); ++i)
        std::memcpy(values_[o].data() + i * bytes, from + at[i] * line_.step * bytes, bytes);
      inputs_[o] = values_[o].data();
    }
    before.resize(left.size());
    void* outputs[] = {before.data()};
    return program_.run(inputs_, outputs, left.size());
  }

 private:
  const LaneProgram& program_;
  std::span<const Literal> operands_;
  const SortLine& line_;
  std::vector<std::vector<std::byte>> values_;  // of each input
  std::vector<const void*> inputs_;
};

Result<void> sort_by_comparator(const Call& call, const SortLines& lines,
                                std::span<std::byte* const> targets) {
  HILO_TRY(const LaneProgram program, make_comparator(call));
  std::vector<Error> errors(1);
  std::atomic<bool> failed = false;
  call.parallel(lines.number, lines.grain(), [&](int64_t begin, int64_t end) {
    Dims order(lines.count);
    for (int64_t i = begin; i < end && !failed; ++i) {
      const SortLine line = lines[i];
      Comparer comparer(program, call.operands, line);
      const auto done = sort_by_merges(line.count, std::ref(comparer), order.data());
      if (!done && !failed.exchange(true)) errors[0] = done.error();
      for (size_t o = 0; done && o < targets.size(); ++o)
        permute_line(call.operands[o].type(), call.operands[o].raw().data(), line, order.data(),
                     targets[o]);
    }
  });
  if (failed) return std::unexpected(errors[0]);
  return {};
}

Result<void> run_kernel(const Call& call, const SortLines& lines, std::span<Literal> out) {
  std::vector<ElementType> types;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (size_t o = 0; o < out.size(); ++o) {
    types.push_back(out[o].type());
    sources.push_back(call.operands[o].raw().data());
    targets.push_back(out[o].mutable_raw().data());
  }
  SortOrder order;
  if (has_own_types(call))
    order = find_order(call.module, call.attributes<SortAttributes>().to_apply);
  if (!order.computed.types.empty() && call.ideal()) order = {};
  if (order.keys.empty()) return sort_by_comparator(call, lines, targets);
  PreparedSort(std::move(order), types, lines).run(sources, targets, call.in_chunks());
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
  SortOrder order = find_order(call.module, a.to_apply);
  if (order.keys.empty() || types.empty()) return {};
  const Dims& dims = call.operand(0).dims;
  const SortLines lines(dims, a.dimensions[0], dims[a.dimensions[0]]);
  return [sort = PreparedSort(std::move(order), std::move(types), lines)](
             auto operands, auto results, const Parallel& parallel) {
    sort.run(operands, results, parallel);
  };
}

Result<Literal> evaluate_Sort(Call& call) {
  const int64_t dim = call.attributes<SortAttributes>().dimensions[0];
  const int64_t count = call.operands[0].size(dim);
  std::vector<Literal> out;
  for (const Literal& operand : call.operands) out.push_back(writable(call, operand));
  HILO_DO(call.is_reference()
              ? reference::sort(call, count, out)
              : run_kernel(call, SortLines(call.operands[0].shape().dims, dim, count), out));
  return call.shape().is_tuple() ? Literal::tuple(std::move(out)) : std::move(out[0]);
}

}  // namespace hilo
