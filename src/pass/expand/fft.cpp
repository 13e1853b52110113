// Fourier transforms as matrix products.
//   X[k1 + p k2] = Σ_b w(n)^(b k1) (Σ_a x[q a + b] w(p)^(a k1)) w(q)^(b k2), n = p q
// a product with the p×p matrix of roots, factors, and a transform of q elements; with w(n) =
// exp(∓2πi/n). Formula: Cooley and Tukey 1965. Real transforms are complex ones of which half is
// kept, or made. Lengths with a prime factor above 256, or above 65536, stay. Assumes nothing.
// Later passes may assume that only those are left. Where a back end has no function of that name.
#include <cmath>
#include <numbers>

#include "pass/expand/formula.h"

namespace hilo {
namespace {

constexpr int64_t longest_product = 32, largest_prime = 256, max_elements = 65536;

int64_t first_factor(int64_t n) {
  for (int64_t factor = longest_product; factor > 1; --factor)
    if (n % factor == 0) return factor;
  for (int64_t factor = 2; factor * factor <= n; ++factor)
    if (n % factor == 0) return factor;
  return n;
}

bool has_small_factors(int64_t n) {
  if (n > max_elements) return false;
  while (n > 1) {
    const int64_t factor = first_factor(n);
    if (factor > largest_prime) return false;
    n /= factor;
  }
  return n == 1;
}

// sign: -1 forwards, 1 backwards.
class Transform {
 public:
  Transform(Formula& f, ElementType type, int sign) : f_(f), type_(type), sign_(sign) {}

  // Over the last dimension.
  Term run(Term x) const {
    const Dims dims = x.shape().dims;
    const int64_t n = dims.back(), p = first_factor(n), q = n / p;
    const int64_t rank = x.shape().rank();
    if (q == 1) return multiply(x, rank - 1, roots(n, n, n));
    Dims apart(dims.begin(), dims.end() - 1);
    apart.push_back(p), apart.push_back(q);
    // [..., b, k1]
    const Term inner = multiply(f_.reshape(x, apart), rank - 1, roots(p, p, p));
    const Term factors = f_.broadcast(roots(n, q, p), inner.shape().dims, {rank - 1, rank});
    Dims order(apart.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::swap(order[rank - 1], order[rank]);
    const Term outer = run(f_.transpose(inner * factors, order));  // [..., k1, k2]
    return f_.reshape(f_.transpose(outer, order), dims);
  }

 private:
  // w(n)^(i j) for i below `rows`, j below `columns`.
  Term roots(int64_t n, int64_t rows, int64_t columns) const {
    Literal out = Literal::uninitialized(Shape::array(type_, {rows, columns}));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const double turn = 2 * std::numbers::pi * static_cast<double>(i * j % n) / n;
        const std::complex<double> root(std::cos(turn), sign_ * std::sin(turn));
        if (type_ == ElementType::C64)
          out.mutable_data<std::complex<float>>()[i * columns + j] = std::complex<float>(root);
        else out.mutable_data<std::complex<double>>()[i * columns + j] = root;
      }
    return f_.term(f_.editor().add_constant(f_.root(), std::move(out)));
  }

  // Sums over dimension `dim` with the matrix; the new dimension comes last.
  Term multiply(Term x, int64_t dim, Term matrix) const {
    return f_.dot(x, matrix, DotAttributes{{}, {dim}, {}, {0}}, type_);
  }

  Formula& f_;
  ElementType type_;
  int sign_;
};

Term swap_last(Formula& f, Term x, int64_t dim) {
  Dims order(x.shape().dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[dim], order.back());
  return f.transpose(x, order);
}

std::vector<SliceDim> last_between(Term x, int64_t begin, int64_t end) {
  std::vector<SliceDim> out;
  for (int64_t dim : x.shape().dims) out.push_back({0, dim, 1});
  out.back() = {begin, end, 1};
  return out;
}

// The whole spectrum of a real signal of n elements from its first half.
Term mirrored(Formula& f, Term x, int64_t n) {
  const int64_t last = x.shape().rank() - 1;
  const Term half = f.slice(x, last_between(x, 0, n / 2 + 1));
  if (n < 3) return half;
  const Term middle = f.slice(x, last_between(x, 1, (n + 1) / 2));
  const Term back = f.term(f.editor().add_inferred(f.root(), Op::Reverse, std::array{middle.value},
                                                   DimensionsAttributes{{last}}));
  const Term conjugate = f.apply(Op::Complex, f.apply(Op::Real, back), -f.apply(Op::Imag, back));
  return f.term(f.editor().add_inferred(f.root(), Op::Concatenate,
                                        std::array{half.value, conjugate.value},
                                        DimensionsAttributes{{last}}));
}

Term expand_transform(Formula& f) {
  const FftAttributes a = f.module().attributes<FftAttributes>(f.root());
  Term x = f.operand(0);
  const int64_t count = static_cast<int64_t>(a.fft_length.size());
  double elements = 1;
  for (int64_t n : a.fft_length) {
    if (n == 0 || !has_small_factors(n)) return {};
    elements *= static_cast<double>(n);
  }
  if (element_count(x.shape()) == 0) return {};
  const bool is_inverse = a.fft_type == FftType::Ifft || a.fft_type == FftType::Irfft;
  const bool is_real = a.fft_type == FftType::Rfft;
  const ElementType type = is_real ? complex_type_of(x.shape().type) : x.shape().type;
  if (is_real) x = f.apply(Op::Complex, x, x * 0.0);
  const Transform transform(f, type, is_inverse ? 1 : -1);
  const int64_t last = x.shape().rank() - 1;
  // The halved dimension is first in one direction and last in the other.
  for (int64_t i = 0; i < count; ++i) {
    const int64_t dim = is_inverse ? last + 1 - count + i : last - i;
    if (dim == last && a.fft_type == FftType::Irfft) x = mirrored(f, x, a.fft_length.back());
    x = swap_last(f, transform.run(swap_last(f, x, dim)), dim);
    if (dim == last && is_real) x = f.slice(x, last_between(x, 0, a.fft_length.back() / 2 + 1));
  }
  if (a.fft_type == FftType::Irfft) x = f.apply(Op::Real, x);
  return is_inverse ? x * (1 / elements) : x;
}

}  // namespace

Result<bool> expand_ffts(Module& module, const PassOptions&) {
  Editor editor(module);
  return expand(editor, Op::Fft, expand_transform);
}

}  // namespace hilo
