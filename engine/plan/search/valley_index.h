// Finds the candidate for a valley of the skyline: among the remaining items that live within a
// span of time, the one of the highest rank.
//
// The index is a binary heap-shaped tree over the items by begin, in blocks of sixteen. Each node
// knows the highest rank and the earliest end below it. A query descends into the half with the
// higher rank first and skips nodes that have only lower ranks or only later ends. In the worst
// case it takes as many steps as items begin within the span, in practice some dozens. Removing an
// item is O(log n). Memory: about 25 bytes per item.
//
// Threads: one object serves one thread. Deterministic, because ranks are unique.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gantry::plan {

class ValleyIndex {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Item i lives in [begin[i], end[i]), which lies below stepCount.
  ValleyIndex(std::span<const uint32_t> begin, std::span<const uint32_t> end, uint32_t stepCount);

  /// Puts all items back. Ranks are unique and at least 1.
  void reset(std::span<const uint32_t> rank);

  /// Returns the item of the highest rank with firstBegin ≤ begin ≤ lastBegin and end ≤ lastEnd, or
  /// kNone.
  uint32_t best(uint32_t firstBegin, uint32_t lastBegin, uint32_t lastEnd);
  /// Returns the item of the highest rank with exactly this begin and end, or kNone.
  uint32_t bestExactly(uint32_t begin, uint32_t end);

  void remove(uint32_t item);
  uint32_t rankOf(uint32_t item) const { return entries_[placeOf_[item]].rank; }

  /// Returns the number of tree nodes visited since the construction, as a measure of work.
  uint64_t visits() const { return visits_; }

private:
  struct Entry {
    uint32_t end;
    uint32_t rank; // 0: removed.
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

  std::vector<uint32_t> items_;   // By begin, then by end.
  std::vector<uint32_t> placeOf_; // The position of each item in items_.
  std::vector<Entry> entries_;    // Parallel to items_.
  std::vector<uint32_t>
      firstOf_;               // Per step, the first position with that begin; one more at the end.
  std::vector<Summary> tree_; // A heap-shaped tree over blocks of entries.
  uint32_t leaves_ = 1;
  uint64_t visits_ = 0;

  // The query in progress.
  uint32_t queryFirst_ = 0; // Position.
  uint32_t queryLast_ = 0;  // Position, exclusive.
  uint32_t queryEnd_ = 0;
  uint32_t foundRank_ = 0;
  uint32_t foundPlace_ = 0;
};

} // namespace gantry::plan
