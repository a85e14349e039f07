#include "codegen/tiling/tile_choice.h"

#include "codegen/tiling/attention.h"
#include "codegen/tiling/matrices.h"
#include "codegen/tiling/structure.h"
#include "codegen/tiling/tile_text.h"
#include "engine/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <set>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Relative to one multiplication or addition of a whole subgroup.
struct Weights {
  double scalarLoad, vectorLoad, shuffle, scalarStore, vectorStore, loopStep, invocation;
  double shared = 0, barrier = 0, unrolledStep = 0;
};
// A load through a storage buffer costs the software device a loop over its lanes; GPUs hide most
// of it, but the ratio between tiles is the same. Carried accumulators cost the software device one
// blend per step.
constexpr Weights kStorageBuffers{24, 30, 8, 24, 24, 1, 30};
// Texel fetches are straight-line code: eight loads of four elements and their transposition.
// A step of a point that is unrolled once more costs instruction cache, and the driver's compiler
// a seventh of a millisecond.
constexpr Weights kTexels{45, 24, 3, 40, 75, 1, 60, 0, 0, 0.0002};
// A device multiplies matrices that many times faster than it does the same sums one by one.
constexpr double kMatrixSpeed = 8;
// Neighbouring invocations load neighbouring elements, so a scalar load is part of a wide one.
constexpr Weights kStaged{16, 20, 8, 16, 16, 1, 30, 3, 40};
constexpr int64_t kMaxUnrolledPoints = 512, kMaxUnrolledShared = 2048;
constexpr int64_t kSharedAccumulators = 128; // of a tile with lanes, per lane
constexpr int64_t kLongestWindow = 5;
// Of outer products: points along the lanes' dimension and the other one, steps of short sums.
constexpr int64_t kLongestLane = 16, kLongestBlock = 32, kLongestSteps = 16, kDeepSteps = 4;
// A point is stored once: in the size of a kernel that is as much as that many of its steps.
constexpr int64_t kStoreSteps = 8;
constexpr int64_t kLeastRows = 4; // of a dimension that staged tiles extend over
constexpr double kTypicalDynamicExtent = 64;
constexpr double kSubgroupsToFill = 32, kInvocationsToFillUnknown = 2048;
constexpr double kCoresToFill = 8; // of a software device, each of which runs one subgroup

constexpr size_t kStarts = 4;

struct Candidate {
  TileShape tile;
  double cost;
};

struct Search {
  func::FuncOp kernel;
  const DeviceProfile &profile;
  const Weights &weights;
  llvm::SmallVector<int64_t> resultShape, reductionShape; // kDynamic where the inputs decide
  int32_t candidates = 0;
  std::vector<int64_t> poolWords{}; // of the tile whose cost was asked for last
  bool resultInPool = false, supported = true;
  bool keepAll = false;
  std::vector<Candidate> all{}; // that were compared, if they are kept

  static int64_t product(llvm::ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  }

  bool allowed(const TileShape &tile) const {
    int64_t points = product(tile.result), steps = product(tile.reduction);
    if (tile.dots) {
      if (tile.reduction[*dotDimensionOf(reductionShape)] % 4 != 0)
        return false;
      steps /= 4;
    }
    if (tile.lanes > 1)
      return points <= kSharedAccumulators && points * steps <= kMaxUnrolledShared;
    return points <= std::max<int64_t>(profile.registerTileElements, 4) &&
           points * steps <= kMaxUnrolledPoints;
  }

  TileChoice cheapest(llvm::ArrayRef<TileShape> tiles);
  /// Changes one size at a time, the one that lowers the cost most, until none does.
  void descend(Candidate &from);
  /// Tiles that a subgroup shares, one for each pair of dimensions that may make an outer product.
  void addShared(std::vector<Candidate> &starts);
  /// Tiles of kernels without a reduction, whose lanes are neighbours in memory.
  void addStreams(std::vector<Candidate> &starts);
  void addOuterProducts(std::vector<Candidate> &starts, TileShape tile, size_t lane, size_t block);
  llvm::SmallVector<llvm::SmallVector<int64_t>> sharedSteps() const;
  TileShape windowTile(TileShape tile, size_t lane, size_t block) const;
  /// Staged tiles, cheapest first; takes the first that fits into shared memory.
  std::vector<TileChoice> ladder(size_t candidate, const std::string &measured);
  std::vector<TileShape> stagedTiles() const;
  bool multipliesHalves();

