// Restates a problem in coarser units, where its sizes are nearly multiples of a larger unit: sizes
// that were scaled and rounded, measured, or each reduced a little.
//
// With few units a search infers much more: a step is full to the last unit, where sizes in bytes
// leave some slack that any small item might fill. So a height is divided into equal parts, and
// each size is rounded up to whole parts. Pushing a placement of the rounded sizes down with the
// true sizes gives a placement of the problem. Among all divisions, the one is taken whose rounding
// costs the fewest parts in the fullest step. Sizes without a common unit cost about half a part
// per live item, and no division is taken; sizes with a common unit cost almost nothing.
//
// A size becomes the smallest number of parts that is larger than it, where the parts divide the
// allowed height plus one. Sizes that were rounded down from whole parts become these parts again,
// and items that lie on each other within the parts do not exceed the allowed height.
//
// This proves nothing: where the rounded sizes have no placement, the true sizes may have one.
//
// Threads: pure functions. Deterministic.
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
  uint64_t parts = 0;         // The number of parts of capacityBytes.
  uint64_t capacityBytes = 0; // A placement within `parts` lies within these bytes.

  /// Returns the largest number of parts such that a placement within them lies within `bytes`.
  uint64_t partsWithin(uint64_t bytes) const;
};

/// Returns nothing where there is no good division, where items are fixed, or where the items do
/// not all have one alignment that divides their sizes.
std::optional<CoarseSizes> coarsen(const Problem &problem, WorkMeter &meter);

/// Moves all items down as far as possible, in the order of their offsets, which may be in any
/// unit. The problem must have no fixed items and whole sizes.
Placement pushDown(const Problem &problem, std::vector<uint64_t> offsets);

} // namespace gantry::plan
