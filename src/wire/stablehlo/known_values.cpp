#include "wire/stablehlo/known_values.h"

#include <algorithm>
#include <optional>

namespace hilo::mlir {
namespace {

using Values = KnownValues::Values;
constexpr int64_t max_values = 1 << 10;  // shapes and sizes have no more

// As the type stores it: integers wrap.
int64_t wrapped(ElementType type, int64_t value) {
  if (type == ElementType::Pred) return value != 0;
  const int bits = bits_of(type);
  if (bits >= 64 || bits <= 0) return value;
  const uint64_t kept = static_cast<uint64_t>(value) << (64 - bits);
  return is_signed(type) ? static_cast<int64_t>(kept) >> (64 - bits)
                         : static_cast<int64_t>(kept >> (64 - bits));
}

bool less(ElementType type, int64_t a, int64_t b) {
  return is_signed(type) ? a < b : static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
}

// By zero: -1, and the dividend as remainder, as HLO has it.
int64_t divided(ElementType type, int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (!is_signed(type))
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
int64_t remainder(ElementType type, int64_t a, int64_t b) {
  if (b == 0) return a;
  if (!is_signed(type))
    return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return b == -1 ? 0 : a % b;
}

int64_t added(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t multiplied(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

// Value by value: what an op of integers gives.
struct Unary {
  Op op;
  int64_t (*value)(ElementType type, int64_t a);
};
constexpr Unary unary_ops[] = {
    {Op::Negate, [](ElementType, int64_t a) { return negated(a); }},
    {Op::Abs, [](ElementType t, int64_t a) { return is_signed(t) && a < 0 ? negated(a) : a; }},
    {Op::Sign,
     [](ElementType t, int64_t a) -> int64_t {
       return a == 0 ? 0 : is_signed(t) && a < 0 ? -1 : 1;
     }},
    {Op::Not, [](ElementType t, int64_t a) { return t == ElementType::Pred ? int64_t{!a} : ~a; }},
    {Op::Convert, [](ElementType, int64_t a) { return a; }},
};
struct Binary {
  Op op;
  int64_t (*value)(ElementType type, int64_t a, int64_t b);
};
constexpr Binary binary_ops[] = {
    {Op::Add, [](ElementType t, int64_t a,
                 int64_t b) { return t == ElementType::Pred ? a | b : added(a, b); }},
    {Op::Subtract, [](ElementType, int64_t a, int64_t b) { return added(a, negated(b)); }},
    {Op::Multiply, [](ElementType, int64_t a, int64_t b) { return multiplied(a, b); }},
    {Op::Divide, divided},
    {Op::Remainder, remainder},
    {Op::Maximum, [](ElementType t, int64_t a, int64_t b) { return less(t, a, b) ? b : a; }},
    {Op::Minimum, [](ElementType t, int64_t a, int64_t b) { return less(t, b, a) ? b : a; }},
    {Op::And, [](ElementType, int64_t a, int64_t b) { return a & b; }},
    {Op::Or, [](ElementType, int64_t a, int64_t b) { return a | b; }},
    {Op::Xor, [](ElementType, int64_t a, int64_t b) { return a ^ b; }},
};

bool compared(ComparisonDirection direction, ElementType type, int64_t a, int64_t b) {
  switch (direction) {
    case ComparisonDirection::Eq: return a == b;
    case ComparisonDirection::Ne: return a != b;
    case ComparisonDirection::Ge: return !less(type, a, b);
    case ComparisonDirection::Gt: return less(type, b, a);
    case ComparisonDirection::Le: return !less(type, b, a);
    case ComparisonDirection::Lt: return less(type, a, b);
  }
  return false;
}

struct Given {
  const Module& module;
  const Instruction& instruction;
  std::vector<const Values*> operands;

  const Shape& shape() const { return module.shape(instruction); }
  const Shape& operand(size_t i) const { return module.shape(module.operands(instruction)[i]); }
  // Element i of an operand; scalars stand for each element.
  int64_t at(size_t operand, size_t i) const {
    const Values& values = *operands[operand];
    return values.size() == 1 ? values[0] : values[i];
  }
};

std::optional<int64_t> element(const Given& given, size_t i) {
  const Op op = given.instruction.op;
  const ElementType type = given.operand(0).type;
  if (op == Op::Compare)
    return compared(given.module.attributes<CompareAttributes>(given.instruction).direction, type,
                    given.at(0, i), given.at(1, i));
  if (op == Op::Select) return given.at(0, i) ? given.at(1, i) : given.at(2, i);
  if (op == Op::Clamp) {
    const int64_t low = given.at(0, i), high = given.at(2, i);
    const int64_t raised = less(type, given.at(1, i), low) ? low : given.at(1, i);
    return less(type, high, raised) ? high : raised;
  }
  for (const Unary& one : unary_ops)
    if (one.op == op) return one.value(type, given.at(0, i));
  for (const Binary& one : binary_ops)
    if (one.op == op) return one.value(type, given.at(0, i), given.at(1, i));
  return std::nullopt;
}

std::optional<Values> elementwise(const Given& given) {
  Values out;
  for (int64_t i = 0; i < element_count(given.shape()); ++i) {
    const auto value = element(given, static_cast<size_t>(i));
    if (!value) return std::nullopt;
    out.push_back(wrapped(given.shape().type, *value));
  }
  return out;
}

std::optional<Values> broadcast(const Given& given) {
  const Dims& dims = given.module.attributes<DimensionsAttributes>(given.instruction).dimensions;
  const Dims& to = given.shape().dims;
  const Dims strides = row_major_strides(given.operand(0).dims);
  Values out;
  Dims index(to.size(), 0);
  for (int64_t i = 0; i < element_count(to); ++i, next_index(index, to)) {
    int64_t from = 0;
    for (size_t d = 0; d < dims.size(); ++d) from += index[dims[d]] * strides[d];
    out.push_back((*given.operands[0])[from]);
  }
  return out;
}

std::optional<Values> slice(const Given& given) {
  if (given.shape().rank() != 1) return std::nullopt;
  const SliceDim dim = given.module.attributes<SliceAttributes>(given.instruction).slice.dims[0];
  Values out;
  for (int64_t i = 0; i < given.shape().dims[0]; ++i)
    out.push_back((*given.operands[0])[dim.start + i * dim.stride]);
  return out;
}

std::optional<Values> constant(const Given& given) {
  const auto& literal = given.module.attributes<ConstantAttributes>(given.instruction).literal;
  if (!literal.literal) return std::nullopt;
  Values out;
  for (int64_t i = 0; i < literal.literal->count(); ++i)
    out.push_back(literal.literal->integer_at(i));
  return out;
}

std::optional<Values> joined(const Given& given) {
  if (given.shape().rank() != 1) return std::nullopt;
  Values out;
  for (const Values* values : given.operands) out.insert(out.end(), values->begin(), values->end());
  return out;
}

std::optional<Values> counted(const Given& given) {
  if (given.shape().rank() != 1) return std::nullopt;
  Values out;
  for (int64_t i = 0; i < given.shape().dims[0]; ++i) out.push_back(wrapped(given.shape().type, i));
  return out;
}

std::optional<Values> reshaped(const Given& given) { return *given.operands[0]; }

struct Structural {
  Op op;
  std::optional<Values> (*values)(const Given&);
};
constexpr Structural structural_ops[] = {
    {Op::Constant, constant},   {Op::Iota, counted},       {Op::Reshape, reshaped},
    {Op::Broadcast, broadcast}, {Op::Concatenate, joined}, {Op::Slice, slice},
};

std::optional<Values> evaluate(const Given& given) {
  if (is_elementwise(given.instruction.op)) return elementwise(given);
  for (const Structural& one : structural_ops)
    if (one.op == given.instruction.op) return one.values(given);
  return std::nullopt;
}

}  // namespace

const Values* KnownValues::look(const Module& module, InstructionId id, int steps) {
  if (const Values* values = find(id)) return values;
  if (steps == 0 || !asked_.insert(id).second) return nullptr;
  for (InstructionId operand : module.operands(id)) look(module, operand, steps - 1);
  see(module, id);
  return find(id);
}

void KnownValues::see(const Module& module, InstructionId id) {
  const Instruction& instruction = module[id];
  const Shape& shape = module.shape(instruction);
  if (!is_integral(shape.type) && shape.type != ElementType::Pred) return;
  if (!is_static(shape) || element_count(shape) > max_values) return;
  Given given{module, instruction, {}};
  for (InstructionId operand : module.operands(instruction)) {
    const Values* values = find(operand);
    if (!values) return;
    given.operands.push_back(values);
  }
  if (auto values = evaluate(given)) set(id, std::move(*values));
}

}  // namespace hilo::mlir
