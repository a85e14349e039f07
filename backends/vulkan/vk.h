// Includes Vulkan for the backend, and makes statuses of failed Vulkan calls. The backend calls
// Vulkan through volk, which loads the functions at run time. Programs therefore do not link
// libvulkan: they start on a machine without a Vulkan loader, and opening a device returns an error
// there.
//
// Each instance has a table of its functions (InstanceFunctions), and each device one of its own
// (VolkDeviceTable). volk's global pointers to these functions are not used, because several
// devices may be open at the same time.
//
// Thread safety: pure functions.
#pragma once

#include "engine/base/status.h"

#include <volk.h>

#include <string>

namespace gantry::vulkan {

/// Returns the name of a result such as "VK_ERROR_DEVICE_LOST"; nullptr for an unknown number.
const char *resultName(VkResult result);

/// Returns the likely cause of a failed vkCreateDevice and its remedy, as text that follows a
/// semicolon.
const char *createDeviceRemedy(VkResult result);

/// Returns the status of a failed call, with a message such as "vkAllocateMemory(67108864 bytes)
/// returned VK_ERROR_…". The code is kOutOfMemory, kDeviceLost or kUnsupported if this is the
/// meaning of the result, otherwise kInternal.
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
    VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R32G32B32A32_SINT, VK_FORMAT_R16G16B16A16_SFLOAT,
    VK_FORMAT_R8G8B8A8_UINT};

/// Returns a Vulkan structure with the given sType and all other members zero.
template <typename T> T zeroed(VkStructureType type) {
  T structure{};
  structure.sType = type;
  return structure;
}

/// If `call` fails, returns callFailed() from the enclosing function. `text`, a description of the
/// call, is evaluated only in this case.
#define GANTRY_VK(call, text)                                                                      \
  do {                                                                                             \
    VkResult gantryVk_ = (call);                                                                   \
    if (gantryVk_ < 0)                                                                             \
      return ::gantry::vulkan::callFailed(text, gantryVk_);                                        \
  } while (false)

} // namespace gantry::vulkan
