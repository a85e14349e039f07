// Implements row_reduction.h.
#include "codegen/tiling/emitter/row_reduction.h"

#include "codegen/tiling/emitter/body_evaluator.h"
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

/// Applies the reduction to the elements of a chunk, whose columns are `columns`, and updates the
/// lane's partial results `sums`.
void RowReduction::accumulateChunk(linalg::GenericOp op, const Point &point, const Columns &columns,
                                   Values &sums) {
  llvm::SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  const PointGrid grid{tile_.result, tile_.laneDim};
  const llvm::SmallVector<int32_t> inside = lanes_.guardsOf(columns);
  std::vector<LoopIndex> loops;
  for (const IndexExpr &column : columns.index) {
    loops.push_back(shapes_.loopCoordinates(op, outputMap, point));
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

Value RowReduction::reduce(linalg::GenericOp op, const Point &point, const IndexExpr &rowStart) {
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
  const int64_t partial = tile_.heldColumns() % kMaxPartialSums == 0 ? kMaxPartialSums : 1;
  Value neutral = sink_.create<arith::ConstantOp>(*arith::getNeutralElement(combiner));
  Values sums = lanes_.forChunks(rowStart, Values(partial, neutral),
                                 [&](const Columns &columns, Values &carried) {
                                   accumulateChunk(op, point, columns, carried);
                                 });
  if (sink_.unsupported())
    return {};
  for (size_t width = sums.size(); width > 1; width /= 2)
    for (size_t p = 0; p < width / 2; ++p)
      sums[p] = combine(sums[p], sums[p + width / 2]);
  const PointGrid grid{tile_.result, tile_.laneDim};
  return combine(evaluator_.evaluate(op.getDpsInits().front(), {point}, grid).front(),
                 lanes_.reduceLanes(sums.front(), combine));
}

IndexExpr RowReduction::startOf(linalg::GenericOp op, const Point &point) {
  OpOperand *operand = rowOperandOf(op);
  const LoopIndex loops =
      shapes_.loopCoordinates(op, op.getIndexingMapsArray()[op.getNumDpsInputs()], point);
  const Point first = shapes_.operandPoint(op.getMatchingIndexingMap(operand), loops, 0);
  if (auto argument = dyn_cast<BlockArgument>(operand->get()))
    return shapes_.addressesOf(argument.getArgNumber(), argument, first).front();
  return linearAddress(space_, {}, shapes_.shapeOf(operand->get()), first.index);
}

} // namespace gantry::codegen
