// A hash map from 64-bit keys to 64-bit values with open addressing and linear probing. Removal
// shifts later entries backward instead of leaving tombstones (Knuth, The Art of Computer
// Programming, volume 3, section 6.4, algorithm R).
//
// Loading a capture inserts and removes the keys of millions of blocks; this map takes a fraction
// of the time of std::unordered_map. Every key is allowed, 0 included. The table grows at 70 % load
// and never shrinks.
//
// Threads: one writer, or several readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

class FlatMap {
public:
  /// The key's value, or nullptr if the key is absent. Valid until the next set() or erase().
  const uint64_t *find(uint64_t key) const {
    if (slots_.empty())
      return nullptr;
    for (size_t i = home(key);; i = (i + 1) & mask()) {
      if (!slots_[i].used)
        return nullptr;
      if (slots_[i].key == key)
        return &slots_[i].value;
    }
  }

  /// Inserts the key, or replaces its value.
  void set(uint64_t key, uint64_t value) {
    if (slots_.empty() || (count_ + 1) * 10 > slots_.size() * 7)
      grow();
    size_t i = home(key);
    while (slots_[i].used && slots_[i].key != key)
      i = (i + 1) & mask();
    count_ += slots_[i].used ? 0 : 1;
    slots_[i] = {key, value, true};
  }

  /// Removes the key if it is present.
  void erase(uint64_t key) {
    if (slots_.empty())
      return;
    size_t hole = home(key);
    while (slots_[hole].used && slots_[hole].key != key)
      hole = (hole + 1) & mask();
    if (!slots_[hole].used)
      return;
    --count_;
    for (size_t i = (hole + 1) & mask(); slots_[i].used; i = (i + 1) & mask()) {
      // The entry in slot i may move to the hole unless the hole lies before the entry's home, the
      // slot at which the search for its key begins.
      const size_t fromHome = (i - home(slots_[i].key)) & mask();
      const size_t fromHole = (i - hole) & mask();
      if (fromHome >= fromHole) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].used = false;
  }

  /// Calls visit(key, value) for each key, in no particular order. `visit` must not change the map.
  template <typename Visit> void forEach(Visit &&visit) const {
    for (const Slot &slot : slots_) {
      if (slot.used)
        visit(slot.key, slot.value);
    }
  }

private:
  struct Slot {
    uint64_t key = 0;
    uint64_t value = 0;
    bool used = false;
  };
  size_t mask() const { return slots_.size() - 1; }
  size_t home(uint64_t key) const {
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> 20) & mask();
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    count_ = 0;
    for (const Slot &slot : old) {
      if (slot.used)
        set(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_; // Its size is 0 or a power of two.
  size_t count_ = 0;
};

} // namespace gantry::profiler