  double subgroupsToFill() const {
    return profile.preferTexelLoads ? kCoresToFill : kSubgroupsToFill;
  }

  double cost(const TileShape &tile) {
    ++candidates;
    KernelEvaluator evaluator(kernel, tile, nullptr, {}, {});
    llvm::SmallVector<Value> none(resultShape.size());
    evaluator.run(none, {});
    poolWords.assign(evaluator.poolWords().begin(), evaluator.poolWords().end());
    resultInPool = evaluator.resultInPool();
    supported = !evaluator.unsupported();
    const OperationCounts &counts = evaluator.counts();
    double each = counts.scalarLoads * weights.scalarLoad +
                  counts.vectorLoads * weights.vectorLoad + counts.shuffles * weights.shuffle +
                  counts.scalarStores * weights.scalarStore +
                  counts.vectorStores * weights.vectorStore + counts.arithmetic +
                  counts.loopSteps * weights.loopStep + counts.shared * weights.shared +
                  counts.barriers * weights.barrier + weights.invocation;
    if (const MatrixTile &matrix = tile.matrix)
      each += counts.matrices * 2 * matrix.m * matrix.n * matrix.k / (matrix.lanes * kMatrixSpeed);
    double invocations = static_cast<double>(tile.lanes * product(tile.threads));
    for (auto [d, extent] : llvm::enumerate(tile.spaceOf(resultShape))) {
      const double covered = ShapedType::isDynamic(extent) ? kTypicalDynamicExtent : extent;
      invocations *= std::ceil(covered / tile.extent(d));
    }
    // Fewer invocations than fill the device leave the rest of it idle.
    double filling = profile.subgroupSize > 1 ? subgroupsToFill() * profile.subgroupSize
                                              : kInvocationsToFillUnknown;
    const int64_t unrolled = product(tile.result) * (product(tile.reduction) + kStoreSteps);
    const double predicted = each * std::max(invocations, filling) *
                             (1 + weights.unrolledStep * static_cast<double>(unrolled));
    if (keepAll && supported)
      all.push_back({tile, predicted});
    return predicted;
  }

  /// Of the tiles that were compared, the one before which `candidate` others come, `best` first.
  Candidate ranked(const Candidate &best, size_t candidate) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
    std::set<std::string> cheaper{exactTile(best.tile)};
    for (const Candidate &other : all)
      if (cheaper.insert(exactTile(other.tile)).second && cheaper.size() > candidate)
        return other;
    return best;
  }
};

/// Sizes worth trying for a dimension: powers of two up to 16, and the extent or a divisor of it
/// where that avoids a ragged edge.
llvm::SmallVector<int64_t> sizesFor(int64_t extent) {
  llvm::SmallVector<int64_t> sizes;
  if (ShapedType::isDynamic(extent))
    return {1, 2, 4};
  for (int64_t size = 1; size <= 16 && size <= extent; ++size)
    if ((size & (size - 1)) == 0 || extent % size == 0)
      sizes.push_back(size);
  return sizes;
}

llvm::SmallVector<int64_t> unrollsFor(int64_t extent) {
  llvm::SmallVector<int64_t> sizes{1};
  if (ShapedType::isDynamic(extent))
    return sizes;
  for (int64_t size = 2; size <= 16 && size <= extent; ++size)
    if (extent % size == 0)
      sizes.push_back(size);
  return sizes;
}

int64_t blockFor(int64_t extent, int64_t limit) {
  if (ShapedType::isDynamic(extent))
    return 4;
  llvm::SmallVector<int64_t> sizes = sizesFor(extent);
  int64_t block = 1;
  for (int64_t size : sizes)
    if (size <= limit && (size % 4 == 0 || extent % size == 0))
      block = size;
  return block;
}

TileChoice Search::cheapest(llvm::ArrayRef<TileShape> tiles) {
  Candidate best{{}, std::numeric_limits<double>::infinity()};
  for (const TileShape &tile : tiles)
    if (const double predicted = cost(tile); supported && predicted < best.cost)
      best = {tile, predicted};
  return {best.tile, best.cost, candidates};
}

