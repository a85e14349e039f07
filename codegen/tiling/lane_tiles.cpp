// Implements lane_tiles.h.
#include "codegen/tiling/lane_tiles.h"

#include "codegen/tiling/emitter/memory/vector_views.h"
#include "codegen/tiling/linalg_patterns.h"
#include "codegen/tiling/sink/kernel_sink.h"

#include <algorithm>
#include <limits>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Limits on points times unrolled steps, for tiles of one invocation and for tiles with lanes.
// Larger loop bodies exceed the instruction cache and are slower.
constexpr int64_t kMaxUnrolled = 512, kMaxUnrolledByLanes = 2048;
constexpr int64_t kMaxLanePoints = 128; // Accumulators of a lane.
// A reduction dimension up to this extent counts as a window of a convolution or pooling.
constexpr int64_t kMaxWindow = 5;
// Limits on the points of a lane in an outer product: along the lanes' dimension, and along the
// block's.
constexpr int64_t kMaxLaneExtent = 16, kMaxBlockExtent = 32;
// Reduction dimensions up to kMaxShortSteps are unrolled as a whole, longer ones by kDeepSteps.
// Eight steps instead of four would make resnet50 load in 6.1 s instead of 4.6 s with a cold driver
// cache, and would not make it run faster.
constexpr int64_t kMaxShortSteps = 16, kDeepSteps = 4;
// If the size of a result is not a multiple of a vector, the elements after its last whole vector
// are a tail, which one invocation stores. In a result with fewer elements than this, the tail
// would take a large share of the time.
constexpr int64_t kMinWithTail = 512;

constexpr size_t kFewBlocks = 3; // See blocksFor().

using Sizes = llvm::SmallVector<int64_t>;

/// Lists the candidate tiles of one kernel.
class LaneTiles {
public:
  LaneTiles(const KernelExtents &extents, const DeviceProfile &profile)
      : extents_(extents), profile_(profile) {}

  std::vector<TileShape> make();

private:
  void addOuterProducts();
  void addOuterProducts(TileShape tile, size_t lane, size_t block);
  void addStreams();
  void addWindow(TileShape tile, size_t lane, size_t block);
  llvm::SmallVector<Sizes> stepsOfOuterProducts() const;
  void add(const TileShape &tile) {
    if (isAllowed(tile, profile_, extents_))
      tiles_.push_back(tile);
  }

  const KernelExtents &extents_;
  const DeviceProfile &profile_;
  std::vector<TileShape> tiles_;
};

