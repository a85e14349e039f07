// Functions that stand between the Vulkan backend and the driver, entry by entry, through the
// backend's DriverHooks: every call is counted and may fail, objects are counted as they come and
// go, the device can be lost, and stand-ins play what a software device lacks.
//
// Stand-ins: VK_KHR_cooperative_matrix (one multiplication is listed, none can be done),
// VK_EXT_memory_budget (half of each heap, with numbers that the test sets), sparse
// buffers with residency, bound by a second queue of a family of its own. A sparse buffer is a
// whole one underneath, so data is real; bindings are checked for overlap, alignment, their queue
// and the life of their memory, and faults are counted as misuse.
//
// One state for the process: a test resets it, opens one device after another. Threads: any.
#pragma once

#include "backends/vulkan/vulkan_device.h"

#include <map>
#include <string>

namespace gantry::vulkan::test {

struct Shims {
  // Set by the test.
  uint64_t failAt = 0, failAgainAt = 0; // numbers of calls that fail, from 1; 0: none
  VkResult failure = VK_ERROR_OUT_OF_HOST_MEMORY;
  uint64_t loseAtSubmission = 0; // from 1; 0: never
  bool standIns = false;
  uint64_t budgetBytes = 0; // of every heap, with standIns; 0: half of it
  uint64_t usedBytes = 0;   // beyond what is allocated here

  // Read by the test.
  uint64_t calls = 0; // of functions that can fail
  std::string failed; // their names, each with a blank behind
  uint64_t submissions = 0;
  uint64_t bindings = 0;
  uint64_t misuse = 0;
  std::string lastMisuse;
  std::map<std::string, int64_t> live; // by type of object: "Buffer", "Memory" ...
};

/// The state. Change it only while no device is open or no other thread is at work.
Shims &shims();
void resetShims();
/// "Buffer 1, Memory -1" for what is not zero.
std::string liveObjects();
DriverHooks shimHooks();

} // namespace gantry::vulkan::test