void Search::descend(Candidate &from) {
  auto space = from.tile.spaceOf(resultShape);
  for (bool improved = true; improved;) {
    improved = false;
    TileShape current = from.tile;
    auto tryDimension = [&](llvm::SmallVector<int64_t> TileShape::*which, size_t d,
                            llvm::ArrayRef<int64_t> sizes) {
      for (int64_t size : sizes) {
        TileShape candidate = current;
        if ((candidate.*which)[d] == size)
          continue;
        (candidate.*which)[d] = size;
        if (!allowed(candidate))
          continue;
        double predicted = cost(candidate);
        if (predicted < from.cost * 0.999) {
          from = {candidate, predicted};
          improved = true;
        }
      }
    };
    for (size_t d = 0; d < space.size(); ++d)
      tryDimension(&TileShape::result, d, sizesFor(space[d]));
    for (size_t q = 0; q < reductionShape.size(); ++q)
      tryDimension(&TileShape::reduction, q, unrollsFor(reductionShape[q]));
  }
}

/// The size up to `limit` that wastes least of the extent, the larger one where two are equal.
int64_t evenSize(int64_t extent, int64_t lanes, int64_t limit) {
  int64_t best = 1;
  double bestWaste = 1e30;
  for (int64_t size = 1; size <= limit; ++size) {
    const int64_t tile = size * lanes;
    const int64_t covered = (extent + tile - 1) / tile * tile;
    double waste = static_cast<double>(covered) / extent + 0.5 / size;
    if (waste <= bestWaste) {
      bestWaste = waste;
      best = size;
    }
  }
  return best;
}

/// A tile whose steps are whole windows, so that what neighbouring windows share is loaded once: as
/// many neighbours along `block` as there is room for. Empty where there is no such window.
TileShape Search::windowTile(TileShape tile, size_t lane, size_t block) const {
  const auto space = tile.spaceOf(resultShape);
  size_t window = reductionShape.size();
  for (auto [q, extent] : llvm::enumerate(reductionShape))
    if (extent > 1 && extent <= kLongestWindow && tile.reduction[q] == 1)
      window = q;
  if (window == reductionShape.size())
    return {};
  tile.reduction[window] = reductionShape[window];
  for (int64_t &steps : tile.reduction)
    steps = &steps == &tile.reduction[window] ? steps : std::min<int64_t>(steps, 4);
  tile.result[lane] = std::min<int64_t>(2, (space[lane] + tile.lanes - 1) / tile.lanes);
  const int64_t most = kSharedAccumulators / tile.result[lane];
  tile.result[block] = 1;
  for (int64_t size = 2; size <= std::min(most, space[block]); ++size)
    if (space[block] % size == 0)
      tile.result[block] = size;
  return allowed(tile) ? tile : TileShape{};
}

/// Blocks of a dimension that a subgroup's lanes share: divisors that are whole vectors, and the
/// usual block where few divide.
llvm::SmallVector<int64_t> blocksFor(int64_t extent) {
  llvm::SmallVector<int64_t> sizes;
  for (int64_t size = 4; size <= std::min(extent, kLongestBlock); size += 4)
    if (extent % size == 0)
      sizes.push_back(size);
  const int64_t usual = std::min<int64_t>(16, blockFor(extent, 16));
  if (!llvm::is_contained(sizes, usual))
    sizes.push_back(usual);
  return sizes;
}

/// How many steps of each reduction dimension an outer product takes at once: four of the longest
/// one that divides so, or else whole windows.
llvm::SmallVector<llvm::SmallVector<int64_t>> Search::sharedSteps() const {
  llvm::SmallVector<llvm::SmallVector<int64_t>> result;
  llvm::SmallVector<int64_t> steps(reductionShape.size(), 1);
  int64_t longest = 0;
  size_t deep = 0;
  for (auto [q, extent] : llvm::enumerate(reductionShape))
    if (!ShapedType::isDynamic(extent) && extent % kDeepSteps == 0 && extent > longest) {
      longest = extent;
      deep = q;
    }
  if (longest > 0) {
    steps[deep] = longest <= kLongestSteps ? longest : kDeepSteps;
    result.push_back(steps);
    return result;
  }
  for (size_t q = reductionShape.size(); q-- > 0;) {
    if (ShapedType::isDynamic(reductionShape[q]) || reductionShape[q] > kLongestWindow)
      break;
    steps[q] = reductionShape[q];
    if (steps[q] > 1)
      result.push_back(steps);
  }
  return result;
}

