// The mesh's axes cut so that every list of an instruction's shardings is whole, and what of them
// can shard its factors. Private to `pass/shard`.
#pragma once

#include <set>

#include "pass/shard/roles.h"

namespace hilo {

using AtomRoles = std::vector<std::vector<uint8_t>>;  // of each factor, numbers of atoms

class RoleSpace {
 public:
  explicit RoleSpace(const RoleQuestion& question);

  size_t atoms() const { return atoms_.size(); }
  const std::vector<const RoleArray*>& arrays() const { return arrays_; }  // with a sharding
  AtomRoles none() const { return AtomRoles(question_.factors.factors.size()); }
  // The factors of an array, sharded as it is: what does not fit them is left out.
  AtomRoles project(const RoleArray& array) const;
  // Longer lists of `other` take the place of those that they begin with, as far as their axes are
  // free.
  void merge(const AtomRoles& other, AtomRoles& into) const;
  // Whether the local form can have these tiles and every array can be sharded so.
  bool is_possible(const AtomRoles& roles) const;
  Roles roles(const AtomRoles& atoms) const;

 private:
  std::vector<uint8_t> cut(const SubAxes& axes) const;
  int64_t size(std::span<const uint8_t> atoms) const;
  bool fits(size_t factor, std::span<const uint8_t> atoms) const;
  void find_atoms();
  void find_even_factors();
  void find_lost_factors();
  bool is_contiguous(const AtomRoles& roles, const DimensionFactors& factors) const;

  const RoleQuestion& question_;
  std::vector<const RoleArray*> arrays_;
  SubAxes atoms_;
  std::vector<bool> is_even_;  // factors whose tiles must have no padding
  std::vector<bool> is_lost_;  // that a result has not: its values would be those of one tile
};

}  // namespace hilo
