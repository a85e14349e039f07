// Helpers for direct Vulkan calls: structures with their type set, checked results.
#pragma once

#include "benchmarks/kernels/gpu.h"

namespace gantry::bench {

/// Returns a Vulkan structure with its type set and all other members zero.
template <typename T> T zeroed(VkStructureType type) {
  T value{};
  value.sType = type;
  return value;
}

inline void check(VkResult result, const char *call) {
  if (result != VK_SUCCESS)
    throw GpuError(std::string(call) + " failed with VkResult " + std::to_string(result));
}

} // namespace gantry::bench
