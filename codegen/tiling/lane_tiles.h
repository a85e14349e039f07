// Tiles that the lanes of a subgroup share, for devices with subgroup shuffles.
//
// With a reduction, such a tile is an outer product of what the lanes hold along one dimension and
// what they load in turn along another one. (Volkov and Demmel, "Benchmarking GPUs to tune dense
// linear algebra", 2008: operands in registers instead of in shared memory.) Without one, the lanes
// are neighbours in memory.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

/// Whether a tile is small enough to be unrolled: the limits on its points, and on its points times
/// its unrolled steps.
bool isAllowed(const TileShape &tile, const DeviceProfile &profile, const KernelExtents &extents);

/// The tiles worth comparing for a kernel with these extents; each isAllowed. None where the
/// profile has no subgroups or the inputs decide an extent that the tiles need.
std::vector<TileShape> laneTiles(const KernelExtents &extents, const DeviceProfile &profile);

/// Sizes worth trying for a tile dimension: powers of two up to 16, and the extent or a divisor of
/// it that avoids a ragged edge.
llvm::SmallVector<int64_t> sizesFor(int64_t extent);
/// The largest of these sizes up to a limit that is whole vectors or divides the extent.
int64_t blockFor(int64_t extent, int64_t limit);

} // namespace gantry::codegen
