// Implements row_kernel.h.
#include "codegen/tiling/emitter/row_kernel.h"

#include "codegen/tiling/emitter/memory/result_store.h"
#include "codegen/tiling/emitter/reduction.h"
#include "codegen/tiling/emitter/row_reduction.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/layout.h"

namespace gantry::codegen {

using namespace mlir;

void RowKernel::placeInvocation(const TileShape &tile, IndexSpace &space, Value lane,
                                Invocation &invocation) {
  if (tile.lanes > 1)
    invocation.lane = space.addVariable(lane, 0, tile.lanes - 1, true);
}

/// Computes and stores the elements of a chunk of the result.
void RowKernel::storeChunk(const Point &row, const Columns &columns) {
  std::vector<Point> points;
  const llvm::SmallVector<int32_t> guards = lanes_.guardsOf(columns);
  for (auto [column, guard] : llvm::zip(columns.index, guards)) {
    Point point = row;
    point.index.back() = column;
    point.guard = tile_.shiftedRows ? guard : 0;
    points.push_back(std::move(point));
  }
  const PointGrid grid{tile_.result, tile_.laneDim};
  Values values = evaluator_.evaluate(shapes_.result(), points, grid);
  if (sink_.unsupported())
    return;
  for (size_t i = 0; i < points.size(); ++i)
    points[i].guard = guards[i];
  stores_.store(points, values);
}

/// Returns the point (index) of the first element of the tile's row.
Point RowKernel::rowOf(llvm::ArrayRef<Value> tile) {
  auto shape = shapes_.shapeOf(shapes_.result());
  Point row;
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    row.index.push_back(space_.addVariable(
        d < tile.size() ? tile[d] : Value(), 0,
        shape[d].isConstant() ? shape[d].constant - 1 : IndexSpace::kUnbounded, tile_.lanes == 1));
  row.index.push_back(IndexExpr(0));
  return row;
}

void RowKernel::emit(llvm::ArrayRef<Value> tile) {
  const Point row = rowOf(tile);
  const unsigned result = shapes_.tensorCount();
  const IndexExpr rowStart =
      linearAddress(space_, shapes_.layout(result).getParts(),
                    shapes_.storageShape(result, shapes_.result()), row.index);
  shapes_.kernel().walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0 || sink_.unsupported())
      return;
    reductions_.keep(op, row, rows_.reduce(op, row, rowStart));
  });
  if (sink_.unsupported())
    return;
  lanes_.forChunks(rowStart, {},
                   [&](const Columns &columns, Values &) { storeChunk(row, columns); });
}

} // namespace gantry::codegen
