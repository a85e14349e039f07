// How often a live view may draw by itself: as often as a share of one core pays for.
//
// A frame on a software device costs tens of milliseconds of processor time, on a real one next to
// nothing. The pacer looks at what the process took from one frame to the next, reading the capture
// and the device's threads included, and waits so long that this is `share` of the time that
// passed. Frames that answer the mouse or the keyboard do not ask it.
//
// Times are seconds of any steady clock. Threads: none of its own; pure arithmetic.
#pragma once

namespace gantry::profiler {

class FramePacer {
public:
  /// Frames come every `shortest` to `longest` seconds.
  FramePacer(double share, double shortest, double longest)
      : share_(share), shortest_(shortest), longest_(longest) {}

  /// A frame was drawn at `now`; the process has taken `processSeconds` of processor time until
  /// now.
  void drew(double now, double processSeconds);
  /// Seconds until the next frame may be drawn; 0: now.
  double wait(double now) const;

private:
  double share_, shortest_, longest_;
  double processSeconds_ = 0;
  double next_ = 0;
};

} // namespace gantry::profiler
