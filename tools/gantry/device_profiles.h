// Which device profiles a model is compiled for where the user names none.
//
// One thread.
#pragma once

#include <gantry/gantry.h>
#include <string>
#include <vector>

namespace gantry::tool {

/// The profile that any Vulkan 1.2 device runs.
inline constexpr const char *kBaselineProfile = "vulkan:generic";

/// The devices of this machine in the preferred order; none where there is no Vulkan.
std::vector<gantry_device_info_t> devicesOrNone();

/// What `compile` makes variants for: the baseline, then the profile of each device that can be
/// used. Software devices count only where there is no other, or GANTRY_DEVICE names one.
std::vector<std::string> profilesOfThisMachine();

/// What `run`, `bench`, `tune` and `inspect` compile a model for: `asked`, else the profile of the
/// device (as --device takes it). Throws ToolError where that cannot be opened.
std::vector<std::string> profileToRun(const std::string &asked, const std::string &device);

/// The profile of the device that is taken by default; the baseline where there is none.
std::string profileOfDefaultDevice();

} // namespace gantry::tool
