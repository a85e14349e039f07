// The Vulkan backend's front door: which devices there are, and opening one. The only header of
// this folder that other rooms include.
//
// Threads: both functions may be called from any thread.
#pragma once

#include "engine/device/device.h"

#include <memory>
#include <string>
#include <vector>

namespace gantry::vulkan {

/// All physical devices in the preferred order: discrete, integrated, virtual, software; also those
/// that Gantry cannot use (info.missing says why). kNotFound without any, naming the package that
/// brings the software one.
Result<std::vector<device::DeviceInfo>> listDevices();

/// selector: an index into that list, part of a name in any case, or "": then the environment
/// variable GANTRY_DEVICE, then the first usable device. GANTRY_VALIDATION=1 or =sync switches the
/// validation layers on.
Result<std::shared_ptr<device::Device>> openDevice(const std::string &selector);

} // namespace gantry::vulkan
