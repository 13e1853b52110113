// What two ways to cut an array have in common, by the digits of device numbers rather than device
// by device. Private to `pass/shard`.
#pragma once

#include <bit>

#include "ir/ir.h"

namespace hilo {

using Atom = uint8_t;  // an index of disjoint axes of a mesh that are not cut any more

// A digit, and an atom, is of size 2 at least.
constexpr size_t max_digits = std::countr_zero(static_cast<size_t>(max_mesh_devices));

// Atoms as digits of prime size, major ones first.
class AtomDigits {
 public:
  AtomDigits() = default;
  explicit AtomDigits(std::span<const SubAxis> atoms);

  std::span<const uint8_t> of(Atom atom) const {
    return {numbers_.data() + first_[atom], size_t{first_[atom + 1]} - first_[atom]};
  }
  int64_t size(uint8_t digit) const { return sizes_[digit]; }
  size_t count() const { return count_; }

 private:
  std::array<uint8_t, max_digits + 1> first_ = {};  // by atom
  std::array<uint8_t, max_digits> numbers_ = {};
  std::array<int64_t, max_digits> sizes_ = {};
  size_t count_ = 0;
};

// The devices on which two tilings have tiles that meet, and how large the meetings are.
class SharedTiles {
 public:
  SharedTiles(const AtomDigits& digits, int64_t devices);

  // Dimension by dimension, cut along two lists of atoms. Where no tile has padding, tiles meet
  // where their first digits are equal, as many as both have, and share the smaller tile. False
  // where a tile has padding, or digits of other sizes meet.
  bool add(int64_t size, std::span<const Atom> a, std::span<const Atom> b);
  // The same, of lists of equal sizes, however large the dimension is.
  void join(std::span<const Atom> a, std::span<const Atom> b);
  int64_t devices() const { return devices_; }
  int64_t elements() const { return elements_ * devices_; }  // held in both, over all devices

 private:
  struct List {
    std::array<uint8_t, max_digits> digits;
    size_t count = 0;
  };
  List list(std::span<const Atom> atoms) const;
  void join(uint8_t a, uint8_t b);
  uint8_t find(uint8_t digit) const;

  const AtomDigits& digits_;
  int64_t devices_, elements_ = 1;
  std::array<uint8_t, max_digits> same_as_;
};

}  // namespace hilo