/// Returns the number of points per lane, up to `limit`, with which tiles of `lanes` lanes exceed
/// the extent by the smallest fraction. The term 0.5 / size is added to favour larger sizes.
int64_t evenSize(int64_t extent, int64_t lanes, int64_t limit) {
  int64_t best = 1;
  double bestWaste = std::numeric_limits<double>::max();
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

/// Returns the block sizes to try along the dimension that is not divided among the lanes: the
/// multiples of four that divide the extent, blockFor(extent, 16), the largest divisor from 17 to
/// 32, and if these are few, sizes that divide the extent into nearly equal blocks. For a dynamic
/// extent: the powers of two from four up to the assumed extent, or all powers of two up to it if
/// it is below four. No size exceeds 32.
Sizes blocksFor(const KernelExtents::Span &span) {
  Sizes sizes;
  const int64_t extent = span.extent;
  if (span.isDynamic) {
    for (int64_t size = extent < kVectorWidth ? 1 : kVectorWidth;
         size <= std::min(extent, kMaxBlockExtent); size *= 2)
      sizes.push_back(size);
    return sizes;
  }
  for (int64_t size = kVectorWidth; size <= std::min(extent, kMaxBlockExtent); size += kVectorWidth)
    if (extent % size == 0)
      sizes.push_back(size);
  const auto add = [&](int64_t size) {
    if (!llvm::is_contained(sizes, size))
      sizes.push_back(size);
  };
  add(std::min<int64_t>(16, blockFor(extent, 16)));
  for (int64_t size = std::min(extent, kMaxBlockExtent); size > 16; --size)
    if (extent % size == 0) {
      add(size);
      break;
    }
  if (sizes.size() < kFewBlocks) // Also blocks that together exceed the extent by little.
    for (int64_t limit : {8, 12, 16, 24, 32})
      if (limit < extent) {
        const int64_t blocks = (extent + limit - 1) / limit;
        add((extent + blocks - 1) / blocks);
      }
  return sizes;
}

/// Returns candidates for the unrolled steps of each reduction dimension. If an extent is a
/// multiple of four, the only candidate unrolls the longest such dimension. Otherwise the first
/// candidate unrolls the innermost dimension as a whole if it is a window (kMaxWindow), the next
/// one also the dimension around it, and so on. A last candidate unrolls four steps of the longest
/// dimension if it has at least eight; the steps that remain follow after the loop.
llvm::SmallVector<Sizes> LaneTiles::stepsOfOuterProducts() const {
  const Sizes &reduction = extents_.reduction;
  llvm::SmallVector<Sizes> result;
  Sizes steps(reduction.size(), 1);
  int64_t longest = 0;
  size_t deep = 0;
  for (auto [q, extent] : llvm::enumerate(reduction)) {
    const int64_t length = ShapedType::isDynamic(extent) ? extents_.dynamicExtent : extent;
    if (extents_.reductionDivisors[q] % kDeepSteps == 0 && length > longest) {
      longest = length;
      deep = q;
    }
  }
  if (longest > 0) {
    steps[deep] =
        longest <= kMaxShortSteps && !ShapedType::isDynamic(reduction[deep]) ? longest : kDeepSteps;
    result.push_back(steps);
    return result;
  }
  for (size_t q = reduction.size(); q-- > 0;) {
    if (ShapedType::isDynamic(reduction[q]) || reduction[q] > kMaxWindow)
      break;
    steps[q] = reduction[q];
    if (steps[q] > 1)
      result.push_back(steps);
  }
  const auto *deepest = std::max_element(reduction.begin(), reduction.end());
  if (deepest != reduction.end() && *deepest >= 2 * kDeepSteps &&
      llvm::none_of(reduction, ShapedType::isDynamic)) {
    steps.assign(reduction.size(), 1);
    steps[deepest - reduction.begin()] = kDeepSteps;
    result.push_back(steps);
  }
  return result;
}

/// Adds a tile that unrolls a whole window, if the reduction has one. Neighbouring windows overlap
/// and the shared elements are loaded once, so the tile is as large along `block` as the limit on
/// accumulators allows.
void LaneTiles::addWindow(TileShape tile, size_t lane, size_t block) {
  const auto space = extents_.spansOf(tile);
  size_t window = extents_.reduction.size();
  for (auto [q, extent] : llvm::enumerate(extents_.reduction))
    if (extent > 1 && extent <= kMaxWindow && tile.reduction[q] == 1)
      window = q;
  if (window == extents_.reduction.size())
    return;
  tile.reduction[window] = extents_.reduction[window];
  for (int64_t &steps : tile.reduction)
    steps = &steps == &tile.reduction[window] ? steps : std::min<int64_t>(steps, 4);
  tile.result[lane] = std::min<int64_t>(2, (space[lane].extent + tile.lanes - 1) / tile.lanes);
  const int64_t room = kMaxLanePoints / tile.result[lane];
  tile.result[block] = 1;
  for (int64_t size = 2; size <= std::min(room, space[block].extent); ++size)
    if (space[block].divisor % size == 0)
      tile.result[block] = size;
  add(tile);
}

/// Adds outer products of the lanes' points along dimension `lane` and a block along dimension
/// `block`.
void LaneTiles::addOuterProducts(TileShape tile, size_t lane, size_t block) {
  const auto space = extents_.spansOf(tile);
  tile.laneDim = lane;
  for (int64_t size : blocksFor(space[block])) {
    tile.run = 1;
    tile.result.assign(space.size(), 1);
    tile.result[block] = size;
    const int64_t room = std::max<int64_t>(kMaxLanePoints / size, 1);
    tile.result[lane] = evenSize(space[lane].extent, tile.lanes, std::min(room, kMaxLaneExtent));
    add(tile);
    // The last run of a static extent may be partial, except in tiles with one dimension.
    if (lane + 1 == space.size() &&
        (space[lane].divisor % kVectorWidth == 0 || (!space[lane].isDynamic && space.size() > 1))) {
      tile.run = kVectorWidth; // A run is one vector.
      const int64_t runs =
          std::clamp<int64_t>(room / kVectorWidth, 1, kMaxLaneExtent / kVectorWidth);
      const int64_t vectors = (space[lane].extent + kVectorWidth - 1) / kVectorWidth;
      tile.result[lane] = kVectorWidth * evenSize(vectors, tile.lanes, runs);
      add(tile);
    }
  }
  tile.run = 1;
  addWindow(tile, lane, block);
}

/// Adds outer products for each pair of tile dimensions, with and without merged dimensions.
void LaneTiles::addOuterProducts() {
  const size_t rank = extents_.result.size();
  for (const Sizes &steps : stepsOfOuterProducts()) {
    for (size_t merged = rank; merged + 3 > rank && merged > 0; --merged) {
      if (merged == rank - 1)
        continue; // Merging the last dimension alone is the same as merging nothing.
      TileShape tile;
      tile.lanes = profile_.subgroupSize;
      tile.reduction = steps;
      tile.merged = merged < rank - 1 ? merged : ~0u;
      const auto space = extents_.spansOf(tile);
      for (size_t lane = 0; lane < space.size(); ++lane)
        for (size_t block = 0; block < space.size(); ++block)
          if (block != lane && space[lane].extent * 2 >= tile.lanes)
            addOuterProducts(tile, lane, block);
    }
  }
}

/// Adds tiles for kernels without a reduction. Their vectors lie along the lanes' dimension, or
/// along another one, which is faster where images are stored in blocks of channels.
void LaneTiles::addStreams() {
  const size_t rank = extents_.result.size();
  if (rank == 0)
    return;
  for (size_t merged = 0; merged < rank; ++merged) {
    TileShape tile;
    tile.lanes = profile_.subgroupSize;
    tile.merged = merged < rank - 1 ? merged : ~0u;
    const auto space = extents_.spansOf(tile);
    tile.laneDim = merged;
    for (int64_t count : {4, 8, 16, 32, 64}) {
      for (size_t vectors = 0; vectors < space.size(); ++vectors) {
        // In a tile with one dimension, the elements after the last whole vector may be a tail.
        const bool isWhole = space[vectors].divisor % kVectorWidth == 0;
        if ((!isWhole && (space.size() > 1 || space[vectors].extent < kMinWithTail)) ||
            space[merged].extent < tile.lanes)
          continue;
        tile.run = vectors == merged ? kVectorWidth : 1;
        tile.result.assign(space.size(), 1);
        tile.result[vectors] = kVectorWidth;
        tile.result[merged] = vectors == merged ? count : count / kVectorWidth;
        add(tile);
      }
    }
  }
}

std::vector<TileShape> LaneTiles::make() {
  if (profile_.subgroupSize >= 2) {
    if (extents_.reduction.empty())
      addStreams();
    else
      addOuterProducts();
  }
  return std::move(tiles_);
}

} // namespace

