// Implements tile_cost.h.
#include "codegen/tiling/tile_cost.h"

#include "codegen/tiling/emitter/kernel_emitter.h"
#include "codegen/tiling/sink/counting_sink.h"

#include <cmath>

namespace gantry::codegen {

using namespace mlir;

namespace {

// The costs of operations, relative to one multiplication or addition. A whole subgroup executes
// each operation.
struct Weights {
  double scalarLoad, vectorLoad, shuffle, scalarStore, vectorStore;
  double loopStep;   // One value that a loop carries, per round.
  double invocation; // The fixed cost of an invocation.
  double shared = 0, barrier = 0;
};

// On the software device (Mesa's lavapipe, which runs kernels on the CPU) a load through a storage
// buffer is a loop over the lanes, the invocations of a subgroup, and a value that a loop carries
// takes one blend per round. GPUs hide most of these costs, but the ratios between tiles are
// similar.
constexpr Weights kStorageBuffers{24, 30, 8, 24, 24, 1, 30};
// On the software device a texel fetch is straight-line code: eight loads of four elements and
// their transposition. The driver takes 15 to 20 ns to start a subgroup, hence the high cost of an
// invocation.
constexpr Weights kTexels{45, 24, 3, 40, 75, 1, 130};
// For GPUs. Neighbouring invocations load neighbouring elements, so a scalar load is a part of a
// wide one.
constexpr Weights kStaged{16, 20, 8, 16, 16, 1, 30, 3, 40};

// How many times faster a device multiplies with cooperative matrices than element by element.
constexpr double kMatrixSpeed = 8;
// The number of subgroups that keep a GPU (kSubgroupsToFill) or a software device (kCoresToFill)
// busy, if the profile does not say how many invocations do; and the number of invocations that is
// assumed if the subgroup size is not known either.
constexpr double kSubgroupsToFill = 32, kInvocationsToFillUnknown = 2048;
constexpr double kCoresToFill = 8; // A core of a software device runs one subgroup.

const Weights &weightsOf(CostModel model) {
  switch (model) {
  case CostModel::kStorageBuffers:
    return kStorageBuffers;
  case CostModel::kTexels:
    return kTexels;
  case CostModel::kStaged:
    return kStaged;
  }
  llvm_unreachable("no other cost models");
}

/// The cost of one invocation.
double invocationCost(const OperationCounts &counts, const Weights &weights,
                      const MatrixTile &matrix) {
  double cost =
      counts[Cost::kScalarLoad] * weights.scalarLoad +
      counts[Cost::kVectorLoad] * weights.vectorLoad + counts[Cost::kShuffle] * weights.shuffle +
      counts[Cost::kScalarStore] * weights.scalarStore +
      counts[Cost::kVectorStore] * weights.vectorStore + counts[Cost::kArithmetic] +
      counts[Cost::kLoopStep] * weights.loopStep + counts[Cost::kShared] * weights.shared +
      counts[Cost::kBarrier] * weights.barrier + weights.invocation;
  if (matrix)
    cost +=
        counts[Cost::kMatrix] * 2 * matrix.m * matrix.n * matrix.k / (matrix.lanes * kMatrixSpeed);
  return cost;
}

/// The milliseconds in which the driver of the software device compiles a kernel with texel loads.
/// Fitted to the times of 241 kernels of five networks with Mesa 22.3: for four in five kernels the
/// prediction is between 0.67 and 1.27 times the measured time. A load of one element from a
/// storage buffer is a loop over the lanes, which takes as long to compile as fifty additions.
double buildMs(const OperationCounts &emitted) {
  return 0.043 * emitted[Cost::kArithmetic] + 2.2 * emitted[Cost::kScalarLoad] +
         0.22 * emitted[Cost::kVectorLoad] + 0.31 * emitted[Cost::kShuffle] +
         1.5 * (emitted[Cost::kScalarStore] + emitted[Cost::kVectorStore]) +
         0.33 * emitted[Cost::kLoopStep];
}

/// The number of invocations that compute one tile.
double invocationsOfTile(const TileShape &tile) {
  return static_cast<double>(tile.lanes * volumeOf(tile.threads));
}

/// The number of tiles of a result of this shape.
double tilesOf(const TileShape &tile, llvm::ArrayRef<int64_t> resultShape) {
  double tiles = 1;
  for (auto [d, extent] : llvm::enumerate(tile.spaceOf(resultShape)))
    tiles *= std::ceil(static_cast<double>(extent) / static_cast<double>(tile.extent(d)));
  return tiles;
}

/// Returns the number of invocations that keep the whole device busy.
double invocationsToFill(const DeviceProfile &profile) {
  if (const uint32_t known = profile.computeUnits * profile.invocationsPerUnit; known != 0)
    return known;
  const double subgroups = profile.preferTexelLoads ? kCoresToFill : kSubgroupsToFill;
  return profile.subgroupSize > 1 ? subgroups * profile.subgroupSize : kInvocationsToFillUnknown;
}

} // namespace

CostModel costModelOf(const DeviceProfile &profile, TileKind kind) {
  if (profile.preferTexelLoads)
    return kind == TileKind::kTexel ? CostModel::kTexels : CostModel::kStorageBuffers;
  return profile.stageOperands || profile.subgroupSize > 1 ? CostModel::kStaged
                                                           : CostModel::kStorageBuffers;
}

PredictedTile predictTile(func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                          const TileShape &tile, llvm::ArrayRef<int64_t> resultShape) {
  IndexSpace space;
  CountingSink sink;
  KernelEmitter emitter(kernel, tile, model == CostModel::kTexels, space, sink);
  emitter.emit();
  const Weights &weights = weightsOf(model);
  const OperationCounts &counts = sink.counts();
  const double inTile = invocationsOfTile(tile);
  const double invocations = inTile * tilesOf(tile, resultShape);
  PredictedTile predicted;
  const double each = invocationCost(counts, weights, tile.matrix);
  predicted.cost = each * std::max(invocations, invocationsToFill(profile));
  predicted.tileCost = each * inTile;
  if (model == CostModel::kTexels)
    predicted.buildMs = buildMs(sink.emitted());
  predicted.vectorAccesses = counts[Cost::kVectorLoad] + counts[Cost::kVectorStore];
  predicted.accesses =
      predicted.vectorAccesses + counts[Cost::kScalarLoad] + counts[Cost::kScalarStore];
  predicted.isSupported = !sink.unsupported();
  predicted.boxWords.assign(emitter.shared().words().begin(), emitter.shared().words().end());
  predicted.resultInPool = emitter.shared().holdsResult();
  return predicted;
}

} // namespace gantry::codegen
