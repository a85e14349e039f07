// The public interface of the Vulkan backend: listing the devices and opening one. Other folders
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
/// software. The list includes devices that Gantry cannot use; their info.missing says why.
/// kNotFound if there is no device; the message names the package of the software device.
Result<std::vector<device::DeviceInfo>> listDevices();

/// Opens a device. selector: an index into the list of listDevices(), a part of a name in any case,
/// or "". If it is "", the environment variable GANTRY_DEVICE is the selector; if that is unset,
/// the first usable device is opened. GANTRY_VALIDATION=1 or =sync enables the validation layer.
Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector);

} // namespace gantry::vulkan
