#include "profiler_gui/platform/frame_pacer.h"

#include <algorithm>

namespace gantry::profiler {

void FramePacer::drew(double now, double processSeconds) {
  const double cost = processSeconds - processSeconds_;
  processSeconds_ = processSeconds;
  next_ = now + std::clamp(cost / share_, shortest_, longest_);
}

double FramePacer::wait(double now) const { return std::max(0.0, next_ - now); }

} // namespace gantry::profiler
