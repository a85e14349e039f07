// The skyline heuristic: gives each item (a size and a lifetime, problem.h) an offset. It fills
// addresses from below, the lowest valley first.
//
// The skyline is the upper contour of all placed items, as a function of time. Its lowest valley is
// its lowest span of constant height; the valley's edges are the higher spans on both sides, or on
// one side at the beginning or end of time. Among the items whose lifetimes lie within the
// valley, the item of the highest rank (the caller's priority) goes to the valley's floor. If no
// item fits, the valley is filled up to the lower of its two edges, and that space is wasted. The
// heuristic follows Burke, Kendall & Whitwell 2004, "A new placement heuristic for the orthogonal
// stock-cutting problem", except that items cannot be moved in time. If ranks grow with the
// lifetime, long-lived items end up at the bottom and short-lived items fill the remaining valleys;
// the graphs of most models then reach the lower bound, the largest sum of live sizes.
//
// An index (valley_index.h) finds the item for a valley; it typically visits some dozens of nodes,
// where a scan would visit all items that are not placed yet. Memory: about 100 bytes per item,
// including two indices: one by begin, and one by end, which is an index by begin in mirrored
// (reversed) time.
//
// Offsets respect the items' alignments. Threads: one at a time per object. Deterministic, because
// ranks are unique.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/valley_index.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gantry::plan {

class Skyline {
public:
  /// Keeps a reference to the problem.
  explicit Skyline(const Problem &problem);

  /// The rule that chooses the item for a valley.
  enum class Prefer {
    kRank,     // The highest rank.
    kTouching, // Items that touch both edges of the valley, then items that touch one edge, then
               // all; among these, the highest rank.
  };

  /// Places all items. `rank` has one unique number, from 1 on, per item. Returns nothing if the
  /// height would reach heightLimit, or if the meter is exhausted.
  std::optional<Placement> place(std::span<const uint32_t> rank, Prefer prefer,
                                 uint64_t heightLimit, WorkMeter &meter);

private:
  struct Segment {
    uint32_t begin;
    uint32_t end;
    uint64_t height;
    uint32_t previous;
    uint32_t next;
    uint32_t version; // Matches the version of the segment's valid heap entry.
  };
  struct HeapEntry {
    uint64_t height;
    uint32_t begin;
    uint32_t segment;
    uint32_t version;
  };

  uint32_t choose(uint32_t begin, uint32_t end, Prefer prefer);
  uint32_t addSegment(uint32_t begin, uint32_t end, uint64_t height, uint32_t previous,
                      uint32_t next);
  void pushSegment(uint32_t segment);
  uint32_t popLowest();
  void removeSegment(uint32_t segment);
  void settle(uint32_t segment);
  void raise(uint32_t segment);
  void cover(uint32_t segment, uint32_t item, uint64_t top);
  static bool isHigher(const HeapEntry &a, const HeapEntry &b);

  const Problem &problem_;
  std::vector<uint32_t> mirroredBegin_;
  std::vector<uint32_t> mirroredEnd_;
  ValleyIndex byBegin_;
  ValleyIndex byEnd_; // In mirrored time.
  std::vector<Segment> segments_;
  std::vector<uint32_t> freeSegments_;
  std::vector<HeapEntry> heap_;
};

} // namespace gantry::plan
