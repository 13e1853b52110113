#include "emit/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace hilo {
namespace {

using Numbers = std::array<double, 2>;  // a value and its place, say

// The computation as a list of steps over numbers; a pred is 0 or 1.
class Choice {
 public:
  Choice(const Module& module, const Computation& computation) : module_(module) {
    is_sound_ = computation.parameters.size() == 4 && read(computation);
  }

  bool is_sound() const { return is_sound_; }
  bool has_nan(size_t kind) const { return is_floating(types_[kind]); }

  Numbers operator()(const Numbers& a, const Numbers& c) const {
    std::vector<double> at = {a[0], a[1], c[0], c[1]};
    for (const Step& step : steps_) at.push_back(value(step, at));
    return {at[results_[0]], at[results_[1]]};
  }

 private:
  struct Step {
    Op op;
    ComparisonDirection direction;
    std::array<size_t, 3> in;
  };
  static constexpr int pred = 2;  // the kind of what comparisons give; else the parameter's

  bool read(const Computation& computation) {
    for (size_t i = 0; i < 4; ++i) {
      const Shape& shape = module_.shape(computation.parameters[i]);
      if (!shape.is_scalar() || is_complex(shape.type) || shape.type == ElementType::Pred)
        return false;
      if (i < 2) types_[i] = shape.type;
      else if (types_[i - 2] != shape.type) return false;
      add(computation.parameters[i], static_cast<int>(i % 2));
    }
    for (InstructionId id : computation.instructions) {
      const Op op = module_[id].op;
      if (module_[id].removed || op == Op::Parameter) continue;
      if (op == Op::Tuple) return id == computation.root && read_results(id);
      if (!read_step(id)) return false;
    }
    return false;
  }
  void add(InstructionId id, int kind) {
    places_[id.value] = kinds_.size();
    kinds_.push_back(kind);
  }
  bool read_results(InstructionId tuple) {
    const auto operands = module_.operands(tuple);
    if (operands.size() != 2) return false;
    for (size_t k = 0; k < 2; ++k) {
      const auto found = places_.find(operands[k].value);
      if (found == places_.end() || kinds_[found->second] != static_cast<int>(k)) return false;
      results_[k] = found->second;
    }
    return true;
  }
  bool read_step(InstructionId id) {
    Step step{module_[id].op, ComparisonDirection::Eq, {}};
    const auto operands = module_.operands(id);
    if (operands.empty() || operands.size() > 3) return false;
    std::array<int, 3> kinds = {};
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto found = places_.find(operands[i].value);
      if (found == places_.end()) return false;
      step.in[i] = found->second;
      kinds[i] = kinds_[found->second];
    }
    int kind = pred;
    if (step.op == Op::Compare) {
      const auto& attributes = module_.attributes<CompareAttributes>(id);
      step.direction = attributes.direction;
      if (attributes.type == ComparisonType::TotalOrder ||
          attributes.order == ComparisonOrder::Total || kinds[0] != kinds[1] || kinds[0] == pred)
        return false;
    } else if (step.op == Op::Select) {
      if (kinds[0] != pred || kinds[1] != kinds[2]) return false;
      kind = kinds[1];
    } else if (step.op == Op::Maximum || step.op == Op::Minimum) {
      if (kinds[0] != kinds[1] || kinds[0] == pred) return false;
      kind = kinds[0];
    } else if (step.op == Op::And || step.op == Op::Or || step.op == Op::Not) {
      if (kinds[0] != pred) return false;
    } else {
      return false;
    }
    steps_.push_back(step);
    add(id, kind);
    return true;
  }

  static double value(const Step& step, const std::vector<double>& at) {
    const double a = at[step.in[0]], c = at[step.in[1]];
    if (step.op == Op::Select) return a != 0 ? c : at[step.in[2]];
    if (step.op == Op::And) return a != 0 && c != 0;
    if (step.op == Op::Or) return a != 0 || c != 0;
    if (step.op == Op::Not) return a == 0;
    if (step.op == Op::Maximum || step.op == Op::Minimum) {
      if (std::isnan(a) || std::isnan(c)) return std::nan("");
      return step.op == Op::Maximum ? std::max(a, c) : std::min(a, c);
    }
    using D = ComparisonDirection;
    if (step.direction == D::Eq) return a == c;
    if (step.direction == D::Ne) return a != c;
    if (step.direction == D::Ge) return a >= c;
    if (step.direction == D::Gt) return a > c;
    return step.direction == D::Le ? a <= c : a < c;
  }

  const Module& module_;
  bool is_sound_ = false;
  std::array<ElementType, 2> types_ = {};
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<int> kinds_;
  std::vector<Step> steps_;
  std::array<size_t, 2> results_ = {};
};

}  // namespace

bool chooses_in_any_order(const Module& module, ComputationId computation) {
  const Choice choice(module, module[computation]);
  if (!choice.is_sound()) return false;
  std::vector<Numbers> all;
  for (double value : {1, 2, 3})
    for (double place : {1, 2, 3}) all.push_back({value, place});
  for (const Numbers& a : all)
    for (const Numbers& c : all) {
      const Numbers both = choice(a, c);
      if (both != choice(c, a)) return false;
      for (const Numbers& d : all)
        if (choice(both, d) != choice(a, choice(c, d))) return false;
    }
  // NaNs are looked for in the first numbers only.
  if (choice.has_nan(1)) return false;
  if (!choice.has_nan(0)) return true;
  for (const Numbers& a : all)
    for (double place : {1, 2, 3}) {
      const Numbers nan = {NAN, place};
      if (!std::isnan(choice(a, nan)[0]) || !std::isnan(choice(nan, a)[0]) ||
          !std::isnan(choice(nan, nan)[0]))
        return false;
    }
  return true;
}

}  // namespace hilo
