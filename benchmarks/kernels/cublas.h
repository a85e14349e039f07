// Matmuls by cuBLAS, the vendor's library on NVIDIA devices.
//
// libcuda and libcublas are opened at run time, so building does not need them. The CUDA device
// with the Vulkan device's UUID is used. Times are measured between two events on the default
// stream.
//
// Threads: used by one thread.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Makes a contestant (contestant.h: an implementation that is measured) that computes a · b of
/// square row-major matrices, all f32 or all f16. The contestant accumulates in f32, and uses TF32
/// only if NVIDIA_TF32_OVERRIDE enables it. Throws Unavailable if a library is missing or CUDA does
/// not have the device, GpuError if a call fails. `gpu` is used only during the call.
std::unique_ptr<Contestant> makeCublas(Gpu &gpu, const Tensor &a, const Tensor &b);

} // namespace gantry::bench
