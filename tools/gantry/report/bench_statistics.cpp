// Implements bench_statistics.h.
#include "tools/gantry/report/bench_statistics.h"

#include <algorithm>
#include <cmath>

namespace gantry::tool {
namespace {

double percentile(const std::vector<double> &sorted, double fraction) {
  double rank = fraction * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(std::floor(rank));
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - static_cast<double>(below));
}

} // namespace

Spread spreadOf(std::vector<double> samples) {
  if (samples.empty())
    return {};
  std::sort(samples.begin(), samples.end());
  return {percentile(samples, 0.5), percentile(samples, 0.1), percentile(samples, 0.9),
          samples.front(), samples.size()};
}

} // namespace gantry::tool
