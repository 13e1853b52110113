// Runs module text on several virtual devices, with arrays of f32 in and flat numbers out.
#pragma once

#include <gtest/gtest.h>

#include "eval/eval.h"
#include "text/text.h"

// Tests of the compiler run the same texts (../compile/on_devices.h).
#ifndef HILO_TEST_EVALUATE
#define HILO_TEST_EVALUATE evaluate
#endif

namespace hilo::test {

using Numbers = std::vector<double>;

inline void flatten(const Literal& literal, Numbers& out) {
  for_each_leaf(literal, [&](const Literal& leaf) {
    if (!leaf.shape().is_array()) return;
    for (int64_t i = 0; i < leaf.count(); ++i) out.push_back(leaf.number_at(i));
  });
}

inline Literal f32(Dims dims, const std::vector<float>& values) {
  return Literal::from<float>(std::move(dims), values);
}

// One row for each device: all leaves of its result.
inline Result<std::vector<Numbers>> run(const std::string& text,
                                        std::vector<std::vector<Literal>> inputs,
                                        const EvalOptions& options = {}) {
  HILO_TRY(Module module, parse(text));
  HILO_TRY(Outputs outputs, HILO_TEST_EVALUATE(module, Inputs{std::move(inputs)}, options));
  std::vector<Numbers> rows;
  for (const Literal& result : outputs.devices) flatten(result, rows.emplace_back());
  return rows;
}

// The rows, or a failed test.
inline std::vector<Numbers> run_well(const std::string& text,
                                     std::vector<std::vector<Literal>> inputs,
                                     const EvalOptions& options = {}) {
  auto rows = run(text, std::move(inputs), options);
  EXPECT_TRUE(rows.has_value()) << to_string(rows.error());
  return rows ? *rows : std::vector<Numbers>{};
}

// One array [size] for each device, device d holding 10 d + 0, 10 d + 1, ...
inline std::vector<std::vector<Literal>> ramps(int devices, Dims dims) {
  std::vector<std::vector<Literal>> out;
  for (int d = 0; d < devices; ++d) {
    std::vector<float> values(element_count(dims));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(10 * d + i);
    out.push_back({f32(dims, values)});
  }
  return out;
}

inline std::string partitioned(int partitions, const std::string& body) {
  return "HloModule m, is_scheduled=true, num_partitions=" + std::to_string(partitions) + "\n" +
         body;
}

inline const char* const add_f32 =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

}  // namespace hilo::test
