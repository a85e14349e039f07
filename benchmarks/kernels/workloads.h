// The compared operations. make_models.py writes the same operations as models, in the full sizes.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

enum class Sizes {
  kFull, // Sizes of the published figures.
  kSmall // Sizes that run in a second, for checking results.
};

Workload matmulWorkload(Sizes sizes); // a [M, K] · constant [K, N]
/// `layers` 3×3 convolutions of 64 channels in a chain. As in a model, the layers share the cost of
/// the input's and the output's layout conversion.
Workload convWorkload(Sizes sizes, uint32_t layers);
Workload addWorkload(Sizes sizes);
Workload softmaxWorkload(Sizes sizes); // Rows of 1024 elements.
Workload matvecWorkload(Sizes sizes);  // x [1, K] · constant [N, K] transposed
/// A matmul of two square inputs in f16 or f32, compared with the vendor's library. A sample of the
/// result's elements is checked.
Workload squareWorkload(uint32_t side, bool halves);

} // namespace gantry::bench
