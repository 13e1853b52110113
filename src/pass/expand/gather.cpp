// Gathers and scatters in one form: one dimension that counts index vectors, in front; index
// vectors along the last dimension of the indices; windows of the operand's rank.
//   gather(x, i)     => transpose(reshape(gather(x, [n,k] of i) of [n, window…]))
//   scatter(x, i, u) => scatter(x, [n,k] of i, [n, window…] of u)
//   gather(x, [1,k]) => reshape(dynamic-slice(x, …))
// A gather clamps as dynamic-slice does; a scatter leaves out what does not fit, and stays one.
// Assumes nothing; those with batching dimensions stay. Later passes may assume that form. Late,
// because algebra takes transposes apart that stand alone.
#include <algorithm>
#include <numeric>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

bool contains(const Dims& dims, int64_t dim) { return std::ranges::find(dims, dim) != dims.end(); }

Dims counted(int64_t count, int64_t first = 0) {
  Dims out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), first);
  return out;
}

// Index vectors as rows of [n, k], and the dimensions that n stands for.
struct Vectors {
  Term rows;
  Dims batch;
};

Vectors vectors_of(Formula& f, Term indices, int64_t index_vector_dim, int64_t length) {
  const Shape shape = indices.shape();
  Dims order, batch;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (i != index_vector_dim) order.push_back(i), batch.push_back(shape.dims[i]);
  if (index_vector_dim < shape.rank()) order.push_back(index_vector_dim);
  const Term rows = f.transpose(indices, order);
  return {f.reshape(rows, {element_count(batch), length}), batch};
}

// The window of index vector 0, where there is only that.
Term slice_at(Formula& f, Term x, Term rows, const GatherAttributes& a) {
  std::vector<InstructionId> operands(x.shape().dims.size() + 1);
  const ElementType type = rows.shape().type;
  for (InstructionId& operand : operands) operand = f.number(Shape::scalar(type), 0).value;
  operands[0] = x.value;
  for (size_t i = 0; i < a.start_index_map.size(); ++i) {
    const int64_t k = static_cast<int64_t>(i);
    operands[1 + a.start_index_map[i]] =
        f.reshape(f.slice(rows, {{0, 1, 1}, {k, k + 1, 1}}), {}).value;
  }
  return f.term(f.editor().add_inferred(f.root(), Op::DynamicSlice, operands,
                                        DynamicSliceAttributes{a.slice_sizes}));
}

bool is_in_form(const GatherAttributes& a, const Shape& indices) {
  const int64_t rank = static_cast<int64_t>(a.slice_sizes.size());
  return indices.rank() == 2 && a.index_vector_dim == 1 && indices.dims[0] != 1 &&
         a.collapsed_slice_dims.empty() && a.offset_dims == counted(rank, 1);
}

Term expand_gather(Formula& f) {
  const GatherAttributes a = f.module().attributes<GatherAttributes>(f.root());
  const Term x = f.operand(0), indices = f.operand(1);
  const Shape result = f.module().shape(f.root());
  if (!a.operand_batching_dims.empty() || is_in_form(a, indices.shape()) ||
      element_count(result) == 0)
    return {};
  const int64_t length = static_cast<int64_t>(a.start_index_map.size());
  const Vectors vectors = vectors_of(f, indices, a.index_vector_dim, length);
  Term windows = {};
  if (vectors.rows.shape().dims[0] == 1) {
    windows = slice_at(f, x, vectors.rows, a);
  } else {
    GatherAttributes form = a;
    form.offset_dims = counted(x.shape().rank(), 1);
    form.collapsed_slice_dims.clear();
    form.index_vector_dim = 1;
    windows = f.term(f.editor().add_inferred(
        f.root(), Op::Gather, std::array{x.value, vectors.rows.value}, std::move(form)));
  }
  // [batch…, offsets…], of which the result takes its dimensions in their order.
  Dims dims = vectors.batch, order(static_cast<size_t>(result.rank()));
  int64_t batch = 0, offset = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < x.shape().rank(); ++i)
    if (!contains(a.collapsed_slice_dims, i)) dims.push_back(a.slice_sizes[i]);
  for (int64_t i = 0; i < result.rank(); ++i)
    order[i] = contains(a.offset_dims, i) ? offset++ : batch++;
  return f.transpose(f.reshape(windows, dims), order);
}

bool is_in_form(const ScatterAttributes& a, const Shape& indices, int64_t rank) {
  return indices.rank() == 2 && a.index_vector_dim == 1 && a.inserted_window_dims.empty() &&
         a.update_window_dims == counted(rank, 1);
}

// [n, window…] of the updates, with dimensions of size 1 where windows have none.
Term windows_of(Formula& f, Term updates, const Dims& operand, const ScatterAttributes& a,
                int64_t count) {
  Dims order, dims = {count};
  for (int64_t i = 0; i < updates.shape().rank(); ++i)
    if (!contains(a.update_window_dims, i)) order.push_back(i);
  order.insert(order.end(), a.update_window_dims.begin(), a.update_window_dims.end());
  for (size_t i = 0, next = 0; i < operand.size(); ++i) {
    const bool inserted = contains(a.inserted_window_dims, static_cast<int64_t>(i));
    dims.push_back(inserted ? 1 : updates.shape().dims[a.update_window_dims[next++]]);
  }
  return f.reshape(f.transpose(updates, order), dims);
}

Term expand_scatter(Formula& f) {
  const ScatterAttributes a = f.module().attributes<ScatterAttributes>(f.root());
  if (f.module()[f.root()].operand_count != 3) return {};
  const Term x = f.operand(0), indices = f.operand(1), updates = f.operand(2);
  const int64_t rank = x.shape().rank();
  if (!a.input_batching_dims.empty() || is_in_form(a, indices.shape(), rank) ||
      element_count(updates.shape()) == 0)
    return {};
  const int64_t length = static_cast<int64_t>(a.scatter_dims_to_operand_dims.size());
  const Vectors vectors = vectors_of(f, indices, a.index_vector_dim, length);
  const Term windows = windows_of(f, updates, x.shape().dims, a, vectors.rows.shape().dims[0]);
  ScatterAttributes form = a;
  form.update_window_dims = counted(rank, 1);
  form.inserted_window_dims.clear();
  form.index_vector_dim = 1;
  return f.term(f.editor().add_inferred(f.root(), Op::Scatter,
                                        std::array{x.value, vectors.rows.value, windows.value},
                                        std::move(form)));
}

}  // namespace

Result<bool> simplify_gathers(Module& module, const PassOptions&) {
  Editor editor(module);
  const bool changed = expand(editor, Op::Gather, expand_gather);
  return expand(editor, Op::Scatter, expand_scatter) || changed;
}

}  // namespace hilo
