// The vendor's library on NVIDIA devices: products of matrices by cuBLAS.
//
// libcuda and libcublas are opened at run time; nothing of theirs is needed to build. The device is
// the one that has the Vulkan device's UUID. Time is that between two events on the default stream.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// a · b of square row-major matrices, both f32 or both f16, the result of the same type; sums are
/// f32 (in f32 without TF32, unless NVIDIA_TF32_OVERRIDE asks for it). Throws Unavailable where a
/// library, or the device in it, is missing; GpuError where a call fails.
std::unique_ptr<Contestant> makeCublas(Gpu &gpu, const Tensor &a, const Tensor &b);

} // namespace gantry::bench
