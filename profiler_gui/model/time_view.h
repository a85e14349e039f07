// The stretch of time on the screen, shared by all plots, and the way back to earlier ones.
//
// Times are doubles in ns from the capture's start: exact up to a hundred days. A view never leaves
// the capture by more than a tenth of its own length, and is at least 20 ns long.
//
// Threads: none of its own; pure arithmetic.
#pragma once

#include <vector>

namespace gantry::profiler {

class TimeView {
public:
  double beginNs() const { return begin_; }
  double endNs() const { return end_; }
  double spanNs() const { return end_ - begin_; }

  /// What there is to see. The view stays where it is, unless it showed everything.
  void setBounds(double beginNs, double endNs);
  void showAll();
  bool showsAll() const { return begin_ <= first_ && end_ >= last_; }
  void show(double beginNs, double endNs);
  /// Makes the stretch longer (factor > 1) or shorter; the time at `aboutNs` keeps its place.
  void zoom(double factor, double aboutNs);
  void pan(double byNs);
  /// Keeps the end at the bounds' end, for live captures; a view of everything stays one.
  void follow();

  /// Remembers the view; back() returns to the last one that was remembered.
  void remember();
  bool back();
  /// Whether a view was remembered: somebody zoomed or panned.
  bool moved() const { return !history_.empty(); }

private:
  void clamp();

  double begin_ = 0, end_ = 1;
  double first_ = 0, last_ = 1;
  struct Past {
    double begin, end;
  };
  std::vector<Past> history_;
};

} // namespace gantry::profiler
