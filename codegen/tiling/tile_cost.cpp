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
  double unrolledStep = 0; // The relative increase of the cost per unrolled step of a point.
};

// On the software device a load through a storage buffer is a loop over the lanes, and a carried
// accumulator is one blend per round. GPUs hide most of these costs, but the ratios between tiles
// are similar.
constexpr Weights kStorageBuffers{24, 30, 8, 24, 24, 1, 30};
// On the software device a texel fetch is straight-line code: eight loads of four elements and
// their transposition. Each unrolled step of a point takes instruction cache, and 0.14 ms of the
// driver's compiler.
constexpr Weights kTexels{45, 24, 3, 40, 75, 1, 60, 0, 0, 0.0002};
// Neighbouring invocations load neighbouring elements, so a scalar load is a part of a wide one.
constexpr Weights kStaged{16, 20, 8, 16, 16, 1, 30, 3, 40};

// How many times faster a device multiplies with cooperative matrices than element by element.
constexpr double kMatrixSpeed = 8;
constexpr int64_t kStoreSteps = 8; // The store of a point counts as this many unrolled steps.
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

PredictedTile predictTile(func::FuncOp kernel, const DeviceProfile &profile, CostModel model,
                          const TileShape &tile, llvm::ArrayRef<int64_t> resultShape) {
  IndexSpace space;
  CountingSink sink;
  KernelEmitter emitter(kernel, tile, model == CostModel::kTexels, space, sink);
  emitter.emit();
  const Weights &weights = weightsOf(model);
  const double inTile = invocationsOfTile(tile);
  const double invocations = inTile * tilesOf(tile, resultShape);
  const int64_t unrolled = volumeOf(tile.result) * (volumeOf(tile.reduction) + kStoreSteps);
  PredictedTile predicted;
  const double each = invocationCost(sink.counts(), weights, tile.matrix) *
                      (1 + weights.unrolledStep * static_cast<double>(unrolled));
  predicted.cost = each * std::max(invocations, invocationsToFill(profile));
  predicted.tileCost = each * inTile;
  predicted.isSupported = !sink.unsupported();
  predicted.boxWords.assign(emitter.shared().words().begin(), emitter.shared().words().end());
  predicted.resultInPool = emitter.shared().holdsResult();
  return predicted;
}

} // namespace gantry::codegen
