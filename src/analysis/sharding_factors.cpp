#include "analysis/sharding_factors.h"

#include "analysis/sharding_factors/factor_finder.h"

namespace hilo {

namespace {

// Each dimension is a factor. Nothing where that is not seen at once.
std::optional<ShardingFactors> factors_of_elementwise(const Module& module, InstructionId id) {
  const Shape& shape = module.shape(id);
  const auto is_like_it = [&](InstructionId operand) {
    const Shape& other = module.shape(operand);
    return other.is_array() && (other.dims.empty() || other.dims == shape.dims);
  };
  if (!is_elementwise(module[id].op) || !shape.is_array() || module[id].operand_count == 0 ||
      !std::ranges::all_of(module.operands(id), is_like_it))
    return std::nullopt;
  ShardingFactors out;
  DimensionFactors dims;
  for (int64_t size : shape.dims) {
    dims.push_back({out.factors.size()});
    out.factors.push_back({size});
  }
  for (InstructionId operand : module.operands(id))
    out.operands.push_back(module.shape(operand).dims.empty() ? DimensionFactors() : dims);
  out.results = {dims};
  return out;
}

}  // namespace

ShardingFactors sharding_factors(const Module& module, InstructionId id) {
  if (auto known = factors_of_elementwise(module, id)) return *std::move(known);
  return FactorFinder(module, id).run();
}

namespace {

std::string name_of_factor(size_t number) {
  const std::string letter(1, static_cast<char>('i' + number % 18));
  return number < 18 ? letter : letter + "_" + std::to_string(number / 18);
}

std::string text_of(const std::vector<DimensionFactors>& arrays) {
  std::string out = "(";
  for (size_t a = 0; a < arrays.size(); ++a) {
    out += a > 0 ? ", [" : "[";
    for (size_t d = 0; d < arrays[a].size(); ++d) {
      if (d > 0) out += ", ";
      for (size_t factor : arrays[a][d]) out += name_of_factor(factor);
    }
    out += "]";
  }
  return out + ")";
}

}  // namespace

std::string to_string(const ShardingFactors& factors) {
  using Kind = ShardingFactor::Kind;
  std::string out = text_of(factors.operands) + "->" + text_of(factors.results);
  const auto list = [&](std::string_view what, auto&& holds) {
    std::string names;
    for (size_t i = 0; i < factors.factors.size(); ++i)
      if (holds(factors.factors[i])) names += (names.empty() ? "" : ", ") + name_of_factor(i);
    if (!names.empty()) out += fmt::format(" {}={{{}}}", what, names);
  };
  std::string sizes;
  for (size_t i = 0; i < factors.factors.size(); ++i)
    sizes += fmt::format("{}{}={}", i > 0 ? ", " : "", name_of_factor(i), factors.factors[i].size);
  if (!sizes.empty()) out += " {" + sizes + "}";
  list("reduction", [](const ShardingFactor& f) { return f.kind == Kind::Reduction; });
  list("need_replication", [](const ShardingFactor& f) { return f.kind == Kind::NeedReplication; });
  list("permutation", [](const ShardingFactor& f) { return f.kind == Kind::Permutation; });
  list("blocked_propagation", [](const ShardingFactor& f) { return f.blocks_propagation; });
  return out;
}

}  // namespace hilo
