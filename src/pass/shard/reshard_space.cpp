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
  std::erase_if(out.atoms_, [](const SubAxis& atom) { return atom.size == 1; });
  if (out.atoms_.size() > std::numeric_limits<Atom>::max()) return std::nullopt;
  for (const SubAxis& atom : out.atoms_) {
    std::vector<size_t>& primes = out.primes_.emplace_back();
    int64_t rest = atom.size;
    for (int64_t prime = 2; rest > 1; prime = prime * prime < rest ? prime + 1 : rest)
      for (; rest % prime == 0; rest /= prime) {
        primes.push_back(out.prime_sizes_.size());
        out.prime_sizes_.push_back(prime);
      }
  }
  out.source_ = out.lists_of(from);
  out.target_ = out.lists_of(to);
  return out;
}

Atom ReshardSpace::number_of(const SubAxis& atom) const {
  return static_cast<Atom>(std::ranges::find(atoms_, atom) - atoms_.begin());
}

AtomLists ReshardSpace::lists_of(const AxisSharding& sharding) const {
  AtomLists out;
  for (const AxisSharding::Dim& dim : sharding.dims) {
    std::vector<Atom>& list = out.emplace_back();
    for (const SubAxis& atom : split(dim.axes, atoms_)) list.push_back(number_of(atom));
  }
  std::vector<Atom>& pending = out.emplace_back();
  const SubAxes axes = axes_outside(*like_.mesh, sharding.unreduced, like_.unreduced);
  for (const SubAxis& atom : split(axes, atoms_)) pending.push_back(number_of(atom));
  std::ranges::sort(pending);
  return out;
}

std::vector<bool> ReshardSpace::used(const AtomLists& lists) const {
  std::vector<bool> out(atoms_.size());
  for (const auto& list : lists)
    for (Atom atom : list) out[atom] = true;
  return out;
}

int64_t ReshardSpace::tile(size_t dim, std::span<const Atom> list) const {
  int64_t tiles = 1;
  for (Atom atom : list) tiles *= size(atom);
  return dims_[dim] / tiles + (dims_[dim] % tiles != 0);
}

bool ReshardSpace::divides(size_t dim, std::span<const Atom> list) const {
  int64_t tiles = 1;
  for (Atom atom : list) tiles *= size(atom);
  return dims_[dim] % tiles == 0;
}

int64_t ReshardSpace::tile_elements(const AtomLists& lists) const {
  int64_t out = 1;
  for (size_t dim = 0; dim < rank(); ++dim) out *= tile(dim, lists[dim]);
  return out;
}

bool ReshardSpace::nests(size_t dim, std::span<const Atom> coarser,
                         std::span<const Atom> finer) const {
  int64_t tiles = 1;
  for (Atom atom : finer.subspan(coarser.size())) tiles *= size(atom);
  const int64_t whole = tile(dim, coarser);
  return whole >= dims_[dim] || whole == tiles * tile(dim, finer);
}

namespace {

// Digits of device numbers that must be equal: the devices where they are.
class EqualDigits {
 public:
  EqualDigits(const Dims& sizes, int64_t devices) : sizes_(sizes), devices_(devices) {
    same_as_.resize(sizes.size());
    std::iota(same_as_.begin(), same_as_.end(), 0);
  }
  void join(size_t a, size_t b) {
    a = find(a), b = find(b);
    if (a == b) return;
    same_as_[a] = b;
    devices_ /= sizes_[a];
  }
  int64_t devices() const { return devices_; }

 private:
  size_t find(size_t digit) const {
    while (same_as_[digit] != digit) digit = same_as_[digit];
    return digit;
  }
  const Dims& sizes_;
  int64_t devices_;
  std::vector<size_t> same_as_;
};

}  // namespace

// Elements that a device holds in both, over all devices. Where no tile has padding, a dimension's
// tiles meet where their first digits are equal, as many as both have, and share the smaller tile.
std::optional<int64_t> ReshardSpace::overlap_of_digits(const AtomLists& from,
                                                       const AtomLists& to) const {
  EqualDigits equal(prime_sizes_, devices_);
  int64_t shared = 1;
  for (size_t dim = 0; dim < rank(); ++dim) {
    const std::vector<size_t> a = digits(from[dim]), b = digits(to[dim]);
    int64_t tiles = 1;
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      tiles *= prime_sizes_[i < a.size() ? a[i] : b[i]];
      if (i >= a.size() || i >= b.size()) continue;
      if (prime_sizes_[a[i]] != prime_sizes_[b[i]]) return std::nullopt;
      equal.join(a[i], b[i]);
    }
    if (dims_[dim] % tiles != 0) return std::nullopt;
    shared *= dims_[dim] / tiles;
  }
  return shared * equal.devices();
}

int64_t ReshardSpace::same_tile_devices(const AtomLists& from, const AtomLists& to) const {
  EqualDigits equal(prime_sizes_, devices_);
  for (size_t dim = 0; dim < rank(); ++dim) {
    const std::vector<size_t> a = digits(from[dim]), b = digits(to[dim]);
    for (size_t i = 0; i < a.size(); ++i) equal.join(a[i], b[i]);
  }
  return equal.devices();
}

std::vector<size_t> ReshardSpace::digits(std::span<const Atom> list) const {
  std::vector<size_t> out;
  for (Atom atom : list) out.insert(out.end(), primes_[atom].begin(), primes_[atom].end());
  return out;
}

int64_t ReshardSpace::missing_of_devices(const AtomLists& from, const AtomLists& to) const {
  const DeviceTiles held(sharding(from), dims_), wanted(sharding(to), dims_);
  int64_t out = 0;
  for (int64_t device = 0; device < devices_; ++device) {
    const ArrayBox box = wanted.box_of(device);
    out += box.elements() - intersection(held.box_of(device), box).elements();
  }
  return out;
}

int64_t ReshardSpace::missing(const AtomLists& from, const AtomLists& to) const {
  const auto overlap = overlap_of_digits(from, to);
  return overlap ? devices_ * tile_elements(to) - *overlap : missing_of_devices(from, to);
}

SubAxes ReshardSpace::axes(std::span<const Atom> atoms) const {
  SubAxes out;
  for (Atom atom : atoms) out.push_back(atoms_[atom]);
  return merge_axes(out);
}

AxisSharding ReshardSpace::sharding(const AtomLists& lists) const {
  AxisSharding out = like_;
  for (size_t dim = 0; dim < rank(); ++dim) out.dims[dim].axes = axes(lists[dim]);
  const SubAxes more = axes(pending(lists));
  out.unreduced.insert(out.unreduced.end(), more.begin(), more.end());
  std::ranges::sort(out.unreduced);
  out.unreduced = merge_axes(out.unreduced);
  return out;
}

}  // namespace hilo
