// Matmuls by cuBLAS, the vendor's library on NVIDIA devices.
//
// libcuda and libcublas are opened at run time, so building does not need them. The CUDA device is
// the one with the Vulkan device's UUID. Times are measured between two events on the default
// stream.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Makes a contestant that computes a · b of square row-major matrices, all f32 or all f16. Sums
/// are f32, without TF32 unless NVIDIA_TF32_OVERRIDE enables it. Throws Unavailable if a library or
/// the device in it is missing, GpuError if a call fails.
std::unique_ptr<Contestant> makeCublas(Gpu &gpu, const Tensor &a, const Tensor &b);

} // namespace gantry::bench
