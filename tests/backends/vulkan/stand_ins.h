// What driver_shims puts in the place of abilities that a software device lacks (see there), and
// the driver's own functions, for finishing its work.
#pragma once

#include "tests/backends/vulkan/driver_shims.h"

namespace gantry::vulkan::test {

void standInForInstance(InstanceFunctions &functions);
void standInForDevice(VolkDeviceTable &table);
void resetStandIns();

/// Keeps the functions that the driver gave, to call them past all shims, and its queue.
void rememberDriver(VolkDeviceTable &table);
/// Waits for the driver's queue, past all shims.
void finishWork();

} // namespace gantry::vulkan::test
