// Judges differences between a compiled program and an evaluated one that are too large for
// roundings: a program may itself make much of little, as the sine of a large exponential does.
// Such a difference is explained only where results that may differ in their last places, moved by
// just these in the evaluator, give differences of that size; all other results stay as they are.
#pragma once

#include <algorithm>
#include <map>

#include "../pass/judge.h"
#include "ir/combiner.h"

namespace hilo::test {

// Which results may differ, and by how much.
enum class Inexact : uint8_t {
  // What compiled code owes: functions of f32 within 1 unit of the last place, of f64 within 2
  // (emit/math.h), complex products and quotients within 1 of their modulus, a modulus of c64
  // within
  // 1, sums and products of many in any order that follows from the shapes.
  Functions,
  // What simplification owes, whose rules may keep no more than the reals (rewrite/rule.h): every
  // rounded result too, by 1 unit.
  Roundings,
};

class PerturbedEvaluation {
 public:
  PerturbedEvaluation(const Module& module, Inexact inexact, uint64_t seed)
      : module_(module), inexact_(inexact), dice_(seed), alone_(module, one_thread()) {}

  Result<Literal> evaluate(const std::vector<Literal>& arguments) {
    EvalOptions options = one_thread();
    options.place = [this](int64_t, InstructionId id, Literal& value) {
      move(id, value);
      values_[id.value] = value;
    };
    HILO_TRY(Outputs outputs, hilo::evaluate(module_, Inputs{{arguments}}, options));
    return outputs.devices[0];
  }

 private:
  static EvalOptions one_thread() {
    EvalOptions out;
    out.threads = 1;
    out.max_steps = 10'000;
    return out;
  }

  void move(InstructionId id, Literal& value) {
    const ElementType type = value.shape().is_array() ? value.type() : ElementType::Pred;
    if (!is_floating(type) && !is_complex(type)) return;
    if (is_product_of_many(module_[id]) && dice_.below(2) == 0) value = in_other_order(id);
    const double units = units_of(id, type);
    const bool sums = is_sum(module_[id]);
    // A sum of one term may be that term, -0 too, where 0 + -0 is 0; and rules of simplification
    // keep no zero's sign (Keeps::Values, rewrite/rule.h).
    const bool zeros = sums || inexact_ == Inexact::Roundings;
    if (units == 0 && !zeros) return;
    const auto moved = [&](double x, double by) {
      const double y = x + drawn() * by;
      return y == 0 && zeros && dice_.below(2) == 0 ? -y : y;
    };
    // The error of a sum of n in any order is in proportion to the sum of absolute values, and
    // grows with the root of n where errors are independent (Higham, Accuracy and Stability of
    // Numerical Algorithms, chapter 4).
    std::optional<Literal> sizes, counts;
    if (sums) {
      sizes = with_operands(id, [](double x) { return std::fabs(x); });
      counts = with_operands(id, [](double) { return 1.0; });
    }
    visit_storage(type, [&]<class T>(std::type_identity<T>) {
      const std::span<T> data = value.mutable_data<T>();
      for (size_t i = 0; i < data.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double sum = sums ? sizes->number_at(at) * sum_unit(type) *
                                      std::sqrt(std::max(1.0, counts->number_at(at)))
                                : 0;
        if constexpr (requires { data[i].real(); }) {
          const double by = std::max(units * unit_at(std::abs(data[i]), type), sum);
          using Part = typename T::value_type;
          data[i] = T(static_cast<Part>(moved(data[i].real(), by)),
                      static_cast<Part>(moved(data[i].imag(), by)));
        } else if constexpr (!std::is_integral_v<T>) {
          const auto x = static_cast<double>(data[i]);
          data[i] = static_cast<T>(moved(x, std::max(units * unit_at(x, type), sum)));
        }
      }
    });
  }
  // From -1 to 1: the error of a sum may be any part of what it owes.
  double drawn() { return static_cast<double>(dice_.below(2001)) / 1000 - 1; }

