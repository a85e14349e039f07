// Kernels over rows: softmax, normalisations. Reductions over the last dimension whose results are
// broadcast back over the row that they came from, all in one kernel.
//
// A row is shared by the lanes of a subgroup (or taken by one invocation, in the baseline). Each
// lane holds every lanes-th run of neighbours; a reduction combines what a lane holds, then the
// lanes by an exchange in log2(lanes) steps. Where the row fits into the registers it is loaded
// once: what has been computed at a point is kept. Longer rows are walked in chunks, once per
// reduction and once for the result.
#include "codegen/tiling/kernel_evaluator.h"
#include "codegen/tiling/structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/IRMapping.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kPartialSums =
    4; // accumulators per lane, so that one sum need not wait for another

} // namespace

/// The columns of a chunk of a row that this invocation holds, in such runs of neighbours, and for
/// each under which condition it exists (constant 0: always).
KernelEvaluator::Columns KernelEvaluator::columnsOf(const IndexExpr &chunk, const IndexExpr &extent,
                                                    int64_t held, int64_t run) {
  Columns columns;
  const int64_t runsPerChunk = held / run * tile_.lanes;
  const IndexExpr last = space_.sub(space_.floorDiv(extent, IndexExpr(run)), IndexExpr(1));
  const IndexExpr lane = tile_.lanes > 1 ? lane_ : IndexExpr(0);
  for (int64_t j = 0; j < held; ++j) {
    if (j % run != 0) {
      columns.index.push_back(space_.add(columns.index[j - j % run], IndexExpr(j % run)));
      columns.inside.push_back(columns.inside.back());
      continue;
    }
    IndexExpr position = space_.add(space_.scale(chunk, runsPerChunk),
                                    space_.add(IndexExpr(j / run * tile_.lanes), lane));
    IndexExpr inside = space_.sub(last, position);
    if (space_.range(inside).low < 0) {
      counts_.arithmetic += weight_;
      Value clamped;
      if (builder_)
        clamped = builder_->create<arith::MinUIOp>(loc(), valueOf(position), valueOf(last));
      position = space_.addVariable(clamped, 0, space_.range(last).high, true);
    } else {
      inside = IndexExpr(0);
    }
    columns.index.push_back(space_.scale(position, run));
    columns.inside.push_back(inside);
  }
  return columns;
}

/// Calls `body` for each chunk of the row, with the carried values.
Values KernelEvaluator::forChunks(Values carried,
                                  llvm::function_ref<void(const Columns &, Values &)> body) {
  const int64_t perChunk = tile_.result.back() * tile_.lanes;
  const int64_t chunks = (tile_.rowLength + perChunk - 1) / perChunk;
  if (chunks == 1) {
    body(columnsOf(IndexExpr(0), IndexExpr(tile_.rowLength), tile_.result.back(), tile_.run),
         carried);
    return carried;
  }
  counts_.rounds += static_cast<double>(chunks);
  Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
  Value one = builder_->create<arith::ConstantIndexOp>(loc(), 1);
  Value bound = builder_->create<arith::ConstantIndexOp>(loc(), chunks);
  auto loop = builder_->create<scf::ForOp>(loc(), zero, bound, one, carried);
  OpBuilder::InsertionGuard restore(*builder_);
  if (loop.getBody()->mightHaveTerminator() && !loop.getBody()->empty())
    builder_->setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder_->setInsertionPointToStart(loop.getBody());
  Values inner(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  body(columnsOf(space_.addVariable(loop.getInductionVar(), 0, chunks - 1),
                 IndexExpr(tile_.rowLength), tile_.result.back(), tile_.run),
       inner);
  if (!carried.empty())
    builder_->create<scf::YieldOp>(loc(), inner);
  return Values(loop.getResults().begin(), loop.getResults().end());
}

/// What all lanes' values come to, in all of them: an exchange in log2(lanes) steps.
Value KernelEvaluator::acrossLanes(Value value, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = 1; distance < tile_.lanes; distance *= 2) {
    counts_.shuffles += weight_;
    counts_.arithmetic += weight_;
    if (!builder_)
      continue;
    auto scope = spirv::ScopeAttr::get(builder_->getContext(), spirv::Scope::Subgroup);
    Value mask = builder_->create<spirv::ConstantOp>(loc(), builder_->getI32Type(),
                                                     builder_->getI32IntegerAttr(distance));
    Value other = builder_->create<spirv::GroupNonUniformShuffleXorOp>(loc(), value.getType(),
                                                                       scope, value, mask);
    value = combine(value, other);
  }
  return value;
}

