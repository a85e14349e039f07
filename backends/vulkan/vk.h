// How the backend calls Vulkan: through volk, without prototypes. The program therefore does not
// link libvulkan, and a machine without a Vulkan loader gets an error instead of a program that
// does not start.
//
// Functions of an instance are stored per instance (InstanceFunctions) and functions of a device
// per device (VolkDeviceTable). volk's global function pointers are not used, because several
// devices may be open at once.
//
// Thread safety: pure functions.
#pragma once

#include "engine/base/status.h"

#include <volk.h>

#include <string>

namespace gantry::vulkan {

/// Returns the name of a result such as "VK_ERROR_DEVICE_LOST"; nullptr for an unknown number.
const char *resultName(VkResult result);

/// Returns the likely cause of a failed vkCreateDevice and its remedy, as the end of a sentence.
const char *createDeviceRemedy(VkResult result);

/// Returns the status of a failed call, such as "vkAllocateMemory(67108864 bytes) returned
/// VK_ERROR_…". Its code is kOutOfMemory, kDeviceLost or kUnsupported for those results, otherwise
/// kInternal.
Status callFailed(const char *call, VkResult result);
inline Status callFailed(const std::string &call, VkResult result) {
  return callFailed(call.c_str(), result);
}
/// Like callFailed(), with a printf format for the call. At most 255 characters are used.
Status callFailedf(VkResult result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Returns the usage flags of every buffer of the backend.
inline VkBufferUsageFlags bufferUsage(bool addresses, bool texels) {
  VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (addresses)
    usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  if (texels)
    usage |= VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
  return usage;
}

/// The Vulkan format of each device::TexelFormat.
inline constexpr VkFormat kTexelFormats[] = {
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_R16G16B16A16_SFLOAT};

/// Returns a Vulkan structure with the given sType and all other members zero.
template <typename T> T zeroed(VkStructureType type) {
  T structure{};
  structure.sType = type;
  return structure;
}

/// Returns from the calling function with a failure if `call` fails. `text`, a description of the
/// call, is evaluated only then.
#define GANTRY_VK(call, text)                                                                      \
  do {                                                                                             \
    VkResult gantryVk_ = (call);                                                                   \
    if (gantryVk_ < 0)                                                                             \
      return ::gantry::vulkan::callFailed(text, gantryVk_);                                        \
  } while (false)

} // namespace gantry::vulkan
