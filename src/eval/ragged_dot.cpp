// ragged-dot: a dot where groups of consecutive indices of one lhs dimension, g of them with the
// sizes in operand 2, meet different matrices. `sizes` is [g], or [batch..., outer..., g] where
// `outer` are the dimensions before the ragged one of its kind (free or contracting).
// Definition: jax.lax.ragged_dot_general.
#include <algorithm>

#include "eval/dot.h"
#include "eval/reference/reference.h"

namespace hilo {
namespace {

struct Axes {  // of one array: sizes and strides of some of its dimensions
  Dims sizes, strides;
  void add(int64_t size, int64_t stride) { sizes.push_back(size), strides.push_back(stride); }
  Dims positions() const { return hilo::positions(sizes, strides); }
};
Axes axes(const Shape& shape, std::span<const int64_t> dims) {
  const Dims strides = row_major_strides(shape.dims);
  Axes out;
  for (int64_t dim : dims) out.add(shape.dims[dim], strides[dim]);
  return out;
}
void append(Dims& all, const Dims& more) { all.insert(all.end(), more.begin(), more.end()); }
Dims shifted(Dims positions, int64_t by) {
  for (int64_t& position : positions) position += by;
  return positions;
}

struct Ragged {
  const Literal &lhs, &rhs, &sizes;
  const RaggedDotAttributes& attributes;
  int64_t ragged = attributes.lhs_ragged_dims[0];
  int64_t groups = sizes.shape().dims.back();
  int64_t extent = lhs.shape().dims[ragged];

