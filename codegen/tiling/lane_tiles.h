// Candidate tiles that the lanes of a subgroup share, for devices with subgroup shuffles; and the
// limits and sizes that the search for other tiles uses too. A lane is an invocation of a subgroup,
// and a tile is a part of a kernel's result (tile_shape.h). A point is one element of the result.
//
// In a kernel with a reduction, each step of such a tile is an outer product: every lane multiplies
// its own elements along one dimension by all elements of a block along another dimension. The
// lanes load the block together and shuffle its elements to each other. The operands lie in
// registers instead of in shared memory (Volkov and Demmel, "Benchmarking GPUs to tune dense linear
// algebra", 2008). In a kernel without a reduction, neighbouring lanes access neighbouring memory.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

/// Returns whether a tile is small enough to be unrolled: the number of points of one invocation,
/// and this number times the unrolled steps of the reduction, are within limits. If the tile uses
/// the device's instruction for dot products of four bytes (TileShape::dots), its steps must divide
/// into groups of four.
bool isAllowed(const TileShape &tile, const DeviceProfile &profile, const KernelExtents &extents);

/// Returns the candidate tiles for a kernel with these extents. Each satisfies isAllowed(). There
/// are none if the subgroup size is below 2.
std::vector<TileShape> laneTiles(const KernelExtents &extents, const DeviceProfile &profile);

/// Returns the sizes to try for a tile dimension with this extent: the powers of two and the
/// divisors of the extent that exceed neither 16 nor the extent; 1, 2 and 4 if it is dynamic.
llvm::SmallVector<int64_t> sizesFor(int64_t extent);
/// Returns the largest of sizesFor(extent) that is at most `limit` and either a multiple of four or
/// a divisor of the extent; 4 if the extent is dynamic.
int64_t blockFor(int64_t extent, int64_t limit);

} // namespace gantry::codegen
