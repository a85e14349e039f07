// Restates a planning problem (problem.h: items, each with a size and a lifetime, get offsets) in a
// coarser unit if its sizes are nearly multiples of such a unit. Examples are multiples of a unit
// that were then scaled and rounded, measured with a small error, or each reduced a little.
//
// A search infers much more from sizes in a coarse unit: the items that are alive in a step of time
// then often fill a height to the last unit, whereas sizes in bytes leave some slack that any small
// item might fill. coarsen() chooses a height (the lower bound or a little more), divides it into
// equal parts, and rounds each size up to whole parts. pushDown() turns a placement (offsets) of
// the rounded sizes into one of the true sizes. Rounding makes the fullest step higher, so the
// height must exceed the lower bound by some parts: the cost of the division. Among all divisions,
// coarsen() chooses the one with the lowest cost. If sizes have no coarse unit, a division costs
// about half a part per live item, and coarsen() returns nothing; otherwise the matching division
// costs almost nothing.
//
// True sizes are counted in units of unitBytes bytes, a number that divides all of them. The height
// is divided into `parts` parts of (height + 1) / parts units each; the height is in units. A size
// becomes the smallest number of parts that is longer than the size, so a size that is slightly
// smaller than n parts becomes n parts. Items whose rounded sizes add up to at most `parts` have
// true sizes that add up to at most the height.
//
// If the rounded sizes have no placement, that proves nothing: the true sizes may have one.
//
// Threads: calls share no state; each changes only its meter, which counts the work (work_meter.h).
// Results are deterministic if the meter has no deadline.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/search/work_meter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

struct CoarseSizes {
  Problem rounded;            // Sizes in parts. Its lower bound is at most `parts`.
  uint64_t unitBytes = 1;     // Divides all true sizes.
  uint64_t parts = 0;         // The number of parts into which capacityBytes is divided.
  uint64_t capacityBytes = 0; // A placement within `parts`, pushed down, lies within these bytes.

  /// Returns the largest number of parts such that a placement within them, pushed down, lies
  /// within `bytes`.
  uint64_t partsWithin(uint64_t bytes) const;
};

/// Returns nothing if no division is good enough, or if the items do not all have one alignment
/// that divides their sizes.
std::optional<CoarseSizes> coarsen(const Problem &problem, WorkMeter &meter);

/// Moves all items down as far as possible, in the order of their offsets, which may be in any
/// unit. The problem must have one alignment that divides all sizes.
Placement pushDown(const Problem &problem, std::vector<uint64_t> offsets);

} // namespace gantry::plan
