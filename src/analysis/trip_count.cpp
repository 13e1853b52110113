// Trip counts of while loops: the counter's arithmetic, or what the back end wrote down. The
// counter is followed through tuples, copies and fusions as `element + offset`, so that both sides
// of the condition are linear in the number of the iteration.
#include <algorithm>
#include <deque>
#include <optional>

#include "analysis/analysis.h"

namespace hilo {
namespace {

using Wide = __int128;

// A scalar integer: `offset`, plus what an element of the loop's state holds when `element` >= 0.
struct Linear {
  int64_t element = -1;
  Wide offset = 0;
};

// A value that is converted to a wider type: it is the same number while its own type holds it.
struct Widened {
  Linear value;
  ElementType type;
};

// A call that is being looked into; null: the computation at the bottom.
struct Frame {
  const Frame* parent = nullptr;
  InstructionId caller;
};

class Tracer {
 public:
  // With has_state the bottom's parameter is the loop's state; otherwise it is unknown.
  Tracer(const Module& module, bool has_state) : module_(module), has_state_(has_state) {}

  std::optional<Linear> scalar(InstructionId id, const Frame* frame);
  // Element `index` of a tuple, or all of a state that is no tuple.
  std::optional<Linear> element(InstructionId id, int64_t index, const Frame* frame);
  // The instruction and frame that a result comes from: out of fusions, calls and copies.
  bool find_source(InstructionId& id, const Frame*& frame);

  std::vector<Widened> widened;  // that scalars were made of

 private:
  const Frame* enter(InstructionId caller, const Frame* parent) {
    return &frames_.emplace_back(Frame{parent, caller});
  }
  bool is_state(InstructionId id, const Frame* frame) const {
    return has_state_ && !frame && module_[id].op == Op::Parameter;
  }

  const Module& module_;
  bool has_state_;
  std::deque<Frame> frames_;
  int steps_ = 4096;  // instructions looked at, so that no module makes this long
  int depth_ = 0;
};

ComputationId inlined(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op == Op::Fusion) return module.attributes<FusionAttributes>(id).calls;
  if (op == Op::Call) return module.attributes<CallAttributes>(id).to_apply;
  return {};
}

bool passes_value(const Module& module, InstructionId id) {
  const Op op = module[id].op;
  if (op == Op::Copy || op == Op::OptimizationBarrier) return true;
  const Shape& shape = module.shape(id);
  return (op == Op::Bitcast || op == Op::Reshape) && shape.is_scalar() &&
         shape.type == module.shape(module.operand(id, 0)).type;
}

bool is_wider(ElementType from, const Shape& shape) {
  return is_integral(from) && is_integral(shape.type) &&
         bits_of(shape.type) >= bits_of(from) + (is_unsigned(from) != is_unsigned(shape.type)) &&
         (is_signed(shape.type) || is_unsigned(from));
}

bool Tracer::find_source(InstructionId& id, const Frame*& frame) {
  while (steps_-- > 0) {
    if (const ComputationId callee = inlined(module_, id)) {
      frame = enter(id, frame);
      id = module_[callee].root;
    } else if (module_[id].op == Op::Parameter && frame) {
      const int64_t number = module_.attributes<ParameterAttributes>(id).number;
      id = module_.operand(frame->caller, static_cast<size_t>(number));
      frame = frame->parent;
    } else if (passes_value(module_, id)) {
      id = module_.operand(id, 0);
    } else {
      return true;
    }
  }
  return false;
}

std::optional<Linear> Tracer::element(InstructionId id, int64_t index, const Frame* frame) {
  if (!find_source(id, frame)) return {};
  if (is_state(id, frame)) return Linear{index, 0};
  if (module_[id].op != Op::Tuple) return {};
  return scalar(module_.operand(id, static_cast<size_t>(index)), frame);
}

std::optional<Linear> Tracer::scalar(InstructionId id, const Frame* frame) {
  constexpr int max_depth = 64;
  if (depth_ >= max_depth || !find_source(id, frame)) return {};
  const Instruction& instruction = module_[id];
  const Shape& shape = module_.shape(instruction);
  if (!shape.is_scalar() || !is_integral(shape.type)) return {};
  if (is_state(id, frame)) return Linear{0, 0};
  if (instruction.op == Op::Constant) {
    const LiteralRef& ref = module_.attributes<ConstantAttributes>(instruction).literal;
    if (!ref.literal || ref.elided) return {};
    const int64_t value = ref.literal->integer_at(0);
    if (shape.type == ElementType::U64 && value < 0) return {};
    return Linear{-1, value};
  }
  ++depth_;
  std::optional<Linear> out;
  if (instruction.op == Op::GetTupleElement) {
    out = element(module_.operand(id, 0),
                  module_.attributes<GetTupleElementAttributes>(instruction).index, frame);
  } else if (instruction.op == Op::Convert) {
    const ElementType from = module_.shape(module_.operand(id, 0)).type;
    if (is_wider(from, shape)) out = scalar(module_.operand(id, 0), frame);
    if (out) widened.push_back({*out, from});
  } else if (instruction.op == Op::Add || instruction.op == Op::Subtract) {
    const bool minus = instruction.op == Op::Subtract;
    const auto a = scalar(module_.operand(id, 0), frame);
    const auto b = a ? scalar(module_.operand(id, 1), frame) : std::nullopt;
    if (a && b && (b->element < 0 || (a->element < 0 && !minus)))
      out = Linear{std::max(a->element, b->element), a->offset + (minus ? -b->offset : b->offset)};
  }
  --depth_;
  constexpr Wide limit = Wide{1} << 62;  // keeps products with a count within 128 bits
  if (out && (out->offset > limit || out->offset < -limit)) return {};
  return out;
}

// A scalar over the iterations: first + i * step.
struct Series {
  Wide first = 0, step = 0;
};

// What the state's elements are over the iterations, and which values their types must hold.
class States {
 public:
  States(const Module& module, InstructionId loop) : module_(module), loop_(loop) {}

