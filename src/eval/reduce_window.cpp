// reduce-window: each output combines the initial value with the elements of its window, in
// row-major order; elements on padding do not take part. Where windows along one dimension hold
// everything from a place on, an unknown computation takes them from the end, so that one window's
// value is a step of the next one's.
#include <cstring>
#include <mutex>

#include "eval/convert.h"
#include "eval/dynamic_sizes.h"
#include "eval/lanes.h"
#include "eval/sliding_window.h"
#include "eval/window_positions.h"

namespace hilo {
namespace {

bool is_dilated(const Window& window) {
  return std::ranges::any_of(window.dims, [](const WindowDim& w) {
    return w.base_dilation != 1 || w.window_dilation != 1;
  });
}

// Marks outputs whose window is empty in this dimension.
void mark_empty(const Slide& s, std::vector<bool>& empty) {
  for (int64_t i = 0; i < static_cast<int64_t>(empty.size()); ++i) {
    const auto [begin, end] = window_range(s, i / s.inner % s.outputs);
    if (begin >= end) empty[i] = true;
  }
}

template <Op op, class T>
void reduce_sliding(const Call& call, const Window& window, const Literal& in, const Literal& init,
                    Literal& out) {
  using W = typename Widened<T>::type;
  const auto given = in.data<T>();
  std::vector<W> values(given.begin(), given.end()), next;
  Dims dims = in.shape().dims;
  const Dims& out_dims = out.shape().dims;
  std::vector<bool> empty(out.count(), false);
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim w = d < window.dims.size() ? window.dims[d] : WindowDim{};
    if (w == WindowDim{}) continue;
    const Dims after(dims.begin() + d + 1, dims.end()), before(dims.begin(), dims.begin() + d);
    const Slide s{element_count(before), dims[d], element_count(after), out_dims[d], w};
    next.assign(s.outer * s.outputs * s.inner, W());
    slide<op>(call, s, values.data(), next.data());
    values.swap(next);
    dims[d] = out_dims[d];
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim w = d < window.dims.size() ? window.dims[d] : WindowDim{};
    const Dims after(out_dims.begin() + d + 1, out_dims.end());
    mark_empty({1, in.shape().dims[d], element_count(after), out_dims[d], w}, empty);
  }
  auto to = out.mutable_data<T>();
  const W first(init.data<T>()[0]);
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = T(empty[i] ? first : combine<op, W>(first, values[i]));
}

// The dimension along which windows hold everything from their place on, where no other has
// windows.
std::optional<size_t> find_running_from_end(const Window& window, const Dims& in, const Dims& out) {
  std::optional<size_t> found;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    if (w == WindowDim{}) continue;
    const bool runs = w.stride == 1 && w.window_dilation == 1 && w.base_dilation == 1 &&
                      w.padding_low == 0 && w.size >= in[d] &&
                      (out[d] == in[d] || out[d] == in[d] + 1);
    if (found || !runs) return std::nullopt;
    found = d;
  }
  return found;
}

struct Reduction {  // of any number of arrays by any computation
  LaneProgram program;
  std::vector<Literal> inputs, inits;  // initial values have the outputs' types
  const WindowPositions& positions;
  std::span<const int64_t> out_dims;
  std::vector<std::byte*> outputs;
  std::optional<size_t> from_end;

  Result<void> run(int64_t begin, int64_t end) const;
};

// Elements `at` of each input, packed behind the running values of the lanes that have one.
struct Lanes {
  std::vector<std::vector<std::byte>> buffers;  // running values, then elements
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  Lanes(const Reduction& r, int64_t n) {
    for (ElementType type : element_types(r.inits, r.inputs))
      buffers.emplace_back(n * storage_bytes(type));
    for (size_t i = 0; i < buffers.size(); ++i) {
      inputs.push_back(buffers[i].data());
      if (i < r.inits.size()) outputs.push_back(buffers[i].data());
    }
  }
};

