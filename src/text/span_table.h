// A hash table from pieces of the text to numbers. Slots hold only hashes and the keys stand side
// by side in the order in which they came, so that a large table costs few cache misses; a cleared
// table is small again, so that one serves every computation of a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hilo {

inline uint64_t load_word(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}
inline uint64_t load_half(const char* from) {
  uint32_t word;
  std::memcpy(&word, from, 4);
  return word;
}

inline uint64_t hash_of_span(const char* data, size_t size) {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15ull;
  uint64_t hash = size * factor, last = 0;
  const auto mix = [&](uint64_t word) {
    const __uint128_t product = static_cast<__uint128_t>(hash ^ word) * factor;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  // Few classes of sizes, so that branches are foreseen: names are mostly of 8 to 16 characters.
  if (size > 16) {
    for (size_t at = 0; at + 16 < size; at += 16) {
      mix(load_word(data + at));
      mix(load_word(data + at + 8));
    }
    mix(load_word(data + size - 16));
    last = load_word(data + size - 8);
  } else if (size >= 8) {
    mix(load_word(data));
    last = load_word(data + size - 8);
  } else if (size >= 4) {
    last = load_half(data) | load_half(data + size - 4) << 32;
  } else if (size > 0) {
    const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(data[i])}; };
    last = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
  }
  mix(last);
  return hash;
}

inline bool same_bytes(const char* a, const char* b, size_t size) {
  if (size > 32) return std::memcmp(a, b, size) == 0;
  const auto differ = [&](size_t at) { return load_word(a + at) ^ load_word(b + at); };
  if (size > 16) return (differ(0) | differ(8) | differ(size - 16) | differ(size - 8)) == 0;
  if (size >= 8) return (differ(0) | differ(size - 8)) == 0;
  if (size >= 4)
    return load_half(a) == load_half(b) && load_half(a + size - 4) == load_half(b + size - 4);
  for (size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}
inline bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size());
}

class SpanTable {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  SpanTable() : slots_(smallest) {}

  uint32_t find(std::string_view key) const {
    return find(key, hash_of_span(key.data(), key.size()));
  }
  uint32_t find(std::string_view key, uint64_t hash) const {
    const uint32_t short_hash = static_cast<uint32_t>(hash);
    for (uint32_t i = short_hash & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.entry == 0) return none;
      if (slot.hash == short_hash && matches(entries_[slot.entry - 1], key))
        return entries_[slot.entry - 1].value;
    }
  }
  // The place of the key's value; a new key has the value `none`.
  uint32_t& operator[](std::string_view key) {
    return value(key, hash_of_span(key.data(), key.size()));
  }
  uint32_t& value(std::string_view key, uint64_t hash) {
    if ((entries_.size() + 1) * 2 > mask_ + size_t{1}) grow();
    const uint32_t short_hash = static_cast<uint32_t>(hash);
    uint32_t i = short_hash & mask_;
    for (; slots_[i].entry != 0; i = (i + 1) & mask_)
      if (slots_[i].hash == short_hash && matches(entries_[slots_[i].entry - 1], key))
        return entries_[slots_[i].entry - 1].value;
    entries_.push_back({key.data(), static_cast<uint32_t>(key.size()), none});
    slots_[i] = {short_hash, static_cast<uint32_t>(entries_.size())};
    return entries_.back().value;
  }
  void clear() {
    entries_.clear();
    slots_.assign(smallest, Slot());
    mask_ = smallest - 1;
  }
  size_t size() const { return entries_.size(); }
  // In the order in which the keys came.
  template <class Body>
  void for_each(Body body) const {
    for (const Entry& entry : entries_) body(std::string_view(entry.data, entry.size), entry.value);
  }

 private:
  static constexpr uint32_t smallest = 32;
  struct Slot {
    uint32_t hash = 0, entry = 0;  // entry + 1; 0: free
  };
  struct Entry {
    const char* data;
    uint32_t size, value;
  };
  static bool matches(const Entry& entry, std::string_view key) {
    return entry.size == key.size() && same_bytes(entry.data, key.data(), key.size());
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 4);
    old.swap(slots_);
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    entries_.reserve(slots_.size() / 2);
    for (const Slot& slot : old) {
      if (slot.entry == 0) continue;
      uint32_t i = slot.hash & mask_;
      while (slots_[i].entry != 0) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<Entry> entries_;
  uint32_t mask_ = smallest - 1;
};

}  // namespace hilo
