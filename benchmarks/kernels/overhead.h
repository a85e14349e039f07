// What a dispatch of the runtime costs beside one that was recorded by hand.
//
// Both sides run the same SPIR-V on the same 64 floats, each dispatch waiting for the one before
// it: a chain of `twice`, once as a program of the runtime (made by the tests' own writer of
// artifacts, no compiler), once as a raw command buffer. A chain is long, so that what a run costs
// besides, which is counted, is little of it.
#pragma once

#include "benchmarks/kernels/generated.h"

namespace gantry::bench {

struct Overhead {
  double runtimeNs = 0, rawNs = 0; // per dispatch, in the round where it took least
  double ratio = 0;
};

Overhead measureOverhead(Gpu &gpu, Runtime &runtime, uint32_t rounds);

} // namespace gantry::bench
