#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {
namespace {

// Which group an index of lhs belongs to. `sizes` has a row of sizes for each index of the batch
// and of the dimensions before the ragged one of its kind, or one row for all.
struct Groups {
  const Literal& sizes;
  int64_t ragged, extent;
  Dims before, before_sizes;  // dimensions of lhs

  Groups(const Literal& lhs, const Literal& sizes, const RaggedDotAttributes& a, const Dims& kin)
      : sizes(sizes), ragged(a.lhs_ragged_dims[0]), extent(lhs.shape().dims[ragged]) {
    before = a.lhs_batch_dims;
    before.insert(before.end(), kin.begin(), std::ranges::find(kin, ragged));
    if (sizes.shape().rank() == 1) before.clear();
    before_sizes = pick(lhs.shape().dims, before);
  }
  int64_t count() const { return sizes.shape().dims.back(); }
  // -1: of none.
  int64_t group_of(const Dims& index) const {
    const int64_t row = offset(pick(index, before), row_major_strides(before_sizes));
    int64_t end = 0;
    for (int64_t group = 0; group < count(); ++group) {
      end += std::clamp<int64_t>(sizes.integer_at(row * count() + group), 0, extent);
      if (index[ragged] < std::min(end, extent)) return group;
    }
    return -1;
  }
};

template <class T>
void ragged_dot_in(const Literal& lhs, const Literal& rhs, const Literal& sizes,
                   const RaggedDotAttributes& a, MatmulPrecision precision, Literal& out) {
  const std::vector<T> x = factors_of<T>(lhs, rhs, precision),
                       y = factors_of<T>(rhs, lhs, precision);
  const Dims of_x = row_major_strides(lhs.shape().dims), of_y = row_major_strides(rhs.shape().dims);
  const bool sums_groups = std::ranges::count(a.lhs_contracting_dims, a.lhs_ragged_dims[0]) > 0;
  const Dims rows = free_dims(lhs.shape().rank(), a.lhs_batch_dims, a.lhs_contracting_dims);
  Dims taken = a.rhs_batch_dims;
  if (!sums_groups) taken.push_back(a.rhs_group_dims[0]);
  const Dims columns = free_dims(rhs.shape().rank(), taken, a.rhs_contracting_dims);
  const Groups groups(lhs, sizes, a, sums_groups ? a.lhs_contracting_dims : rows);
  std::vector<T> sums;
  for_each_index(out.shape().dims, [&](const Dims& index) {
    Dims i(of_x.size()), j(of_y.size());
    size_t next = sums_groups ? 1 : 0;
    for (size_t d = 0; d < a.lhs_batch_dims.size(); ++d, ++next)
      i[a.lhs_batch_dims[d]] = j[a.rhs_batch_dims[d]] = index[next];
    for (int64_t row : rows) i[row] = index[next++];
    for (int64_t column : columns) j[column] = index[next++];
    T sum{};
    for_each_index(pick(lhs.shape().dims, a.lhs_contracting_dims), [&](const Dims& t) {
      for (size_t d = 0; d < t.size(); ++d)
        i[a.lhs_contracting_dims[d]] = j[a.rhs_contracting_dims[d]] = t[d];
      const int64_t group = groups.group_of(i);
      if (sums_groups ? group != index[0] : group < 0) return;
      if (!sums_groups) j[a.rhs_group_dims[0]] = group;
      sum += x[offset(i, of_x)] * y[offset(j, of_y)];
    });
    sums.push_back(sum);
  });
  store_values<T>(sums, out);
}

}  // namespace

void ragged_dot(const Literal& lhs, const Literal& rhs, const Literal& sizes,
                const RaggedDotAttributes& a, MatmulPrecision precision, Literal& out) {
  visit_sum({lhs.type(), rhs.type(), out.type()}, [&]<class T>(std::type_identity<T>) {
    ragged_dot_in<T>(lhs, rhs, sizes, a, precision, out);
  });
}

}  // namespace hilo::reference
