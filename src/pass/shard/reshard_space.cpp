#include "pass/shard/reshard_space.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hilo {
namespace {

// Where the axes of one dimension end, as numbers of tiles.
Dims bounds_of(const SubAxes& axes) {
  Dims out = {1};
  for (const SubAxis& axis : axes) out.push_back(out.back() * axis.size);
  return out;
}

// A part of an axis of the first that an axis of the others ends within.
std::optional<SubAxis> cut_within(const SubAxes& axes, const SubAxes& others) {
  if (axes.empty() || others.empty()) return std::nullopt;
  const Dims bounds = bounds_of(axes);
  for (int64_t end : bounds_of(others))
    for (size_t i = 0; i < axes.size(); ++i)
      if (bounds[i] < end && end < bounds[i + 1] && end % bounds[i] == 0 &&
          bounds[i + 1] % end == 0)
        return SubAxis{axes[i].axis, axes[i].pre_size, end / bounds[i]};
  return std::nullopt;
}

// The axes as atoms in the atoms' own order within each axis.
SubAxes split(const SubAxes& axes, const SubAxes& atoms) {
  SubAxes out;
  for (const SubAxis& axis : axes)
    for (const SubAxis& atom : atoms)
      if (atom.axis == axis.axis && atom.pre_size >= axis.pre_size &&
          atom.pre_size * atom.size <= axis.pre_size * axis.size)
        out.push_back(atom);
  return out;
}

// The mesh cut where axes of either sharding end, and where those of the other do as tiles.
SubAxes find_atoms(const AxisSharding& from, const AxisSharding& to) {
  SubAxes named = from.axes();
  for (const SubAxes& more : {to.axes(), from.manual, from.unreduced, to.unreduced})
    named.insert(named.end(), more.begin(), more.end());
  while (true) {
    const SubAxes atoms = split_mesh(*from.mesh, named);
    const size_t before = named.size();
    for (size_t dim = 0; dim < from.dims.size() && named.size() == before; ++dim) {
      const SubAxes a = split(from.dims[dim].axes, atoms), b = split(to.dims[dim].axes, atoms);
      for (const auto& cut : {cut_within(a, b), cut_within(b, a)})
        if (cut && named.size() == before) named.push_back(*cut);
    }
    if (named.size() == before) return atoms;
  }
}

// The second of two shardings may have atoms that the first's cut through its own.
bool can_split(const Mesh& mesh, const AxisSharding& from, const AxisSharding& to) {
  SubAxes a = from.axes(), b = to.axes();
  a.insert(a.end(), from.unreduced.begin(), from.unreduced.end());
  b.insert(b.end(), to.unreduced.begin(), to.unreduced.end());
  for (const SubAxis& one : a)
    for (const SubAxis& other : b) {
      if (one.axis != other.axis || one == other) continue;
      const SubAxes both = split_mesh(mesh, std::array{one, other});
      if (axes_size(both) != mesh_size(mesh)) return false;
    }
  return true;
}

}  // namespace

std::optional<ReshardSpace> ReshardSpace::make(std::span<const int64_t> dims,
                                               const AxisSharding& from, const AxisSharding& to) {
  if (!can_split(*from.mesh, from, to)) return std::nullopt;
  ReshardSpace out;
  out.dims_.assign(dims.begin(), dims.end());
  out.like_ = replicated_sharding(from.mesh, dims.size());
  out.like_.manual = from.manual;
  out.like_.unreduced = to.unreduced;
  out.like_.unreduced_op = from.unreduced_op;
  out.devices_ = mesh_size(*from.mesh);
  out.atoms_ = find_atoms(from, to);
  const auto whole = std::ranges::remove(out.atoms_, 1, &SubAxis::size);
  out.atoms_.erase(whole.begin(), whole.end());
  out.digits_ = AtomDigits(out.atoms_);
  out.source_ = out.lists_of(from);
  out.target_ = out.lists_of(to);
  return out;
}

Atom ReshardSpace::number_of(const SubAxis& atom) const {
  return static_cast<Atom>(std::ranges::find(atoms_, atom) - atoms_.begin());
}

