// The states of a search for a resharding: axes cut so that all of them are whole. Private to
// `pass/shard`.
#pragma once

#include "pass/shard/listed_atoms.h"
#include "pass/shard/reshard.h"

namespace hilo {

// For each dimension the atoms that shard it; behind them, those along which summands are still to
// be added, in their own order.
using AtomLists = ListedAtoms;

// Of two shardings over one mesh, with the same manual axes. What is unreduced in the target is so
// in the source.
class ReshardSpace {
 public:
  // Nothing where there are too many atoms to number.
  static std::optional<ReshardSpace> make(std::span<const int64_t> dims, const AxisSharding& from,
                                          const AxisSharding& to);

  const AtomLists& source() const { return source_; }
  const AtomLists& target() const { return target_; }
  size_t rank() const { return dims_.size(); }
  size_t atoms() const { return atoms_.size(); }
  std::span<const Atom> pending(const AtomLists& lists) const { return lists.of(rank()); }
  int64_t size(Atom atom) const { return atoms_[atom].size; }
  int64_t stride(size_t atom) const { return stride_of(*like_.mesh, atoms_[atom]); }
  int64_t devices() const { return devices_; }

  AtomSet used(const AtomLists& lists) const;
  AtomSet used_in_dims(const AtomLists& lists) const;
  // Of a whole tile in a dimension.
  int64_t tile(size_t dim, std::span<const Atom> list) const;
  bool divides(size_t dim, std::span<const Atom> list) const;  // no tile has padding
  int64_t tile_elements(const AtomLists& lists) const;
  // Elements that devices hold in `to` and not in `from`, all together; padding does not count.
  // Adds to `looks` how many tiles it had to look at.
  int64_t missing(const AtomLists& from, const AtomLists& to, int64_t& looks) const;
  // Of two with axes of equal sizes in equal order: devices whose tile is the same.
  int64_t same_tile_devices(const AtomLists& from, const AtomLists& to) const;
  // Whether each tile of `finer`, which only has more atoms behind, lies in the tile of `coarser`
  // with the same numbers before: true unless sizes are uneven.
  bool nests(size_t dim, std::span<const Atom> coarser, std::span<const Atom> finer) const;

  AxisSharding sharding(const AtomLists& lists) const;
  SubAxes axes(std::span<const Atom> atoms) const;

 private:
  int64_t tiles(std::span<const Atom> list) const;
  // Elements of some dimensions that devices hold in both, all along some atoms together.
  struct Overlap {
    int64_t devices = 1, elements = 1;
  };
  std::optional<Overlap> overlap_of_digits(const AtomLists& from, const AtomLists& to) const;
  std::optional<Overlap> overlap_of_dim(size_t dim, const AtomLists& from,
                                        const AtomLists& to) const;
  Overlap overlap_of_tiles(std::span<const size_t> dims, const AtomSet& atoms,
                           const AtomLists& from, const AtomLists& to) const;
  Overlap overlap(const AtomLists& from, const AtomLists& to, int64_t& looks) const;
  Atom number_of(const SubAxis& atom) const;
  AtomLists lists_of(const AxisSharding& sharding) const;

  Dims dims_;
  AxisSharding like_;  // mesh, manual and unreduced axes
  SubAxes atoms_;
  AtomDigits digits_;
  int64_t devices_ = 1;
  AtomLists source_, target_;
};

}  // namespace hilo
