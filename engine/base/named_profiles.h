// The named device profiles: a table, one block per generation of devices.
//
// A block promises limits that every device of the generation has, with every driver of its vendor
// that is known to us: where drivers differ, the least. Its caches and its number of compute units
// are those of one product, named in the block; they guide, nothing depends on them. Each block
// names its sources; docs/profiles.md has them with their addresses.
//
// To add one: a block in named_profiles.cpp with its sources, its row in docs/profiles.md.
#pragma once

#include "engine/base/device_profile.h"

namespace gantry {

struct NamedProfile {
  DeviceProfile profile;
  /// Any of these in a device's name, in any case, means this generation. Empty: none.
  std::vector<std::string> deviceNames;
};

/// In the order in which they are tried for a device.
const std::vector<NamedProfile> &namedProfiles();

} // namespace gantry
