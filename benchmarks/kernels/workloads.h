// The operations that are compared. make_models.py writes the same as models, in the larger sizes.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

enum class Sizes {
  kFull, // those of the published figures
  kSmall // the same kernels in a second, to check them
};

Workload matmulWorkload(Sizes sizes); // a [M, K] · constant [K, N]
/// `layers` convolutions 3×3 of 64 channels, one after the other: in a chain, what an input and an
/// output layout cost is shared, as it is in a model.
Workload convWorkload(Sizes sizes, uint32_t layers);
Workload addWorkload(Sizes sizes);
Workload softmaxWorkload(Sizes sizes); // over rows of 1024
Workload matvecWorkload(Sizes sizes);  // x [1, K] · constant [N, K] transposed
/// Two square matrices that are inputs, in f16 or f32, beside the vendor's library. The result is
/// judged by some of its elements.
Workload squareWorkload(uint32_t side, bool halves);

} // namespace gantry::bench