bool isAllowed(const TileShape &tile, const DeviceProfile &profile, const KernelExtents &extents) {
  const int64_t points = volumeOf(tile.result);
  int64_t steps = volumeOf(tile.reduction);
  if (tile.dots) {
    if (tile.reduction[*dotDimensionOf(extents.reduction)] % 4 != 0)
      return false;
    steps /= 4;
  }
  if (tile.lanes > 1)
    return points <= kMaxLanePoints && points * steps <= kMaxUnrolledByLanes;
  return points <= std::max<int64_t>(profile.registerTileElements, 4) &&
         points * steps <= kMaxUnrolled;
}

std::vector<TileShape> laneTiles(const KernelExtents &extents, const DeviceProfile &profile) {
  return LaneTiles(extents, profile).make();
}

llvm::SmallVector<int64_t> sizesFor(int64_t extent) {
  if (ShapedType::isDynamic(extent))
    return {1, 2, 4};
  llvm::SmallVector<int64_t> sizes;
  for (int64_t size = 1; size <= 16 && size <= extent; ++size)
    if ((size & (size - 1)) == 0 || extent % size == 0)
      sizes.push_back(size);
  return sizes;
}

int64_t blockFor(int64_t extent, int64_t limit) {
  if (ShapedType::isDynamic(extent))
    return 4;
  int64_t block = 1;
  for (int64_t size : sizesFor(extent))
    if (size <= limit && (size % 4 == 0 || extent % size == 0))
      block = size;
  return block;
}

} // namespace gantry::codegen
