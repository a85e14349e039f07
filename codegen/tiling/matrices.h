// Products of matrices: which reductions are some, and which tiles a device that multiplies
// matrices (device profile, matrixShapes) may compute them by.
//
// A product of f16 matrices, summed in f32, is any reduction of products of two operands whose
// elements are halves in memory, or halves extended on the way: a matrix product, batched or not,
// with either operand transposed, and a convolution, whose pixels are the columns of a matrix that
// is never made. How a kernel multiplies them: matrices.cpp.
//
// Threads: pure.
#pragma once

#include "codegen/tiling/kernel_evaluator.h"
#include "engine/base/device_profile.h"

#include <optional>
#include <utility>
#include <vector>

namespace gantry::codegen {

/// The two operands of a reduction that sums their products from zero on, if every element of both
/// is exactly an f16.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
halfFactorsOf(mlir::linalg::GenericOp op);

/// The device's multiplication of f16 with sums in f32 that kernels use: the first one listed.
std::optional<MatrixShape> halfShapeOf(const DeviceProfile &profile);

/// Tiles worth comparing for a kernel that reduces so, whatever shared memory they take; none where
/// the device has no multiplication for it. Extents are kDynamic where the inputs decide.
std::vector<TileShape> matrixTiles(const DeviceProfile &profile,
                                   llvm::ArrayRef<int64_t> resultShape,
                                   llvm::ArrayRef<int64_t> reductionShape);

} // namespace gantry::codegen