void Search::addShared(std::vector<Candidate> &starts) {
  if (reductionShape.empty() || profile.subgroupSize < 2)
    return;
  const size_t rank = resultShape.size();
  for (const auto &steps : sharedSteps()) {
    for (size_t merged = rank; merged + 3 > rank && merged > 0; --merged) {
      if (merged == rank - 1)
        continue; // the same as merging nothing
      TileShape tile;
      tile.lanes = profile.subgroupSize;
      tile.reduction = steps;
      tile.merged = merged < rank - 1 ? merged : ~0u;
      const auto space = tile.spaceOf(resultShape);
      if (llvm::any_of(space, ShapedType::isDynamic))
        return;
      for (size_t lane = 0; lane < space.size(); ++lane)
        for (size_t block = 0; block < space.size(); ++block)
          if (block != lane && space[lane] * 2 >= tile.lanes)
            addOuterProducts(starts, tile, lane, block);
    }
  }
}

/// Outer products of the lanes' points along one dimension and a block of another one.
void Search::addOuterProducts(std::vector<Candidate> &starts, TileShape tile, size_t lane,
                              size_t block) {
  auto add = [&](const TileShape &candidate) {
    if (allowed(candidate))
      starts.push_back({candidate, cost(candidate)});
  };
  const auto space = tile.spaceOf(resultShape);
  tile.laneDim = lane;
  for (int64_t size : blocksFor(space[block])) {
    tile.run = 1;
    tile.result.assign(space.size(), 1);
    tile.result[block] = size;
    const int64_t room = std::max<int64_t>(kSharedAccumulators / size, 1);
    tile.result[lane] = evenSize(space[lane], tile.lanes, std::min(room, kLongestLane));
    add(tile);
    if (lane + 1 == space.size() && space[lane] % 4 == 0) {
      tile.run = 4; // neighbours in one vector
      const int64_t runs = std::clamp<int64_t>(room / 4, 1, kLongestLane / 4);
      tile.result[lane] = 4 * evenSize(space[lane] / 4, tile.lanes, runs);
      add(tile);
    }
  }
  tile.run = 1;
  if (TileShape window = windowTile(tile, lane, block); !window.result.empty())
    add(window);
}

void Search::addStreams(std::vector<Candidate> &starts) {
  const size_t rank = resultShape.size();
  if (!reductionShape.empty() || profile.subgroupSize < 2 || rank == 0 ||
      llvm::any_of(resultShape, ShapedType::isDynamic))
    return;
  for (size_t merged = 0; merged < rank; ++merged) {
    TileShape tile;
    tile.lanes = profile.subgroupSize;
    tile.merged = merged < rank - 1 ? merged : ~0u;
    const auto space = tile.spaceOf(resultShape);
    tile.laneDim = merged;
    for (int64_t count : {4, 8, 16, 32, 64}) {
      // Runs of four along the lanes' dimension; or fours along another, where images lie in
      // blocks.
      for (size_t four = 0; four < space.size(); ++four) {
        if (space[four] % 4 != 0 || space[merged] < tile.lanes)
          continue;
        tile.run = four == merged ? 4 : 1;
        tile.result.assign(space.size(), 1);
        tile.result[four] = 4;
        tile.result[merged] = four == merged ? count : count / 4;
        if (allowed(tile))
          starts.push_back({tile, cost(tile)});
      }
    }
  }
}