  std::optional<Series> series_of(const Linear& value) {
    if (value.element < 0) return Series{value.offset, 0};
    Tracer before(module_, false), body(module_, true);
    const InstructionId root = module_[module_.attributes<WhileAttributes>(loop_).body].root;
    const InstructionId start = module_.operand(loop_, 0);
    const bool tuple = module_.shape(loop_).is_tuple();
    const auto first =
        tuple ? before.element(start, value.element, nullptr) : before.scalar(start, nullptr);
    const auto next =
        tuple ? body.element(root, value.element, nullptr) : body.scalar(root, nullptr);
    if (!first || !next || next->element != value.element) return {};
    const Series out = {first->offset + value.offset, next->offset};
    for (const Widened& one : before.widened) held_.push_back({{one.value.offset, 0}, one.type});
    for (const Widened& one : body.widened) {
      if (one.value.element >= 0 && one.value.element != value.element) return {};
      const bool changes = one.value.element >= 0;
      held_.push_back(
          {{one.value.offset + (changes ? first->offset : 0), changes ? out.step : 0}, one.type});
    }
    return out;
  }
  // Also in the first `count` iterations and at their end.
  void must_hold(const Series& series, ElementType type) { held_.push_back({series, type}); }
  bool are_held(Wide count) const;

 private:
  struct Held {
    Series series;
    ElementType type;
  };
  const Module& module_;
  InstructionId loop_;
  std::vector<Held> held_;
};

Wide divide_up(Wide a, Wide b) { return (a + b - 1) / b; }  // of positive numbers

// How many of start, start + step, ... satisfy `direction` against 0 before the first that does
// not; none: never ends.
std::optional<Wide> count_while(Wide start, Wide step, ComparisonDirection direction) {
  using enum ComparisonDirection;
  if (direction == Lt || direction == Le) {  // the same as greater, mirrored
    start = -start, step = -step;
    direction = direction == Lt ? Gt : Ge;
  }
  if (direction == Ge) ++start, direction = Gt;
  if (direction == Gt) {
    if (start <= 0) return 0;
    if (step >= 0) return {};
    return divide_up(start, -step);
  }
  if (direction == Eq) {
    if (start != 0) return 0;
    return step != 0 ? std::optional<Wide>(1) : std::nullopt;
  }
  if (start == 0) return 0;
  if (step == 0 || start % step != 0 || (start > 0) == (step > 0)) return {};
  return -(start / step);
}

// Whether no value of the series wraps around in the first `count` iterations or at its end.
bool stays_in_range(const Series& series, Wide count, ElementType type) {
  const int bits = bits_of(type);
  const Wide low = is_signed(type) ? -(Wide{1} << (bits - 1)) : 0;
  const Wide high = is_signed(type) ? (Wide{1} << (bits - 1)) - 1 : (Wide{1} << bits) - 1;
  const Wide last = series.first + series.step * count;
  return series.first >= low && series.first <= high && last >= low && last <= high;
}

bool States::are_held(Wide count) const {
  return std::ranges::all_of(
      held_, [&](const Held& held) { return stays_in_range(held.series, count, held.type); });
}

std::optional<int64_t> counted(const Module& module, InstructionId loop) {
  Tracer condition(module, true);
  InstructionId id = module[module.attributes<WhileAttributes>(loop).condition].root;
  const Frame* frame = nullptr;
  if (!condition.find_source(id, frame) || module[id].op != Op::Compare) return {};
  const auto left = condition.scalar(module.operand(id, 0), frame);
  const auto right = condition.scalar(module.operand(id, 1), frame);
  if (!left || !right) return {};
  States states(module, loop);
  const auto a = states.series_of(*left), b = states.series_of(*right);
  if (!a || !b) return {};
  const ElementType type = module.shape(module.operand(id, 0)).type;
  states.must_hold(*a, type), states.must_hold(*b, type);
  for (const Widened& one : condition.widened) {
    const auto series = states.series_of(one.value);
    if (!series) return {};
    states.must_hold(*series, one.type);
  }
  const auto count = count_while(a->first - b->first, a->step - b->step,
                                 module.attributes<CompareAttributes>(id).direction);
  if (!count || *count > INT64_MAX || !states.are_held(*count)) return {};
  return static_cast<int64_t>(*count);
}

// {"known_trip_count":{"n":"20"}}, as XLA writes it into the backend_config of a while.
std::optional<int64_t> stated(std::string_view config) {
  constexpr std::string_view key = "\"known_trip_count\"";
  size_t at = config.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = config.substr(at + key.size());
  rest = rest.substr(0, rest.find('}'));
  at = rest.find("\"n\"");
  if (at == std::string_view::npos) return {};
  rest = rest.substr(at + 3);
  at = rest.find_first_of("0123456789");
  if (at == std::string_view::npos || rest.find('-') < at) return {};
  int64_t out = 0;
  for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at)
    if (__builtin_mul_overflow(out, 10, &out) || __builtin_add_overflow(out, rest[at] - '0', &out))
      return {};
  return out;
}

}  // namespace

std::optional<int64_t> trip_count(const Module& module, InstructionId while_instruction) {
  if (module[while_instruction].op != Op::While) return {};
  return counted(module, while_instruction);
}

std::optional<int64_t> stated_trip_count(const Module& module, InstructionId while_instruction) {
  const Instruction& loop = module[while_instruction];
  if (loop.op != Op::While) return {};
  if (const auto known = stated(module.extra(loop).backend_config)) return known;
  return counted(module, while_instruction);
}

}  // namespace hilo
