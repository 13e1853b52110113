#include "tools/compare.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>

namespace hilo::tools {
namespace {

using Number = std::complex<double>;

Number number(const Literal& literal, int64_t position) {
  if (literal.type() == ElementType::C64)
    return Number(literal.data<std::complex<float>>()[position]);
  if (literal.type() == ElementType::C128) return literal.data<Number>()[position];
  return literal.number_at(position);
}

// Significand bits, the hidden one included.
int precision_of(ElementType type) {
  return visit_storage(real_type_of(type), []<class T>(std::type_identity<T>) -> int {
    if constexpr (requires { T::format; }) return T::format.mantissa_bits + 1;
    if constexpr (std::is_same_v<T, BF16>) return 8;
    if constexpr (std::is_same_v<T, F16>) return 11;
    if constexpr (std::is_same_v<T, float>) return 24;
    return 53;
  });
}

double ulps(double got, double want, int precision) {
  if (got == want) return 0;
  const double scale = std::max(std::fabs(got), std::fabs(want));
  return std::fabs(got - want) / std::scalbn(1.0, std::ilogb(scale) - precision + 1);
}

bool part_agrees(double got, double want, double bound) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  return std::fabs(got - want) <= bound;
}

std::string show(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);  // a sign says nothing there
}
std::string show(Number value, ElementType type) {
  if (is_complex(type)) return fmt::format("({}, {})", show(value.real()), show(value.imag()));
  return show(value.real());
}

double largest_magnitude(const Literal& literal) {
  double largest = 0;
  for (int64_t i = 0; i < literal.count(); ++i) {
    const double magnitude = std::abs(number(literal, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

bool is_finite(Number value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

// 64-bit integers do not fit a double.
bool exactly_equal(const Literal& got, const Literal& want, int64_t i) {
  return got.integer_at(i) == want.integer_at(i);
}

void count_part(Comparison& out, double got, double want, int precision) {
  if (!std::isfinite(got) || !std::isfinite(want)) return;
  const double difference = std::fabs(got - want);
  out.largest_absolute = std::max(out.largest_absolute, difference);
  if (want != 0)
    out.largest_relative = std::max(out.largest_relative, difference / std::fabs(want));
  out.largest_ulp = std::max(out.largest_ulp, ulps(got, want, precision));
}

}  // namespace

Tolerance default_tolerance(const Module& module) {
  bool narrow = false;
  for (size_t i = 0; i < module.shapes.size(); ++i) {
    const Shape& shape = module.shapes[{static_cast<uint32_t>(i)}];
    for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
      narrow |= is_floating(leaf.type) && bits_of(leaf.type) < 32;
    });
  }
  return {narrow ? 5e-2 : 1e-4, 0, false};
}

std::string describe(const Tolerance& tolerance) {
  const std::string scale = tolerance.elementwise ? "|expected|" : "(|expected| + its maximum)";
  std::string out = "|difference| <= ";
  if (tolerance.absolute != 0) out += fmt::format("{:g} + ", tolerance.absolute);
  return out + fmt::format("{:g} * {}", tolerance.relative, scale);
}

nlohmann::ordered_json json_of(const Tolerance& tolerance) {
  return {{"relative", tolerance.relative},
          {"absolute", tolerance.absolute},
          {"elementwise", tolerance.elementwise}};
}

Tolerance tolerance_for(const Module& module, std::optional<double> relative,
                        std::optional<double> absolute) {
  if (!relative && !absolute) return default_tolerance(module);
  return {relative.value_or(0), absolute.value_or(0), true};
}

Result<void> check_tolerances(std::optional<double> relative, std::optional<double> absolute) {
  for (const auto& [option, value] : {std::pair("--rtol", relative), {"--atol", absolute}})
    if (value && !(*value >= 0))
      return fail(ErrorKind::Usage, "{}={}: a number from 0 on was expected", option, *value);
  return {};
}

Comparison compare(const Literal& got, const Literal& want, ElementType declared,
                   const Tolerance& tolerance) {
  Comparison out;
  out.elements = got.count();
  const bool inexact = is_floating(declared) || is_complex(declared);
  const double largest = inexact && !tolerance.elementwise ? largest_magnitude(want) : 0;
  const int precision = inexact ? precision_of(declared) : 0;
  for (int64_t i = 0; i < got.count(); ++i) {
    const Number g = number(got, i), w = number(want, i);
    bool agrees;
    if (inexact) {
      const double magnitude = std::isfinite(std::abs(w)) ? std::abs(w) : 0;
      const double bound = tolerance.absolute + tolerance.relative * (magnitude + largest);
      agrees = part_agrees(g.real(), w.real(), bound) && part_agrees(g.imag(), w.imag(), bound);
      count_part(out, g.real(), w.real(), precision);
      if (is_complex(declared)) count_part(out, g.imag(), w.imag(), precision);
    } else {
      agrees = exactly_equal(got, want, i);
      out.largest_absolute = std::max(out.largest_absolute, std::fabs(g.real() - w.real()));
    }
    if (agrees) continue;
    if (out.first.size() < 10) out.first.push_back({i, show(g, declared), show(w, declared)});
    ++out.differing;
    out.non_finite += inexact && !(is_finite(g) && is_finite(w));
  }
  return out;
}

std::string describe(const Comparison& comparison, const Shape& shape) {
  std::string out = fmt::format("{} of {} differ", comparison.differing, comparison.elements);
  if (comparison.non_finite > 0)
    out += fmt::format(", {} by a NaN or an infinity",
                       comparison.non_finite == comparison.differing
                           ? "all"
                           : fmt::format("{} of them", comparison.non_finite));
  if (comparison.non_finite > 0 && comparison.non_finite == comparison.differing) out += "\n";
  else
    out += fmt::format("; largest {}difference {:.3g} absolute, {:.3g} relative, {:.3g} ULP\n",
                       comparison.non_finite > 0 ? "finite " : "", comparison.largest_absolute,
                       comparison.largest_relative, comparison.largest_ulp);
  const Dims strides = row_major_strides(shape.dims);
  for (const Difference& difference : comparison.first) {
    std::string index;
    for (size_t i = 0; i < strides.size(); ++i)
      index +=
          fmt::format("{}{}", i > 0 ? "," : "", difference.position / strides[i] % shape.dims[i]);
    out += fmt::format("  [{}]: got {}, expected {}\n", index, difference.got, difference.want);
  }
  return out;
}

}  // namespace hilo::tools
