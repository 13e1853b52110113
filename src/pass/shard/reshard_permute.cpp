#include "pass/shard/reshard_permute.h"

#include <algorithm>
#include <limits>

namespace hilo {
namespace {

constexpr Atom no_atom = std::numeric_limits<Atom>::max();

// How many atoms a dimension of the target has where others of their size stand.
size_t exchangeable(const ReshardSpace& space, const AtomLists& lists, size_t dim) {
  const auto has_size = [&](Atom atom, Atom other) {
    return space.size(atom) == space.size(other);
  };
  const auto target = space.target().of(dim);
  return static_cast<size_t>(std::ranges::mismatch(target, lists.of(dim), has_size).in1 -
                             target.begin());
}

bool is_permuted(const ReshardSpace& space, const AtomLists& lists, size_t dim) {
  const size_t count = exchangeable(space, lists, dim);
  return !std::ranges::equal(space.target().of(dim).first(count), lists.of(dim).first(count));
}

}  // namespace

// Who loses its axis gets the one that was displaced in turn: the tiles that need not move are
// most.
AtomLists permuted(const ReshardSpace& space, const AtomLists& lists, size_t first, size_t last) {
  bool is_any = false;
  for (size_t dim = first; dim < last; ++dim) is_any |= is_permuted(space, lists, dim);
  if (!is_any) return lists;
  AtomLists wanted = lists;
  std::vector<Atom> displaced(space.atoms(), no_atom);  // by the atom that comes in its stead
  for (size_t dim = 0; dim < space.rank(); ++dim) {
    const auto target = space.target().of(dim), list = lists.of(dim);
    for (size_t i = 0; i < list.size(); ++i) wanted.replace(dim, i, no_atom);
    const size_t count = dim >= first && dim < last ? exchangeable(space, lists, dim) : 0;
    for (size_t i = 0; i < count; ++i) {
      wanted.replace(dim, i, target[i]);
      displaced[target[i]] = list[i];
    }
  }
  for (size_t dim = 0; dim < space.rank(); ++dim)
    for (size_t i = 0; i < lists.size(dim); ++i) {
      if (wanted.of(dim)[i] != no_atom) continue;
      Atom atom = lists.of(dim)[i];
      while (displaced[atom] != no_atom) atom = displaced[atom];
      wanted.replace(dim, i, atom);
    }
  return wanted;
}

namespace {

// For each atom of the old numbers of tiles, the one that gives them now. An atom that numbered
// none gets what the chain of displaced ones has left over, so that each device has one source.
std::vector<Atom> numbered_by(const ReshardSpace& space) {
  std::vector<Atom> now(space.atoms(), no_atom), before(space.atoms(), no_atom);
  for (size_t dim = 0; dim < space.rank(); ++dim) {
    const auto from = space.source().of(dim), to = space.target().of(dim);
    check(from.size() == to.size(), "a permute of unequal tiles");
    for (size_t i = 0; i < from.size(); ++i) {
      check(space.size(from[i]) == space.size(to[i]), "a permute of unequal tiles");
      now[from[i]] = to[i];
      before[to[i]] = from[i];
    }
  }
  for (size_t start = 0; start < space.atoms(); ++start) {
    if (before[start] != no_atom) continue;
    auto end = static_cast<Atom>(start);
    while (now[end] != no_atom) end = now[end];
    now[end] = static_cast<Atom>(start);
    before[start] = end;
  }
  return now;
}

}  // namespace

Dims permute_sources(const AxisSharding& from, const AxisSharding& to) {
  const auto space = ReshardSpace::make(Dims(from.dims.size(), 0), from, to);
  check(space.has_value(), "a permute of axes that no split of the mesh has");
  const std::vector<Atom> now = numbered_by(*space);
  const Mesh& mesh = *from.mesh;
  const Dims devices = mesh.devices();
  Dims out(devices.size());
  for (size_t position = 0; position < devices.size(); ++position) {
    auto source = static_cast<int64_t>(position);
    for (size_t atom = 0; atom < space->atoms(); ++atom) {
      const int64_t stride = space->stride(atom), along = space->stride(now[atom]);
      const int64_t size = space->size(static_cast<Atom>(atom));
      const auto at = static_cast<int64_t>(position);
      source += (at / along % size - at / stride % size) * stride;
    }
    out[devices[position]] = devices[source];
  }
  return out;
}

}  // namespace hilo
