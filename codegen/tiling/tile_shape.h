// The shape of a kernel's tile: how many elements of the result an invocation, a subgroup or a
// workgroup computes, how far its reduction is unrolled, and how operands are staged in shared
// memory.
//
// This is data only. tile_choice.h chooses a shape, emitter/kernel_emitter.h emits the kernel for a
// shape, and tile_text.h prints a shape.
//
// Terms of this folder: a tile is the part of a kernel's result that one invocation, one subgroup
// or one workgroup computes. A point is one element of a tensor, given by its index along each
// dimension. A lane is an invocation of a subgroup. A step of a reduction is one combination of
// values of the reduction's loop counters; along one reduction dimension, it is one value of that
// dimension's counter. A stage is a group of steps whose operands the workgroup holds in shared
// memory at one time. A box is the part of one tensor that is in shared memory (elsewhere in Gantry
// it is a value inside of a larger one), and the pool is the shared memory in which the boxes lie.
#pragma once

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace gantry::codegen {

/// How the subgroups of a workgroup multiply with cooperative matrices. The device multiplies an
/// m x k matrix by a k x n matrix. The tile consists of blocks of m rows and n columns, and each
/// subgroup holds the accumulators of a rectangle of blocks.
struct MatrixTile {
  int64_t m = 0, n = 0, k = 0;    // The shape of one multiplication. 0: no cooperative matrices.
  int64_t lanes = 0;              // Invocations of a subgroup.
  unsigned rows = 0, columns = 0; // The tile dimensions that m and n extend along.
  int64_t down = 1, across = 1;   // Subgroups of a workgroup along `rows` and along `columns`.
  int64_t depth = 0;              // Reduction steps per stage.
  // True: the staged steps run over all reduction dimensions, flattened in row-major order.
  // False: they run over the longest one, and loops go over the others.
  bool flat = false;

  explicit operator bool() const { return m != 0; }
  // After the reduction each subgroup writes its sums to shared memory, and its lanes read the sums
  // of a block from there as vec4 along the columns. In one pass each lane reads one vec4, and the
  // lanes together read rowsPerPass() rows of vectorsPerRow() vec4.
  int64_t vectorsPerRow() const { return n / 4; }
  int64_t rowsPerPass() const { return lanes / vectorsPerRow(); }
  /// The number of vec4 of one block that one lane reads.
  int64_t vectorsPerLane() const { return m / rowsPerPass(); }
};

/// How many points an invocation computes along each tile dimension, and how many steps of each
/// reduction dimension are unrolled.
///
/// The tile dimensions are those of the result, except that the dimensions from `merged` on form
/// one tile dimension in row-major order.
///
/// With `lanes` > 1 the invocations of a subgroup, that many, share a tile. A workgroup is one
/// subgroup, or several in some texel kernels (chooseSubgroups() in passes/kernel_function.cpp).
/// The points along `laneDim` are divided into runs of `run` neighbours, and the runs are dealt to
/// the lanes round-robin. If the result's extent along `laneDim` is static and the tile has more
/// than one dimension, the last run may lie partly beyond the result. The loads of operand vectors
/// that every lane needs are divided among the lanes, which shuffle the vectors to each other.
struct TileShape {
  llvm::SmallVector<int64_t> result; // Points of an invocation (or lane), per tile dimension.
  // The steps that one round of the loop over a reduction dimension executes (unrolled). Each
  // number divides the extent of its dimension. With mayHaveRest() it need not divide a static
  // extent that is at least twice as large as the number; the remaining steps then follow after the
  // last round.
  llvm::SmallVector<int64_t> reduction;
  unsigned merged = ~0u; // ~0: no dimensions are merged.
  unsigned laneDim = 0;
  int64_t lanes = 1;
  int64_t run = 1;
  // For tiles that stage operands in shared memory: the invocations of a workgroup along each tile
  // dimension (empty: not staged), the steps of each reduction dimension in one stage (not used
  // with cooperative matrices), and the offset of each box in the pool, in words of 4 bytes.
  llvm::SmallVector<int64_t> threads{}, stageSteps{}, poolOffsets{};
  bool stageResult = false; // Whether the result is stored through shared memory, too.
  // The number of copies of each box; successive stages use them in turn. With two copies, an
  // invocation that has finished a stage may load the next stage while others still read the
  // previous one, so a stage takes one barrier instead of two.
  int64_t buffers = 1;
  // With cooperative matrices, threads[matrix.rows] is matrix.down * matrix.rowsPerPass() and
  // threads[matrix.columns] is matrix.across * matrix.vectorsPerRow().
  MatrixTile matrix{};
  // The length of a row, in kernels that process a whole row at a time. 0: any other kernel. Row
  // kernels (emitter/row_kernel.h) compute a row of the result, which extends along the last
  // dimension.
  int64_t rowLength = 0;
  // True: a row is a part of an operand. One invocation, or the lanes of a subgroup, reduce the row
  // to one point of the result (emitter/row_reduction.h). `reduction` then has one number: the
  // elements of a row that a lane holds at a time. False: a row is a part of the result.
  bool reducesRows = false;
  // True: rows may begin at addresses, counted in elements, that are not multiples of four. Runs of
  // four columns begin at multiples of four in memory instead of in the row, so that each run is
  // one aligned vector: a row's first run may begin up to 3 elements before the row, and its last
  // run may end beyond the row. Loads may touch elements beyond the row, up to the next multiple of
  // four (isPaddedView() in emitter/memory/vector_views.h).
  bool shiftedRows = false;
  // For attention kernels, which compute softmax(queries · keysᵀ) · values (attention.h): the
  // number of keys whose scores (elements of queries · keysᵀ) a lane computes at a time, and the
  // number of neighbouring keys in each run of a lane. `reduction` then refers to the matmul that
  // computes the scores. `keys` is 0 for any other kernel.
  int64_t keys = 0, keyRun = 1;
  bool dots = false; // Whether int8 products are summed with the device's dot product of 4 bytes.

  /// Returns the extents, along the tile dimensions, of a result whose extents are `shape`. The
  /// extent of merged dimensions is dynamic if one of them is.
  llvm::SmallVector<int64_t> spaceOf(llvm::ArrayRef<int64_t> shape) const {
    llvm::SmallVector<int64_t> space(shape);
    if (merged < shape.size()) {
      space.truncate(merged + 1);
      for (int64_t extent : shape.drop_front(merged + 1))
        space.back() =
            mlir::ShapedType::isDynamic(space.back()) || mlir::ShapedType::isDynamic(extent)
                ? mlir::ShapedType::kDynamic
                : space.back() * extent;
    }
    return space;
  }

  /// Returns whether the steps that remain after the last unrolled round may follow the loop, so
  /// that `reduction` need not divide the extents.
  bool mayHaveRest() const {
    return lanes > 1 && !reducesRows && !dots && stageSteps.empty() && !matrix;
  }
  /// Returns whether the points along a tile dimension are divided among lanes.
  bool hasLanesAlong(unsigned dim) const { return lanes > 1 && dim == laneDim && !reducesRows; }

  /// With rowLength: the number of a row's elements that a lane holds at a time.
  int64_t heldColumns() const { return reducesRows ? reduction.front() : result.back(); }

  /// With rowLength: the max number of elements from the start of a row's first run to the end of
  /// its last run.
  int64_t coveredRow() const { return shiftedRows ? (rowLength + 6) / 4 * 4 : rowLength; }

  /// Returns the number of points of the whole tile along a tile dimension. The whole tile is
  /// computed by a workgroup if it is staged, by a subgroup if it has lanes, and by one invocation
  /// otherwise.
  int64_t extent(unsigned dim) const {
    if (rowLength && !reducesRows && dim + 1 == result.size())
      return rowLength;
    if (!threads.empty())
      return result[dim] * threads[dim];
    return hasLanesAlong(dim) ? result[dim] * lanes : result[dim];
  }
};

} // namespace gantry::codegen
