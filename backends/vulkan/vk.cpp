// Maps results of Vulkan to names, status codes and remedies.
#include "backends/vulkan/vk.h"

#include <cstdarg>
#include <cstdio>

namespace gantry::vulkan {

const char *resultName(VkResult result) {
  switch (result) {
#define GANTRY_NAME(r)                                                                             \
  case r:                                                                                          \
    return #r
    GANTRY_NAME(VK_SUCCESS);
    GANTRY_NAME(VK_NOT_READY);
    GANTRY_NAME(VK_TIMEOUT);
    GANTRY_NAME(VK_INCOMPLETE);
    GANTRY_NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
    GANTRY_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    GANTRY_NAME(VK_ERROR_INITIALIZATION_FAILED);
    GANTRY_NAME(VK_ERROR_DEVICE_LOST);
    GANTRY_NAME(VK_ERROR_MEMORY_MAP_FAILED);
    GANTRY_NAME(VK_ERROR_LAYER_NOT_PRESENT);
    GANTRY_NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
    GANTRY_NAME(VK_ERROR_FEATURE_NOT_PRESENT);
    GANTRY_NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
    GANTRY_NAME(VK_ERROR_TOO_MANY_OBJECTS);
    GANTRY_NAME(VK_ERROR_FRAGMENTED_POOL);
    GANTRY_NAME(VK_ERROR_UNKNOWN);
    GANTRY_NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
    GANTRY_NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
    GANTRY_NAME(VK_ERROR_FRAGMENTATION);
    GANTRY_NAME(VK_ERROR_INVALID_SHADER_NV);
#undef GANTRY_NAME
  default:
    return nullptr;
  }
}

Status callFailed(const char *call, VkResult result) {
  StatusCode code = StatusCode::kInternal;
  switch (result) {
  case VK_ERROR_OUT_OF_HOST_MEMORY:
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_OUT_OF_POOL_MEMORY:
  case VK_ERROR_TOO_MANY_OBJECTS:
  case VK_ERROR_FRAGMENTATION:
    code = StatusCode::kOutOfMemory;
    break;
  case VK_ERROR_DEVICE_LOST:
    code = StatusCode::kDeviceLost;
    break;
  case VK_ERROR_LAYER_NOT_PRESENT:
  case VK_ERROR_EXTENSION_NOT_PRESENT:
  case VK_ERROR_FEATURE_NOT_PRESENT:
  case VK_ERROR_INCOMPATIBLE_DRIVER:
    code = StatusCode::kUnsupported;
    break;
  default:
    break;
  }
  if (const char *name = resultName(result))
    return statusf(code, "%s returned %s", call, name);
  return statusf(code, "%s returned VkResult(%d)", call, static_cast<int>(result));
}

const char *createDeviceRemedy(VkResult result) {
  switch (result) {
  case VK_ERROR_OUT_OF_HOST_MEMORY:
    return "the machine has too little memory for the driver: end other programs, or raise `ulimit "
           "-v`";
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_TOO_MANY_OBJECTS:
    return "other programs use up the device's memory: end some of them";
  case VK_ERROR_DEVICE_LOST:
    return "the device was lost: the system's log (dmesg) says why; the machine may need a restart";
  case VK_ERROR_LAYER_NOT_PRESENT:
  case VK_ERROR_EXTENSION_NOT_PRESENT:
  case VK_ERROR_FEATURE_NOT_PRESENT:
  case VK_ERROR_INCOMPATIBLE_DRIVER:
    return "the driver lacks a feature that it reported: update it, or choose another device "
           "(`gantry devices` lists them)";
  default: // VK_ERROR_UNKNOWN and VK_ERROR_INITIALIZATION_FAILED give no reason.
    return "the driver gave no reason. Frequent causes: it could not start its threads (raise "
           "`ulimit -u`), it had too little memory (raise `ulimit -v`), it may not open the device "
           "(check the rights on /dev/dri), or a Vulkan layer failed (unset GANTRY_VALIDATION and "
           "VK_INSTANCE_LAYERS)";
  }
}

Status callFailedf(VkResult result, const char *format, ...) {
  char call[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(call, sizeof(call), format, arguments);
  va_end(arguments);
  return callFailed(call, result);
}

} // namespace gantry::vulkan
