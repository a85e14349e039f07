// readSnapshot(): reads everything that the backend's decisions need to know about a physical
// device. It decides nothing itself; device_plan.h does.
//
// Thread safety: a pure function over the driver's answers.
#pragma once

#include "backends/vulkan/device_plan.h"
#include "backends/vulkan/instance_functions.h"

namespace gantry::vulkan {

/// Returns the snapshot of a device. Structures that the device's Vulkan version or extensions do
/// not have stay zero.
DeviceSnapshot readSnapshot(const InstanceFunctions &functions, VkPhysicalDevice physical);

} // namespace gantry::vulkan
