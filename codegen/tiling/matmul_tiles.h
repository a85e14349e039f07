// Matmuls for cooperative matrices: recognises the reductions that are such matmuls, and lists the
// candidate tiles (TileShape::matrix) for devices with cooperative matrices
// (DeviceProfile::matrixShapes).
//
// Any reduction counts as such a matmul if it sums products of two operands whose elements are f16
// in memory. Between memory and the product the elements may be extended, padded with zeros, sliced
// and reshaped. Examples are matmuls, batched or not and with either operand transposed, and
// convolutions (as implicit GEMM). The sums are f32. emitter/matmul.h emits the kernels.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/tile_shape.h"
#include "engine/base/device_profile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <utility>
#include <vector>

namespace gantry::codegen {

/// Returns the two operands of such a matmul (factorsOf in linalg_patterns.h). None for any other
/// operation, and if an element of an operand may have a value that is not an f16.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
halfFactorsOf(mlir::linalg::GenericOp op);

/// Returns the shape of the device's multiplication of f16 matrices with sums in f32: the first one
/// that the profile lists, or none.
std::optional<MatrixShape> halfShapeOf(const DeviceProfile &profile);

/// Returns the candidate tiles for a kernel whose reduction is such a matmul, also tiles that need
/// more shared memory than the device has. Dynamic extents are kDynamic. There are no tiles if
/// halfShapeOf(profile) is none, if its m, n or k is not a multiple of 8, if the sums of a block do
/// not divide evenly among the lanes of a subgroup, if the result has fewer than two dimensions, or
/// if a reduction extent is dynamic or 0.
std::vector<TileShape> matmulTiles(const DeviceProfile &profile,
                                   llvm::ArrayRef<int64_t> resultShape,
                                   llvm::ArrayRef<int64_t> reductionShape);

} // namespace gantry::codegen
