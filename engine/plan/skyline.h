// The skyline heuristic: addresses are filled from below, the lowest valley first.
//
// The skyline is the upper edge of what is placed, as a function of time. Its lowest valley is a
// span of time with higher edges on both sides. Of the items whose lifetimes lie within the valley
// the one of the highest rank goes to its floor; where none does, the valley is filled up to its
// lower edge, and that is waste. After Burke, Kendall & Whitwell 2004, "A new placement heuristic
// for the orthogonal stock-cutting problem", with the difference that lifetimes cannot be moved.
// Long-lived items end up at the bottom and short ones fill what they leave, which is why models'
// graphs mostly come out at the lower bound.
//
// The candidates of a valley are found through an index (valley_index.h): some dozens of steps for
// each item, where a scan takes as many as items live at one time. Memory: about 100 bytes per
// item, with the index in both directions of time.
//
// What it does not know: fixed items (constrained_fit.h places those), and segments (an item
// counts as its box). Alignments and regions are kept. Threads: one object serves one thread.
// Deterministic: ranks are unique.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/valley_index.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gantry::plan {

class Skyline {
public:
  /// Keeps a reference to the problem, none of whose items may be fixed.
  explicit Skyline(const Problem &problem);

  enum class Prefer {
    kRank,     // the highest rank
    kTouching, // what touches both edges of the valley; else one of them; else the highest rank
  };

  /// Places all items, the highest rank first (unique, from 1). Nothing where the height would
  /// reach notAbove, or where the meter is exhausted.
  std::optional<Placement> place(std::span<const uint32_t> rank, Prefer prefer, uint64_t notAbove,
                                 WorkMeter &meter);

private:
  struct Segment {
    uint32_t begin;
    uint32_t end;
    uint64_t height;
    uint32_t previous;
    uint32_t next;
    uint32_t version; // of its entry in the heap
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
  ValleyIndex byEnd_; // in mirrored time
  std::vector<Segment> segments_;
  std::vector<uint32_t> freeSegments_;
  std::vector<HeapEntry> heap_;
};

} // namespace gantry::plan
