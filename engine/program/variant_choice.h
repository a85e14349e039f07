// The choice among the variants of an artifact, each compiled for one device profile, and the
// advice that a session logs about the choice.
//
// A session tries the variants in three groups: first the variant for the device's own profile,
// then variants for no particular device (such as vulkan:generic), then variants for other devices.
// Each group keeps the order of the artifact. The session uses the first variant that the device
// can run.
//
// Threads: pure functions.
#pragma once

#include "engine/base/device_profile.h"
#include "engine/program/program.h"

#include <string>
#include <vector>

namespace gantry::program {

/// Returns the indices of the program's variants in the order in which a device with this profile
/// tries them.
std::vector<size_t> variantOrder(const Program &program, const DeviceProfile &device);

/// Returns the text of a warning if the chosen variant, whose index is `taken`, was not compiled
/// for the device's profile, and "" otherwise. `refusal` is the reason why the device cannot run
/// the variant that was tried first, or "" if that is the chosen variant. Without a refusal, the
/// text contains the command that compiles a variant for the device.
std::string variantAdvice(const Program &program, size_t taken, const DeviceProfile &device,
                          const std::string &deviceName, const std::string &refusal);

} // namespace gantry::program
