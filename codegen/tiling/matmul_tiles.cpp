// Implements matmul_tiles.h.
#include "codegen/tiling/matmul_tiles.h"

#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;

namespace {

// Candidates: the subgroups of a workgroup, and the blocks of m x n sums (MatrixTile) of a
// subgroup, along rows and columns.
constexpr std::pair<int64_t, int64_t> kSubgroups[] = {{2, 4}, {2, 2}, {1, 4}, {4, 1}, {1, 1}};
constexpr std::pair<int64_t, int64_t> kBlocks[] = {{4, 2}, {2, 2}, {1, 2}, {1, 1}};
// Candidates: the matrix multiplications per block in one stage, whose operands are in shared
// memory at one time.
constexpr int64_t kStages[] = {2, 4, 1};

bool isHalf(Value tensor);

/// Returns whether an elementwise operation only copies or extends f16 elements.
bool passesHalves(linalg::GenericOp op) {
  return llvm::all_of(op.getRegion().front().without_terminator(), llvm::IsaPred<arith::ExtFOp>) &&
         llvm::all_of(op.getDpsInputOperands(), [](OpOperand *operand) {
           return isa<RankedTensorType>(operand->get().getType()) && isHalf(operand->get());
         });
}

/// Returns whether each element of the tensor has the value of an f16, whatever the tensor's type.
bool isHalf(Value tensor) {
  if (cast<RankedTensorType>(tensor.getType()).getElementType().isF16())
    return true;
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumReductionLoops() == 0 && generic.getNumDpsInputs() > 0 &&
           passesHalves(generic);
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value outside = pad.getConstantPaddingValue();
    return outside && matchPattern(outside, m_AnyZeroFloat()) && isHalf(pad.getSource());
  }
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return isHalf(op->getOperand(0));
  return false;
}

} // namespace

std::optional<std::pair<OpOperand *, OpOperand *>> halfFactorsOf(linalg::GenericOp op) {
  const auto factors = factorsOf(op);
  if (!factors || !isHalf(factors->first->get()) || !isHalf(factors->second->get()))
    return std::nullopt;
  return factors;
}

std::optional<MatrixShape> halfShapeOf(const DeviceProfile &profile) {
  for (const MatrixShape &shape : profile.matrixShapes)
    if (shape.operand == MatrixElement::kF16 && shape.result == MatrixElement::kF32)
      return shape;
  return std::nullopt;
}

std::vector<TileShape> matmulTiles(const DeviceProfile &profile,
                                   llvm::ArrayRef<int64_t> resultShape,
                                   llvm::ArrayRef<int64_t> reductionShape) {
  std::vector<TileShape> tiles;
  const std::optional<MatrixShape> shape = halfShapeOf(profile);
  const size_t rank = resultShape.size();
  if (!shape || rank < 2 || reductionShape.empty() ||
      llvm::any_of(reductionShape, [](int64_t e) { return ShapedType::isDynamic(e) || e == 0; }))
    return tiles;
  MatrixTile matrix;
  matrix.m = shape->m;
  matrix.n = shape->n;
  matrix.k = shape->k;
  matrix.lanes = profile.matrixSubgroupSize ? profile.matrixSubgroupSize : profile.subgroupSize;
  // In shared memory, matrices consist of vectors of eight f16. When the lanes read the sums
  // (MatrixTile in tile_shape.h), each reads whole vec4, and all together read whole rows.
  if (matrix.m % 8 != 0 || matrix.n % 8 != 0 || matrix.k % 8 != 0 ||
      matrix.lanes % matrix.vectorsPerRow() != 0 || matrix.m % matrix.rowsPerPass() != 0)
    return tiles;
  const int64_t longest = *std::max_element(reductionShape.begin(), reductionShape.end());
  const auto limit = static_cast<int64_t>(profile.maxWorkgroupInvocations);
  const auto registers = static_cast<int64_t>(profile.registerTileElements);
  auto covers = [](int64_t extent, int64_t block) {
    return ShapedType::isDynamic(extent) || extent * 2 > block;
  };
  // The columns are one or more of the last dimensions, merged: for images, the pixels.
  int64_t columnExtent = 1;
  for (size_t columns = rank - 1; columns > 0; --columns) {
    const bool isDynamic = ShapedType::isDynamic(resultShape[columns]);
    if (isDynamic && columns + 1 < rank)
      break;
    columnExtent = isDynamic ? ShapedType::kDynamic : columnExtent * resultShape[columns];
    matrix.columns = static_cast<unsigned>(columns);
    matrix.rows = matrix.columns - 1;
    for (auto [down, across] : kSubgroups)
      for (auto [tall, wide] : kBlocks)
        for (int64_t stages : kStages)
          for (bool flat : {false, true}) {
            matrix.down = down;
            matrix.across = across;
            matrix.depth = stages * matrix.k;
            matrix.flat = flat;
            TileShape tile;
            tile.matrix = matrix;
            tile.merged = columns + 1 < rank ? matrix.columns : ~0u;
            tile.result.assign(columns + 1, 1);
            tile.threads.assign(columns + 1, 1);
            tile.result[matrix.rows] = tall * matrix.vectorsPerLane();
            tile.result[matrix.columns] = wide * 4;
            tile.threads[matrix.rows] = down * matrix.rowsPerPass();
            tile.threads[matrix.columns] = across * matrix.vectorsPerRow();
            tile.reduction.assign(reductionShape.size(), 1);
            if (down * across * matrix.lanes <= limit &&
                tall * wide * 4 * matrix.vectorsPerLane() <= registers &&
                covers(resultShape[matrix.rows], tile.extent(matrix.rows)) &&
                covers(columnExtent, tile.extent(matrix.columns)) &&
                (flat ? reductionShape.size() > 1 : matrix.depth < longest + matrix.k))
              tiles.push_back(std::move(tile));
          }
    if (isDynamic)
      break;
  }
  return tiles;
}

} // namespace gantry::codegen
