// Which register tile an invocation computes, chosen by predicted cost for a device profile.
//
// The cost of a tile is what one invocation does (counted by KernelEvaluator in its counting mode,
// so by the very walk that emits the kernel), weighted per kind of operation, times the number of
// invocations, or times the number that fills the device where there are fewer. The search is
// coordinate descent from one point and from the best blocks in two dimensions: the size that
// lowers the cost most is taken until none does.
//
// Where the profile has subgroup shuffles and there is a reduction, tiles that a subgroup shares
// are compared too: an outer product of what the lanes hold along one dimension and what they load
// in turn along another. (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra",
// 2008: operands in registers instead of in shared memory.)
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

/// `kernel`: the outlined function, tensors then dims → one tensor. baseline: for any device, so
/// without subgroup operations and texel buffers.
TileChoice chooseTile(mlir::func::FuncOp kernel, const DeviceProfile &profile, bool baseline);

/// "2x8 points, k unrolled 4": what inspect shows.
std::string describeTile(const TileShape &tile);

} // namespace gantry::codegen
