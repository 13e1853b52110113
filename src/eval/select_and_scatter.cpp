// select-and-scatter: in each window of the operand the element that `select` prefers to all after
// it is found, and the source's element is combined there into an array that starts as the initial
// value. Elements on padding do not take part.
#include <cstring>

#include "eval/combine.h"
#include "eval/convert.h"
#include "eval/dynamic_sizes.h"
#include "eval/first_error.h"
#include "eval/lanes.h"
#include "eval/window_positions.h"

namespace hilo {
namespace {

// selected[i]: position of the element that window begin + i selects, or -1.
Result<void> select(const LaneProgram& program, const Literal& operand,
                    const WindowPositions& positions, std::span<const int64_t> out_dims,
                    int64_t begin, int64_t end, int64_t* selected) {
  const int64_t n = end - begin, rank = out_dims.size(), b = storage_bytes(operand.type());
  const Dims indices = output_indices(out_dims, begin, end);
  std::vector<std::byte> kept(n * b), met(n * b);
  std::vector<uint8_t> keeps(n);
  const std::byte* from = operand.raw().data();
  const void* inputs[] = {kept.data(), met.data()};
  void* outputs[] = {keeps.data()};
  Dims window(rank, 0), lane, at;
  std::fill_n(selected, n, int64_t{-1});
  if (element_count(positions.window_sizes()) == 0) return {};
  do {
    lane.clear(), at.clear();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t position = positions.position(indices.data() + i * rank, window.data());
      if (position < 0) continue;
      if (selected[i] < 0) selected[i] = position;
      else lane.push_back(i), at.push_back(position);
    }
    for (size_t i = 0; i < lane.size(); ++i) {
      std::memcpy(kept.data() + i * b, from + selected[lane[i]] * b, b);
      std::memcpy(met.data() + i * b, from + at[i] * b, b);
    }
    if (!lane.empty()) HILO_DO(program.run(inputs, outputs, lane.size()));
    for (size_t i = 0; i < lane.size(); ++i)
      if (!keeps[i]) selected[lane[i]] = at[i];
  } while (next_index(window, positions.window_sizes()));
  return {};
}

Result<void> scatter_one_by_one(const LaneProgram& program, const Dims& selected,
                                const Literal& source, Literal& out) {
  const int64_t b = storage_bytes(out.type()), source_bytes = storage_bytes(source.type());
  std::byte* to = out.mutable_raw().data();
  for (size_t i = 0; i < selected.size(); ++i) {
    if (selected[i] < 0) continue;
    void* outputs[] = {to + selected[i] * b};
    const void* inputs[] = {outputs[0], source.raw().data() + i * source_bytes};
    HILO_DO(program.run(inputs, outputs, 1));
  }
  return {};
}

void fill(Literal& out, const Literal& value) {
  const int64_t b = storage_bytes(out.type());
  std::byte* to = out.mutable_raw().data();
  for (int64_t i = 0; i < out.count(); ++i) std::memcpy(to + i * b, value.raw().data(), b);
}

// For each window the position of the element that it selects, or -1.
Result<Dims> select_all(const Call& call, const SelectAndScatterAttributes& a) {
  const Literal &operand = call.operands[0], &source = call.operands[1];
  HILO_TRY(const LaneProgram program,
           LaneProgram::make(call, a.select, std::array{operand.type(), operand.type()},
                             std::array{ElementType::Pred}));
  const Dims& windows = source.shape().dims;
  const WindowPositions positions(a.window, operand.shape().dims, windows);
  Dims selected(source.count());
  FirstError error;
  call.parallel(source.count(), window_block, [&](int64_t begin, int64_t end) {
    error.note(select(program, operand, positions, windows, begin, end, selected.data() + begin));
  });
  HILO_DO(error.result());
  return selected;
}

// False: there is no fast path for the types and the op.
bool scatter_typed(std::optional<Op> op, const Dims& selected, const Literal& source,
                   Literal& out) {
  if (out.type() != source.type()) return false;
  return visit_combiner(out.type(), op,
                        [&]<class T, Op o>(std::type_identity<T>, std::integral_constant<Op, o>) {
                          using W = typename Widened<T>::type;
                          auto to = out.mutable_data<T>();
                          for (size_t i = 0; i < selected.size(); ++i)
                            if (T* value = selected[i] < 0 ? nullptr : &to[selected[i]])
                              *value = T(combine<o, W>(W(*value), W(source.data<T>()[i])));
                        });
}

}  // namespace

Result<Literal> evaluate_SelectAndScatter(Call& call) {
  const auto& a = call.attributes<SelectAndScatterAttributes>();
  const Literal& source = call.operands[1];
  if (has_cut_operand(call))
    return evaluate_cut(call, evaluate_SelectAndScatter, std::array{sizes_of(call.operands[0])});
  Literal out = call.make();
  HILO_TRY(const LaneProgram program,
           LaneProgram::make(call, a.scatter, std::array{out.type(), source.type()},
                             std::array{out.type()}));
  HILO_TRY(const Dims selected, select_all(call, a));
  fill(out, converted(call, call.operands[2], out.type()));
  if (!scatter_typed(program.binary_op(), selected, source, out))
    HILO_DO(scatter_one_by_one(program, selected, source, out));
  return out;
}

}  // namespace hilo
