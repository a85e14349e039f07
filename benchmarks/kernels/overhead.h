// Measures the cost of a dispatch in the runtime and in a command buffer that was recorded by hand.
//
// Both sides run the same SPIR-V, a kernel that doubles 64 floats. They run a chain of 1,000
// dispatches in which each dispatch waits for the previous one: once as a program of the runtime
// (written by test::TestModel, tests/support/test_model.h, without the compiler), once as a plain
// command buffer. The fixed cost of a run is included; the long chain makes it a small part.
//
// Threads: used by one thread. Errors: GpuError.
#pragma once

#include "benchmarks/kernels/generated.h"

namespace gantry::bench {

struct Overhead {
  double runtimeNs = 0, rawNs = 0; // Nanoseconds per dispatch in the fastest round.
  double ratio = 0;                // runtimeNs ÷ rawNs.
};

Overhead measureOverhead(Gpu &gpu, Runtime &runtime, uint32_t rounds);

} // namespace gantry::bench
