// The mesh's axes cut so that every list of an instruction's shardings is whole, and what of them
// can shard its factors. Private to `pass/shard`.
#pragma once

#include "pass/shard/listed_atoms.h"
#include "pass/shard/roles.h"

namespace hilo {

using AtomRoles = ListedAtoms;  // of each factor

struct ShardingAtoms {
  ListedAtoms dims;
  std::vector<Atom> unreduced;
};

class RoleSpace {
 public:
  explicit RoleSpace(const RoleQuestion& question);

  size_t atoms() const { return atoms_.size(); }
  size_t factors() const { return question_.factors.factors.size(); }
  const std::vector<const RoleArray*>& arrays() const { return arrays_; }  // with a sharding
  // The factors of an array, sharded as it is: what does not fit them is left out.
  AtomRoles project(const RoleArray& array) const;
  // Longer lists of `other` take the place of those that they begin with, as far as their axes are
  // free.
  void merge(const AtomRoles& other, AtomRoles& into) const;
  // Whether the local form can have these tiles and every array can be sharded so.
  bool is_possible(const AtomRoles& roles) const;
  Roles roles(const AtomRoles& atoms) const;
  int64_t devices(const AtomRoles& roles) const { return size(roles.all()); }

  // Nothing where an axis is no list of atoms.
  std::optional<ShardingAtoms> atoms_of(const AxisSharding& sharding) const;
  // Of an array under the roles, as of operand_sharding() and, with `reduced`, result_sharding().
  ShardingAtoms atoms_of(const RoleArray& array, const AtomRoles& roles, bool reduced) const;
  // Whether tiles stay as they are, or are cut into tiles without padding.
  bool is_kept(const Shape& shape, const ShardingAtoms& from, const ShardingAtoms& to) const;
  // What devices send together at least from one sharding to another; 0 where that is not found
  // without looking at each device.
  int64_t min_elements(const Shape& shape, const ShardingAtoms& from,
                       const ShardingAtoms& to) const;

 private:
  std::vector<Atom> cut(const SubAxes& axes) const;
  int64_t size(std::span<const Atom> atoms) const;
  bool fits(size_t factor, std::span<const Atom> atoms) const;
  void find_atoms();
  void find_shared_dims();
  void find_even_factors();
  void find_lost_factors();
  bool is_contiguous(const AtomRoles& roles, const std::vector<size_t>& dim) const;

  const RoleQuestion& question_;
  std::vector<const RoleArray*> arrays_;
  SubAxes atoms_;
  AtomDigits digits_;
  int64_t devices_;
  std::vector<const std::vector<size_t>*> shared_dims_;  // of several factors
  std::vector<bool> is_even_;                            // factors whose tiles must have no padding
  std::vector<bool> is_lost_;  // that a result has not: its values would be those of one tile
};

}  // namespace hilo
