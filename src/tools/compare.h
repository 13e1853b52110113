// Comparing outputs with expected values.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>

#include "ir/ir.h"

namespace hilo::tools {

// A float element agrees when |got - want| <= absolute + relative * (|want| + largest |want|), or
// without the last term when `elementwise`; NaN agrees with NaN. Integers and pred agree exactly.
struct Tolerance {
  double relative = 0, absolute = 0;
  bool elementwise = false;
};
// 5e-2 when the module holds a float type narrower than f32 anywhere, else 1e-4.
Tolerance default_tolerance(const Module& module);
std::string describe(const Tolerance& tolerance);  // "|difference| <= 0.0001 * ..."
nlohmann::ordered_json json_of(const Tolerance& tolerance);
// What --rtol and --atol give, the other one being 0; the default one where neither is given.
Tolerance tolerance_for(const Module& module, std::optional<double> relative,
                        std::optional<double> absolute);

// Usage where one is no number or less than 0.
Result<void> check_tolerances(std::optional<double> relative, std::optional<double> absolute);

struct Difference {
  int64_t position;
  std::string got, want;
};
struct Comparison {
  int64_t elements = 0, differing = 0;
  int64_t non_finite = 0;  // of those that differ: one is NaN or infinite
  // Of the others; ULP are units of the last place of the declared type.
  double largest_absolute = 0, largest_relative = 0, largest_ulp = 0;
  std::vector<Difference> first;  // at most ten
  bool agrees() const { return differing == 0; }
};
// `declared` is the type whose last place counts; got and want may be held in f64.
Comparison compare(const Literal& got, const Literal& want, ElementType declared,
                   const Tolerance& tolerance);
std::string describe(const Comparison& comparison, const Shape& shape);

}  // namespace hilo::tools
