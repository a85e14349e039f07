// Compares two tensors: finds out whether they are equal within a tolerance, and where and by how
// much they differ.
//
// An element is within the tolerance if |actual - expected| <= atol + rtol * |expected|, as in
// numpy.allclose; NaN equals NaN, and an infinity equals itself. Integers and booleans are compared
// exactly unless a tolerance is given. The caller may bound the relative L2 norm ||actual -
// expected|| / ||expected||, either instead of the elements or in addition to them. Element types
// may differ (for example a float64 reference); shapes may not.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/io/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

inline constexpr double kDefaultRtol = 1e-3;
inline constexpr double kDefaultAtol = 1e-5;

/// The requested tolerances. If neither rtol nor atol is given, they are 1e-3 and 1e-5, or 0 for
/// integers. If only one of them is given, the other is 0. If only l2 is given, there is no bound
/// per element.
struct Tolerance {
  std::optional<double> rtol, atol, l2;
};

struct Comparison {
  bool within = false;
  std::string problem;       // How the shapes differ, for the user; empty if they are equal.
  uint64_t count = 0;        // Number of elements.
  uint64_t different = 0;    // Number of elements outside the tolerance per element.
  double rtol = 0, atol = 0; // The tolerances that were applied.
  bool perElement = true;    // Whether the bound per element was applied.
  double maxAbs = 0;         // Max |actual - expected|; infinite if a NaN or an infinity differs.
  double maxRel = 0;  // Max |actual - expected| / |expected| over finite, nonzero expected values.
  double l2 = 0;      // ||actual - expected|| / ||expected||
  uint64_t worst = 0; // Position of the element with the largest difference ÷ tolerance.
  std::vector<int64_t> worstIndex;
  std::string worstActual, worstExpected;
};

Comparison compareTensors(const Tensor &actual, const Tensor &expected, const Tolerance &tolerance);

/// Returns the result in one line: "max abs 1.2e-05, max rel ..., L2 ..., 0 of 1000 elements
/// differ".
std::string comparisonText(const Comparison &comparison);
/// Returns "worst at [0, 3]: 1.25, expected 1.5", or "" if nothing differs.
std::string worstText(const Comparison &comparison);

} // namespace gantry::tool
