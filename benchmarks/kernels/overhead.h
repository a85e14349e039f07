// Measures what a dispatch of the runtime costs compared with one that was recorded by hand.
//
// Both sides run the same SPIR-V on the same 64 floats. Each dispatch waits for the previous one: a
// chain of the kernel `twice`, once as a program of the runtime (written by the tests' artifact
// writer, without the compiler) and once as a plain command buffer. The chain is long, so that the
// fixed cost of a run, which is included, is a small part.
#pragma once

#include "benchmarks/kernels/generated.h"

namespace gantry::bench {

struct Overhead {
  double runtimeNs = 0, rawNs = 0; // Nanoseconds per dispatch in the fastest round.
  double ratio = 0;
};

Overhead measureOverhead(Gpu &gpu, Runtime &runtime, uint32_t rounds);

} // namespace gantry::bench
