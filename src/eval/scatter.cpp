// scatter: updates[.., window] is combined into operand[index + window] for each index vector, in
// row-major order of the index vectors. A window that does not lie wholly inside is skipped.
#include <algorithm>

#include "eval/combine.h"
#include "eval/index_vectors.h"
#include "eval/lanes.h"
#include "eval/positions.h"
#include "eval/storage.h"

namespace hilo {
namespace {

struct Windows {
  Dims array, update;        // positions inside one window
  Dims array_at, update_at;  // of each window that lies inside, in order
};

Windows find_windows(const ScatterAttributes& a, const Literal& array, const Literal& indices,
                     const Literal& update) {
  const Dims& dims = array.shape().dims;
  const Dims& update_dims = update.shape().dims;
  Dims hidden = a.inserted_window_dims;
  hidden.insert(hidden.end(), a.input_batching_dims.begin(), a.input_batching_dims.end());
  const int64_t rank = dims.size();
  const Dims window = other_dims(rank, hidden), strides = row_major_strides(dims);
  const Dims update_strides = row_major_strides(update_dims);
  const Dims batch = other_dims(update_dims.size(), a.update_window_dims);
  const Dims sizes = pick(update_dims, a.update_window_dims);
  Windows out{positions(sizes, pick(strides, window)),
              positions(sizes, pick(update_strides, a.update_window_dims)),
              {},
              {}};
  Dims extent(rank, 1);
  for (size_t w = 0; w < window.size(); ++w) extent[window[w]] = sizes[w];
  const IndexVectors vectors{indices, a.index_vector_dim, a.scatter_dims_to_operand_dims,
                             a.input_batching_dims, a.scatter_indices_batching_dims};
  const Dims starts = vectors.starts(rank);
  const Dims targets = positions(pick(update_dims, batch), pick(update_strides, batch));
  for (size_t row = 0; row < targets.size(); ++row) {
    bool is_inside = true;
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t start = starts[row * rank + d];
      is_inside &= start >= 0 && start <= array.size(d) - extent[d];
      at += is_inside ? start * strides[d] : 0;
    }
    if (is_inside) out.array_at.push_back(at), out.update_at.push_back(targets[row]);
  }
  return out;
}

template <class T, class Combine>
void scatter_typed(const Windows& w, Literal& array, const Literal& update, Combine combine) {
  T* to = array.mutable_data<T>().data();
  const T* from = update.data<T>().data();
  for (size_t row = 0; row < w.array_at.size(); ++row)
    for (size_t i = 0; i < w.array.size(); ++i) {
      T& value = to[w.array_at[row] + w.array[i]];
      value = combine(value, from[w.update_at[row] + w.update[i]]);
    }
}

void move_bytes(const std::byte* from, int64_t from_at, std::byte* to, int64_t to_at,
                int64_t bytes) {
  std::copy_n(from + from_at * bytes, bytes, to + to_at * bytes);
}

// One call for each window: its elements are different, so they are lanes.
Result<void> scatter_lanes(const Windows& w, const LaneProgram& program,
                           std::vector<Literal>& arrays, std::span<const Literal> updates) {
  const int64_t n = w.array.size();
  const size_t count = arrays.size();
  const auto bytes_of = [](const Literal& array) { return storage_bytes(array.type()); };
  std::vector<std::vector<std::byte>> buffers(2 * count);
  std::vector<const void*> inputs(2 * count);
  std::vector<void*> outputs(count);
  for (size_t i = 0; i < 2 * count; ++i) {
    buffers[i].resize(n * bytes_of(i < count ? arrays[i] : updates[i - count]));
    inputs[i] = buffers[i].data();
    if (i < count) outputs[i] = buffers[i].data();
  }
  for (size_t row = 0; row < w.array_at.size(); ++row) {
    for (size_t o = 0; o < count; ++o)
      for (int64_t i = 0; i < n; ++i) {
        move_bytes(arrays[o].raw().data(), w.array_at[row] + w.array[i], buffers[o].data(), i,
                   bytes_of(arrays[o]));
        move_bytes(updates[o].raw().data(), w.update_at[row] + w.update[i],
                   buffers[count + o].data(), i, bytes_of(updates[o]));
      }
    HILO_DO(program.run(inputs, outputs, n));
    for (size_t o = 0; o < count; ++o)
      for (int64_t i = 0; i < n; ++i)
        move_bytes(buffers[o].data(), i, arrays[o].mutable_raw().data(),
                   w.array_at[row] + w.array[i], bytes_of(arrays[o]));
  }
  return {};
}

// Whether the computation gives its second parameter: the update replaces the value.
bool is_assignment(const Module& module, ComputationId computation) {
  const Instruction& root = module[module[computation].root];
  return root.op == Op::Parameter && module.attributes<ParameterAttributes>(root).number == 1;
}

void assign(const Windows& w, Literal& array, const Literal& update) {
  const auto runs = copy_runs(w.update, w.array);
  const int64_t bytes = storage_bytes(array.type());
  std::byte* to = array.mutable_raw().data();
  const std::byte* from = update.raw().data();
  for (size_t row = 0; row < w.array_at.size(); ++row)
    for (const CopyRun& run : runs)
      std::copy_n(from + (w.update_at[row] + run.from) * bytes, run.count * bytes,
                  to + (w.array_at[row] + run.to) * bytes);
}

}  // namespace

Result<Literal> evaluate_Scatter(Call& call) {
  const auto& a = call.attributes<ScatterAttributes>();
  const size_t count = call.operands.size() / 2;
  const Literal& indices = call.operands[count];
  const auto updates = call.operands.subspan(count + 1);
  std::vector<Literal> arrays;
  for (size_t i = 0; i < count; ++i) arrays.push_back(writable(call, std::move(call.operands[i])));
  const Windows windows = find_windows(a, arrays[0], indices, updates[0]);
  HILO_TRY(
      const LaneProgram program,
      LaneProgram::make(call, a.to_apply, element_types(arrays, updates), element_types(arrays)));
  const bool is_simple = count == 1 && arrays[0].type() == updates[0].type();
  if (is_simple && is_assignment(call.module, a.to_apply)) assign(windows, arrays[0], updates[0]);
  else if (!is_simple ||
           !visit_combiner(
               arrays[0].type(), program.binary_op(),
               [&]<class T, Op op>(std::type_identity<T>, std::integral_constant<Op, op>) {
                 using W = typename Widened<T>::type;
                 scatter_typed<T>(windows, arrays[0], updates[0],
                                  [](T x, T y) { return T(combine<op, W>(W(x), W(y))); });
               }))
    HILO_DO(scatter_lanes(windows, program, arrays, updates));
  return call.shape().is_tuple() ? Literal::tuple(std::move(arrays)) : std::move(arrays[0]);
}

}  // namespace hilo
