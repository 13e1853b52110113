#include "pass/shard/factor_list.h"

namespace hilo {
namespace {

void add_leaves(const Shape& shape, std::vector<Shape>& leaves,
                std::vector<DimensionFactors>& factors) {
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t>) {
    leaves.push_back(leaf);
    factors.emplace_back(leaf.dims.size());
  });
}

}  // namespace

FactorList::FactorList(const Module& module, InstructionId id) {
  for (InstructionId operand : module.operands(id))
    add_leaves(module.shape(operand), operands_, out_.operands);
  add_leaves(module.shape(id), results_, out_.results);
}

std::vector<size_t>& FactorList::factors_of(const Dimension& dim) {
  auto& arrays = dim.side == Dimension::Side::Operand ? out_.operands : out_.results;
  return arrays[dim.leaf][static_cast<size_t>(dim.dim)];
}

size_t FactorList::share(Kind kind, std::initializer_list<Dimension> dims) {
  const Dimension& first = *dims.begin();
  const auto& leaves = first.side == Dimension::Side::Operand ? operands_ : results_;
  out_.factors.push_back({leaves[first.leaf].dims[static_cast<size_t>(first.dim)], kind});
  for (const Dimension& dim : dims) put(out_.factors.size() - 1, dim);
  return out_.factors.size() - 1;
}

void FactorList::put(size_t factor, const Dimension& dim) { factors_of(dim).push_back(factor); }

ShardingFactors FactorList::finish() {
  const auto fill = [&](const std::vector<Shape>& leaves, std::vector<DimensionFactors>& arrays) {
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
      for (size_t dim = 0; dim < arrays[leaf].size(); ++dim) {
        if (!arrays[leaf][dim].empty()) continue;
        arrays[leaf][dim].push_back(out_.factors.size());
        out_.factors.push_back({leaves[leaf].dims[dim], Kind::NeedReplication});
      }
  };
  fill(operands_, out_.operands);
  fill(results_, out_.results);
  return std::move(out_);
}

}  // namespace hilo
