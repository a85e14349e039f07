// The shape of a kernel's tile: how many elements of the result an invocation, a subgroup or a
// workgroup computes, how far its reduction is unrolled, and what passes through shared memory.
//
// This is data only. tile_choice.h chooses a shape, emitter/kernel_emitter.h emits the kernel that
// it describes, and tile_text.h prints it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace gantry::codegen {

/// How the subgroups of a workgroup multiply with cooperative matrices. Each subgroup holds a
/// rectangle of the tile's m x n blocks as accumulators of the device's (m x k) * (k x n)
/// multiplication.
struct MatrixTile {
  int64_t m = 0, n = 0, k = 0;    // The shape of one multiplication. 0: no cooperative matrices.
  int64_t lanes = 0;              // Invocations of a subgroup.
  unsigned rows = 0, columns = 0; // The tile dimensions that the blocks cover.
  int64_t down = 1, across = 1;   // Subgroups along these two dimensions.
  int64_t depth = 0;              // Reduction steps whose operands are staged at once.
  // True: the staged steps run over all reduction dimensions, flattened in row-major order.
  // False: they run over the longest one, and loops go over the others.
  bool flat = false;

  explicit operator bool() const { return m != 0; }
  // The lanes read a block's sums as vec4 along the columns. One pass of all lanes covers
  // rowsPerPass() rows of vectorsPerRow() vectors.
  int64_t vectorsPerRow() const { return n / 4; }
  int64_t rowsPerPass() const { return lanes / vectorsPerRow(); }
  /// The vectors of one block that one lane reads.
  int64_t vectorsPerLane() const { return m / rowsPerPass(); }
};

/// How many points an invocation computes along each tile dimension, and how many steps of each
/// reduction dimension are unrolled.
///
/// The tile dimensions are those of the result. The dimensions from `merged` on are one tile
/// dimension, in row-major order. With `lanes` > 1 a workgroup is one subgroup of that many
/// invocations and shares a larger tile: along `laneDim` the lanes hold runs of `run` neighbouring
/// points in turn. Operands that every lane needs are loaded by the lanes in turn and shuffled to
/// the others.
struct TileShape {
  llvm::SmallVector<int64_t> result;    // Points of an invocation (or lane), per tile dimension.
  llvm::SmallVector<int64_t> reduction; // Unrolled steps. Each divides its dimension's extent.
  unsigned merged = ~0u;                // ~0: no dimensions are merged.
  unsigned laneDim = 0;
  int64_t lanes = 1;
  int64_t run = 1;
  // Tiles that stage operands in shared memory: a workgroup's invocations along each tile
  // dimension (empty: not staged), the steps of each reduction dimension that are staged at once,
  // and the offset of each box in the pool, in words of 4 bytes.
  llvm::SmallVector<int64_t> threads{}, stageSteps{}, poolOffsets{};
  bool stageResult = false; // The result passes through shared memory too.
  // Copies of each box, used in turn. With two, an invocation that has finished a stage loads the
  // next one while others still read theirs, so a stage takes one barrier instead of two.
  int64_t buffers = 1;
  // With cooperative matrices, threads[matrix.rows] is matrix.down * matrix.rowsPerPass() and
  // threads[matrix.columns] is matrix.across * matrix.vectorsPerRow().
  MatrixTile matrix{};
  int64_t rowLength = 0; // Row kernels: the extent of the last dimension. 0: any other kernel.
  // Attention kernels: the keys that a lane scores in one block, in runs of keyRun neighbours.
  // `reduction` then unrolls the matmul that makes the scores.
  int64_t keys = 0, keyRun = 1;
  bool dots = false; // int8 products are summed by the device's 4 x 8-bit dot product.

  /// The extents of a result of this shape along the tile dimensions. Merged extents are static.
  llvm::SmallVector<int64_t> spaceOf(llvm::ArrayRef<int64_t> shape) const {
    llvm::SmallVector<int64_t> space(shape);
    if (merged < shape.size()) {
      space.truncate(merged + 1);
      for (int64_t extent : shape.drop_front(merged + 1))
        space.back() *= extent;
    }
    return space;
  }

  /// The points along a tile dimension that one workgroup (with lanes or shared memory) or one
  /// invocation (otherwise) computes.
  int64_t extent(unsigned dim) const {
    if (rowLength && dim + 1 == result.size())
      return rowLength;
    if (!threads.empty())
      return result[dim] * threads[dim];
    return lanes > 1 && dim == laneDim ? result[dim] * lanes : result[dim];
  }
};

} // namespace gantry::codegen
