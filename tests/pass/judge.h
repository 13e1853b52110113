// The evaluator as judge: a module before and after passes, on inputs that are hard for floats.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "eval/eval.h"
#include "pass/pass.h"
#include "text/text.h"
#include "verify/verify.h"

namespace hilo::test {

// Numbers of a fixed sequence (Vigna's splitmix64).
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  uint64_t state_;
};

// Tame: numbers between 1/2 and 2 of both signs; else zeros, infinities, NaN and extremes too.
inline double draw(Dice& dice, ElementType type, bool tame) {
  const double plain =
      (0.5 + 1.5 * static_cast<double>(dice.below(1000)) / 1000) * (dice.below(2) ? 1 : -1);
  if (is_floating(type) || is_complex(type)) {
    static constexpr double odd[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e30, 1e-30, 3};
    return tame || dice.below(2) ? plain : odd[dice.below(10)];
  }
  const int64_t small = dice.below(9) - 4;
  if (type == ElementType::Pred) return static_cast<double>(dice.below(2));
  if (is_unsigned(type) && small < 0) return static_cast<double>(-small);
  return static_cast<double>(small);
}

inline Literal random_literal(Dice& dice, const Shape& shape, bool tame) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements)
      elements.push_back(random_literal(dice, element, tame));
    return Literal::tuple(std::move(elements));
  }
  if (!shape.is_array()) return Literal::token();
  Literal out = Literal::uninitialized(shape);
  for (size_t i = 0; i < shape.dims.size(); ++i)
    if (shape.is_dynamic(i)) out.set_size(i, dice.below(shape.dims[i] + 1));
  visit_storage(shape.type, [&]<class T>(std::type_identity<T>) {
    for (T& value : out.mutable_data<T>()) {
      const double number = draw(dice, shape.type, tame);
      if constexpr (requires { value.real(); })
        value = T(static_cast<typename T::value_type>(number),
                  static_cast<typename T::value_type>(draw(dice, shape.type, tame)));
      else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        // One in four integers has arbitrary bits.
        value = dice.below(4) || tame ? static_cast<T>(static_cast<int64_t>(number))
                                      : static_cast<T>(dice.next());
      else value = static_cast<T>(number);
    }
  });
  return out;
}

inline std::vector<Literal> random_arguments(const Module& module, uint64_t seed, bool tame) {
  Dice dice(seed);
  std::vector<Literal> out;
  for (InstructionId parameter : module[module.entry].parameters)
    out.push_back(random_literal(dice, module.shape(parameter), tame));
  return out;
}

inline double tolerance_of(ElementType type) {
  const int bits = bits_of(real_type_of(type));
  return bits >= 64 ? 1e-12 : bits >= 32 ? 2e-5 : type == ElementType::F16 ? 1e-2 : 6e-2;
}
// Of floats of 8 and fewer bits no tolerance would say anything.
inline bool has_tolerance(const Module& module) {
  for (const Instruction& instruction : module.instructions) {
    const ElementType type = module.shape(instruction).type;
    if (is_floating(type) && bits_of(type) < 16) return false;
  }
  return true;
}

// Whether two numbers are the same as far as `keeps` promises.
inline bool agree(double a, double b, Keeps keeps, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (keeps == Keeps::Values || a == b) return a == b;
  return std::fabs(a - b) <= tolerance * (1 + std::max(std::fabs(a), std::fabs(b)));
}

// The first element whose bytes differ.
inline std::string difference_in_bytes(const Literal& a, const Literal& b) {
  const size_t size = static_cast<size_t>(storage_bytes(a.type()));
  const auto x = a.raw(), y = b.raw();
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i]) {
      const int64_t at = static_cast<int64_t>(i / size);
      return fmt::format("[{}] {} became {}, byte {}: {:x} became {:x}", at, a.number_at(at),
                         b.number_at(at), i % size, static_cast<int>(x[i]), static_cast<int>(y[i]));
    }
  return "other sizes";
}

// `tolerance`: of floats, where it is more than that of their type.
inline std::string disagreement(const Literal& a, const Literal& b, Keeps keeps,
                                double tolerance = 0) {
  if (a.shape().is_tuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i)
      if (std::string found = disagreement(a.elements()[i], b.elements()[i], keeps, tolerance);
          !found.empty())
        return fmt::format("element {}: {}", i, found);
    return "";
  }
  if (!a.shape().is_array() || same_bits(a, b)) return "";
  if (!same_dims(a.shape(), b.shape())) return "another shape";
  const ElementType type = a.type();
  if (keeps == Keeps::Bits || !(is_floating(type) || is_complex(type)))
    return difference_in_bytes(a, b);
  const auto differ = [&](double x, double y) {
    return !agree(x, y, keeps, std::max(tolerance, tolerance_of(type)));
  };
  return visit_storage(type, [&]<class T>(std::type_identity<T>) -> std::string {
    for (int64_t i = 0; i < a.count(); ++i) {
      const T x = a.data<T>()[i], y = b.data<T>()[i];
      if constexpr (requires { x.real(); }) {
        // A complex number is as exact as its modulus.
        const double size = std::max(std::abs(std::complex<double>(x.real(), x.imag())), 1.0);
        const double scale = std::isfinite(size) ? size : 1;
        if (differ(x.real() / scale, y.real() / scale) ||
            differ(x.imag() / scale, y.imag() / scale))
          return fmt::format("[{}] {}+{}i became {}+{}i", i, x.real(), x.imag(), y.real(),
                             y.imag());
      } else if (differ(static_cast<double>(x), static_cast<double>(y))) {
        return fmt::format("[{}] {} became {}", i, static_cast<double>(x), static_cast<double>(y));
      }
    }
    return "";
  });
}

inline Result<Literal> evaluate_once(const Module& module, const std::vector<Literal>& arguments,
                                     bool reference = false) {
  EvalOptions options;
  options.threads = 1;
  options.reference = reference;
  options.max_steps = 10'000;
  HILO_TRY(Outputs outputs, evaluate(module, Inputs{{arguments}}, options));
  return outputs.devices[0];
}

// "" when `after` verifies and computes what `before` does on a few random inputs.
inline std::string difference_in_values(const Module& before, const Module& after, Keeps keeps,
                                        uint64_t seed = 1, int tries = 3) {
  for (const Error& error : verify(after)) return "not sound: " + to_string(error);
  for (int i = 0; i < tries; ++i) {
    const auto arguments = random_arguments(before, seed + i, keeps == Keeps::Reals);
    const auto a = evaluate_once(before, arguments), b = evaluate_once(after, arguments);
    if (!a) return "before: " + to_string(a.error());
    if (!b) return "after: " + to_string(b.error());
    if (std::string found = disagreement(*a, *b, keeps); !found.empty()) return found;
  }
  return "";
}

inline Module parsed(const std::string& text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module.has_value()) << to_string(module.error()) << "\n" << text;
  return module ? std::move(*module) : Module();
}

inline Module after_passes(const Module& module, std::string_view passes,
                           const PipelineOptions& options = {}) {
  Module out = module;
  const auto pipeline = parse_pipeline(passes, all_passes(), all_pipelines());
  EXPECT_TRUE(pipeline.has_value()) << pipeline.error().message;
  if (pipeline)
    if (const auto done = run_pipeline(out, *pipeline, options); !done)
      ADD_FAILURE() << to_string(done.error());
  return out;
}

inline int64_t count_op(const Module& module, Op op) {
  int64_t out = 0;
  for (ComputationId id : module.post_order())
    for (InstructionId instruction : module[id].instructions)
      out += !module[instruction].removed && module[instruction].op == op;
  return out;
}

}  // namespace hilo::test
