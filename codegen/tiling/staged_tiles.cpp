// Implements chooseStagedTiles() of tile_choice.h: tiles that stage operands in shared memory. The
// candidates are sorted by predicted cost. tile_shape.h defines stages and boxes.
#include "codegen/tiling/attention.h"
#include "codegen/tiling/linalg_patterns.h"
#include "codegen/tiling/matmul_tiles.h"
#include "codegen/tiling/tile_search.h"
#include "codegen/tiling/tile_text.h"
#include "engine/plan/plan.h"

#include <algorithm>
#include <cstdio>

namespace gantry::codegen {

using namespace mlir;

namespace {

// An invocation of a staged tile computes a block of points: along the last dimension of the
// result, and along one other dimension, whose extent is dynamic or at least this number.
constexpr int64_t kMinRows = 4;
constexpr uint64_t kWordBytes = 4, kBoxAlignment = 16;

/// A staged tile whose boxes have offsets in shared memory.
struct Candidate {
  TileShape tile;
  double cost;
  uint64_t bytes; // The bytes of shared memory.
  uint64_t boxes; // The bytes of all boxes. Larger than `bytes` if boxes share storage.

  bool fits(const DeviceProfile &profile) const { return bytes <= profile.maxSharedMemoryBytes; }
};

/// Returns a tile without cooperative matrices. It has `threads` invocations, of `points` points
/// each, along the dimension `rows` and the last dimension. A stage has `steps` steps of the
/// reduction dimension `deep` and all steps of the others.
TileShape stagedTile(const KernelExtents &extents, size_t rows, std::pair<int64_t, int64_t> threads,
                     std::pair<int64_t, int64_t> points, size_t deep, int64_t steps) {
  const size_t rank = extents.result.size(), columns = rank - 1;
  TileShape tile;
  tile.result.assign(rank, 1);
  tile.threads.assign(rank, 1);
  std::tie(tile.result[rows], tile.result[columns]) = points;
  std::tie(tile.threads[rows], tile.threads[columns]) = threads;
  tile.stageSteps.assign(extents.reduction.begin(), extents.reduction.end());
  tile.stageSteps[deep] = steps;
  tile.reduction.assign(extents.reduction.size(), 1);
  tile.reduction[deep] = std::min<int64_t>(steps, 4);
  tile.stageResult = true;
  return tile;
}

/// Returns the candidate tiles without cooperative matrices. They extend along the last dimension
/// of the result and along one other dimension.
std::vector<TileShape> stagedTiles(const KernelExtents &extents, const DeviceProfile &profile) {
  const size_t rank = extents.result.size();
  const llvm::SmallVector<int64_t> &reduction = extents.reduction;
  std::vector<TileShape> tiles;
  if (rank < 2 || reduction.empty() ||
      llvm::any_of(reduction, [](int64_t e) { return ShapedType::isDynamic(e) || e == 0; }))
    return tiles;
  const size_t deep = llvm::max_element(reduction) - reduction.begin();
  const auto limit = static_cast<int64_t>(profile.maxWorkgroupInvocations);
  const auto registers = static_cast<int64_t>(profile.registerTileElements);
  constexpr std::pair<int64_t, int64_t> kThreads[] = {{16, 16}, {8, 16}, {8, 8}};
  constexpr std::pair<int64_t, int64_t> kPoints[] = {{8, 4}, {4, 4}, {4, 2}, {2, 2}};
  for (size_t rows = 0; rows + 1 < rank; ++rows) {
    if (!ShapedType::isDynamic(extents.result[rows]) && extents.result[rows] < kMinRows)
      continue;
    for (auto threads : kThreads) {
      if (threads.first * threads.second > limit)
        continue;
      for (auto points : kPoints) {
        for (int64_t steps : {32, 16, 8, 4, 2, 1}) {
          if (reduction[deep] % steps != 0 || points.first * points.second > registers)
            continue;
          tiles.push_back(stagedTile(extents, rows, threads, points, deep, steps));
          if (reduction[deep] > steps) {
            tiles.push_back(tiles.back());
            tiles.back().buffers = 2;
          }
        }
      }
    }
  }
  return tiles;
}

/// Returns whether all reductions of the kernel are matmuls of f16 (matmul_tiles.h).
bool multipliesHalves(func::FuncOp kernel, const KernelExtents &extents) {
  bool all = !extents.reduction.empty();
  kernel.walk([&](linalg::GenericOp op) {
    all &= op.getNumReductionLoops() == 0 || halfFactorsOf(op).has_value();
  });
  return all;
}

/// Plans the offsets of the tile's boxes in shared memory. The boxes of operands are alive during
/// the reduction, the box of the result after it.
Result<Candidate> placeBoxes(TileShape tile, const PredictedTile &predicted) {
  std::vector<plan::Value> boxes;
  uint64_t all = 0;
  for (size_t i = 0; i < predicted.boxWords.size(); ++i) {
    const uint32_t when = predicted.resultInPool && i + 1 == predicted.boxWords.size();
    const uint64_t bytes = static_cast<uint64_t>(predicted.boxWords[i]) * kWordBytes;
    boxes.push_back({bytes, kBoxAlignment, when, when});
    all += bytes;
  }
  GANTRY_ASSIGN_OR_RETURN(const plan::Plan placed, plan::planArena(boxes));
  GANTRY_RETURN_IF_ERROR(plan::validatePlan(boxes, placed));
  for (uint64_t offset : placed.offsets)
    tile.poolOffsets.push_back(static_cast<int64_t>(offset / kWordBytes));
  const uint64_t bytes = (placed.heightBytes + kWordBytes - 1) / kWordBytes * kWordBytes;
  return Candidate{std::move(tile), predicted.cost, bytes, all};
}

/// Returns all staged tiles that the kernel can have, cheapest first, whether they fit into the
/// profile's shared memory or not. Adds a line to `texts` for each tile whose boxes cannot be
/// placed.
std::vector<Candidate> candidatesOf(func::FuncOp kernel, const DeviceProfile &profile,
                                    TileSearch &search, std::vector<std::string> &texts) {
  std::vector<TileShape> tiles = stagedTiles(search.extents(), profile);
  if (multipliesHalves(kernel, search.extents()))
    llvm::append_range(tiles,
                       matmulTiles(profile, search.extents().result, search.extents().reduction));
  std::vector<Candidate> candidates;
  for (const TileShape &tile : tiles) {
    const PredictedTile predicted = search.predict(tile);
    if (!predicted.isSupported || predicted.boxWords.empty())
      continue; // Without boxes: no operand's elements are read often enough to be staged.
    Result<Candidate> candidate = placeBoxes(tile, predicted);
    if (candidate.isOk())
      candidates.push_back(candidate.take());
    else
      texts.push_back(describeTile(tile) + ": " + candidate.status().message());
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
  return candidates;
}

std::string describeCandidate(const Candidate &candidate, const std::string &verdict) {
  char text[64];
  std::snprintf(text, sizeof text, ": %llu bytes shared, cost %.3g: ",
                static_cast<unsigned long long>(candidate.bytes), candidate.cost);
  return describeTile(candidate.tile) + text + verdict;
}

} // namespace

std::vector<TileChoice> chooseStagedTiles(func::FuncOp kernel, const DeviceProfile &profile,
                                          size_t skip, const std::string &measured) {
  if (isOverRows(kernel) || attentionIn(kernel) || kernel.getNumResults() > 1)
    return {}; // A kernel with several results is that of a scatter.
  TileSearch search(kernel, profile, CostModel::kStaged);
  std::vector<std::string> texts;
  const std::vector<Candidate> candidates = candidatesOf(kernel, profile, search, texts);
  auto asked = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate &candidate) {
    return candidate.fits(profile) &&
           (measured.empty() ? skip-- == 0 : exactTile(candidate.tile) == measured);
  });
  if (asked == candidates.end())
    return {};
  bool needsSubstitute = bool(asked->tile.matrix); // Add a tile without cooperative matrices.
  std::vector<TileChoice> choices;
  for (const Candidate &candidate : candidates) {
    const bool isTaken = &candidate == &*asked;
    const bool isSubstitute = candidate.fits(profile) && needsSubstitute && !candidate.tile.matrix;
    texts.push_back(describeCandidate(
        candidate, !candidate.fits(profile)
                       ? "more than the limit of " + std::to_string(profile.maxSharedMemoryBytes)
                   : isTaken              ? "taken"
                   : isSubstitute         ? "taken for devices without matrices"
                   : &candidate < &*asked ? "cheaper than the requested tile"
                                          : "costlier"));
    needsSubstitute &= !isSubstitute;
    if (isTaken || isSubstitute)
      choices.insert(isSubstitute ? choices.begin() : choices.end(),
                     {candidate.tile, 0, search.compared(), static_cast<uint32_t>(candidate.boxes),
                      static_cast<uint32_t>(candidate.bytes)});
  }
  for (TileChoice &choice : choices)
    choice.comparison = texts;
  return choices;
}

} // namespace gantry::codegen
