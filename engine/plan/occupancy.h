// The smallest alignment of a request, to which the planner rounds all sizes up. Header only; pure.
#pragma once

#include "engine/plan/plan.h"

#include <algorithm>

namespace gantry::plan {

/// Every offset of a plan is a multiple of the result. It is 1 where no value has any bytes.
inline uint64_t smallestAlignment(const std::vector<Value> &values) {
  uint64_t alignment = UINT64_MAX;
  for (const Value &value : values)
    if (value.sizeBytes != 0)
      alignment = std::min(alignment, value.alignment);
  return alignment == UINT64_MAX ? 1 : alignment;
}

} // namespace gantry::plan
