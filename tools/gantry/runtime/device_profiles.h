// Chooses the device profiles that a model is compiled for if the user names none. A device profile
// is a name for a kind of device, with its limits, its features and its preferred ways to access
// buffers.
//
// Threads: one thread at a time. Errors: only profileToRun() throws.
#pragma once

#include <gantry/gantry.h>
#include <string>
#include <vector>

namespace gantry::tool {

/// The baseline: any Vulkan 1.2 device can run a program that was compiled for this profile.
inline constexpr const char *kBaselineProfile = "vulkan:generic";

/// Returns the devices of this machine in order of preference (gantry_devices()); empty if Vulkan
/// is not available.
std::vector<gantry_device_info_t> devicesOrNone();

/// Returns the profiles that `gantry compile` compiles a program for: the baseline, then the
/// profile of each usable hardware device and of the device that GANTRY_DEVICE names. If there is
/// no hardware device and GANTRY_DEVICE is not set, the profiles of software devices follow the
/// baseline.
std::vector<std::string> profilesOfThisMachine();

/// Returns the profile that `run`, `bench` and `tune` compile a model for, as a list of one:
/// `asked` (the value of --profile), else the profile of the device that --device names or of the
/// default device. Throws ToolError if the device cannot be opened.
std::vector<std::string> profileToRun(const std::string &asked, const std::string &device);

/// Returns the profile that `inspect` compiles a model for: that of the default device, or the
/// baseline if no device can be opened.
std::string profileOfDefaultDevice();

} // namespace gantry::tool
