// Reads a synthetic capture into the profiler's model.
#pragma once

#include "profiler_gui/model/capture/capture_model.h"
#include "tests/support/synthetic_capture.h"

namespace gantry::test {

inline void fill(const SyntheticCapture &capture, profiler::CaptureModel *model) {
  model->ingest(capture.events, capture.names);
  model->finish();
}

} // namespace gantry::test
