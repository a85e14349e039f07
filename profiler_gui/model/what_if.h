// What the planner would do if one value of a plan were smaller or larger: the arena as it would
// be.
//
// Values that share a slot are planned as one. The answer is the planner's own (engine/plan),
// within a small amount of work, so that it comes within a frame or two.
//
// Threads: pure function. Errors: those of planArena.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture_model.h"

#include <cstdint>

namespace gantry::profiler {

struct WhatIf {
  uint64_t valueBytes = 0; // with the change
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint64_t arenaBefore = 0; // planned in the same way without the change
};

/// entry: index in model.planEntries(), a transient. factor: of its size, above 0.
Result<WhatIf> whatIf(const CaptureModel &model, uint32_t entry, double factor);

} // namespace gantry::profiler
