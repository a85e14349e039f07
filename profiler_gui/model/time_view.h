// The range of time on the screen, which all plots share, with a history of earlier ranges.
//
// Times are nanoseconds from the capture's start, as doubles; they are exact up to a hundred days.
// The bounds are the time that the capture covers. The range extends beyond the bounds by about a
// tenth of its own length at most, and is at least 20 ns long.
//
// Threads: one at a time.
#pragma once

#include <vector>

namespace gantry::profiler {

class TimeView {
public:
  double beginNs() const { return begin_; }
  double endNs() const { return end_; }
  double spanNs() const { return end_ - begin_; }

  /// Sets the bounds. A view that showed all of the old bounds shows all of the new bounds; any
  /// other view keeps its range as far as the new bounds allow.
  void setBounds(double beginNs, double endNs);
  /// Shows the bounds with a margin of 1 %.
  void showAll();
  bool showsAll() const { return begin_ <= first_ && end_ >= last_; }
  void show(double beginNs, double endNs);
  /// Multiplies the length of the range by `factor`. The time `aboutNs` keeps its place on the
  /// screen.
  void zoom(double factor, double aboutNs);
  void pan(double byNs);
  /// Moves the range, whose length stays, so that it ends just after the bounds. A view that shows
  /// all of the bounds stays. Called when a live capture has grown.
  void follow();

  /// Adds the range to the history.
  void remember();
  /// Returns to the last remembered range and removes it from the history. Returns false if the
  /// history is empty.
  bool back();
  /// Whether the history has an entry, because the user has zoomed or panned.
  bool moved() const { return !history_.empty(); }

private:
  void clamp();

  double begin_ = 0, end_ = 1;  // The range on the screen.
  double first_ = 0, last_ = 1; // The bounds.
  struct Past {
    double begin, end;
  };
  std::vector<Past> history_;
};

} // namespace gantry::profiler
