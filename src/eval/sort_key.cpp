#include "eval/sort_key.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace hilo {
namespace {

// A side of the comparison, its replacements taken off.
struct Side {
  int64_t parameter = -1;
  bool zeros = false, nans = false;
};

std::optional<double> constant_of(const Module& module, InstructionId id) {
  if (module[id].op != Op::Constant) return std::nullopt;
  const LiteralRef& value = module.attributes<ConstantAttributes>(id).literal;
  if (!value.literal || !is_floating(value.literal->type())) return std::nullopt;
  return value.literal->number_at(0);
}

std::optional<Side> find_side(const Module& module, InstructionId id) {
  Side out;
  std::vector<InstructionId> compared;
  while (module[id].op == Op::Select) {
    const InstructionId test = module.operand(id, 0);
    const auto replacement = constant_of(module, module.operand(id, 1));
    if (module[test].op != Op::Compare || !replacement) return std::nullopt;
    const InstructionId left = module.operand(test, 0), right = module.operand(test, 1);
    const auto direction = module.attributes<CompareAttributes>(test).direction;
    const auto limit = constant_of(module, right);
    if (direction == ComparisonDirection::Ne && left == right && std::isnan(*replacement))
      out.nans = true;
    else if (direction == ComparisonDirection::Eq && limit == 0 && *replacement == 0 &&
             !std::signbit(*replacement))
      out.zeros = true;
    else return std::nullopt;
    compared.push_back(left);
    id = module.operand(id, 2);
  }
  if (module[id].op != Op::Parameter) return std::nullopt;
  for (InstructionId left : compared)
    if (left != id) return std::nullopt;
  out.parameter = module.attributes<ParameterAttributes>(id).number;
  return out;
}

template <class U>
U load(const std::byte* from) {
  U out;
  std::memcpy(&out, from, sizeof(U));
  return out;
}

template <class U>
void float_keys(const SortKey& key, FloatFormat format, const std::byte* values, int64_t step,
                int64_t count, uint64_t* keys) {
  const U sign = U(1) << (sizeof(U) * 8 - 1);
  const U infinity = static_cast<U>(((U(1) << format.exponent_bits) - 1) << format.mantissa_bits);
  for (int64_t i = 0; i < count; ++i) {
    U bits = load<U>(values + i * step * sizeof(U));
    const U magnitude = bits & static_cast<U>(~sign);
    if (magnitude == 0 && key.zeros_are_equal) bits = 0;
    if (magnitude > infinity && key.nans_are_positive) bits = infinity | 1;
    keys[i] = static_cast<U>(bits & sign ? ~bits : bits | sign);
  }
}

template <class T>
void integer_keys(const std::byte* values, int64_t step, int64_t count, uint64_t* keys) {
  using U = std::make_unsigned_t<T>;
  const U flip = std::is_signed_v<T> ? U(1) << (sizeof(U) * 8 - 1) : 0;
  for (int64_t i = 0; i < count; ++i)
    keys[i] = static_cast<U>(load<U>(values + i * step * sizeof(U)) ^ flip);
}

bool has_key(ElementType type) {
  switch (type) {
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F32:
    case ElementType::F64: return true;
    default: return is_integral(type) && type != ElementType::Invalid;
  }
}

}  // namespace

std::optional<SortKey> find_sort_key(const Module& module, ComputationId comparator) {
  const InstructionId root = module[comparator].root;
  if (module[root].op != Op::Compare) return std::nullopt;
  const auto left = find_side(module, module.operand(root, 0));
  const auto right = find_side(module, module.operand(root, 1));
  if (!left || !right || left->parameter / 2 != right->parameter / 2 ||
      left->parameter == right->parameter || left->zeros != right->zeros ||
      left->nans != right->nans)
    return std::nullopt;
  if (!has_key(module.shape(module.operand(root, 0)).type)) return std::nullopt;
  const auto& a = module.attributes<CompareAttributes>(root);
  const bool is_less = a.direction == ComparisonDirection::Lt,
             is_greater = a.direction == ComparisonDirection::Gt;
  if (!is_less && !is_greater) return std::nullopt;
  const bool is_total = a.type == ComparisonType::TotalOrder || a.order == ComparisonOrder::Total;
  const bool is_swapped = left->parameter > right->parameter;
  return SortKey{left->parameter / 2, is_greater != is_swapped, is_total, left->zeros || !is_total,
                 left->nans};
}

void make_sort_keys(const SortKey& key, ElementType type, const std::byte* values, int64_t step,
                    int64_t count, uint64_t* keys) {
  if (type == ElementType::F64)
    float_keys<uint64_t>(key, {11, 52, 1023, Specials::Ieee}, values, step, count, keys);
  else if (type == ElementType::F32)
    float_keys<uint32_t>(key, {8, 23, 127, Specials::Ieee}, values, step, count, keys);
  else if (type == ElementType::BF16)
    float_keys<uint16_t>(key, {8, 7, 127, Specials::Ieee}, values, step, count, keys);
  else if (type == ElementType::F16)
    float_keys<uint16_t>(key, {5, 10, 15, Specials::Ieee}, values, step, count, keys);
  else
    visit_storage(type, [&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        integer_keys<T>(values, step, count, keys);
      else if constexpr (sizeof(T) == 1)  // integers of 1, 2 and 4 bits, extended to a byte
        is_signed(type) ? integer_keys<int8_t>(values, step, count, keys)
                        : integer_keys<uint8_t>(values, step, count, keys);
    });
  if (key.is_descending)
    for (int64_t i = 0; i < count; ++i)
      keys[i] = ~keys[i] & (UINT64_MAX >> (64 - 8 * storage_bytes(type)));
}

}  // namespace hilo
