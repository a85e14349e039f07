// Implements compare.h.
#include "tools/gantry/report/compare.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace gantry::tool {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns |a - b|; 0 for equal infinities and for two NaNs, infinity for other pairs with an
/// infinity or a NaN.
double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double result = std::fabs(a - b);
  return std::isnan(result) ? kInfinity : result;
}

} // namespace

Comparison compareTensors(const Tensor &actual, const Tensor &expected,
                          const Tolerance &tolerance) {
  Comparison result;
  if (actual.dims != expected.dims) {
    result.problem = fmt::format("the shape is {}, expected {}", shapeText(actual.dims),
                                 shapeText(expected.dims));
    return result;
  }
  bool exact = !traitsOf(actual.type).isFloat && !traitsOf(expected.type).isFloat;
  result.rtol = tolerance.rtol.value_or(exact || tolerance.atol ? 0 : kDefaultRtol);
  result.atol = tolerance.atol.value_or(exact || tolerance.rtol ? 0 : kDefaultAtol);
  result.perElement = !tolerance.l2 || tolerance.rtol || tolerance.atol;
  result.count = elementCount(actual);

  long double squaredDifference = 0, squaredReference = 0; // Squares of f64 may overflow a double.
  double worstExcess = -1;
  for (uint64_t i = 0; i < result.count; ++i) {
    double a = elementAsDouble(actual, i), b = elementAsDouble(expected, i);
    double d = difference(a, b);
    if (d == 0 && exact && elementAsInteger(actual, i) != elementAsInteger(expected, i))
      d = 1; // Different 64-bit integers may round to the same double.
    double reference = std::isfinite(b) ? std::fabs(b) : 0;
    double allowed = result.atol + result.rtol * reference;
    result.different += d > allowed;
    result.maxAbs = std::max(result.maxAbs, d);
    if (reference > 0)
      result.maxRel = std::max(result.maxRel, d / reference);
    squaredDifference += static_cast<long double>(d) * d;
    squaredReference += static_cast<long double>(reference) * reference;
    double excess = allowed > 0 ? d / allowed : (d > 0 ? kInfinity : 0);
    if (excess > worstExcess || (excess == worstExcess && excess == kInfinity &&
                                 d > difference(elementAsDouble(actual, result.worst),
                                                elementAsDouble(expected, result.worst)))) {
      worstExcess = excess;
      result.worst = i;
    }
  }
  if (squaredDifference > 0)
    result.l2 = squaredReference > 0
                    ? static_cast<double>(std::sqrt(squaredDifference / squaredReference))
                    : kInfinity;
  if (result.count > 0) {
    result.worstIndex = unflatten(result.worst, actual.dims);
    result.worstActual = elementText(actual, result.worst, 9);
    result.worstExpected = elementText(expected, result.worst, 9);
  }
  result.within = (!result.perElement || result.different == 0) &&
                  (!tolerance.l2 || result.l2 <= *tolerance.l2);
  return result;
}

std::string comparisonText(const Comparison &comparison) {
  if (!comparison.problem.empty())
    return comparison.problem;
  return fmt::format("max abs {:.3g}, max rel {:.3g}, L2 {:.3g}, {} of {} elements differ "
                     "(rtol {:g}, atol {:g})",
                     comparison.maxAbs, comparison.maxRel, comparison.l2, comparison.different,
                     comparison.count, comparison.rtol, comparison.atol);
}

std::string worstText(const Comparison &comparison) {
  if (comparison.count == 0 || comparison.maxAbs == 0)
    return "";
  return fmt::format("worst at {}: {}, expected {}", indexText(comparison.worstIndex),
                     comparison.worstActual, comparison.worstExpected);
}

} // namespace gantry::tool
