// A problem in coarser units, for sizes that are nearly multiples of one: scaled and rounded,
// measured, or each a little smaller than it was.
//
// In few units a search infers far more: a moment is full to the last one, where sizes in bytes
// leave a slack that anything small might fill. So a height is divided equally and each size
// rounded up to whole parts; a placement of the rounded sizes, pushed down with the true ones, is
// one of the problem. Of all divisions that one is taken whose rounding costs the fewest parts at
// the fullest moment. Of sizes without a common measure it costs about half a part for each live
// item, and there is none; where they have one, next to nothing.
//
// A size becomes the least number of parts that together are larger than it, of a height that is
// one more than allowed: sizes that were rounded down from whole parts find these again, and items
// on one another within the parts are lower than that, hence at most as high as allowed.
//
// Not a proof: that the rounded sizes have no placement says nothing of the true ones.
//
// Threads: pure functions. Deterministic.
#pragma once

#include "engine/plan/problem.h"
#include "engine/plan/work_meter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gantry::plan {

struct CoarseSizes {
  Problem rounded;       // sizes in parts
  uint64_t unit = 1;     // bytes that divide all true sizes
  uint64_t parts = 0;    // what its lower bound is at most
  uint64_t capacity = 0; // of the true sizes, for a placement within those parts

  /// The most parts such that a placement within them is one within `bytes`.
  uint64_t partsWithin(uint64_t bytes) const;
};

/// Nothing where there is no good division, or where items are not free boxes of one alignment that
/// divides all sizes.
std::optional<CoarseSizes> coarsen(const Problem &problem, WorkMeter &meter);

/// Lets all items down as far as they go in the order of their offsets, which may be in any units.
Placement pushDown(const Problem &problem, std::vector<uint64_t> offsets);

} // namespace gantry::plan
