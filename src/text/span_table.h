// A hash table from pieces of the text to numbers: open addressing, cleared in constant time, so
// that one table serves every computation of a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hilo {

inline uint64_t hash_of_span(const char* data, size_t size) {
  constexpr uint64_t factor = 0x9e3779b97f4a7c15ull;
  const auto load8 = [](const char* from) {
    uint64_t word;
    std::memcpy(&word, from, 8);
    return word;
  };
  const auto load4 = [](const char* from) {
    uint32_t word;
    std::memcpy(&word, from, 4);
    return uint64_t{word};
  };
  uint64_t hash = size * factor, last = 0;
  const auto mix = [&](uint64_t word) {
    const __uint128_t product = static_cast<__uint128_t>(hash ^ word) * factor;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  if (size >= 8) {
    size_t at = 0;
    for (; at + 8 < size; at += 8) mix(load8(data + at));
    last = load8(data + size - 8);
  } else if (size >= 4) {
    last = load4(data) | load4(data + size - 4) << 32;
  } else if (size > 0) {
    const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(data[i])}; };
    last = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
  }
  mix(last);
  return hash;
}

class SpanTable {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  explicit SpanTable(size_t capacity = 64) : slots_(capacity) {}

  uint32_t find(std::string_view key) const {
    return find(key, hash_of_span(key.data(), key.size()));
  }
  uint32_t find(std::string_view key, uint64_t hash) const {
    for (size_t i = hash;; ++i) {
      const Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.epoch != epoch_) return none;
      if (matches(slot, key, hash)) return slot.value;
    }
  }
  // Adds a key that is not there, or gives the place of the value that is.
  uint32_t& operator[](std::string_view key) {
    return slot(key, hash_of_span(key.data(), key.size()));
  }
  uint32_t& slot(std::string_view key, uint64_t hash) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    for (size_t i = hash;; ++i) {
      Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.epoch != epoch_) {
        slot = {key.data(), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(hash >> 32),
                none, epoch_};
        ++count_;
        return slot.value;
      }
      if (matches(slot, key, hash)) return slot.value;
    }
  }
  void clear() { ++epoch_, count_ = 0; }
  size_t size() const { return count_; }
  template <class Body>
  void for_each(Body body) const {
    for (const Slot& slot : slots_)
      if (slot.epoch == epoch_) body(std::string_view(slot.data, slot.size), slot.value);
  }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0, hash = 0, value = none, epoch = 0;
  };
  static bool matches(const Slot& slot, std::string_view key, uint64_t hash) {
    return slot.size == key.size() && slot.hash == static_cast<uint32_t>(hash >> 32) &&
           std::memcmp(slot.data, key.data(), key.size()) == 0;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.epoch != epoch_) continue;
      size_t i = hash_of_span(slot.data, slot.size);
      while (slots_[i & (slots_.size() - 1)].epoch == epoch_) ++i;
      slots_[i & (slots_.size() - 1)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
  uint32_t epoch_ = 1;
};

}  // namespace hilo
