#include "engine/plan/first_fit.h"
#include "engine/plan/constrained_fit.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gantry::plan {

std::optional<Placement> placeFirstFit(const Problem &problem, std::span<const uint32_t> rank,
                                       uint64_t notAbove, WorkMeter &meter) {
  std::vector<uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank[a] > rank[b]; });
  return placeInOrder(problem, order, Fit::kFirst, notAbove, meter);
}

} // namespace gantry::plan
