// Matmuls for cooperative matrices: which reductions are such matmuls, and which tiles a device
// with cooperative matrices (DeviceProfile::matrixShapes) may compute them by.
//
// A matmul of f16, summed in f32, is any reduction that sums products of two operands whose
// elements are f16 in memory, or f16 that are extended on the way: a matmul, batched or not, with
// either operand transposed, and a convolution, as implicit GEMM. emitter/matmul.h emits the
// kernels.
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

/// The two operands of a reduction that sums their products from zero on. None unless every element
/// of both is exactly an f16.
std::optional<std::pair<mlir::OpOperand *, mlir::OpOperand *>>
halfFactorsOf(mlir::linalg::GenericOp op);

/// The device's multiplication of f16 with sums in f32 that kernels use: the first one that the
/// profile lists.
std::optional<MatrixShape> halfShapeOf(const DeviceProfile &profile);

/// The tiles worth comparing for such a kernel, however much shared memory they take. None where
/// the device has no such multiplication. Extents are kDynamic where the inputs decide.
std::vector<TileShape> matmulTiles(const DeviceProfile &profile,
                                   llvm::ArrayRef<int64_t> resultShape,
                                   llvm::ArrayRef<int64_t> reductionShape);

} // namespace gantry::codegen
