// readSnapshot(): reads everything about a physical device that the decisions in device_plan.h
// need. It decides nothing itself.
//
// Thread safety: any thread may call it; it only queries the driver.
#pragma once

#include "backends/vulkan/device_plan.h"
#include "backends/vulkan/instance_functions.h"

#include <span>
#include <string>

namespace gantry::vulkan {

/// Returns the snapshot of a device. Structures that the device's Vulkan version or extensions do
/// not have are zero. hiddenExtensions: the device is described as if it did not have these.
DeviceSnapshot readSnapshot(const InstanceFunctions &functions, VkPhysicalDevice physical,
                            std::span<const std::string> hiddenExtensions);

} // namespace gantry::vulkan
