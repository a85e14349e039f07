// How this folder calls Vulkan: through volk, without prototypes, so that nothing links libvulkan
// and a machine without a loader gets an error instead of a failed start.
//
// Instance functions are kept per instance and device functions per device (VolkDeviceTable):
// volk's global instance pointers are never filled, because several devices may be open at once.
#pragma once

#include "engine/base/status.h"

#include <volk.h>

#include <string>

namespace gantry::vulkan {

/// "VK_ERROR_DEVICE_LOST"; "VkResult(-42)" for numbers that these headers do not know.
std::string resultName(VkResult result);

/// The status of a failed call: "vkAllocateMemory(67108864 bytes) returned VK_ERROR_...". Memory
/// exhaustion, a lost device and an unsupported feature keep their meaning; the rest is internal.
Status callFailed(const std::string &call, VkResult result);

/// A Vulkan structure of this type, all else zero.
template <typename T> T zeroed(VkStructureType type) {
  T structure{};
  structure.sType = type;
  return structure;
}

#define GANTRY_VK(call, text)                                                                      \
  do {                                                                                             \
    VkResult gantryVk_ = (call);                                                                   \
    if (gantryVk_ < 0)                                                                             \
      return ::gantry::vulkan::callFailed(text, gantryVk_);                                        \
  } while (false)

} // namespace gantry::vulkan
