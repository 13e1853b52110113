#include "pass/extreme_index.h"

#include <algorithm>
#include <cmath>

#include "eval/eval.h"
#include "rewrite/rewrite.h"

namespace hilo {
namespace {

struct Entry {
  double value;
  int64_t index;
};

bool is_logical(const Module& module, InstructionId id) {
  const auto is_pred = [&](InstructionId one) {
    return module.shape(one).is_scalar() && module.shape(one).type == ElementType::Pred;
  };
  return is_elementwise(module[id].op) && is_pred(id) &&
         std::ranges::all_of(module.operands(id), is_pred);
}

// What it chooses follows from how the values and the indices compare, and from nothing else.
bool only_compares(const Module& module, ComputationId computation) {
  return std::ranges::all_of(module[computation].instructions, [&](InstructionId id) {
    if (module[id].removed) return true;
    const Op op = module[id].op;
    if (op == Op::Compare)
      return module.attributes<CompareAttributes>(id).order == ComparisonOrder::Default;
    return op == Op::Parameter || op == Op::Select || op == Op::Tuple || is_logical(module, id);
  });
}

bool has_its_shapes(const Module& module, ComputationId computation) {
  const auto& parameters = module[computation].parameters;
  if (parameters.size() != 4) return false;
  const auto shape = [&](size_t i) { return module.shape(parameters[i]); };
  const bool are_scalars = std::ranges::all_of(
      parameters, [&](InstructionId id) { return module.shape(id).is_scalar(); });
  if (!are_scalars || shape(0).type != shape(2).type || shape(1).type != shape(3).type ||
      !is_integral(shape(1).type) || bits_of(shape(0).type) < 8 || bits_of(shape(1).type) < 8)
    return false;  // the numbers that are tried must be values of the type
  const Shape& root = module.shape(module[computation].root);
  return root.is_tuple() && root.elements.size() == 2 && root.elements[0] == shape(0) &&
         root.elements[1] == shape(1);
}

class ExtremeCheck {
 public:
  ExtremeCheck(const Module& module, ComputationId computation)
      : module_(module),
        computation_(computation),
        value_(module.shape(module[computation].parameters[0]).type),
        index_(module.shape(module[computation].parameters[1]).type) {}

  bool finds(Op op) const {
    std::vector<std::pair<double, double>> values = {{1, 2}, {2, 1}, {1, 1}};
    if (is_floating(value_)) values.insert(values.end(), {{NAN, 1}, {1, NAN}, {NAN, NAN}});
    for (const auto& [a, b] : values)
      for (const auto& [i, j] : {std::pair{1, 2}, {2, 1}, {1, 1}})
        if (!chooses({a, i}, {b, j}, op)) return false;
    return true;
  }

 private:
  bool chooses(const Entry& a, const Entry& b, Op op) const {
    // How much memory the machine has is not asked: that would cost more than a few scalars do.
    const auto out =
        evaluate_computation(module_, computation_,
                             {scalar_of(value_, a.value), scalar_of(index_, a.index),
                              scalar_of(value_, b.value), scalar_of(index_, b.index)},
                             {.threads = 1, .is_verified = true, .memory_limit = INT64_MAX});
    const auto is = [&](const Entry& one) {
      return out && is_same(out->elements()[0], scalar_of(value_, one.value)) &&
             is_same(out->elements()[1], scalar_of(index_, one.index));
    };
    if (std::isnan(a.value) && std::isnan(b.value)) return is(a) || is(b);
    if (std::isnan(a.value) || std::isnan(b.value)) return is(std::isnan(a.value) ? a : b);
    if (a.value == b.value) return is(a.index < b.index ? a : b);
    return is((a.value > b.value) == (op == Op::Maximum) ? a : b);
  }

  static bool is_same(const Literal& a, const Literal& b) {
    return std::ranges::equal(a.raw(), b.raw());
  }

  const Module& module_;
  const ComputationId computation_;
  const ElementType value_, index_;
};

}  // namespace

std::optional<Op> find_extreme(const Module& module, ComputationId computation) {
  if (!has_its_shapes(module, computation) || !only_compares(module, computation))
    return std::nullopt;
  const ExtremeCheck check(module, computation);
  if (check.finds(Op::Maximum)) return Op::Maximum;
  return check.finds(Op::Minimum) ? std::optional(Op::Minimum) : std::nullopt;
}

}  // namespace hilo