Result<void> Reduction::run(int64_t begin, int64_t end) const {
  const int64_t n = end - begin, rank = out_dims.size(), count = inputs.size();
  const Dims indices = output_indices(out_dims, begin, end);
  Lanes lanes(*this, n);
  for (int64_t o = 0; o < count; ++o)
    for (int64_t i = 0, b = storage_bytes(inits[o].type()); i < n; ++i)
      std::memcpy(outputs[o] + (begin + i) * b, inits[o].raw().data(), b);
  const Dims& sizes = positions.window_sizes();
  Dims window(rank, 0), lane, at, place;
  if (element_count(sizes) == 0) return {};
  do {
    lane.clear(), at.clear();
    place = window;
    if (from_end) place[*from_end] = sizes[*from_end] - 1 - window[*from_end];
    for (int64_t i = 0; i < n; ++i) {
      const int64_t position = positions.position(indices.data() + i * rank, place.data());
      if (position >= 0) lane.push_back(begin + i), at.push_back(position);
    }
    const int64_t active = lane.size();
    for (int64_t o = 0; o < count; ++o)
      for (int64_t i = 0; i < active; ++i) {
        const int64_t b = storage_bytes(inits[o].type()), from = storage_bytes(inputs[o].type());
        std::memcpy(lanes.buffers[o].data() + i * b, outputs[o] + lane[i] * b, b);
        std::memcpy(lanes.buffers[count + o].data() + i * from,
                    inputs[o].raw().data() + at[i] * from, from);
      }
    if (active) HILO_DO(program.run(lanes.inputs, lanes.outputs, active));
    for (int64_t o = 0; o < count; ++o)
      for (int64_t i = 0, b = storage_bytes(inits[o].type()); i < active; ++i)
        std::memcpy(outputs[o] + lane[i] * b, lanes.buffers[o].data() + i * b, b);
  } while (next_index(window, sizes));
  return {};
}

Result<void> reduce_any(const Call& call, const LaneProgram& program, const Window& window,
                        std::span<Literal> outs) {
  const size_t count = outs.size();
  const WindowPositions positions(window, call.operands[0].shape().dims, outs[0].shape().dims);
  const auto operands = call.operands.first(count);
  Reduction reduction{
      program,
      {operands.begin(), operands.end()},
      {},
      positions,
      outs[0].shape().dims,
      {},
      find_running_from_end(window, call.operands[0].shape().dims, outs[0].shape().dims)};
  for (size_t o = 0; o < count; ++o)
    reduction.inits.push_back(converted(call, call.operands[count + o], outs[o].type()));
  for (Literal& out : outs) reduction.outputs.push_back(out.mutable_raw().data());
  std::mutex mutex;
  Result<void> done;
  call.parallel(outs[0].count(), window_block, [&](int64_t begin, int64_t end) {
    auto part = reduction.run(begin, end);
    const std::lock_guard lock(mutex);
    if (!part && done) done = std::move(part);
  });
  return done;
}

// Held in the wide type and rounded at the end.
Result<void> reduce_wide(Call& call, const Combiner& combiner, ElementType wide,
                         const Window& window, Literal& out) {
  const ElementType element = call.held(combiner.element);
  for (Literal& operand : call.operands) operand = converted(call, operand, element);
  HILO_TRY(const LaneProgram program, LaneProgram::make(call, combiner, element));
  Shape shape = out.shape();
  shape.type = wide;
  Literal combined = call.make_held(shape);
  HILO_DO(reduce_any(call, program, window, std::span(&combined, 1)));
  out = converted(call, converted(call, combined, element), out.type());
  return {};
}

}  // namespace

Result<Literal> evaluate_ReduceWindow(Call& call) {
  const auto& a = call.attributes<ReduceWindowAttributes>();
  if (has_cut_operand(call)) {
    Dims sizes = sizes_of(call.operands[0]);
    for (size_t d = 0; d < sizes.size(); ++d)
      sizes[d] = count_window_positions(d < a.window.dims.size() ? a.window.dims[d] : WindowDim{},
                                        sizes[d]);
    return evaluate_cut(call, evaluate_ReduceWindow,
                        std::vector<Dims>(call.operands.size() / 2, sizes));
  }
  Literal out = call.make();
  const std::span<Literal> outs =
      out.shape().is_tuple() ? std::span(out.mutable_elements()) : std::span(&out, 1);
  const auto inputs = call.operands.first(outs.size());
  HILO_TRY(const LaneProgram program,
           LaneProgram::make(call, a.to_apply, element_types(outs, inputs), element_types(outs)));
  const Literal &in = call.operands[0], &init = call.operands[outs.size()];
  const bool is_simple = call.operands.size() == 2 && !is_dilated(a.window) &&
                         !out.shape().is_tuple() && in.type() == init.type() &&
                         in.type() == out.type();
  const bool done =
      is_simple &&
      visit_combiner(in.type(), program.binary_op(),
                     [&]<class T, Op op>(std::type_identity<T>, std::integral_constant<Op, op>) {
                       reduce_sliding<op, T>(call, a.window, in, init, out);
                     });
  if (done) return out;
  const std::optional<Combiner> combiner = find_combiner(call.module, a.to_apply);
  const auto wide = wide_type(call, combiner, in.type());
  const bool is_wide = wide && !out.shape().is_tuple();
  HILO_DO(is_wide ? reduce_wide(call, *combiner, *wide, a.window, out)
                  : reduce_any(call, program, a.window, outs));
  return out;
}

}  // namespace hilo
