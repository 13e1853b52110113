#include "analysis/sharding_factors.h"

#include "analysis/sharding_factors/factor_finder.h"

namespace hilo {

ShardingFactors sharding_factors(const Module& module, InstructionId id) {
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
