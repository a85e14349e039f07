// Moments in words, with as many digits as tell them apart: the labels of a time axis, and the
// times of one thing.
//
// Late in a long capture "9.64 s" stands for millions of different moments. Where a label would
// need more than five digits, moments are written relative to a base, a round moment shortly before
// them: base "9.641 s", label "+327.1 µs". All labels of one scale have one unit and one number of
// decimals, so that they line up and never repeat.
//
// Times are ns from the capture's start. Threads: values.
#pragma once

#include <string>

namespace gantry::profiler {

class TimeScale {
public:
  /// For moments within [beginNs, endNs]; those stepNs > 0 apart get different labels.
  TimeScale(double beginNs, double endNs, double stepNs);

  /// A multiple of a power of ten; 0 where labels count from the capture's start.
  double baseNs() const { return baseNs_; }
  /// "9.641 s", exactly; "" where the base is 0.
  std::string baseText() const;
  /// "+327.1 µs" with a base, "431.2 ms" without.
  std::string text(double ns) const;
  /// Both: "9.641 s + 327.1 µs", "431.2 ms".
  std::string wholeText(double ns) const;

private:
  std::string number(double ns) const;

  double baseNs_ = 0;
  double unitNs_ = 1;
  const char *unit_ = "ns";
  int decimals_ = 0;
  int baseDigits_ = 0; // the base is a multiple of 10^baseDigits_ ns
};

/// One moment, told apart from those resolutionNs away.
std::string momentText(double ns, double resolutionNs);

} // namespace gantry::profiler
