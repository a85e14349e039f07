// Which register tile an invocation computes, chosen by predicted cost for a device profile.
//
// The cost of a tile is what one invocation does (counted by KernelEvaluator in its counting mode,
// so by the very walk that emits the kernel), weighted per kind of operation, times the number of
// invocations, or times the number that fills the device where there are fewer. The search is
// coordinate descent from one point and from the best blocks in two dimensions: the size that
// lowers the cost most is taken until none does.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/kernel_evaluator.h"
#include "engine/base/device_profile.h"

#include <string>

namespace gantry::codegen {

struct TileChoice {
  TileShape tile;
  double predictedCost = 0; // weighted operations, all invocations
  int32_t candidates = 0;   // how many tiles were compared
};

/// `kernel`: the outlined function, tensors then dims → one tensor.
TileChoice chooseTile(mlir::func::FuncOp kernel, const DeviceProfile &profile);

/// "2x8 points, k unrolled 4": what inspect shows.
std::string describeTile(const TileShape &tile);

} // namespace gantry::codegen
