// Decisions about Vulkan devices, as pure functions over snapshots: which devices are usable, in
// what order they are preferred, which one a selector means, which features and
// extensions are switched on. (Which memory type serves what: engine/device/memory_types.) No
// Vulkan call is made here, so all of it is tested with snapshots of devices that nobody has at
// hand.
//
// Threads: pure functions.
#pragma once

#include "backends/vulkan/cooperative_matrix.h"
#include "backends/vulkan/vk.h"
#include "engine/device/device.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gantry::vulkan {

/// What instance.cpp read from a physical device. Structures below the device's API version stay
/// zero. The sType/pNext of the Vulkan structures are not looked at.
struct DeviceSnapshot {
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  VkPhysicalDeviceSubgroupSizeControlProperties subgroups{};
  VkPhysicalDeviceDriverProperties driver{};
  uint64_t maxBufferSize = 0; // 0: not known (before Vulkan 1.3)
  VkPhysicalDeviceFeatures features{};
  VkPhysicalDeviceVulkan11Features features11{};
  VkPhysicalDeviceVulkan12Features features12{};
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> queueFamilies;
  std::vector<std::string> extensions;
  std::vector<VkTimeDomainEXT> timeDomains; // that can be read together
  bool texelFormats = false; // all of kTexelFormats may be read from uniform texel buffers
  // Structures of extensions, or of Vulkan 1.3; zero without them.
  VkBool32 integerDotProduct = VK_FALSE;            // of packed bytes in kernels
  VkBool32 integerDotProductAccelerated = VK_FALSE; // signed ones, faster than multiply-adds
  VkBool32 subgroupSizeControl = VK_FALSE;          // kernels may ask for a size of subgroups
  VkBool32 computeFullSubgroups = VK_FALSE;         // and that all of them are full
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkShaderStageFlags matrixStages = 0; // in which it is
  std::vector<VkCooperativeMatrixPropertiesKHR> matrices;
  VkBool32 memoryPriority = VK_FALSE;
  uint64_t hostPointerAlignment = 0;
  VkExternalMemoryFeatureFlags opaqueFd = 0;    // of storage buffers, as opaque descriptors
  VkExternalMemoryFeatureFlags hostPointer = 0; // of storage buffers over host memory
};

/// How a usable device is opened.
struct DevicePlan {
  device::DeviceInfo info;
  uint32_t queueFamily = 0;
  uint32_t sparseQueueFamily = 0; // where info.virtualMemory.supported; often the same
  bool subgroupSizes = false;     // kernels may ask for one, profile.min- to maxSubgroupSize
  double timestampPeriodNs = 0;
  uint32_t timestampBits = 0;
  /// Of the bits that count.
  uint64_t ticksToNs(uint64_t ticks) const {
    const uint64_t mask = timestampBits >= 64 ? UINT64_MAX : (uint64_t{1} << timestampBits) - 1;
    return static_cast<uint64_t>(static_cast<long double>(ticks & mask) *
                                 static_cast<long double>(timestampPeriodNs));
  }
  std::vector<const char *> extensions; // to enable
};

/// Never fails: what a device lacks is in info.missing.
DevicePlan planDevice(const DeviceSnapshot &snapshot);

/// Indices of the snapshots in the preferred order: discrete, integrated, virtual, software; within
/// a kind, as the driver lists them.
std::vector<size_t> preferredOrder(const std::vector<DeviceSnapshot> &snapshots);

/// The device that is meant, as an index into plans (which are in the preferred order). selector:
/// an index, part of a name in any case, or empty: then environment (the value of GANTRY_DEVICE,
/// may be empty), then the first usable one. kNotFound lists what there is, kUnsupported says what
/// the chosen device lacks.
Result<size_t> chooseDevice(const std::vector<DevicePlan> &plans, const std::string &selector,
                            const std::string &environment);

/// The text for a machine without any Vulkan device.
Status noDevices(const std::string &detail);

} // namespace gantry::vulkan
