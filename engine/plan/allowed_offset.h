// Where an item may begin by itself: what its alignment and the borders of regions leave.
// Header only; pure.
#pragma once

#include "engine/base/align.h"
#include "engine/plan/problem.h"

namespace gantry::plan {

/// The lowest offset from `offset` on that the item may take.
inline uint64_t allowedFrom(const Problem &problem, uint32_t item, uint64_t offset) {
  offset = roundUp(offset, problem.alignmentOf(item));
  const uint64_t region = problem.regionSize;
  if (region != 0 && offset / region != (offset + problem.size[item] - 1) / region)
    offset = (offset / region + 1) * region;
  return offset;
}

} // namespace gantry::plan
