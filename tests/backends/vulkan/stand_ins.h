// Stand-ins for features that a software device lacks (driver_shims.h lists them), and access to
// the driver's own functions.
#pragma once

#include "tests/backends/vulkan/driver_shims.h"

namespace gantry::vulkan::test {

/// Replaces entries of the tables by stand-ins.
void standInForInstance(InstanceFunctions &functions);
void standInForDevice(VolkDeviceTable &table);
/// Clears the stand-ins' records of buffers, memories and the queue.
void resetStandIns();

/// Saves the driver's functions and queue, so that they can be called without the shims.
void rememberDriver(VolkDeviceTable &table);
/// Waits until the driver's queue is idle, without the shims.
void finishWork();

} // namespace gantry::vulkan::test
