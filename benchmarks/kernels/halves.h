// Conversions of f16 on the host, as far as the comparisons need them.
//
// Threads: pure.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Returns values in [-0.5, 0.5) that are exact in f16: pattern() rounded down to multiples of
/// 2^-11.
std::vector<float> halfPattern(size_t count, uint32_t seed);

/// Returns the f16 bits of a number that is zero or normal and exact in f16.
uint16_t halfOf(float exact);
float floatOf(uint16_t half);

/// Convert a tensor to the device's representation and back.
std::vector<uint8_t> bytesOf(const Tensor &tensor);
std::vector<float> floatsOf(std::span<const uint8_t> bytes, bool halves);

} // namespace gantry::bench
