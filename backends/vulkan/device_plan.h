// Decisions about Vulkan devices, as pure functions from snapshots (what the driver reports about a
// device) to plans (how a device is opened): which devices are usable, their order of preference,
// which device a selector names, and which features and extensions are enabled.
// engine/device/memory_types.h decides about memory types.
//
// These functions make no Vulkan calls, so that tests can check them with snapshots of devices that
// the test machine does not have.
//
// Thread safety: pure functions.
#pragma once

#include "backends/vulkan/cooperative_matrix.h"
#include "backends/vulkan/float_controls.h"
#include "backends/vulkan/vk.h"
#include "engine/device/device.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gantry::vulkan {

/// Everything that readSnapshot() reads from a physical device. Structures that the device's API
/// version does not have are zero. The members sType and pNext of the Vulkan structures are not
/// used.
struct DeviceSnapshot {
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroups{};
  VkPhysicalDeviceFloatControlsProperties floats{};
  VkPhysicalDeviceDriverProperties driver{};
  uint64_t maxBufferSize = 0; // In bytes; 0 if unknown (before Vulkan 1.3).
  VkPhysicalDeviceFeatures features{};
  VkPhysicalDeviceVulkan11Features features11{};
  VkPhysicalDeviceVulkan12Features features12{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> queueFamilies;
  std::vector<std::string> extensions;
  std::vector<VkTimeDomainEXT> timeDomains; // Clocks that one call can read at the same time.
  bool texelFormats = false; // Whether all kTexelFormats are readable as uniform texel buffers.
  // Members from extensions or from Vulkan 1.3; zero without them.
  VkBool32 integerDotProduct = VK_FALSE;            // Whether kernels may use packed dot products.
  VkBool32 integerDotProductAccelerated = VK_FALSE; // Whether packed signed dot products are fast.
  VkBool32 subgroupSizeControl = VK_FALSE;          // Whether kernels may request a subgroup size.
  VkBool32 computeFullSubgroups = VK_FALSE;         // Whether kernels may require full subgroups.
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkShaderStageFlags matrixStages = 0; // Shader stages that support cooperative matrices.
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices;
  VkBool32 memoryPriority = VK_FALSE;
  uint64_t hostPointerAlignment = 0; // In bytes; 0 without VK_EXT_external_memory_host.
  // Whether buffers can be imported and exported: as file descriptors, and as host memory.
  VkExternalMemoryFeatureFlags opaqueFd = 0;
  VkExternalMemoryFeatureFlags hostPointer = 0;
};

/// How a device is opened. If the device cannot be used, info.missing is not empty.
struct DevicePlan {
  device::DeviceInfo info;
  uint32_t queueFamily = 0;
  uint32_t sparseQueueFamily = 0; // Valid if info.virtualMemory.supported; may equal queueFamily.
  FloatControls floats;
  // Whether kernels may request a subgroup size from profile.minSubgroupSize to maxSubgroupSize.
  bool subgroupSizes = false;
  double timestampPeriodNs = 0; // Nanoseconds per tick.
  uint32_t timestampBits = 0;   // Number of valid low bits of a timestamp.
  /// Converts the valid bits of a timestamp to nanoseconds.
  uint64_t ticksToNs(uint64_t ticks) const {
    const uint64_t mask = timestampBits >= 64 ? UINT64_MAX : (uint64_t{1} << timestampBits) - 1;
    return static_cast<uint64_t>(static_cast<long double>(ticks & mask) *
                                 static_cast<long double>(timestampPeriodNs));
  }
  std::vector<const char *> extensions; // The extensions to enable.
};

/// Returns the plan of a device. For an unusable device, info.missing lists what it lacks.
DevicePlan planDevice(const DeviceSnapshot &snapshot);

/// Returns the indices of the snapshots in the order of preference: discrete, integrated, virtual,
/// software. Devices of one kind keep the driver's order.
std::vector<size_t> preferredOrder(const std::vector<DeviceSnapshot> &snapshots);

/// Returns the index in `plans`, which are in order of preference, of the selected device.
/// `selector` is an index, a part of a name in upper or lower case, or empty. If it is empty,
/// `environment` (the value of GANTRY_DEVICE) is the selector. If both are empty, the first usable
/// device is chosen. Errors: kNotFound, with a list of the devices, if there is no such device;
/// kUnsupported, with what the device lacks, if it cannot be used.
Result<size_t> chooseDevice(const std::vector<DevicePlan> &plans, const std::string &selector,
                            const std::string &environment);

/// Returns the error for a machine without any Vulkan device. `detail` says what is missing.
Status noDevices(const std::string &detail);

} // namespace gantry::vulkan
