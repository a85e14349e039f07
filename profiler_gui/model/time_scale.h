// Formats points in time with enough digits to distinguish them: the labels of a time axis, and the
// begin and end of one block or dispatch. Durations are formatted by quantity_text.h.
//
// Late in a long capture, millions of different times would have the label "9.64 s". If a label
// needs more than about five digits, times are therefore written relative to a base, a round time
// shortly before them: base "9.641 s", label "+327.1 µs". All labels of one scale have the same
// unit and number of decimals, so that they line up and never repeat.
//
// Times are nanoseconds from the capture's start. Threads: immutable values.
#pragma once

#include <string>

namespace gantry::profiler {

class TimeScale {
public:
  /// A scale for times within [beginNs, endNs]. Times that differ by stepNs or more get different
  /// labels; a stepNs below 1 counts as 1.
  TimeScale(double beginNs, double endNs, double stepNs);

  /// The base, a multiple of a power of ten that is not below the length of the range; 0 if labels
  /// count from the capture's start.
  double baseNs() const { return baseNs_; }
  /// The exact base, for example "9.641 s"; "" if the base is 0.
  std::string baseText() const;
  /// The label of a time: "+327.1 µs" with a base, "431.2 ms" without.
  std::string text(double ns) const;
  /// Base and label together: "9.641 s + 327.1 µs", or "431.2 ms" without a base.
  std::string wholeText(double ns) const;

private:
  std::string number(double ns) const;

  double baseNs_ = 0;
  double unitNs_ = 1;
  const char *unit_ = "ns";
  int decimals_ = 0;
  int baseDigits_ = 0; // The base is a multiple of 10^baseDigits_ ns.
};

/// Formats one time with enough digits to distinguish times that are resolutionNs apart.
std::string momentText(double ns, double resolutionNs);

} // namespace gantry::profiler
