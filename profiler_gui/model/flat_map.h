// A hash map from 64-bit keys to 64-bit values: open addressing, linear probing, backward shift on
// removal (Knuth, volume 3, 6.4, algorithm R). Millions of live blocks come and go through it while
// a capture loads, at a fraction of std::unordered_map's cost. Key 0 is allowed.
//
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::profiler {

class FlatMap {
public:
  /// nullptr where the key is absent. Valid until the next insertion or removal.
  uint64_t *find(uint64_t key) {
    if (slots_.empty())
      return nullptr;
    for (size_t i = home(key);; i = (i + 1) & mask()) {
      if (!slots_[i].used)
        return nullptr;
      if (slots_[i].key == key)
        return &slots_[i].value;
    }
  }

  /// Sets the key's value, whether or not it was there.
  void set(uint64_t key, uint64_t value) {
    if (slots_.empty() || (count_ + 1) * 10 > slots_.size() * 7)
      grow();
    size_t i = home(key);
    while (slots_[i].used && slots_[i].key != key)
      i = (i + 1) & mask();
    count_ += slots_[i].used ? 0 : 1;
    slots_[i] = {key, value, true};
  }

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
      // May slot i move back to the hole? Not past its home.
      const size_t fromHome = (i - home(slots_[i].key)) & mask();
      const size_t fromHole = (i - hole) & mask();
      if (fromHome >= fromHole) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].used = false;
  }

  size_t size() const { return count_; }

  /// visit(key, value) for each, in no order. The map must not change meanwhile.
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

  std::vector<Slot> slots_; // a power of two
  size_t count_ = 0;
};

} // namespace gantry::profiler
