// The operations (workloads) for which generated kernels are compared with references.
// make_models.py writes the same operations as models, in the full sizes.
//
// Each function computes the inputs and the expected result on the host. (squareWorkload computes
// only a sample of the expected result, when a result is checked.) Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

enum class Sizes {
  kFull, // The sizes that are measured; make_models.py has the same.
  kSmall // Sizes that run within a second, for checking results.
};

Workload matmulWorkload(Sizes sizes); // a [M, K] · constant [K, N]
/// A chain of `layers` 3×3 convolutions of 64 channels. In the compiled model, the chain converts
/// the layout of its input and of its output once, so a long chain hides this cost.
Workload convWorkload(Sizes sizes, uint32_t layers);
Workload addWorkload(Sizes sizes);
Workload softmaxWorkload(Sizes sizes); // Rows of 1024 elements.
Workload matvecWorkload(Sizes sizes);  // x [1, K] · constant [N, K] transposed
/// A matmul of two square inputs in f16 or f32. The reference is the vendor's library. A sample of
/// the result's elements is checked.
Workload squareWorkload(uint32_t side, bool halves);

} // namespace gantry::bench
