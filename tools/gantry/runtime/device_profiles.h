// Chooses the device profiles that a model is compiled for if the user names none.
//
// One thread.
#pragma once

#include <gantry/gantry.h>
#include <string>
#include <vector>

namespace gantry::tool {

/// The baseline: the profile that any Vulkan 1.2 device runs.
inline constexpr const char *kBaselineProfile = "vulkan:generic";

/// Returns the devices of this machine in the preferred order; none without Vulkan.
std::vector<gantry_device_info_t> devicesOrNone();

/// Returns the profiles that `compile` makes variants for: the baseline, then the profile of each
/// usable device. Software devices count only if there is no other device or GANTRY_DEVICE names
/// one.
std::vector<std::string> profilesOfThisMachine();

/// Returns the profile that `run`, `bench`, `tune` and `inspect` compile a model for: `asked`, else
/// the profile of the device that --device names. Throws ToolError if it cannot be opened.
std::vector<std::string> profileToRun(const std::string &asked, const std::string &device);

/// Returns the profile of the default device; the baseline if there is none.
std::string profileOfDefaultDevice();

} // namespace gantry::tool
