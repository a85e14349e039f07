// The smallest alignment of the values of a planning request, to which the planner rounds all sizes
// up (plan.h explains why). Header only; pure.
#pragma once

#include "engine/plan/plan.h"

#include <algorithm>

namespace gantry::plan {

/// Returns the smallest alignment of all values that have bytes, or 1 where there is no such value.
/// The offset of each value that has bytes is a multiple of the result.
inline uint64_t smallestAlignment(const std::vector<Value> &values) {
  uint64_t alignment = UINT64_MAX;
  for (const Value &value : values)
    if (value.sizeBytes != 0)
      alignment = std::min(alignment, value.alignment);
  return alignment == UINT64_MAX ? 1 : alignment;
}

} // namespace gantry::plan
