#include "pass/shard/role_axes.h"

#include <algorithm>

namespace hilo {

RoleSpace::RoleSpace(const RoleQuestion& question) : question_(question) {
  for (const auto* list : {&question.operands, &question.results})
    for (const RoleArray& array : *list)
      if (array.sharding && *array.sharding->mesh == *question.mesh) arrays_.push_back(&array);
  find_atoms();
  digits_ = AtomDigits(atoms_);
  devices_ = mesh_size(*question.mesh);
  find_shared_dims();
  find_even_factors();
  find_lost_factors();
}

// Each axis is cut where a sharding cuts it, as long as the cuts divide each other.
void RoleSpace::find_atoms() {
  const Mesh& mesh = *question_.mesh;
  std::vector<Dims> cuts(mesh.axes.size());
  for (size_t i = 0; i < cuts.size(); ++i) cuts[i] = {1, mesh.axes[i].size};
  const auto add = [&](const SubAxes& axes) {
    for (const SubAxis& axis : axes)
      cuts[axis.axis].insert(cuts[axis.axis].end(), {axis.pre_size, axis.pre_size * axis.size});
  };
  for (const RoleArray* array : arrays_) {
    for (const auto& dim : array->sharding->dims) add(dim.axes);
    add(array->sharding->unreduced);
  }
  add(question_.manual);
  for (size_t i = 0; i < cuts.size(); ++i) {
    int64_t before = 1;
    std::ranges::sort(cuts[i]);
    for (int64_t cut : cuts[i]) {
      if (cut == before || cut % before != 0 || mesh.axes[i].size % cut != 0) continue;
      const SubAxis atom{i, before, cut / before};
      before = cut;
      if (axes_within(mesh, std::array{atom}, question_.manual).empty()) atoms_.push_back(atom);
    }
  }
}

void RoleSpace::find_shared_dims() {
  for (const auto* list : {&question_.operands, &question_.results})
    for (const RoleArray& array : *list)
      for (const std::vector<size_t>& factors : *array.factors)
        if (factors.size() > 1) shared_dims_.push_back(&factors);
}

// Where a dimension is several factors, tiles of one with padding are no tiles of the dimension;
// nor where the factor has another size than a dimension of it.
void RoleSpace::find_even_factors() {
  is_even_ = question_.even_alone;
  is_even_.resize(factors());
  for (const std::vector<size_t>* dim : shared_dims_)
    for (size_t factor : *dim)
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

std::vector<Atom> RoleSpace::cut(const SubAxes& axes) const {
  std::vector<Atom> out;
  for (const SubAxis& axis : axes)
    for (size_t i = 0; i < atoms_.size(); ++i)
      if (atoms_[i].axis == axis.axis && atoms_[i].pre_size >= axis.pre_size &&
          atoms_[i].pre_size * atoms_[i].size <= axis.pre_size * axis.size)
        out.push_back(static_cast<Atom>(i));
  return out;
}

int64_t RoleSpace::size(std::span<const Atom> atoms) const {
  int64_t out = 1;
  for (Atom atom : atoms) out *= atoms_[atom].size;
  return out;
}

bool RoleSpace::fits(size_t factor, std::span<const Atom> atoms) const {
  return question_.may_shard[factor] && !is_lost_[factor] &&
         (!is_even_[factor] || question_.factors.factors[factor].size % size(atoms) == 0);
}

AtomRoles RoleSpace::project(const RoleArray& array) const {
  AtomRoles out;
  for (size_t dim = 0; dim < array.factors->size(); ++dim) {
    const std::vector<size_t>& factors = (*array.factors)[dim];
    size_t at = 0;
    for (Atom atom : cut(array.sharding->dims[dim].axes)) {
      const auto is_full = [&] {
        return size(out.of(factors[at])) == question_.factors.factors[factors[at]].size;
      };
      while (at + 1 < factors.size() && is_full()) ++at;
      if (at == factors.size()) break;
      out.append(factors[at], atom);
      if (fits(factors[at], out.of(factors[at]))) continue;
      out.erase(atom);
      break;
    }
  }
  return out;
}

void RoleSpace::merge(const AtomRoles& other, AtomRoles& into) const {
  for (size_t i = 0; i < other.size(); ++i) {
    const size_t factor = other.list_of(i);
    if (i > 0 && other.list_of(i - 1) == factor) continue;
    const auto longer = other.of(factor), shorter = into.of(factor);
    if (std::ranges::mismatch(longer, shorter).in2 != shorter.end()) continue;
    for (Atom atom : longer.subspan(shorter.size())) {
      if (into.holds(atom)) break;
      into.append(factor, atom);
    }
  }
}

// A factor behind another of its dimension is sharded only where each index of the other has a
// device of its own.
bool RoleSpace::is_contiguous(const AtomRoles& roles, const std::vector<size_t>& dim) const {
  bool is_full = true;
  for (size_t factor : dim) {
    const auto atoms = roles.of(factor);
    if (!is_full && !atoms.empty()) return false;
    is_full = is_full && size(atoms) == question_.factors.factors[factor].size;
  }
  return true;
}

bool RoleSpace::is_possible(const AtomRoles& roles) const {
  for (size_t i = 0; i < roles.size(); ++i) {
    const size_t factor = roles.list_of(i);
    if (i > 0 && roles.list_of(i - 1) == factor) continue;
    if (!fits(factor, roles.of(factor))) return false;
  }
  return std::ranges::all_of(shared_dims_,
                             [&](const auto* dim) { return is_contiguous(roles, *dim); });
}

Roles RoleSpace::roles(const AtomRoles& atoms) const {
  Roles out;
  out.axes.resize(factors());
  for (size_t i = 0; i < atoms.size(); ++i) out.axes[atoms.list_of(i)].push_back(atoms_[atoms[i]]);
  for (SubAxes& axes : out.axes)
    if (axes.size() > 1) axes = merge_axes(axes);
  return out;
}

std::optional<ShardingAtoms> RoleSpace::atoms_of(const AxisSharding& sharding) const {
  if (*sharding.mesh != *question_.mesh) return std::nullopt;
  ShardingAtoms out;
  for (size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    const std::vector<Atom> atoms = cut(sharding.dims[dim].axes);
    if (size(atoms) != axes_size(sharding.dims[dim].axes)) return std::nullopt;
    for (Atom atom : atoms) out.dims.append(dim, atom);
  }
  out.unreduced = cut(sharding.unreduced);
  if (size(out.unreduced) != axes_size(sharding.unreduced)) return std::nullopt;
  return out;
}

ShardingAtoms RoleSpace::atoms_of(const RoleArray& array, const AtomRoles& roles,
                                  bool reduced) const {
  ShardingAtoms out;
  for (size_t dim = 0; dim < array.factors->size(); ++dim)
    for (size_t factor : (*array.factors)[dim])
      for (Atom atom : roles.of(factor)) out.dims.append(dim, atom);
  for (size_t i = 0; reduced && i < roles.size(); ++i)
    if (question_.factors.factors[roles.list_of(i)].kind == ShardingFactor::Kind::Reduction)
      out.unreduced.push_back(roles[i]);
  return out;
}

bool RoleSpace::is_kept(const Shape& shape, const ShardingAtoms& from,
                        const ShardingAtoms& to) const {
  if (!from.unreduced.empty() || !to.unreduced.empty()) return false;
  for (size_t dim = 0; dim < shape.dims.size(); ++dim) {
    const auto before = from.dims.of(dim), behind = to.dims.of(dim);
    if (std::ranges::mismatch(before, behind).in1 != before.end()) return false;
    if (before.size() < behind.size() && shape.dims[dim] % size(behind) != 0) return false;
  }
  return true;
}

// Summands take a reduce-scatter at least, once the tiles are cut along all free axes of the
// target. A tile is a summand already, among zeros.
int64_t RoleSpace::min_elements(const Shape& shape, const ShardingAtoms& from,
                                const ShardingAtoms& to) const {
  const auto is_summed = [&](Atom atom) { return std::ranges::count(from.unreduced, atom) > 0; };
  if (!std::ranges::all_of(to.unreduced, is_summed)) return 0;
  int64_t held = devices_, wanted = devices_;
  SharedTiles shared(digits_, devices_);
  bool is_shared = true;
  for (size_t dim = 0; dim < shape.dims.size(); ++dim) {
    const auto before = from.dims.of(dim), behind = to.dims.of(dim);
    const auto tile = [&](int64_t tiles) { return (shape.dims[dim] + tiles - 1) / tiles; };
    if (__builtin_mul_overflow(held, tile(size(before)), &held) ||
        __builtin_mul_overflow(wanted, tile(size(behind)), &wanted))
      return 0;
    is_shared = is_shared && shared.add(shape.dims[dim], before, behind);
  }
  int64_t group = 1, cuts = 1;
  for (Atom atom : from.unreduced)
    if (std::ranges::count(to.unreduced, atom) == 0) group *= atoms_[atom].size;
  for (Atom atom : to.dims.all())
    if (!from.dims.holds(atom) && std::ranges::count(from.unreduced, atom) == 0)
      cuts *= atoms_[atom].size;
  return std::max(is_shared ? wanted - shared.elements() : 0, held / (cuts * group) * (group - 1));
}

}  // namespace hilo