AtomLists ReshardSpace::lists_of(const AxisSharding& sharding) const {
  AtomLists out;
  for (size_t dim = 0; dim < rank(); ++dim)
    for (const SubAxis& atom : split(sharding.dims[dim].axes, atoms_))
      out.append(dim, number_of(atom));
  const SubAxes axes = axes_outside(*like_.mesh, sharding.unreduced, like_.unreduced);
  std::vector<Atom> pending;
  for (const SubAxis& atom : split(axes, atoms_)) pending.push_back(number_of(atom));
  std::ranges::sort(pending);
  for (Atom atom : pending) out.append(rank(), atom);
  return out;
}

AtomSet ReshardSpace::used(const AtomLists& lists) const {
  AtomSet out;
  for (Atom atom : lists.all()) out.set(atom);
  return out;
}

AtomSet ReshardSpace::used_in_dims(const AtomLists& lists) const {
  AtomSet out;
  for (size_t i = 0; i < lists.size() && lists.list_of(i) < rank(); ++i) out.set(lists[i]);
  return out;
}

int64_t ReshardSpace::tiles(std::span<const Atom> list) const {
  int64_t out = 1;
  for (Atom atom : list) out *= size(atom);
  return out;
}

int64_t ReshardSpace::tile(size_t dim, std::span<const Atom> list) const {
  const int64_t tiles = this->tiles(list);
  return dims_[dim] / tiles + (dims_[dim] % tiles != 0);
}

bool ReshardSpace::divides(size_t dim, std::span<const Atom> list) const {
  return dims_[dim] % tiles(list) == 0;
}

int64_t ReshardSpace::tile_elements(const AtomLists& lists) const {
  int64_t out = 1;
  for (size_t dim = 0; dim < rank(); ++dim) out *= tile(dim, lists.of(dim));
  return out;
}

bool ReshardSpace::nests(size_t dim, std::span<const Atom> coarser,
                         std::span<const Atom> finer) const {
  const int64_t whole = tile(dim, coarser);
  return whole >= dims_[dim] || whole == tiles(finer.subspan(coarser.size())) * tile(dim, finer);
}

std::optional<ReshardSpace::Overlap> ReshardSpace::overlap_of_digits(const AtomLists& from,
                                                                     const AtomLists& to) const {
  SharedTiles shared(digits_, devices_);
  for (size_t dim = 0; dim < rank(); ++dim)
    if (!shared.add(dims_[dim], from.of(dim), to.of(dim))) return std::nullopt;
  return Overlap{devices_, shared.elements()};
}

int64_t ReshardSpace::same_tile_devices(const AtomLists& from, const AtomLists& to) const {
  SharedTiles shared(digits_, devices_);
  for (size_t dim = 0; dim < rank(); ++dim) shared.join(from.of(dim), to.of(dim));
  return shared.devices();
}

// Where each tile lies in one of the other side: together they are the dimension.
std::optional<ReshardSpace::Overlap> ReshardSpace::overlap_of_dim(size_t dim, const AtomLists& from,
                                                                  const AtomLists& to) const {
  std::span<const Atom> coarser = from.of(dim), finer = to.of(dim);
  if (coarser.size() > finer.size()) std::swap(coarser, finer);
  if (!std::ranges::equal(coarser, finer.first(coarser.size())) || !nests(dim, coarser, finer))
    return std::nullopt;
  return Overlap{tiles(finer), dims_[dim]};
}

namespace {

struct Digit {
  int64_t size, weight;
};

// The numbers that digits make, the last one counting fastest.
Dims numbers_of(std::span<const Digit> digits) {
  Dims out = {0};
  for (const Digit& digit : digits) {
    Dims next;
    next.reserve(out.size() * static_cast<size_t>(digit.size));
    for (int64_t number : out)
      for (int64_t i = 0; i < digit.size; ++i) next.push_back(number + i * digit.weight);
    out = std::move(next);
  }
  return out;
}

}  // namespace