std::vector<TileShape> Search::stagedTiles() const {
  const size_t rank = resultShape.size();
  std::vector<TileShape> tiles;
  if (rank < 2 || reductionShape.empty() ||
      llvm::any_of(reductionShape, [](int64_t e) { return ShapedType::isDynamic(e) || e == 0; }))
    return tiles;
  // The last dimension, and one of the others of which there is something to share.
  const size_t columns = rank - 1;
  llvm::SmallVector<size_t> others;
  for (size_t d = 0; d < columns; ++d)
    if (ShapedType::isDynamic(resultShape[d]) || resultShape[d] >= kLeastRows)
      others.push_back(d);
  size_t deep = 0;
  for (size_t q = 0; q < reductionShape.size(); ++q)
    if (reductionShape[q] > reductionShape[deep])
      deep = q;
  const auto limit = static_cast<int64_t>(profile.maxWorkgroupInvocations);
  for (size_t rows : others) {
    for (auto [down, across] : {std::pair<int64_t, int64_t>{16, 16}, {8, 16}, {8, 8}}) {
      if (down * across > limit)
        continue;
      for (auto [tall, wide] : {std::pair<int64_t, int64_t>{8, 4}, {4, 4}, {4, 2}, {2, 2}}) {
        for (int64_t steps : {32, 16, 8, 4, 2, 1}) {
          if (reductionShape[deep] % steps != 0)
            continue;
          TileShape tile;
          tile.result.assign(rank, 1);
          tile.threads.assign(rank, 1);
          tile.result[rows] = tall;
          tile.result[columns] = wide;
          tile.threads[rows] = down;
          tile.threads[columns] = across;
          tile.stageSteps.assign(reductionShape.begin(), reductionShape.end());
          tile.stageSteps[deep] = steps;
          tile.reduction.assign(reductionShape.size(), 1);
          tile.reduction[deep] = std::min<int64_t>(steps, 4);
          tile.stageResult = true;
          if (tall * wide > static_cast<int64_t>(profile.registerTileElements))
            continue;
          tiles.push_back(tile);
          tile.buffers = 2;
          if (reductionShape[deep] > steps)
            tiles.push_back(std::move(tile));
        }
      }
    }
  }
  return tiles;
}

/// Whether all reductions sum products of halves.
bool Search::multipliesHalves() {
  bool all = !reductionShape.empty();
  kernel.walk([&](linalg::GenericOp op) {
    all &= op.getNumReductionLoops() == 0 || halfFactorsOf(op).has_value();
  });
  return all;
}

std::vector<TileChoice> Search::ladder(size_t candidate, const std::string &measured) {
  struct Rung {
    TileShape tile;
    double cost;
    uint64_t bytes, boxes;
  };
  std::vector<Rung> rungs;
  std::vector<std::string> texts;
  std::vector<TileShape> tiles = stagedTiles();
  if (multipliesHalves())
    llvm::append_range(tiles, matrixTiles(profile, resultShape, reductionShape));
  for (TileShape &tile : tiles) {
    const double predicted = cost(tile);
    if (!supported || poolWords.empty())
      continue; // not made of matrices of its own; nothing that several invocations read
    // Operands are alive during the reduction, the result's box after it.
    std::vector<plan::Value> boxes;
    for (size_t i = 0; i < poolWords.size(); ++i) {
      const uint32_t when = resultInPool && i + 1 == poolWords.size();
      boxes.push_back({static_cast<uint64_t>(poolWords[i]) * 4, 16, when, when});
    }
    Result<plan::Plan> placed = plan::planArena(boxes);
    const Status judged = placed.isOk() ? plan::validatePlan(boxes, *placed) : placed.status();
    if (!judged.isOk()) {
      texts.push_back(describeTile(tile) + ": " + judged.message());
      continue;
    }
    for (uint64_t offset : placed->offsets)
      tile.poolOffsets.push_back(static_cast<int64_t>(offset / 4));
    uint64_t all = 0;
    for (const plan::Value &box : boxes)
      all += box.sizeBytes;
    rungs.push_back({std::move(tile), predicted, (placed->heightBytes + 3) / 4 * 4, all});
  }
  std::stable_sort(rungs.begin(), rungs.end(),
                   [](const Rung &a, const Rung &b) { return a.cost < b.cost; });
  auto asked = std::find_if(rungs.begin(), rungs.end(), [&](const Rung &rung) {
    return rung.bytes <= profile.maxSharedMemoryBytes &&
           (measured.empty() ? candidate-- == 0 : exactTile(rung.tile) == measured);
  });
  if (asked == rungs.end())
    return {};
  bool needed = bool(asked->tile.matrix); // one without matrices
  std::vector<TileChoice> choices;
  for (const Rung &rung : rungs) {
    const bool fits = rung.bytes <= profile.maxSharedMemoryBytes;
    const bool taken = &rung == &*asked;
    const bool instead = fits && needed && !rung.tile.matrix;
    char text[64];
    std::snprintf(text, sizeof text,
                  ": %llu bytes shared, cost %.3g: ", static_cast<unsigned long long>(rung.bytes),
                  rung.cost);
    texts.push_back(describeTile(rung.tile) + text +
                    (!fits
                         ? "more than the limit of " + std::to_string(profile.maxSharedMemoryBytes)
                     : taken           ? "taken"
                     : instead         ? "taken without matrices"
                     : &rung < &*asked ? "passed over"
                                       : "costlier"));
    needed &= !instead;
    if (taken || instead)
      choices.insert(instead ? choices.begin() : choices.end(),
                     {rung.tile, rung.cost, candidates, static_cast<uint32_t>(rung.boxes),
                      static_cast<uint32_t>(rung.bytes)});
  }
  for (TileChoice &choice : choices)
    choice.ladder = texts;
  return choices;
}

} // namespace

