// Places items by the fast tier (fast_tier.h) and checks the placement, for the tests of the
// searches.
#pragma once

#include "engine/plan/search/fast_tier.h"
#include "tests/support/plan_instances.h"

#include <gtest/gtest.h>

namespace gantry::test {

/// Returns the placement of the fast tier. Fails the test if the placement is not valid. work: the
/// limit on the search's work (work_meter.h).
inline plan::Placement checkedFast(const plan::Problem &problem, uint64_t work = kNoLimit) {
  plan::WorkMeter meter(work);
  plan::Placement placement = plan::placeFast(problem, meter);
  EXPECT_EQ(faultOf(problem, placement), "");
  EXPECT_GE(placement.height, problem.lowerBound);
  return placement;
}

} // namespace gantry::test