  double units_of(InstructionId id, ElementType type) const {
    using enum Op;
    const Instruction& instruction = module_[id];
    const Op op = instruction.op;
    const bool is_narrow = bits_of(type) < 32;  // whose functions are the nearest number
    const bool is_function = has_trait(op, TraitTranscendental) && op != Sqrt;
    if (is_function && !is_narrow) return real_type_of(type) == ElementType::F64 ? 2 : 1;
    // Rounded once, from a sum that is held as f32.
    if (is_narrow && is_sum(instruction)) return 1;
    // Their parts are differences of products, of which fused ones round one product less.
    if (is_complex(type) && (op == Multiply || op == Divide)) return 1;
    // The modulus of c64, from a rounded square (emit/complex.cpp).
    if (op == Abs && type == ElementType::F32 &&
        is_complex(module_.shape(module_.operand(id, 0)).type))
      return 1;
    if (inexact_ == Inexact::Functions) return 0;
    return is_function || op == Add || op == Subtract || op == Multiply || op == Divide ||
                   op == Sqrt || op == Convert
               ? 1
               : 0;
  }

  bool combines_by(ComputationId with, Op op) const {
    const std::optional<Combiner> combiner = find_combiner(module_, with);
    return combiner && module_[combiner->instruction].op == op;
  }
  // Whether its result depends on the order in which elements are combined.
  bool is_sum(const Instruction& instruction) const {
    const auto combines = [&](ComputationId with) {
      return combines_by(with, Op::Add) || combines_by(with, Op::Multiply);
    };
    if (instruction.op == Op::Dot || instruction.op == Op::Convolution) return true;
    if (instruction.op == Op::Reduce)
      return combines(module_.attributes<ReduceAttributes>(instruction).to_apply);
    if (instruction.op == Op::ReduceWindow)
      return combines(module_.attributes<ReduceWindowAttributes>(instruction).to_apply);
    return false;
  }
  // Of numbers so large and so small that their products in one order have no bounds, or are zero
  // and then multiplied by infinity, in another one they may be any number.
  bool is_product_of_many(const Instruction& instruction) const {
    return instruction.op == Op::Reduce && instruction.operand_count == 2 &&
           combines_by(module_.attributes<ReduceAttributes>(instruction).to_apply, Op::Multiply);
  }
  // The reduction once more, elements that are combined with each other having changed places.
  Literal in_other_order(InstructionId id) {
    Literal operand = values_.at(module_.operand(id, 0).value);
    const Dims& dims = operand.shape().dims;
    const Dims strides = row_major_strides(dims);
    const Dims& reduced = module_.attributes<ReduceAttributes>(id).dimensions;
    std::map<int64_t, std::vector<int64_t>> combined;  // by the place of the first of them
    for (int64_t i = 0; i < operand.count(); ++i) {
      int64_t first = i;
      for (int64_t d : reduced)
        first -= i / strides[static_cast<size_t>(d)] % dims[static_cast<size_t>(d)] *
                 strides[static_cast<size_t>(d)];
      combined[first].push_back(i);
    }
    visit_storage(operand.type(), [&]<class T>(std::type_identity<T>) {
      const std::span<T> data = operand.mutable_data<T>();
      for (const auto& [first, places] : combined)
        for (size_t n = places.size(); n > 1; --n)
          std::swap(data[static_cast<size_t>(places[n - 1])],
                    data[static_cast<size_t>(places[dice_.below(n)])]);
    });
    Result<Literal> out =
        alone_.evaluate(0, id, {std::move(operand), values_.at(module_.operand(id, 1).value)});
    check(out.has_value(), "products in another order");
    return std::move(*out);
  }
  // The instruction once more, each float of its operands being what `change` makes of its size.
  template <class Change>
  Literal with_operands(InstructionId id, const Change& change) {
    std::vector<Literal> operands;
    for (InstructionId operand : module_.operands(id)) {
      operands.push_back(values_.at(operand.value));
      Literal& values = operands.back();
      visit_storage(values.type(), [&]<class T>(std::type_identity<T>) {
        if constexpr (!std::is_integral_v<T>)
          for (T& x : values.mutable_data<T>()) {
            if constexpr (requires { x.real(); })
              x = T(static_cast<typename T::value_type>(change(std::abs(x))));
            else x = static_cast<T>(change(static_cast<double>(x)));
          }
      });
    }
    Result<Literal> out = alone_.evaluate(0, id, std::move(operands));
    check(out.has_value(), "sums of other values");
    return std::move(*out);
  }

