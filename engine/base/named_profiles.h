// The table of named device profiles, one profile per device generation.
//
// A profile holds limits that every device of the generation has with every known driver; if
// drivers differ, it holds the smallest limit. The cache sizes and the number of compute units are
// those of one product, which the comment of the profile names; they only guide the cost model,
// which estimates the times of kernels. In named_profiles.cpp, each comment cites its sources by a
// [key]; docs/profiles.md lists the address of each source.
//
// To add a profile, write a function with its sources in named_profiles.cpp, add it to the table
// at the end of that file, and add a row to docs/profiles.md.
//
// Threads: any; the table is built on first use and does not change.
#pragma once

#include "engine/base/device_profile.h"

namespace gantry {

struct NamedProfile {
  DeviceProfile profile;
  /// A device belongs to this generation if its name contains one of these strings, compared
  /// without case. An empty list matches no device.
  std::vector<std::string> deviceNames;
};

/// All named profiles, in the order in which profileNameFor() tries them.
const std::vector<NamedProfile> &namedProfiles();

} // namespace gantry
