#include <bit>

#include "eval/reference/reference.h"
#include "eval/values.h"

namespace hilo::reference {
namespace {

double kept(double value, MatmulPrecision precision) {
  const float narrow = static_cast<float>(value);
  if (precision == MatmulPrecision::Bf16) return static_cast<float>(BF16(narrow));
  const uint32_t bits = std::bit_cast<uint32_t>(narrow);  // tf32 keeps 10 bits, ties to even
  const uint32_t tie = bits >> 13 & 1;
  return narrow != narrow ? narrow : std::bit_cast<float>((bits + 0xfff + tie) & ~0x1fffu);
}

template <class T>
void dot_in(const Literal& lhs, const Literal& rhs, const DotDims& dims, const Dims& contracted,
            MatmulPrecision precision, Literal& out) {
  const std::vector<T> a = factors_of<T>(lhs, rhs, precision),
                       b = factors_of<T>(rhs, lhs, precision);
  const Dims of_a = row_major_strides(lhs.shape().dims), of_b = row_major_strides(rhs.shape().dims);
  const Dims rows = free_dims(lhs.shape().rank(), dims.lhs_batch, dims.lhs_contracting);
  const Dims columns = free_dims(rhs.shape().rank(), dims.rhs_batch, dims.rhs_contracting);
  std::vector<T> sums;
  for_each_index(out.shape().dims, [&](const Dims& index) {
    Dims i(of_a.size()), j(of_b.size());
    size_t next = 0;
    for (size_t d = 0; d < dims.lhs_batch.size(); ++d, ++next)
      i[dims.lhs_batch[d]] = j[dims.rhs_batch[d]] = index[next];
    for (int64_t row : rows) i[row] = index[next++];
    for (int64_t column : columns) j[column] = index[next++];
    T sum{};
    for_each_index(contracted, [&](const Dims& t) {
      for (size_t d = 0; d < t.size(); ++d)
        i[dims.lhs_contracting[d]] = j[dims.rhs_contracting[d]] = t[d];
      sum += a[offset(i, of_a)] * b[offset(j, of_b)];
    });
    sums.push_back(sum);
  });
  store_values<T>(sums, out);
}

}  // namespace

template <class T>
std::vector<T> factors_of(const Literal& operand, const Literal& other, MatmulPrecision precision) {
  std::vector<T> out = values_of<T>(operand);
  const bool is_f64 = operand.type() == ElementType::F64 || other.type() == ElementType::F64;
  if constexpr (std::is_same_v<T, double>)
    if (precision != MatmulPrecision::F32 && !is_f64)
      for (T& value : out) value = kept(value, precision);
  return out;
}
template std::vector<double> factors_of(const Literal&, const Literal&, MatmulPrecision);
template std::vector<uint64_t> factors_of(const Literal&, const Literal&, MatmulPrecision);
template std::vector<std::complex<double>> factors_of(const Literal&, const Literal&,
                                                      MatmulPrecision);

void dot(const Literal& lhs, const Literal& rhs, const DotDims& dims, const Dims& contracted,
         MatmulPrecision precision, Literal& out) {
  visit_sum({lhs.type(), rhs.type(), out.type()}, [&]<class T>(std::type_identity<T>) {
    dot_in<T>(lhs, rhs, dims, contracted, precision, out);
  });
}

}  // namespace hilo::reference