  // Twice the rounding of the type that sums are held in.
  static double sum_unit(ElementType type) {
    return real_type_of(type) == ElementType::F64 ? 0x1p-52 : 0x1p-23;
  }
  // From |x| to the next number of the type.
  static double unit_at(double x, ElementType type) {
    if (!std::isfinite(x) || x == 0) return 0;
    const ElementType real = real_type_of(type);
    const int digits = real == ElementType::F64    ? 53
                       : real == ElementType::F32  ? 24
                       : real == ElementType::BF16 ? 8
                                                   : 11;
    return std::ldexp(1.0, std::ilogb(x) - digits + 1);
  }

  const Module& module_;
  Inexact inexact_;
  Dice dice_;
  VirtualDevices alone_;
  std::map<uint32_t, Literal> values_;  // of each instruction, the last
};

inline std::complex<double> number_of(const Literal& of, int64_t i) {
  return visit_storage(of.type(), [&]<class T>(std::type_identity<T>) -> std::complex<double> {
    if constexpr (requires(T x) { x.real(); })
      return {static_cast<double>(of.data<T>()[i].real()),
              static_cast<double>(of.data<T>()[i].imag())};
    else return of.number_at(i);
  });
}
// A complex number is as exact as its modulus.
inline bool agree_in(ElementType type, std::complex<double> x, std::complex<double> y) {
  if (!is_floating(type) && !is_complex(type)) return x == y;
  const double size = is_complex(type) ? std::max(std::abs(x), 1.0) : 1;
  const double scale = std::isfinite(size) ? size : 1;
  const double tolerance = tolerance_of(type);
  return agree(x.real() / scale, y.real() / scale, Keeps::Reals, tolerance) &&
         agree(x.imag() / scale, y.imag() / scale, Keeps::Reals, tolerance);
}

// Whether `given` agrees with `expected` but where perturbed evaluations of `module`, whose result
// `expected` is, differ from it by a quarter or more of what `given` does. What jumps for one place
// of the last in thousands, as the remainder of x by (x / y) y, is met by as many evaluations.
inline bool is_within_perturbations(const Module& module, Inexact inexact,
                                    const std::vector<Literal>& arguments, const Literal& expected,
                                    const Literal& given) {
  constexpr uint64_t most_evaluations = 4096;
  struct Difference {
    size_t leaf;
    int64_t element;
    std::complex<double> want, have;
  };
  const auto leaves = [](const Literal& value) {
    std::vector<Literal> out;
    for_each_leaf(value, [&](const Literal& leaf) { out.push_back(leaf); });
    return out;
  };
  const auto want = leaves(expected), have = leaves(given);
  std::vector<Difference> left;
  for (size_t k = 0; k < want.size(); ++k)
    for (int64_t i = 0; i < want[k].count(); ++i) {
      const std::complex<double> x = number_of(want[k], i), y = number_of(have[k], i);
      if (!agree_in(want[k].type(), x, y)) left.push_back({k, i, x, y});
    }
  for (uint64_t seed = 1; seed <= most_evaluations && !left.empty(); ++seed) {
    const auto one = PerturbedEvaluation(module, inexact, seed).evaluate(arguments);
    if (!one) continue;
    const std::vector<Literal> other = leaves(*one);
    std::erase_if(left, [&](const Difference& d) {
      const std::complex<double> z = number_of(other[d.leaf], d.element);
      return agree_in(want[d.leaf].type(), z, d.have) ||
             std::abs(d.have - d.want) <= 4 * std::abs(z - d.want);
    });
  }
  return left.empty();
}

// Whether what `compiled` has beyond roundings comes from a program that makes much of them.
inline bool is_ill_conditioned(const Module& module, const std::vector<Literal>& arguments,
                               const Literal& evaluated, const Literal& compiled) {
  const Module simple = after_passes(module, "simplify");
  const Result<Literal> simplified = evaluate_once(simple, arguments);
  return simplified &&
         is_within_perturbations(simple, Inexact::Functions, arguments, *simplified, compiled) &&
         is_within_perturbations(module, Inexact::Roundings, arguments, evaluated, *simplified);
}

}  // namespace hilo::test
