// f16 on the host: only what the comparisons need.
//
// Threads: pure.
#pragma once

#include "benchmarks/kernels/contestant.h"

namespace gantry::bench {

/// Values in [-0.5, 0.5) that are exact in f16: pattern() rounded down to multiples of 2^-11.
/// make_models.py has no need of them: they are inputs.
std::vector<float> halfPattern(size_t count, uint32_t seed);

/// The bits of a number that is exact in f16: zero, or normal there.
uint16_t halfOf(float exact);
float floatOf(uint16_t half);

/// A tensor as the device has it, and back.
std::vector<uint8_t> bytesOf(const Tensor &tensor);
std::vector<float> floatsOf(std::span<const uint8_t> bytes, bool halves);

} // namespace gantry::bench