  // First and end index of a group; `prefix` counts over the batch and outer dimensions.
  std::pair<int64_t, int64_t> range(int64_t prefix, int64_t group) const {
    const int64_t row = sizes.shape().rank() == 1 ? 0 : prefix * groups;
    int64_t begin = 0;
    for (int64_t g = 0; g < group; ++g) begin = std::min(extent, begin + size(row + g));
    return {begin, std::min(extent, begin + size(row + group))};
  }
  int64_t size(int64_t at) const { return std::clamp<int64_t>(sizes.integer_at(at), 0, extent); }
};

// The dimensions before and after the ragged one in a list.
std::pair<Dims, Dims> split(const Dims& dims, int64_t ragged) {
  const auto at = std::ranges::find(dims, ragged);
  return {Dims(dims.begin(), at), Dims(at + 1, dims.end())};
}

// [b, m, k] x [g, b, k, n] -> [b, m, n]; rows of no group are zero.
void free_mode(const Ragged& r, Literal& out, const Call& call) {
  const auto& a = r.attributes;
  const Dims lhs_free = free_dims(r.lhs.shape().rank(), a.lhs_batch_dims, a.lhs_contracting_dims);
  const auto [outer, after] = split(lhs_free, r.ragged);
  Dims rhs_taken = a.rhs_batch_dims;
  append(rhs_taken, a.rhs_group_dims);
  const Dims rhs_free = free_dims(r.rhs.shape().rank(), rhs_taken, a.rhs_contracting_dims);
  const Dims batch = axes(r.lhs.shape(), a.lhs_batch_dims).positions();
  const Dims rhs_batch = axes(r.rhs.shape(), a.rhs_batch_dims).positions();
  const Dims outers = axes(r.lhs.shape(), outer).positions();
  const int64_t lhs_step = row_major_strides(r.lhs.shape().dims)[r.ragged];
  const int64_t rhs_step = row_major_strides(r.rhs.shape().dims)[a.rhs_group_dims[0]];
  const Axes inside = axes(r.lhs.shape(), after);
  const int64_t block = element_count(inside.sizes);
  const Dims columns = axes(r.rhs.shape(), rhs_free).positions();
  const int64_t n = columns.size(), row_block = block * n;
  std::ranges::fill(out.mutable_raw(), std::byte{0});
  for (size_t prefix = 0; prefix < batch.size() * outers.size(); ++prefix)
    for (int64_t g = 0; g < r.groups; ++g) {
      const size_t b = prefix / outers.size(), x = prefix % outers.size();
      const auto [begin, end] = r.range(prefix, g);
      Axes rows = inside, out_rows;
      rows.sizes.insert(rows.sizes.begin(), end - begin);
      rows.strides.insert(rows.strides.begin(), lhs_step);
      out_rows.add((end - begin) * block, n);
      const int64_t from = batch[b] + outers[x] + begin * lhs_step;
      const int64_t to = (static_cast<int64_t>(prefix) * r.extent + begin) * row_block;
      matmul({{r.lhs.raw().data(),
               r.lhs.type(),
               {from},
               rows.positions(),
               axes(r.lhs.shape(), a.lhs_contracting_dims).positions()},
              {r.rhs.raw().data(),
               r.rhs.type(),
               {rhs_batch[b] + g * rhs_step},
               columns,
               axes(r.rhs.shape(), a.rhs_contracting_dims).positions()},
              {out.mutable_raw().data(),
               out.type(),
               {to},
               out_rows.positions(),
               positions(Dims{n}, Dims{1})},
              call.options().matmul_precision},
             call.in_chunks());
    }
}

// Positions of the summed indices of one group: its range for each index of the outer dimensions.
Dims summed(const Ragged& r, const Shape& shape, const Dims& contracting, size_t place,
            int64_t batch, int64_t group) {
  const Dims outer(contracting.begin(), contracting.begin() + place);
  const Dims after(contracting.begin() + place + 1, contracting.end());
  const int64_t step = row_major_strides(shape.dims)[contracting[place]];
  const Dims outers = axes(shape, outer).positions();
  Dims out;
  for (size_t x = 0; x < outers.size(); ++x) {
    const auto [begin, end] = r.range(batch * outers.size() + x, group);
    Axes inside = axes(shape, after);
    inside.sizes.insert(inside.sizes.begin(), end - begin);
    inside.strides.insert(inside.strides.begin(), step);
    append(out, shifted(inside.positions(), outers[x] + begin * step));
  }
  return out;
}

// [b, m, k] x [b, k, n] -> [g, b, m, n].
void contracting_mode(const Ragged& r, Literal& out, const Call& call) {
  const auto& a = r.attributes;
  const Dims rows =
      axes(r.lhs.shape(), free_dims(r.lhs.shape().rank(), a.lhs_batch_dims, a.lhs_contracting_dims))
          .positions();
  const Dims columns =
      axes(r.rhs.shape(), free_dims(r.rhs.shape().rank(), a.rhs_batch_dims, a.rhs_contracting_dims))
          .positions();
  const Dims lhs_batch = axes(r.lhs.shape(), a.lhs_batch_dims).positions();
  const Dims rhs_batch = axes(r.rhs.shape(), a.rhs_batch_dims).positions();
  const size_t place =
      std::ranges::find(a.lhs_contracting_dims, r.ragged) - a.lhs_contracting_dims.begin();
  const int64_t m = rows.size(), n = columns.size(), batches = lhs_batch.size();
  for (int64_t g = 0; g < r.groups; ++g)
    for (int64_t b = 0; b < batches; ++b)
      matmul({{r.lhs.raw().data(),
               r.lhs.type(),
               {lhs_batch[b]},
               rows,
               summed(r, r.lhs.shape(), a.lhs_contracting_dims, place, b, g)},
              {r.rhs.raw().data(),
               r.rhs.type(),
               {rhs_batch[b]},
               columns,
               summed(r, r.rhs.shape(), a.rhs_contracting_dims, place, b, g)},
              {out.mutable_raw().data(),
               out.type(),
               {(g * batches + b) * m * n},
               positions(Dims{m}, Dims{n}),
               positions(Dims{n}, Dims{1})},
              call.options().matmul_precision},
             call.in_chunks());
}

}  // namespace

Result<Literal> evaluate_RaggedDot(Call& call) {
  const auto& attributes = call.attributes<RaggedDotAttributes>();
  if (attributes.lhs_ragged_dims.size() != 1 || call.operands[2].shape().rank() == 0)
    return call.error(ErrorKind::Shape, "ragged-dot needs one ragged dimension and group sizes");
  const Ragged ragged{call.operands[0], call.operands[1], call.operands[2], attributes};
  Literal out = call.make();
  const MatmulPrecision precision = call.options().matmul_precision;
  if (std::ranges::count(attributes.lhs_batch_dims, ragged.ragged)) {
    dot(ragged.lhs, ragged.rhs, dot_dims(attributes), out, precision, call);
    return out;
  }
  const bool sums_groups = std::ranges::count(attributes.lhs_contracting_dims, ragged.ragged) > 0;
  if (!sums_groups && attributes.rhs_group_dims.size() != 1)
    return call.error(ErrorKind::Shape,
                      "ragged-dot with a free ragged dimension needs one group "
                      "dimension of its right operand");
  if (call.is_reference())
    reference::ragged_dot(ragged.lhs, ragged.rhs, ragged.sizes, attributes, precision, out);
  else if (sums_groups) contracting_mode(ragged, out, call);
  else free_mode(ragged, out, call);
  return out;
}

}  // namespace hilo
