// The candidates of a valley of the skyline: which item that is left has the highest rank among
// those that live within a span of time?
//
// A heap-shaped tree over the items by begin, in blocks of sixteen, knows the highest rank and the
// earliest end below each node. A query descends into the part with the higher rank first and
// leaves out what cannot be better or ends too late: in the worst case as many steps as items begin
// within the span, in practice some dozens. Removing is O(log n). About 25 bytes per item.
//
// Threads: one object serves one thread. Deterministic: ranks are unique.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gantry::plan {

/// Finds, among the items that are left, the one of the highest rank within a span of time.
class ValleyIndex {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Items are numbered as in the two arrays, which are half-open intervals below stepCount.
  ValleyIndex(std::span<const uint32_t> begin, std::span<const uint32_t> end, uint32_t stepCount);

  /// Puts all items back. Ranks are unique and at least 1.
  void reset(std::span<const uint32_t> rank);

  /// The item of the highest rank with firstBegin ≤ begin ≤ lastBegin and end ≤ lastEnd, or kNone.
  uint32_t best(uint32_t firstBegin, uint32_t lastBegin, uint32_t lastEnd);
  /// The same with begin and end given.
  uint32_t bestExactly(uint32_t begin, uint32_t end);

  void remove(uint32_t item);
  uint32_t rankOf(uint32_t item) const { return entries_[placeOf_[item]].rank; }

  /// Nodes of the tree looked at since the beginning: the work.
  uint64_t visits() const { return visits_; }

private:
  struct Entry {
    uint32_t end;
    uint32_t rank; // 0: removed
  };
  struct Summary {
    uint32_t maxRank = 0;
    uint32_t minEnd = UINT32_MAX;
  };
  static constexpr uint32_t kBlock = 16;

  static Summary combine(const Summary &a, const Summary &b);
  Summary summarize(uint32_t block) const;
  uint32_t bestOfPlaces(uint32_t first, uint32_t last, uint32_t lastEnd);
  void search(uint32_t node, uint32_t firstBlock, uint32_t blocks);

  std::vector<uint32_t> items_;   // by begin, then by end
  std::vector<uint32_t> placeOf_; // of an item in items_
  std::vector<Entry> entries_;    // parallel to items_
  std::vector<uint32_t> firstOf_; // per step, the first place with that begin; one more at the end
  std::vector<Summary> tree_;     // a heap over blocks of entries
  uint32_t leaves_ = 1;
  uint64_t visits_ = 0;

  // The query in progress.
  uint32_t queryFirst_ = 0;
  uint32_t queryLast_ = 0; // exclusive
  uint32_t queryEnd_ = 0;
  uint32_t foundRank_ = 0;
  uint32_t foundPlace_ = 0;
};

} // namespace gantry::plan