ReshardSpace::Overlap ReshardSpace::overlap_of_tiles(std::span<const size_t> dims,
                                                     const AtomSet& atoms, const AtomLists& from,
                                                     const AtomLists& to) const {
  const auto tile_numbers = [&](std::span<const Atom> list) {
    std::vector<Digit> digits;
    for (Atom atom = 0; atom < this->atoms(); ++atom) {
      if (!atoms[atom]) continue;
      const auto at = static_cast<size_t>(std::ranges::find(list, atom) - list.begin());
      digits.push_back({size(atom), at < list.size() ? tiles(list.subspan(at + 1)) : 0});
    }
    return numbers_of(digits);
  };
  Dims shared;  // elements, by position along the atoms
  for (size_t dim : dims) {
    const Dims held = tile_numbers(from.of(dim)), wanted = tile_numbers(to.of(dim));
    const int64_t held_size = tile(dim, from.of(dim)), wanted_size = tile(dim, to.of(dim));
    shared.resize(held.size(), 1);
    for (size_t i = 0; i < shared.size(); ++i) {
      const int64_t first = std::max(held[i] * held_size, wanted[i] * wanted_size);
      const int64_t end = std::min((held[i] + 1) * held_size, (wanted[i] + 1) * wanted_size);
      shared[i] *= std::max<int64_t>(0, std::min(end, dims_[dim]) - first);
    }
  }
  return {std::ssize(shared), std::accumulate(shared.begin(), shared.end(), int64_t{0})};
}

// Dimensions whose lists have no atom in common have nothing to do with each other.
ReshardSpace::Overlap ReshardSpace::overlap(const AtomLists& from, const AtomLists& to,
                                            int64_t& looks) const {
  looks += static_cast<int64_t>(atoms_.size());
  if (const auto of_digits = overlap_of_digits(from, to)) return *of_digits;
  std::vector<AtomSet> named(rank());
  for (const AtomLists* lists : {&from, &to})
    for (size_t i = 0; i < lists->size() && lists->list_of(i) < rank(); ++i)
      named[lists->list_of(i)].set((*lists)[i]);
  Overlap out;
  std::vector<bool> is_done(rank());
  for (size_t first = 0; first < rank(); ++first) {
    if (is_done[first]) continue;
    std::vector<size_t> dims = {first};
    AtomSet together = named[first];
    is_done[first] = true;
    for (size_t dim = first + 1; dim < rank(); ++dim) {
      if (is_done[dim] || (named[dim] & together).none()) continue;
      dims.push_back(dim);
      together |= named[dim];
      is_done[dim] = true;
      dim = first;  // those before may share atoms with this one
    }
    auto one = dims.size() == 1 ? overlap_of_dim(first, from, to) : std::nullopt;
    if (!one) {
      one = overlap_of_tiles(dims, together, from, to);
      looks += one->devices * std::ssize(dims);
    }
    out.devices *= one->devices;
    out.elements *= one->elements;
  }
  return out;
}

int64_t ReshardSpace::missing(const AtomLists& from, const AtomLists& to, int64_t& looks) const {
  int64_t parts = 1, elements = 1;
  for (size_t dim = 0; dim < rank(); ++dim) {
    parts *= tiles(to.of(dim));
    elements *= dims_[dim];
  }
  const Overlap shared = overlap(from, to, looks);
  return devices_ / parts * elements - devices_ / shared.devices * shared.elements;
}

SubAxes ReshardSpace::axes(std::span<const Atom> atoms) const {
  SubAxes out;
  for (Atom atom : atoms) out.push_back(atoms_[atom]);
  return merge_axes(out);
}

AxisSharding ReshardSpace::sharding(const AtomLists& lists) const {
  AxisSharding out = like_;
  for (size_t dim = 0; dim < rank(); ++dim) out.dims[dim].axes = axes(lists.of(dim));
  const SubAxes more = axes(pending(lists));
  out.unreduced.insert(out.unreduced.end(), more.begin(), more.end());
  std::ranges::sort(out.unreduced);
  out.unreduced = merge_axes(out.unreduced);
  return out;
}

}  // namespace hilo
