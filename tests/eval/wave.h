// Small exact numbers to compute with: element i of an array is ((7 i) mod 11 - 5) / 2, which every
// float type of 8 bits or more holds.
#pragma once

#include "devices.h"

namespace hilo::test {

template <class T = float>
Literal wave(Dims dims, double shift = 0) {
  std::vector<T> values(element_count(dims));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = T(static_cast<double>(static_cast<int64_t>(7 * i % 11) - 5) / 2 + shift);
  return Literal::from<T>(std::move(dims), values);
}

template <class T = int32_t>
Literal whole(Dims dims, const std::vector<int64_t>& values) {
  std::vector<T> out(values.begin(), values.end());
  return Literal::from<T>(std::move(dims), out);
}

// The module's flat results on one device.
inline Numbers run_one(const std::string& text, std::vector<Literal> inputs,
                       const EvalOptions& options = {}) {
  auto rows = run_well(text, {std::move(inputs)}, options);
  return rows.empty() ? Numbers{} : rows[0];
}

// An entry computation around the instructions, with others before it.
inline std::string module_of(const std::string& body, const std::string& before = "") {
  return "HloModule m\n" + before + "ENTRY e {\n" + body + "}\n";
}

inline void expect_near(const Numbers& got, const Numbers& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << "element " << i;
}

}  // namespace hilo::test
