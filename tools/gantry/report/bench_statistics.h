// The median and the spread of measured times.
//
// Percentiles interpolate linearly between the closest ranks (the default of numpy.percentile).
// Threads: pure function.
#pragma once

#include <cstddef>
#include <vector>

namespace gantry::tool {

struct Spread {
  double median = 0, p10 = 0, p90 = 0, min = 0;
  size_t count = 0;
};

/// Returns the statistics of the samples, in their unit; all zero if there are none.
Spread spreadOf(std::vector<double> samples);

} // namespace gantry::tool
