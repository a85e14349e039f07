// Which variant of an artifact a device takes, and what its user should know about that.
//
// An artifact may hold a model compiled for several device profiles. A variant made for the
// device's own profile comes first, then those that are made for no device in particular (the
// baseline, vulkan:generic, among them), then those made for other devices, each group in the
// file's order. The session takes the first whose requirements hold on the device.
//
// Threads: pure functions.
#pragma once

#include "engine/base/device_profile.h"
#include "engine/program/program.h"

#include <string>
#include <vector>

namespace gantry::program {

/// The indices of the program's variants in the order in which a device of this profile tries them.
std::vector<size_t> variantOrder(const Program &program, const DeviceProfile &device);

/// What to say where the variant that was taken is not the one made for the device, with the
/// command that makes one; "" where there is nothing to say. refusal: why the device refused a
/// variant that comes before it, or "".
std::string variantAdvice(const Program &program, size_t taken, const DeviceProfile &device,
                          const std::string &deviceName, const std::string &refusal);

} // namespace gantry::program
