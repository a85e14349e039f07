// Limits how often a live view is redrawn, so that redrawing uses at most a given share of one
// core.
//
// A frame costs tens of milliseconds of CPU time on a software device, and almost nothing on a GPU.
// The pacer receives the CPU time of the whole process, which includes the reading of the capture
// and the device's threads. It delays the next frame so that the CPU time between two frames is
// `share` of the elapsed time. The caller does not delay frames in response to input.
//
// Times are seconds. Threads: one at a time.
#pragma once

namespace gantry::profiler {

class FramePacer {
public:
  /// `share` is the share of one core, above 0. The time between two frames is limited to the range
  /// from minPeriod to maxPeriod.
  FramePacer(double share, double minPeriod, double maxPeriod)
      : share_(share), minPeriod_(minPeriod), maxPeriod_(maxPeriod) {}

  /// Records that a frame was drawn. `now` is the time of a steady clock; processSeconds is the CPU
  /// time that the process has used so far.
  void frameDrawn(double now, double processSeconds);
  /// The time until the next frame may be drawn; 0 if it may be drawn now.
  double wait(double now) const;

private:
  double share_, minPeriod_, maxPeriod_;
  double processSeconds_ = 0; // CPU time at the last frame.
  double next_ = 0;           // Earliest time of the next frame.
};

} // namespace gantry::profiler
