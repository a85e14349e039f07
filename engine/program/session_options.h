// The options of a session, and the faults that tests inject. The structs are plain values.
#pragma once

#include "engine/program/kernel_set.h"
#include "engine/program/storage.h"

namespace gantry::program {

class State;

/// Faults that tests inject to show that the checks find them. The C API does not offer them.
struct TestHooks {
  /// Binds the outputs of this command one element after their planned offsets. The kernel must be
  /// bound by address.
  std::optional<uint32_t> shiftOutputOfCommand;
  /// With checkMemory, overwrites this slot of the plan (a range of the arena, shape_plan.h) with
  /// poison (memory_check.h) before its last use instead of after it.
  std::optional<uint32_t> shortenLifeOfSlot;
  /// Omits the barrier before this command.
  std::optional<uint32_t> dropBarrierBefore;
  /// Whether to copy inputs and outputs through upload and readback memory even if the host can map
  /// the device's memory.
  bool stageInputsAndOutputs = false;
};

struct SessionOptions {
  BindingChoice binding = BindingChoice::kAuto;
  bool timestamps = false;
  // Dispatches whose estimated time (slowEstimateNs() in dispatch_split.h) exceeds this limit are
  // split, so that other programs can use the GPU between the parts. 0: no limit.
  uint64_t dispatchLimitNs = 500'000'000;
  bool checkMemory = false; // Whether to check kernels by poison and canaries (memory_check.h).
  // The caller's memory for the arena (shape_plan.h); empty: the session allocates its own.
  Storage arena;
  std::shared_ptr<State> state;         // Holds the program's states; null: the session makes one.
  std::optional<std::string> cachePath; // The argument of device::Device::createKernels().
  TestHooks hooks;
};

} // namespace gantry::program
