// Lists of atoms without storage of their own: states of searches. Private to `pass/shard`.
#pragma once

#include <bitset>

#include "pass/shard/tile_digits.h"

namespace hilo {

using AtomSet = std::bitset<max_digits>;

// Lists by number, each most major first; most are empty. An atom stands in two lists at most.
class ListedAtoms {
 public:
  ListedAtoms() = default;
  ListedAtoms(const ListedAtoms& other) { *this = other; }
  ListedAtoms& operator=(const ListedAtoms& other);
  bool operator==(const ListedAtoms& other) const;
  size_t hash() const;

  size_t size() const { return count_; }  // of all lists
  size_t list_of(size_t i) const { return lists_[i]; }
  Atom operator[](size_t i) const { return atoms_[i]; }  // list by list
  std::span<const Atom> all() const { return {atoms_.data(), count_}; }
  std::span<const Atom> of(size_t list) const {
    size_t first = 0;
    while (first < count_ && lists_[first] < list) ++first;
    size_t last = first;
    while (last < count_ && lists_[last] == list) ++last;
    return all().subspan(first, last - first);
  }
  size_t size(size_t list) const { return of(list).size(); }
  bool holds(Atom atom) const;
  void append(size_t list, Atom atom) { insert(begin(list + 1), list, atom); }
  void prepend(size_t list, Atom atom) { insert(begin(list), list, atom); }
  void erase(Atom atom);
  void erase(size_t list, const AtomSet& atoms);
  void truncate(size_t list, size_t size);
  void replace(size_t list, size_t i, Atom atom) { atoms_[begin(list) + i] = atom; }

 private:
  size_t begin(size_t list) const;
  void insert(size_t at, size_t list, Atom atom);
  template <class Predicate>
  void erase_if(const Predicate& is_erased);

  std::array<uint32_t, 2 * max_digits> lists_;
  std::array<Atom, 2 * max_digits> atoms_;
  size_t count_ = 0;
};

}  // namespace hilo
