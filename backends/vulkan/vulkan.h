// The public interface of the Vulkan backend: lists the devices and opens one. Other folders
// include only this header of the backend.
//
// Thread safety: any thread may call both functions.
#pragma once

#include "engine/device/device.h"

#include <memory>
#include <string>
#include <vector>

namespace gantry::vulkan {

/// Returns all physical devices in the order of preference: discrete, integrated, virtual,
/// software. The list includes devices that Gantry cannot use; their info.missing says what they
/// lack. Returns kNotFound if there is no device; the message names the package that installs the
/// software device.
Result<std::vector<device::DeviceInfo>> listDevices();

/// Opens a device. `selector` is an index into the list of listDevices(), a part of a name in upper
/// or lower case, or "". If it is "", the environment variable GANTRY_DEVICE is the selector. If
/// both are empty, the first usable device is opened. GANTRY_VALIDATION=1 enables the validation
/// layer, and GANTRY_VALIDATION=sync its synchronization validation too. Returns kNotFound if there
/// is no such device, and kUnsupported if the device cannot be used.
Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector);

} // namespace gantry::vulkan
