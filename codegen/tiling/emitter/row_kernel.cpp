#include "codegen/tiling/emitter/row_kernel.h"

#include "codegen/tiling/emitter/memory_access.h"
#include "codegen/tiling/emitter/reduction.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/layout.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kMaxPartialSums = 4; // Independent accumulators of a lane, which hide latency.

} // namespace

void RowKernel::placeInvocation(const TileShape &tile, IndexSpace &space, Value lane,
                                Invocation &invocation) {
  if (tile.lanes > 1)
    invocation.lane = space.addVariable(lane, 0, tile.lanes - 1, true);
}

/// Emits `body` for all chunks of the row, in a loop that carries `carried`. Returns the results of
/// the loop.
Values RowKernel::forChunks(Values carried,
                            llvm::function_ref<void(const Columns &, Values &)> body) {
  const int64_t held = tile_.result.back(), perChunk = held * tile_.lanes;
  const int64_t chunks = (tile_.coveredRow() + perChunk - 1) / perChunk;
  auto emitChunk = [&](const IndexExpr &chunk, Values &inside) {
    body(tile_.shiftedRows ? lanes_.shiftedColumnsOf(chunk, rowStart_, held)
                           : lanes_.columnsOf(chunk, IndexExpr(tile_.rowLength), held, tile_.run),
         inside);
  };
  if (chunks == 1)
    emitChunk(IndexExpr(0), carried);
  else
    loops_.forChunks(chunks, carried, emitChunk);
  return carried;
}

/// Returns, for each column, the guard under which it exists.
llvm::SmallVector<int32_t> RowKernel::guardsOf(const Columns &columns) {
  llvm::SmallVector<int32_t> guards;
  for (size_t j = 0; j < columns.index.size(); ++j) {
    bool never = false;
    guards.push_back(columns.begun.empty()
                         ? guards_.with(0, columns.inside[j], never)
                         : guards_.withPartial(0, {columns.inside[j], columns.begun[j]}, never));
  }
  return guards;
}

/// Applies a reduction to the elements of a chunk. `sums` are its partial results.
void RowKernel::accumulateChunk(linalg::GenericOp op, const Point &row, const Columns &columns,
                                Values &sums) {
  llvm::SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  const PointGrid grid{tile_.result, tile_.laneDim};
  const llvm::SmallVector<int32_t> inside = guardsOf(columns);
  std::vector<LoopIndex> loops;
  for (const IndexExpr &column : columns.index) {
    loops.push_back(shapes_.loopCoordinates(op, outputMap, row));
    loops.back()[reduced.front()] = column;
  }
  llvm::SmallVector<Values> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    std::vector<Point> points;
    for (auto [coordinates, guard] : llvm::zip(loops, inside))
      points.push_back(shapes_.operandPoint(op.getMatchingIndexingMap(operand), coordinates,
                                            tile_.shiftedRows ? guard : 0));
    inputs.push_back(evaluator_.evaluate(operand->get(), points, grid));
  }
  if (sink_.unsupported())
    return;
  const size_t partial = sums.size();
  const llvm::SmallVector<int32_t> guards(partial, 0);
  for (size_t j = 0; j < loops.size(); j += partial) {
    llvm::SmallVector<Values> arguments;
    for (const Values &values : inputs)
      arguments.push_back(Values(values.begin() + j, values.begin() + j + partial));
    arguments.push_back(sums);
    const auto at = llvm::ArrayRef(loops).slice(j, partial);
    Values next = bodies_.evaluate(op, {at, guards, arguments, grid})[0];
    for (size_t p = 0; p < partial; ++p) {
      if (inside[j + p] == 0)
        sums[p] = next[p];
      else
        sums[p] = sink_.create<arith::SelectOp>(guards_.test(inside[j + p]), next[p], sums[p]);
    }
  }
}

/// Returns the result of a reduction over the row, in all lanes.
Value RowKernel::reduce(linalg::GenericOp op, const Point &row) {
  Operation *combiner = combinerOf(op);
  if (!combiner)
    return sink_.fail(op);
  auto combine = [&](Value a, Value b) {
    return sink_.build([&](OpBuilder &builder, Location) {
      IRMapping mapping;
      mapping.map(combiner->getOperand(0), a);
      mapping.map(combiner->getOperand(1), b);
      return builder.clone(*combiner, mapping)->getResult(0);
    });
  };
  const int64_t held = tile_.result.back();
  const int64_t partial = held % kMaxPartialSums == 0 ? kMaxPartialSums : 1;
  Value neutral = sink_.create<arith::ConstantOp>(*arith::getNeutralElement(combiner));
  Values sums = forChunks(Values(partial, neutral), [&](const Columns &columns, Values &carried) {
    accumulateChunk(op, row, columns, carried);
  });
  if (sink_.unsupported())
    return {};
  for (size_t width = sums.size(); width > 1; width /= 2)
    for (size_t p = 0; p < width / 2; ++p)
      sums[p] = combine(sums[p], sums[p + width / 2]);
  const PointGrid grid{tile_.result, tile_.laneDim};
  return combine(evaluator_.evaluate(op.getDpsInits().front(), {row}, grid).front(),
                 lanes_.reduceLanes(sums.front(), combine));
}

/// Computes and stores the elements of a chunk of the result.
void RowKernel::storeChunk(const Point &row, const Columns &columns) {
  std::vector<Point> points;
  const llvm::SmallVector<int32_t> guards = guardsOf(columns);
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
  access_.store(points, values);
}

/// Returns the point of the first element of the tile's row.
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
  rowStart_ = linearAddress(space_, shapes_.layout(result).getParts(),
                            shapes_.storageShape(result, shapes_.result()), row.index);
  shapes_.kernel().walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0 || sink_.unsupported())
      return;
    reductions_.keep(op, row, reduce(op, row));
  });
  if (sink_.unsupported())
    return;
  forChunks({}, [&](const Columns &columns, Values &) { storeChunk(row, columns); });
}

} // namespace gantry::codegen
