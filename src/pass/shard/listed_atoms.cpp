#include "pass/shard/listed_atoms.h"

#include <algorithm>

#include "pass/field_hash.h"

namespace hilo {

ListedAtoms& ListedAtoms::operator=(const ListedAtoms& other) {
  std::copy_n(other.lists_.begin(), other.count_, lists_.begin());
  std::copy_n(other.atoms_.begin(), other.count_, atoms_.begin());
  count_ = other.count_;
  return *this;
}

bool ListedAtoms::operator==(const ListedAtoms& other) const {
  return count_ == other.count_ &&
         std::equal(atoms_.begin(), atoms_.begin() + count_, other.atoms_.begin()) &&
         std::equal(lists_.begin(), lists_.begin() + count_, other.lists_.begin());
}

size_t ListedAtoms::hash() const {
  size_t out = count_;
  for (size_t i = 0; i < count_; ++i) out = mix(out, lists_[i] * max_digits + atoms_[i]);
  return out;
}

size_t ListedAtoms::begin(size_t list) const {
  size_t out = 0;
  while (out < count_ && lists_[out] < list) ++out;
  return out;
}

bool ListedAtoms::holds(Atom atom) const { return std::ranges::count(all(), atom) > 0; }

void ListedAtoms::insert(size_t at, size_t list, Atom atom) {
  check(count_ < atoms_.size(), "more atoms than a mesh has");
  for (size_t i = count_++; i > at; --i) lists_[i] = lists_[i - 1], atoms_[i] = atoms_[i - 1];
  lists_[at] = static_cast<uint32_t>(list);
  atoms_[at] = atom;
}

template <class Predicate>
void ListedAtoms::erase_if(const Predicate& is_erased) {
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (is_erased(i)) continue;
    lists_[kept] = lists_[i];
    atoms_[kept++] = atoms_[i];
  }
  count_ = kept;
}

void ListedAtoms::erase(Atom atom) {
  erase_if([&](size_t i) { return atoms_[i] == atom; });
}

void ListedAtoms::erase(size_t list, const AtomSet& atoms) {
  erase_if([&](size_t i) { return lists_[i] == list && atoms[atoms_[i]]; });
}

void ListedAtoms::truncate(size_t list, size_t size) {
  const size_t end = begin(list) + size;
  erase_if([&](size_t i) { return lists_[i] == list && i >= end; });
}

}  // namespace hilo
