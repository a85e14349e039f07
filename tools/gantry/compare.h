// Comparing two tensors: is one what the other says, and if not, where and by how much.
//
// An element is within the tolerance if |actual - expected| <= atol + rtol * |expected|, as in
// numpy.allclose; NaN equals NaN, and an infinity equals itself. Integers and booleans are compared
// exactly unless a tolerance is given. A bound on the relative L2 norm ||actual - expected|| /
// ||expected|| may be asked for instead of, or together with, the bound per element. Element types
// may differ (a float64 reference); shapes may not.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

inline constexpr double kDefaultRtol = 1e-3;
inline constexpr double kDefaultAtol = 1e-5;

/// What was asked for; what is absent takes the defaults above (0 for integers). l2 alone switches
/// the bound per element off.
struct Tolerance {
  std::optional<double> rtol, atol, l2;
};

struct Comparison {
  bool within = false;
  std::string problem;       // why the tensors cannot be compared (shapes), or ""
  uint64_t count = 0;        // elements
  uint64_t different = 0;    // elements outside of the tolerance per element
  double rtol = 0, atol = 0; // as applied
  bool perElement = true;    // whether the bound per element was applied
  double maxAbs = 0;  // the largest |actual - expected|; infinite where a NaN or infinity differs
  double maxRel = 0;  // the largest |actual - expected| / |expected| (where expected != 0)
  double l2 = 0;      // ||actual - expected|| / ||expected||
  uint64_t worst = 0; // the element farthest outside of the tolerance
  std::vector<int64_t> worstIndex;
  std::string worstActual, worstExpected;
};

Comparison compareTensors(const Tensor &actual, const Tensor &expected, const Tolerance &tolerance);

/// One line of result: "max abs 1.2e-05, max rel ..., L2 ..., 0 of 1000 elements differ".
std::string comparisonText(const Comparison &comparison);
/// "worst at [0, 3]: 1.25, expected 1.5" or "" where nothing differs.
std::string worstText(const Comparison &comparison);

} // namespace gantry::tool
