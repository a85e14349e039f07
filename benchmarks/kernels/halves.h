// Conversions between f32 and f16 ("halves") on the host, for the workloads that use f16.
//
// Threads: all functions are pure.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Returns values in [-0.5, 0.5) that are exact in f16: pattern() rounded down to multiples of
/// 2^-11.
std::vector<float> halfPattern(size_t count, uint32_t seed);

/// Returns the f16 bits of a number that f16 represents exactly as zero or as a normal number.
uint16_t halfOf(float exact);
/// Returns the value of any f16 bits. All NaNs become the same quiet NaN.
float floatOf(uint16_t half);

/// Returns a tensor's elements as the device stores them: f16 if tensor.halves is set, else f32.
std::vector<uint8_t> bytesOf(const Tensor &tensor);
/// Converts the device's bytes back to f32. `halves`: whether the bytes are f16 and not f32.
std::vector<float> floatsOf(std::span<const uint8_t> bytes, bool halves);

} // namespace gantry::bench
