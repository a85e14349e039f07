// FailedStates: a table of the states that the exact search examined completely without finding a
// placement. It is a nogood table (a transposition table for failures).
//
// A state is a span of time steps, the items (sizes with lifetimes, problem.h) still to place in
// it, and the floor of each step: the offset below which nothing more will lie. A state fails if
// the items cannot be placed below the capacity, the height that the search may fill. It then also
// fails with a lower capacity or higher floors, so one entry covers many states. The table always
// compares full keys and never relies on hashes alone, because a wrong match would make a proof
// wrong. Unit is the integer type of offsets.
//
// Memory is bounded: at its limit the table drops all entries. This depends only on the entries, so
// results stay deterministic.
//
// Threads: one at a time per object.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gantry::plan {

template <typename Unit> class FailedStates {
public:
  /// itemWords is the number of 64-bit words that hold one bit per item.
  FailedStates(uint32_t itemWords, uint64_t limitBytes)
      : itemWords_(itemWords), limitBytes_(limitBytes) {
    clear();
  }

  struct Key {
    uint64_t hash = 0; // Hash of span and items.
    uint32_t begin = 0;
    uint32_t end = 0;
    const uint64_t *items = nullptr; // One bit per item.
    const Unit *floors = nullptr;    // One floor per step, end - begin in all.
  };

  /// Returns whether the table has an entry with this hash. If not, callers need not build a key.
  bool mayContain(uint64_t hash) const {
    for (uint32_t e = heads_[slot(hash)]; e != kNone; e = entries_[e].next)
      if (entries_[e].hash == hash)
        return true;
    return false;
  }

  /// Returns whether an entry covers this state under this capacity.
  bool contains(const Key &key, Unit capacity) const {
    for (uint32_t e = heads_[slot(key.hash)]; e != kNone; e = entries_[e].next) {
      const Entry &entry = entries_[e];
      if (entry.hash != key.hash || entry.capacity < capacity || !sameItems(e, key))
        continue;
      const Unit *failed = floors_.data() + entry.floors;
      uint32_t lower = 0;
      for (uint32_t t = 0; t < key.end - key.begin; ++t)
        lower += key.floors[t] < failed[t] ? 1 : 0;
      if (lower == 0)
        return true;
    }
    return false;
  }

  /// Adds a state that failed under this capacity. A state larger than the limit is not added.
  void insert(const Key &key, Unit capacity) {
    const uint64_t bytes = sizeof(Entry) + 2 * sizeof(uint32_t) + itemWords_ * sizeof(uint64_t) +
                           (key.end - key.begin) * sizeof(Unit);
    if (bytes_ + bytes > limitBytes_)
      clear();
    if (bytes_ + bytes > limitBytes_)
      return;
    bytes_ += bytes;
    if (entries_.size() * 2 >= heads_.size())
      grow();
    const uint64_t at = slot(key.hash);
    entries_.push_back({key.hash, key.begin, key.end, floors_.size(), heads_[at], capacity});
    heads_[at] = static_cast<uint32_t>(entries_.size() - 1);
    items_.insert(items_.end(), key.items, key.items + itemWords_);
    floors_.insert(floors_.end(), key.floors, key.floors + (key.end - key.begin));
  }

  void clear() {
    entries_.clear();
    items_.clear();
    floors_.clear();
    heads_.assign(1024, kNone);
    bytes_ = 0;
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Entry {
    uint64_t hash;
    uint32_t begin;
    uint32_t end;
    uint64_t floors; // Index of its first floor in floors_.
    uint32_t next;
    Unit capacity;
  };

  uint64_t slot(uint64_t hash) const { return (hash ^ (hash >> 32)) & (heads_.size() - 1); }

  bool sameItems(uint32_t index, const Key &key) const {
    const Entry &entry = entries_[index];
    return entry.begin == key.begin && entry.end == key.end &&
           std::equal(key.items, key.items + itemWords_,
                      items_.data() + static_cast<uint64_t>(index) * itemWords_);
  }

  void grow() {
    heads_.assign(heads_.size() * 2, kNone);
    for (uint32_t e = 0; e < entries_.size(); ++e) {
      uint32_t &head = heads_[slot(entries_[e].hash)];
      entries_[e].next = head;
      head = e;
    }
  }

  uint32_t itemWords_;
  uint64_t limitBytes_;
  uint64_t bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<uint64_t> items_;
  std::vector<Unit> floors_;
  std::vector<uint32_t> heads_; // Per hash slot, the first entry of its linked list.
};

} // namespace gantry::plan