KernelExtents extentsOf(func::FuncOp kernel) {
  auto type = cast<RankedTensorType>(kernel.getResultTypes().front());
  KernelExtents extents{llvm::SmallVector<int64_t>(type.getShape()), {}};
  kernel.walk(
      [&](linalg::GenericOp op) { llvm::append_range(extents.reduction, reductionExtentsOf(op)); });
  return extents;
}

static Search searchOf(func::FuncOp kernel, const DeviceProfile &profile, const Weights &weights) {
  KernelExtents extents = extentsOf(kernel);
  return {kernel, profile, weights, std::move(extents.result), std::move(extents.reduction)};
}

std::vector<TileChoice> chooseStagedTiles(func::FuncOp kernel, const DeviceProfile &profile,
                                          size_t candidate, const std::string &measured) {
  if (kernel->hasAttr("gantry.rows") || attentionIn(kernel))
    return {};
  return searchOf(kernel, profile, kStaged).ladder(candidate, measured);
}

bool hasDotProducts(func::FuncOp kernel) {
  bool all = true;
  kernel.walk([&](linalg::GenericOp op) {
    all &= op.getNumReductionLoops() == 0 || byteFactorsOf(op).has_value();
  });
  return all && dotDimensionOf(extentsOf(kernel).reduction).has_value();
}

TileChoice chooseTile(func::FuncOp kernel, const DeviceProfile &profile, TileKind kind,
                      size_t candidate) {
  const bool baseline = kind != TileKind::texel;
  if (kernel->hasAttr("gantry.rows"))
    return {rowTile(cast<RankedTensorType>(kernel.getResultTypes().front()), profile, baseline), 0,
            1};
  Search search = searchOf(kernel, profile, baseline ? kStorageBuffers : kTexels);
  if (const auto attention = attentionIn(kernel))
    return search.cheapest(attentionTiles(kernel, *attention, profile, baseline));
  search.keepAll = candidate > 0;
  TileShape one{llvm::SmallVector<int64_t>(search.resultShape.size(), 1),
                llvm::SmallVector<int64_t>(search.reductionShape.size(), 1)};
  if (kind == TileKind::dots) {
    one.dots = true;
    one.reduction[*dotDimensionOf(search.reductionShape)] = 4;
  }
  std::vector<Candidate> starts{{one, search.cost(one)}};
  // What pays is often a block in two dimensions, of which neither pays alone.
  for (size_t a = 0; a < search.resultShape.size(); ++a) {
    for (size_t b = a + 1; b < search.resultShape.size(); ++b) {
      for (int64_t limit : {4, 8}) {
        TileShape block = one;
        block.result[a] = blockFor(search.resultShape[a], limit);
        block.result[b] = blockFor(search.resultShape[b], limit);
        if (block.result[a] > 1 && block.result[b] > 1 && search.allowed(block))
          starts.push_back({block, search.cost(block)});
      }
    }
  }
  std::stable_sort(starts.begin() + 1, starts.end(),
                   [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
  starts.resize(std::min(starts.size(), kStarts));
  Candidate best = starts.front();
  for (Candidate start : starts) {
    search.descend(start);
    if (start.cost < best.cost)
      best = start;
  }
  if (!baseline) {
    std::vector<Candidate> shared;
    search.addShared(shared);
    search.addStreams(shared);
    // Where costs are equal, the tile that is one stretch of memory: no other streams as well.
    for (const Candidate &other : shared)
      if (other.cost < best.cost ||
          (other.cost == best.cost && other.tile.merged < best.tile.merged))
        best = other;
  }
  if (candidate > 0)
    best = search.ranked(best, candidate);
  return {best.tile, best.cost, search.candidates};
}

} // namespace gantry::codegen
