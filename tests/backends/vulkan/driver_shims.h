// Shims between the Vulkan backend and the driver. DriverHooks
// (backends/vulkan/instance_functions.h) replace the functions of the backend's tables by shims. A
// shim counts the call, can make it fail, counts created and destroyed objects, and can simulate
// the loss of the device. Stand-ins (stand_ins.h) simulate features that a software device lacks.
//
// Stand-ins: VK_KHR_cooperative_matrix (lists one shape; kernels cannot use it),
// VK_EXT_memory_budget (by default half of each heap; the test may set the numbers), and sparse
// buffers with residency, to which a second queue with its own queue family binds memory. The
// stand-in backs each sparse buffer by ordinary memory of the full size, so commands work on its
// data. It checks that bindings are aligned, do not overlap and use the second queue, and that no
// bound memory is freed, and counts each violation as misuse.
//
// There is one state per process: a test resets it and opens one device at a time.
//
// Thread safety: the shims may be called from any thread.
#pragma once

#include "backends/vulkan/vulkan_device.h"

#include <map>
#include <string>

namespace gantry::vulkan::test {

struct Shims {
  // Inputs, set by the test.
  uint64_t failAt = 0, failAgainAt = 0; // Numbers of the calls that fail, from 1; 0: none.
  VkResult failure = VK_ERROR_OUT_OF_HOST_MEMORY;
  uint64_t loseAtSubmission = 0; // Number of the submission that loses the device, from 1; 0: none.
  bool standIns = false;         // Whether the stand-ins are installed.
  uint32_t layerVersion =
      VK_MAKE_API_VERSION(0, 1, 4, 0); // Reported for all layers, with standIns.
  uint64_t budgetBytes = 0;            // Budget of every heap, with standIns; 0: half of the heap.
  uint64_t usedBytes = 0;              // Added to the reported use of every heap, with standIns.

  // Results, read by the test.
  uint64_t calls = 0; // Number of calls of functions that can fail.
  std::string failed; // Names of the failed functions, each followed by a blank.
  uint64_t submissions = 0;
  uint64_t bindings = 0; // Number of sparse bindings.
  uint64_t misuse = 0;   // Number of violations of Vulkan's rules by the backend.
  std::string lastMisuse;
  std::map<std::string, int64_t> live; // Number of live objects by type: "Buffer", "Memory", …
};

/// Returns the state of the process. A test changes it only while no other thread uses the device.
Shims &shims();
/// Resets the state. Call it before opening a device.
void resetShims();
/// Returns the types whose number of live objects is not zero, such as "Buffer 1, Memory -1".
std::string liveObjects();
/// Returns the hooks that install the shims.
DriverHooks shimHooks();

} // namespace gantry::vulkan::test
