// Options of a session.
#pragma once

#include "engine/program/kernel_set.h"
#include "engine/program/storage.h"

namespace gantry::program {

/// For tests alone; not in the C API.
struct TestHooks {
  /// Binds the outputs of this command one element further than planned (kernels bound by address).
  std::optional<uint32_t> shiftOutputOfCommand;
  /// Poisons this slot of the plan (with checkMemory) one command before its last use.
  std::optional<uint32_t> shortenLifeOfSlot;
  /// Leaves the barrier before this command out.
  std::optional<uint32_t> dropBarrierBefore;
  /// Stages inputs and outputs through upload and readback memory even where memory is unified.
  bool stageInputsAndOutputs = false;
};

struct SessionOptions {
  BindingChoice binding = BindingChoice::kAuto;
  bool timestamps = false;
  // What one dispatch may take on a slow device of its kind (parts.h): longer ones are cut into
  // parts, between which others get the GPU. 0: no limit.
  uint64_t dispatchLimitNs = 500'000'000;
  bool checkMemory = false;             // poison and canaries: see memory_check.h
  std::shared_ptr<Storage> arena;       // of the caller's; none: the session's own
  std::optional<std::string> cachePath; // as device::Device::createKernels
  TestHooks hooks;
};

} // namespace gantry::program
