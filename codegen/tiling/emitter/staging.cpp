// Implements staging.h.
#include "codegen/tiling/emitter/staging.h"

#include "codegen/tiling/emitter/memory/result_store.h"
#include "codegen/tiling/emitter/memory/vector_views.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kMinReaders = 2; // With fewer reads per element an operand is not staged.

} // namespace

void Staging::stage(linalg::GenericOp op, const Stage &stage, llvm::ArrayRef<Point> points,
                    const PointGrid &grid) {
  // A reduction may be computed several times, for different points. Each time has its own boxes.
  for (OpOperand *operand : op.getDpsInputOperands())
    boxes_.erase(operand);
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  // The steps of the stage are variables without values; only their ranges are used.
  LoopIndex steps = stage.offsets;
  int64_t count = 1;
  for (auto [dim, span] : llvm::zip(reductionDims, stage.spans)) {
    steps[dim] = space_.add(steps[dim], space_.addVariable({}, 0, span - 1, true));
    count *= span;
  }
  const int64_t readers = static_cast<int64_t>(points.size()) * volumeOf(tile_.threads) * count;
  llvm::SmallVector<OpOperand *> staged;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    std::optional<Box> box = boxFor(op, operand, steps, readers, points);
    if (!box)
      continue;
    const int64_t words = volumeOf(box->size);
    box->offset = shared_.take(words * tile_.buffers);
    box->turn = space_.scale(space_.mod(stage.number, IndexExpr(tile_.buffers)), words);
    boxes_[operand] = *box;
    staged.push_back(operand);
  }
  if (staged.empty())
    return;
  if (tile_.buffers == 1)
    shared_.barrier(); // Waits until the previous stage has been read.
  for (OpOperand *operand : staged)
    fill(operand, boxes_[operand], grid);
  shared_.barrier();
}

/// Returns the box of an operand, or none if the operand is not staged. steps: the loop coordinates
/// of the stage; readers: the number of reads of single elements by the workgroup in the stage.
std::optional<Box> Staging::boxFor(linalg::GenericOp op, OpOperand *operand,
                                   llvm::ArrayRef<IndexExpr> steps, int64_t readers,
                                   llvm::ArrayRef<Point> points) {
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  if (!type || op.getMatchingBlockArgument(operand).use_empty() || type.getRank() == 0 ||
      !vectorTypeOf(type.getElementType(), false))
    return std::nullopt;
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  AffineMap map = op.getMatchingIndexingMap(operand);
  llvm::SmallVector<IndexList> indices;
  for (const Point &point : points) {
    LoopIndex coordinates = shapes_.loopCoordinates(op, outputMap, point);
    for (unsigned dim : reductionDims)
      coordinates[dim] = steps[dim];
    const Point read = shapes_.operandPoint(map, coordinates, 0);
    indices.emplace_back(read.index.begin(), read.index.end());
  }
  Box box;
  if (!shared_.boundingBox(indices, box) || volumeOf(box.size) * kMinReaders > readers)
    return std::nullopt;
  return box;
}

/// Evaluates and stores the elements of a box.
void Staging::fill(OpOperand *operand, const Box &box, const PointGrid &grid) {
  auto shape = shapes_.shapeOf(operand->get());
  shared_.forElements(box.size, 1, [&](llvm::ArrayRef<IndexExpr> at) {
    Point point;
    IndexList conditions;
    for (size_t e = 0; e < at.size(); ++e) {
      point.index.push_back(space_.add(box.start[e], at[e]));
      conditions.push_back(point.index.back());
      conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), point.index.back()));
    }
    // An element beyond the edge of the tensor may have any value: only points that are not stored
    // read it.
    bool never = false;
    point.guard = guards_.with(0, conditions, never);
    Value value = evaluator_.evaluate(operand->get(), {point}, grid).front();
    if (!sink_.unsupported())
      shared_.store(shared_.addressIn(box, point.index), value);
  });
}

Values Staging::read(linalg::GenericOp op, OpOperand *operand, llvm::ArrayRef<LoopIndex> loops) {
  const Box &box = boxes_[operand];
  AffineMap map = op.getMatchingIndexingMap(operand);
  Type element = cast<RankedTensorType>(operand->get().getType()).getElementType();
  std::map<IndexExpr, Value> loaded;
  Values result;
  for (const LoopIndex &coordinates : loops) {
    const Point point = shapes_.operandPoint(map, coordinates, 0);
    IndexExpr address = shared_.addressIn(box, point.index);
    auto [found, inserted] = loaded.try_emplace(address);
    if (inserted)
      found->second = shared_.load(address, element);
    result.push_back(found->second);
  }
  return result;
}

/// Returns the box of the result that the workgroup computes, if it consists of whole vectors.
std::optional<Box> Staging::resultBox(llvm::ArrayRef<Point> points) {
  auto type = cast<RankedTensorType>(shapes_.result().getType());
  auto shape = shapes_.shapeOf(shapes_.result());
  if (!tile_.stageResult || boxes_.empty() || !vectorTypeOf(type.getElementType(), false) ||
      shape.empty() || !shape.back().isConstant() || shape.back().constant % kVectorWidth != 0)
    return std::nullopt;
  llvm::SmallVector<IndexList> indices;
  for (const Point &point : points)
    indices.emplace_back(point.index.begin(), point.index.end());
  Box box;
  if (!shared_.boundingBox(indices, box) || box.size.back() % kVectorWidth != 0 ||
      space_.baseDivisor(box.start.back()) % kVectorWidth != 0 ||
      box.start.back().constant % kVectorWidth != 0)
    return std::nullopt;
  return box;
}

bool Staging::storeResult(llvm::ArrayRef<Point> points, llvm::ArrayRef<Value> values) {
  std::optional<Box> box = resultBox(points);
  if (!box)
    return false;
  box->offset = shared_.takeForResult(volumeOf(box->size));
  shared_.barrier(); // Waits until the operands have been read.
  for (auto [point, value] : llvm::zip(points, values))
    shared_.store(shared_.addressIn(*box, point.index), value);
  shared_.barrier();
  copyOut(*box);
  return true;
}

/// Copies a box of the result from shared memory to the result's buffer, vector by vector.
void Staging::copyOut(const Box &box) {
  auto shape = shapes_.shapeOf(shapes_.result());
  const Type element = cast<RankedTensorType>(shapes_.result().getType()).getElementType();
  shared_.forElements(box.size, kVectorWidth, [&](llvm::ArrayRef<IndexExpr> at) {
    std::vector<Point> run;
    Values vector;
    for (int64_t j = 0; j < kVectorWidth; ++j) {
      Point point;
      IndexList conditions;
      for (size_t e = 0; e < at.size(); ++e) {
        const bool isLast = e + 1 == at.size();
        IndexExpr first = space_.add(box.start[e], at[e]);
        point.index.push_back(isLast ? space_.add(first, IndexExpr(j)) : first);
        // All four elements of a vector lie inside the result, or none.
        conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), first));
      }
      bool never = false;
      point.guard = guards_.with(0, conditions, never);
      vector.push_back(shared_.load(shared_.addressIn(box, point.index), element));
      run.push_back(std::move(point));
    }
    stores_.store(run, vector);
  });
}

} // namespace gantry::codegen
