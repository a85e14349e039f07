// Implements TimeScale: the choice of base, unit and decimals.
#include "profiler_gui/model/time_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace gantry::profiler {
namespace {

/// Labels have a base if the range ends more than this many steps after time 0. The last digit of a
/// label stands for at most one step, so a label without a base has about five digits.
constexpr double kMaxSteps = 20'000;

struct Unit {
  double ns;
  const char *name;
  int digits; // The unit is 10^digits ns.
};
constexpr std::array<Unit, 4> kUnits = {
    {{1, "ns", 0}, {1e3, "µs", 3}, {1e6, "ms", 6}, {1e9, "s", 9}}};

/// The largest unit that is not larger than the quantity; ns for smaller quantities.
const Unit &unitFor(double ns) {
  size_t chosen = 0;
  while (chosen + 1 < kUnits.size() && std::abs(ns) >= kUnits[chosen + 1].ns)
    ++chosen;
  return kUnits[chosen];
}

std::string format(double value, int decimals, const char *unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit);
  return text.data();
}

} // namespace

TimeScale::TimeScale(double beginNs, double endNs, double stepNs) {
  stepNs = std::max(stepNs, 1.0);
  if (endNs / stepNs > kMaxSteps) {
    const double span = std::max(endNs - beginNs, 10 * stepNs);
    baseDigits_ = static_cast<int>(std::ceil(std::log10(span) - 1e-9));
    const double grain = std::pow(10.0, baseDigits_);
    baseNs_ = std::floor(std::max(beginNs, 0.0) / grain) * grain;
  }
  const Unit &unit = unitFor(std::max(std::abs(endNs - baseNs_), std::abs(beginNs - baseNs_)));
  unitNs_ = unit.ns;
  unit_ = unit.name;
  decimals_ = std::max(0, static_cast<int>(-std::floor(std::log10(stepNs / unitNs_) + 1e-9)));
  if (unit.digits == 0)
    decimals_ = 0; // The clock's resolution is 1 ns.
}

std::string TimeScale::number(double ns) const {
  const double offset = ns - baseNs_;
  const double lastDigitNs = unitNs_ * std::pow(10.0, -decimals_);
  // An offset that rounds to zero is written without a sign, not as "-0.0 µs".
  return format(std::abs(offset) < lastDigitNs / 2 ? 0 : offset / unitNs_, decimals_, unit_);
}

std::string TimeScale::baseText() const {
  if (baseNs_ <= 0)
    return "";
  const Unit &unit = unitFor(baseNs_);
  return format(baseNs_ / unit.ns, std::max(0, unit.digits - baseDigits_), unit.name);
}

std::string TimeScale::text(double ns) const {
  const std::string offset = number(ns);
  return baseNs_ > 0 && offset[0] != '-' ? "+" + offset : offset;
}

std::string TimeScale::wholeText(double ns) const {
  if (baseNs_ <= 0)
    return number(ns);
  const std::string offset = number(ns);
  return baseText() + (offset[0] == '-' ? " - " + offset.substr(1) : " + " + offset);
}

std::string momentText(double ns, double resolutionNs) {
  return TimeScale(ns, ns, resolutionNs).wholeText(ns);
}

} // namespace gantry::profiler
