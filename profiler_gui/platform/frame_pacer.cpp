// Implements FramePacer.
#include "profiler_gui/platform/frame_pacer.h"

#include <algorithm>

namespace gantry::profiler {

void FramePacer::frameDrawn(double now, double processSeconds) {
  const double cost = processSeconds - processSeconds_;
  processSeconds_ = processSeconds;
  next_ = now + std::clamp(cost / share_, minPeriod_, maxPeriod_);
}

double FramePacer::wait(double now) const { return std::max(0.0, next_ - now); }

} // namespace gantry::profiler
