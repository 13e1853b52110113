// A module compiled and evaluated on the same random arguments.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compile/compile.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {

inline Literal random_value(const Shape& shape, std::mt19937_64& random) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements) elements.push_back(random_value(element, random));
    return Literal::tuple(std::move(elements));
  }
  if (!shape.is_array()) return Literal::token();
  Literal out = Literal::uninitialized(Shape::array(shape.type, shape.dims));
  visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
    for (T& x : out.mutable_data<T>()) {
      const auto whole = static_cast<int64_t>(random() % 41) - 20;
      if constexpr (std::is_same_v<T, bool>) x = whole > 0;
      else if constexpr (requires { x.real(); }) x = T(static_cast<float>(whole) / 8.0F, 0.25F);
      else if constexpr (std::is_integral_v<T>) x = static_cast<T>(whole);
      else if constexpr (requires {
                           T(int64_t{});
                           x.value;
                         })
        x = T(whole);
      else x = T(static_cast<double>(whole) / 8.0);
    }
  });
  return out;
}

// The largest |a - b| / (|b| + largest |b|) of two values of one shape; integers differ by
// infinity.
inline double largest_difference(const Literal& a, const Literal& b) {
  double out = 0;
  std::vector<Literal> left, right;
  for_each_leaf(a, [&](const Literal& leaf) { left.push_back(leaf); });
  for_each_leaf(b, [&](const Literal& leaf) { right.push_back(leaf); });
  if (left.size() != right.size()) return HUGE_VAL;
  for (size_t k = 0; k < left.size(); ++k) {
    if (!left[k].shape().is_array()) continue;
    if (!same_dims(left[k].shape(), right[k].shape())) return HUGE_VAL;
    double largest = 0;
    for (int64_t i = 0; i < left[k].count(); ++i)
      if (std::isfinite(right[k].number_at(i)))
        largest = std::max(largest, std::fabs(right[k].number_at(i)));
    for (int64_t i = 0; i < left[k].count(); ++i) {
      const double x = left[k].number_at(i), y = right[k].number_at(i);
      if (x == y || (x != x && y != y)) continue;
      if (!is_floating(left[k].type()) && !is_complex(left[k].type())) return HUGE_VAL;
      const double difference = std::fabs(x - y) / (std::fabs(y) + largest);
      out = std::max(out, difference == difference ? difference : HUGE_VAL);
    }
  }
  return out;
}

// Half of the programs have the code of this machine, the others that of lesser ones.
inline std::string processor_of(uint64_t seed) {
#ifdef __x86_64__
  if (seed / 3 % 4 == 1 && __builtin_cpu_supports("avx2")) return "x86-64-v3";
  if (seed / 3 % 4 == 2) return "x86-64";
#endif
  return "native";
}

// This machine's processor and the lesser ones that it can stand for.
inline std::vector<std::string> processors() {
  std::vector<std::string> out = {"native"};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) out.push_back("x86-64-v3");
  out.push_back("x86-64");
#endif
  return out;
}

struct Both {
  Literal compiled, evaluated;
  CompileReport report;
};

inline Result<Both> run_both_on(std::string_view text, const std::vector<Literal>& arguments,
                                int threads = 1, const std::string& processor = "native") {
  HILO_TRY(const Module module, parse(text));
  if (const auto errors = verify(module); !errors.empty()) return std::unexpected(errors[0]);
  CompileOptions options;
  options.threads = threads;
  options.emit.verify_ir = true;
  options.emit.cpu = processor;
  HILO_TRY(const Executable executable, compile(module, cpu_target(), options));
  Both out;
  HILO_TRY(out.compiled, executable.run(arguments));
  HILO_TRY(Outputs outputs, evaluate(module, Inputs{{arguments}}, {.threads = 1}));
  out.evaluated = std::move(outputs.devices[0]);
  out.report = executable.report();
  return out;
}

inline Result<Both> run_both(std::string_view text, uint64_t seed = 1, int threads = 1,
                             const std::string& processor = "native") {
  HILO_TRY(const Module module, parse(text));
  std::mt19937_64 random(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : module[module.entry].parameters)
    arguments.push_back(random_value(module.shape(parameter), random));
  return run_both_on(text, arguments, threads, processor);
}

// Compiled without steps that are evaluated, and equal up to `tolerance` (see largest_difference).
inline void expect_native(const Result<Both>& both, std::string_view text, double tolerance = 0) {
  ASSERT_TRUE(both) << to_string(both.error()) << "\n" << text;
  EXPECT_LE(largest_difference(both->compiled, both->evaluated), tolerance) << text;
  for (const EvaluatedStep& step : both->report.evaluated) ADD_FAILURE() << step.reason << text;
}

inline void expect_native(std::string_view text, double tolerance = 0) {
  expect_native(run_both(text), text, tolerance);
}

// The same on one thread, and from two and seven threads the same bits. Gives what one thread made.
inline Result<Both> expect_native_on_threads(std::string_view text, double tolerance = 0,
                                             const std::string& processor = "native") {
  Result<Both> one = run_both(text, 1, 1, processor);
  expect_native(one, text, tolerance);
  for (const int threads : {2, 7}) {
    const Result<Both> more = run_both(text, 1, threads, processor);
    EXPECT_TRUE(one && more && same_bits(one->compiled, more->compiled))
        << threads << " threads of " << processor << ": " << text;
  }
  return one;
}

}  // namespace hilo::test
