#include "pass/shard/role_axes.h"

#include <algorithm>
#include <numeric>

namespace hilo {

RoleSpace::RoleSpace(const RoleQuestion& question) : question_(question) {
  for (const auto* list : {&question.operands, &question.results})
    for (const RoleArray& array : *list)
      if (array.sharding && *array.sharding->mesh == *question.mesh) arrays_.push_back(&array);
  find_atoms();
  find_even_factors();
  find_lost_factors();
}

// Each axis is cut where a sharding cuts it, as long as the cuts divide each other.
void RoleSpace::find_atoms() {
  const Mesh& mesh = *question_.mesh;
  std::vector<std::set<int64_t>> cuts(mesh.axes.size());
  for (size_t i = 0; i < cuts.size(); ++i) cuts[i] = {1, mesh.axes[i].size};
  const auto add = [&](const SubAxes& axes) {
    for (const SubAxis& axis : axes)
      cuts[axis.axis].insert({axis.pre_size, axis.pre_size * axis.size});
  };
  for (const RoleArray* array : arrays_) {
    for (const auto& dim : array->sharding->dims) add(dim.axes);
    add(array->sharding->unreduced);
  }
  add(question_.manual);
  for (size_t i = 0; i < cuts.size(); ++i) {
    int64_t before = 1;
    for (int64_t cut : cuts[i]) {
      if (cut == before || cut % before != 0 || mesh.axes[i].size % cut != 0) continue;
      const SubAxis atom{i, before, cut / before};
      before = cut;
      if (axes_within(mesh, std::array{atom}, question_.manual).empty()) atoms_.push_back(atom);
    }
  }
}

// Where a dimension is several factors, tiles of one with padding are no tiles of the dimension;
// nor where the factor has another size than a dimension of it.
void RoleSpace::find_even_factors() {
  is_even_ = question_.even_alone;
  is_even_.resize(question_.factors.factors.size());
  for (const auto* list : {&question_.operands, &question_.results})
    for (const RoleArray& array : *list)
      for (const std::vector<size_t>& factors : *array.factors)
        if (factors.size() > 1)
          for (size_t factor : factors)
            if (!question_.may_be_uneven[factor]) is_even_[factor] = true;
}

// Factors of size 1, which a reshape drops: all tiles but the first are empty.
void RoleSpace::find_lost_factors() {
  const std::vector<ShardingFactor>& factors = question_.factors.factors;
  is_lost_.resize(factors.size());
  for (const RoleArray& result : question_.results) {
    std::vector<bool> is_there(factors.size());
    for (const std::vector<size_t>& dim : *result.factors)
      for (size_t factor : dim) is_there[factor] = true;
    for (size_t i = 0; i < factors.size(); ++i)
      if (factors[i].kind == ShardingFactor::Kind::Pass && !is_there[i]) is_lost_[i] = true;
  }
}

std::vector<uint8_t> RoleSpace::cut(const SubAxes& axes) const {
  std::vector<uint8_t> out;
  for (const SubAxis& axis : axes)
    for (size_t i = 0; i < atoms_.size(); ++i)
      if (atoms_[i].axis == axis.axis && atoms_[i].pre_size >= axis.pre_size &&
          atoms_[i].pre_size * atoms_[i].size <= axis.pre_size * axis.size)
        out.push_back(static_cast<uint8_t>(i));
  return out;
}

int64_t RoleSpace::size(std::span<const uint8_t> atoms) const {
  int64_t out = 1;
  for (uint8_t atom : atoms) out *= atoms_[atom].size;
  return out;
}

bool RoleSpace::fits(size_t factor, std::span<const uint8_t> atoms) const {
  if (atoms.empty()) return true;
  const int64_t tiles = size(atoms), elements = question_.factors.factors[factor].size;
  return question_.may_shard[factor] && !is_lost_[factor] &&
         (!is_even_[factor] || elements % tiles == 0);
}

AtomRoles RoleSpace::project(const RoleArray& array) const {
  AtomRoles out = none();
  for (size_t dim = 0; dim < array.factors->size(); ++dim) {
    const std::vector<size_t>& factors = (*array.factors)[dim];
    size_t at = 0;
    for (uint8_t atom : cut(array.sharding->dims[dim].axes)) {
      const auto is_full = [&] {
        return size(out[factors[at]]) == question_.factors.factors[factors[at]].size;
      };
      while (at + 1 < factors.size() && is_full()) ++at;
      if (at == factors.size()) break;
      out[factors[at]].push_back(atom);
      if (fits(factors[at], out[factors[at]])) continue;
      out[factors[at]].pop_back();
      break;
    }
  }
  return out;
}

void RoleSpace::merge(const AtomRoles& other, AtomRoles& into) const {
  for (size_t factor = 0; factor < into.size(); ++factor) {
    const auto& [longer, shorter] = std::tie(other[factor], into[factor]);
    if (std::ranges::mismatch(longer, shorter).in2 != shorter.end()) continue;
    for (size_t i = shorter.size(); i < longer.size(); ++i) {
      const uint8_t atom = longer[i];
      const auto holds = [&](const auto& list) { return std::ranges::count(list, atom) > 0; };
      if (std::ranges::any_of(into, holds)) break;
      into[factor].push_back(atom);
    }
  }
}

// A factor behind another of its dimension is sharded only where each index of the other has a
// device of its own.
bool RoleSpace::is_contiguous(const AtomRoles& roles, const DimensionFactors& factors) const {
  for (const std::vector<size_t>& dim : factors) {
    bool is_full = true;
    for (size_t factor : dim) {
      if (!is_full && !roles[factor].empty()) return false;
      is_full = is_full && size(roles[factor]) == question_.factors.factors[factor].size;
    }
  }
  return true;
}

bool RoleSpace::is_possible(const AtomRoles& roles) const {
  for (size_t factor = 0; factor < roles.size(); ++factor)
    if (!fits(factor, roles[factor])) return false;
  for (const auto* list : {&question_.operands, &question_.results})
    for (const RoleArray& array : *list)
      if (!is_contiguous(roles, *array.factors)) return false;
  return true;
}

Roles RoleSpace::roles(const AtomRoles& atoms) const {
  Roles out;
  for (const auto& list : atoms) {
    out.axes.emplace_back();
    for (uint8_t atom : list) out.axes.back().push_back(atoms_[atom]);
    out.axes.back() = merge_axes(out.axes.back());
  }
  return out;
}

}  // namespace hilo