/// The value of a reduction over the row, in all lanes.
Value KernelEvaluator::reduceRow(linalg::GenericOp op, const Point &row) {
  Operation *combiner = combinerOf(op);
  if (!combiner) {
    fail(op);
    return {};
  }
  auto combine = [&](Value a, Value b) {
    IRMapping mapping;
    mapping.map(combiner->getOperand(0), a);
    mapping.map(combiner->getOperand(1), b);
    return builder_->clone(*combiner, mapping)->getResult(0);
  };
  llvm::SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  const int64_t held = tile_.result.back(), partial = held % kPartialSums == 0 ? kPartialSums : 1;
  Value neutral = builder_->create<arith::ConstantOp>(loc(), *arith::getNeutralElement(combiner));
  Values sums = forChunks(Values(partial, neutral), [&](const Columns &columns, Values &carried) {
    std::vector<llvm::SmallVector<IndexExpr, 6>> loops;
    for (const IndexExpr &column : columns.index) {
      auto coordinates = loopCoordinates(op, outputMap, row);
      coordinates[reduced.front()] = column;
      loops.push_back(std::move(coordinates));
    }
    llvm::SmallVector<Values> inputs;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      std::vector<Point> points;
      AffineMap map = op.getMatchingIndexingMap(operand);
      for (const auto &coordinates : loops) {
        Point point;
        for (AffineExpr expr : map.getResults())
          point.index.push_back(space_.evaluate(expr, coordinates, {}));
        points.push_back(std::move(point));
      }
      inputs.push_back(evaluate(operand->get(), points));
    }
    if (unsupported_)
      return;
    const llvm::SmallVector<int32_t> guards(partial, 0);
    for (int64_t j = 0; j < held; j += partial) {
      llvm::SmallVector<Values> arguments;
      for (const Values &values : inputs)
        arguments.push_back(Values(values.begin() + j, values.begin() + j + partial));
      arguments.push_back(carried);
      Values next = cloneBody(op, llvm::ArrayRef(loops).slice(j, partial), guards, arguments)[0];
      for (int64_t p = 0; p < partial; ++p) {
        const IndexExpr &inside = columns.inside[j + p];
        if (inside.isConstant()) {
          carried[p] = next[p];
          continue;
        }
        Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
        Value test = builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge,
                                                     valueOf(inside), zero);
        carried[p] = builder_->create<arith::SelectOp>(loc(), test, next[p], carried[p]);
      }
    }
  });
  if (unsupported_)
    return {};
  for (size_t width = sums.size(); width > 1; width /= 2)
    for (size_t p = 0; p < width / 2; ++p)
      sums[p] = combine(sums[p], sums[p + width / 2]);
  return combine(evaluate(op.getDpsInits().front(), {row}).front(),
                 acrossLanes(sums.front(), combine));
}

void KernelEvaluator::runRows(ValueRange tileCoordinates, Value lane) {
  auto shape = shapeOf(result_);
  if (!builder_)
    return;
  memo_ = true;
  lane_ = tile_.lanes > 1 ? space_.addVariable(lane, 0, tile_.lanes - 1, true) : IndexExpr(0);
  Point row;
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    row.index.push_back(space_.addVariable(
        tileCoordinates[d], 0,
        shape[d].isConstant() ? shape[d].constant - 1 : IndexSpace::kUnbounded, tile_.lanes == 1));
  row.index.push_back(IndexExpr(0));
  kernel_.walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0 || unsupported_)
      return;
    std::vector<IndexExpr> key(row.index.begin(), row.index.end());
    reduced_[op][key] = reduceRow(op, row);
  });
  if (unsupported_)
    return;
  forChunks({}, [&](const Columns &columns, Values &) {
    std::vector<Point> points;
    llvm::SmallVector<int32_t> guards;
    for (auto [column, inside] : llvm::zip(columns.index, columns.inside)) {
      Point point = row;
      point.index.back() = column;
      points.push_back(std::move(point));
      bool never = false;
      guards.push_back(guardAnd(0, inside, never));
    }
    Values values = evaluate(result_, points);
    if (unsupported_)
      return;
    for (size_t i = 0; i < points.size(); ++i)
      points[i].guard = guards[i];
    store(result_, points, values);
  });
}

} // namespace gantry::codegen
