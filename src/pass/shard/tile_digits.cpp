#include "pass/shard/tile_digits.h"

#include <numeric>

namespace hilo {

AtomDigits::AtomDigits(std::span<const SubAxis> atoms) {
  for (size_t atom = 0; atom < atoms.size(); ++atom) {
    int64_t rest = atoms[atom].size;
    for (int64_t prime = 2; rest > 1; prime = prime * prime < rest ? prime + 1 : rest)
      for (; rest % prime == 0; rest /= prime) {
        check(count_ < max_digits, "axes of more devices than a mesh has");
        numbers_[count_] = static_cast<uint8_t>(count_);
        sizes_[count_++] = prime;
      }
    first_[atom + 1] = static_cast<uint8_t>(count_);
  }
}

SharedTiles::SharedTiles(const AtomDigits& digits, int64_t devices)
    : digits_(digits), devices_(devices) {
  std::iota(same_as_.begin(), same_as_.begin() + digits.count(), uint8_t{0});
}

SharedTiles::List SharedTiles::list(std::span<const Atom> atoms) const {
  List out;
  for (Atom atom : atoms)
    for (uint8_t digit : digits_.of(atom)) out.digits[out.count++] = digit;
  return out;
}

uint8_t SharedTiles::find(uint8_t digit) const {
  while (same_as_[digit] != digit) digit = same_as_[digit];
  return digit;
}

void SharedTiles::join(uint8_t a, uint8_t b) {
  a = find(a), b = find(b);
  if (a == b) return;
  same_as_[a] = b;
  devices_ /= digits_.size(a);
}

bool SharedTiles::add(int64_t size, std::span<const Atom> a, std::span<const Atom> b) {
  const List first = list(a), second = list(b);
  int64_t tiles = 1;
  for (size_t i = 0; i < std::max(first.count, second.count); ++i) {
    tiles *= digits_.size(i < first.count ? first.digits[i] : second.digits[i]);
    if (i >= first.count || i >= second.count) continue;
    if (digits_.size(first.digits[i]) != digits_.size(second.digits[i])) return false;
    join(first.digits[i], second.digits[i]);
  }
  if (size % tiles != 0) return false;
  elements_ *= size / tiles;
  return true;
}

void SharedTiles::join(std::span<const Atom> a, std::span<const Atom> b) {
  const List first = list(a), second = list(b);
  for (size_t i = 0; i < first.count; ++i) join(first.digits[i], second.digits[i]);
}

}  // namespace hilo
