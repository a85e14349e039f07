// The skyline is the upper contour, over time, of the items (sizes with lifetimes) that a search
// has placed; a valley is a part of it that lies lower than its neighbours. ValleyIndex finds the
// item to place into a valley: the item of the highest rank (the search's priority) among the
// remaining items whose lifetimes lie within a span of time.
//
// The index is a binary tree, stored like a heap, over the items sorted by begin; a leaf holds a
// block of sixteen items. Each node stores the highest rank and the earliest end in its subtree. A
// query visits the child with the higher rank first. It skips nodes whose ranks are all lower than
// that of the best item found so far, and nodes whose items all end after the span. A query visits
// some dozens of nodes in practice, and in the worst case all nodes with items that begin within
// the span.
// Removing an item is O(log n). Memory: about 25 bytes per item.
//
// Threads: one at a time per object. Deterministic, because ranks are unique.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gantry::plan {

class ValleyIndex {
public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Item i is alive in the steps [begin[i], end[i]), with end[i] ≤ stepCount.
  ValleyIndex(std::span<const uint32_t> begin, std::span<const uint32_t> end, uint32_t stepCount);

  /// Puts all items back and gives item i the rank rank[i]. Must be called before the first query.
  /// Ranks are unique and at least 1.
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

  std::vector<uint32_t> items_;   // Sorted by begin, then by end.
  std::vector<uint32_t> placeOf_; // The position of each item in items_.
  std::vector<Entry> entries_;    // Parallel to items_.
  /// Per step, the position of the first item that begins at the step or later.
  std::vector<uint32_t> firstOf_;
  /// The children of node i are 2i and 2i + 1; the leaves summarize blocks of entries.
  std::vector<Summary> tree_;
  uint32_t leaves_ = 1;
  uint64_t visits_ = 0;

  // The query in progress.
  uint32_t queryFirst_ = 0; // Position.
  uint32_t queryLast_ = 0;  // Position, exclusive.
  uint32_t queryEnd_ = 0;   // Step: the latest end.
  uint32_t foundRank_ = 0;
  uint32_t foundPlace_ = 0;
};

} // namespace gantry::plan
