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

/// "VK_ERROR_DEVICE_LOST"; nullptr for numbers that these headers do not know.
const char *resultName(VkResult result);

/// Why vkCreateDevice most likely failed, and what to do: the end of an error's sentence.
const char *createDeviceRemedy(VkResult result);

/// The status of a failed call: "vkAllocateMemory(67108864 bytes) returned VK_ERROR_...". Memory
/// exhaustion, a lost device and an unsupported feature keep their meaning; the rest is internal.
Status callFailed(const char *call, VkResult result);
inline Status callFailed(const std::string &call, VkResult result) {
  return callFailed(call.c_str(), result);
}
/// The same with a printf-style description of the call, of which 255 characters count.
Status callFailedf(VkResult result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// What every buffer is made for.
inline VkBufferUsageFlags bufferUsage(bool addresses, bool texels) {
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (addresses)
    usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (texels)
    usage |= VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
  return usage;
}

/// By device::TexelFormat.
inline constexpr VkFormat kTexelFormats[] = {
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_R16G16B16A16_SFLOAT};

/// A Vulkan structure of this type, all else zero.
template <typename T> T zeroed(VkStructureType type) {
  T structure{};
  structure.sType = type;
  return structure;
}

/// Returns the failure of a call; text, its description, is made only then.
#define GANTRY_VK(call, text)                                                                      \
  do {                                                                                             \
    VkResult gantryVk_ = (call);                                                                   \
    if (gantryVk_ < 0)                                                                             \
      return ::gantry::vulkan::callFailed(text, gantryVk_);                                        \
  } while (false)

} // namespace gantry::vulkan
