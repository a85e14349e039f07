// Shared memory in kernels: what a workgroup's invocations need of a reduction's operands is loaded
// once, by all of them together, and read from shared memory then.
//
// The part of an operand that a workgroup needs for some steps of the reduction is a box, whose
// place and size follow from the operand's index expressions over the workgroup's points: what all
// invocations share of an index is where the box begins, the range of the rest is its extent. The
// elements of the box are evaluated, not just loaded: a pad, or a dequantisation, that is fused
// into the operand is done once per element.
//
// Boxes that are needed at different times share storage: the pool is planned by engine/plan
// (tile_choice.cpp), operands during the reduction, the result's box after it.
#include "codegen/tiling/kernel_evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kLeastReuse = 2; // readers per element that make staging worth its barrier
constexpr int64_t kUnrolledLoads = 8;

int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

} // namespace

bool KernelEvaluator::boxOf(llvm::ArrayRef<llvm::SmallVector<IndexExpr>> indices, Box &box) const {
  box.start.clear();
  box.size.clear();
  for (size_t e = 0; e < indices.front().size(); ++e) {
    IndexExpr shared;
    int64_t low = IndexSpace::kUnbounded, high = -IndexSpace::kUnbounded;
    for (const auto &index : indices) {
      auto [uniform, varying] = space_.splitUniform(index[e]);
      const int64_t constant = uniform.constant;
      uniform.constant = 0;
      if (&index == &indices.front())
        shared = uniform;
      else if (!(shared == uniform))
        return false;
      IndexRange range = space_.range(varying);
      low = std::min(low, constant + range.low);
      high = std::max(high, constant + range.high);
    }
    if (high - low >= (1 << 24))
      return false;
    shared.constant = low;
    box.start.push_back(shared);
    box.size.push_back(high - low + 1);
  }
  return true;
}

IndexExpr KernelEvaluator::inBox(const Box &box, llvm::ArrayRef<IndexExpr> index) {
  IndexExpr address = space_.add(IndexExpr(box.offset), box.turn);
  int64_t stride = 1;
  for (size_t e = index.size(); e-- > 0;) {
    address = space_.add(address, space_.scale(space_.sub(index[e], box.start[e]), stride));
    stride *= box.size[e];
  }
  return address;
}

/// A linear index over sizes, taken apart, as variables whose ranges are the sizes: what is written
/// as quotients and remainders would be known less well.
llvm::SmallVector<IndexExpr> KernelEvaluator::takeApart(const IndexExpr &linear,
                                                        llvm::ArrayRef<int64_t> sizes) {
  llvm::SmallVector<IndexExpr> parts(sizes.size(), IndexExpr(0));
  Value rest = builder_ ? valueOf(linear) : Value();
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1)
      continue;
    counts_.arithmetic += 2 * weight_;
    Value part, extent;
    if (builder_) {
      extent = builder_->create<arith::ConstantIndexOp>(loc(), sizes[d]);
      part = builder_->create<arith::RemUIOp>(loc(), rest, extent);
      rest = builder_->create<arith::DivUIOp>(loc(), rest, extent);
    }
    parts[d] = space_.addVariable(part, 0, sizes[d] - 1, !space_.isUniform(linear));
  }
  return parts;
}

void KernelEvaluator::barrier(spirv::Scope scope) {
  counts_.barriers += weight_;
  if (!builder_)
    return;
  builder_->create<spirv::ControlBarrierOp>(loc(), scope, scope,
                                            spirv::MemorySemantics::WorkgroupMemory |
                                                spirv::MemorySemantics::AcquireRelease);
}

/// Calls `body` with the coordinates in the box of each element that this invocation takes care of:
/// every workgroupSize-th, in groups of `width` neighbours.
void KernelEvaluator::forElements(const Box &box, int64_t width,
                                  llvm::function_ref<void(llvm::ArrayRef<IndexExpr>)> body) {
  const int64_t groups = product(box.size) / width, size = product(tile_.threads);
  const int64_t rounds = (groups + size - 1) / size;
  auto take = [&](const IndexExpr &round) {
    IndexExpr linear = space_.add(space_.scale(round, size), invocation_);
    auto visit = [&] {
      llvm::SmallVector<int64_t> sizes(box.size);
      sizes.back() /= width;
      auto coordinates = takeApart(linear, sizes);
      coordinates.back() = space_.scale(coordinates.back(), width);
      body(coordinates);
    };
    if (space_.range(linear).high < groups || !builder_)
      return visit();
    Value inside =
        builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ult, valueOf(linear),
                                        builder_->create<arith::ConstantIndexOp>(loc(), groups));
    auto guard = builder_->create<scf::IfOp>(loc(), inside);
    OpBuilder::InsertionGuard restore(*builder_);
    builder_->setInsertionPoint(guard.thenBlock()->getTerminator());
    visit();
  };
  if (rounds <= kUnrolledLoads) {
    for (int64_t round = 0; round < rounds; ++round)
      take(IndexExpr(round));
    return;
  }
  const double outer = weight_;
  weight_ *= static_cast<double>(rounds);
  counts_.rounds += rounds_ * static_cast<double>(rounds);
  if (!builder_) {
    take(space_.addVariable({}, 0, rounds - 1));
  } else {
    auto constant = [&](int64_t value) -> Value {
      return builder_->create<arith::ConstantIndexOp>(loc(), value);
    };
    auto loop = builder_->create<scf::ForOp>(loc(), constant(0), constant(rounds), constant(1));
    OpBuilder::InsertionGuard restore(*builder_);
    builder_->setInsertionPointToStart(loop.getBody());
    take(space_.addVariable(loop.getInductionVar(), 0, rounds - 1));
  }
  weight_ = outer;
}

void KernelEvaluator::storeShared(const IndexExpr &address, Value value) {
  counts_.shared += weight_;
  if (!builder_)
    return;
  // 16-bit floats and bytes take a word each, as what they are computed with.
  if (value.getType().isF16())
    value = builder_->create<arith::ExtFOp>(loc(), builder_->getF32Type(), value);
  if (value.getType().isInteger(8))
    value = builder_->create<arith::ExtUIOp>(loc(), builder_->getI32Type(), value);
  if (!value.getType().isF32())
    value = builder_->create<arith::BitcastOp>(loc(), builder_->getF32Type(), value);
  builder_->create<memref::StoreOp>(loc(), value, pool_, valueOf(address));
}

Value KernelEvaluator::loadFromPool(const IndexExpr &address, Type type) {
  counts_.shared += weight_;
  if (!builder_)
    return {};
  Value value = builder_->create<memref::LoadOp>(loc(), pool_, valueOf(address));
  if (type.isF32())
    return value;
  if (type.isF16())
    return builder_->create<arith::TruncFOp>(loc(), type, value);
  value = builder_->create<arith::BitcastOp>(loc(), builder_->getI32Type(), value);
  if (type.isInteger(8))
    value = builder_->create<arith::TruncIOp>(loc(), type, value);
  return value;
}

int64_t KernelEvaluator::takePool(int64_t words) {
  const size_t position = poolWords_.size();
  poolWords_.push_back(words);
  return position < tile_.poolOffsets.size() ? tile_.poolOffsets[position] : 0;
}

void KernelEvaluator::stageOperands(linalg::GenericOp op, llvm::ArrayRef<IndexExpr> offsets,
                                    llvm::ArrayRef<Point> points,
                                    llvm::ArrayRef<LoopLevel> inside) {
  // What is read at two places is computed at each: the boxes of the first are not the second's.
  for (OpOperand *operand : op.getDpsInputOperands())
    staged_.erase(operand);
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  // All steps that the loops inside take, as variables of which only the ranges matter.
  llvm::SmallVector<IndexExpr, 6> steps(offsets.begin(), offsets.end());
  int64_t count = 1;
  for (auto [q, dim] : llvm::enumerate(reductionDims)) {
    int64_t span = q < tile_.reduction.size() ? tile_.reduction[q] : 1;
    for (const LoopLevel &level : inside)
      if (level.dim == dim)
        span = std::max(span, level.trips.constant * level.multiplier);
    steps[dim] = space_.add(steps[dim], space_.addVariable({}, 0, span - 1, true));
    count *= span;
  }
  const int64_t readers = static_cast<int64_t>(points.size()) * product(tile_.threads) * count;
  llvm::SmallVector<std::pair<OpOperand *, Box *>> toLoad;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || op.getMatchingBlockArgument(operand).use_empty() || type.getRank() == 0 ||
        !groupTypeOf(type.getElementType(), false))
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    llvm::SmallVector<llvm::SmallVector<IndexExpr>> indices;
    for (const Point &point : points) {
      auto coordinates = loopCoordinates(op, outputMap, point);
      for (unsigned dim : reductionDims)
        coordinates[dim] = steps[dim];
      llvm::SmallVector<IndexExpr> index;
      for (AffineExpr expr : map.getResults())
        index.push_back(space_.evaluate(expr, coordinates, {}));
      indices.push_back(std::move(index));
    }
    Box box;
    if (!boxOf(indices, box) || product(box.size) * kLeastReuse > readers)
      continue;
    const int64_t words = product(box.size);
    box.offset = takePool(words * tile_.buffers);
    box.turn = space_.scale(space_.mod(stage_, IndexExpr(tile_.buffers)), words);
    Box &kept = staged_[operand] = box;
    toLoad.push_back({operand, &kept});
  }
  if (toLoad.empty())
    return;
  if (tile_.buffers == 1)
    barrier(); // the last steps' readers are done
  for (auto [operand, box] : toLoad) {
    auto shape = shapeOf(operand->get());
    forElements(*box, 1, [&, operand = operand, box = box](llvm::ArrayRef<IndexExpr> at) {
      Point point;
      llvm::SmallVector<IndexExpr> conditions;
      for (size_t e = 0; e < at.size(); ++e) {
        point.index.push_back(space_.add(box->start[e], at[e]));
        conditions.push_back(point.index.back());
        conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), point.index.back()));
      }
      bool never = false; // beyond a ragged edge: read by points that are not stored
      point.guard = guardAnd(0, conditions, never);
      Value value = evaluate(operand->get(), {point}).front();
      if (!unsupported_)
        storeShared(inBox(*box, point.index), value);
    });
  }
  barrier();
}

Values KernelEvaluator::readStaged(OpOperand *operand, llvm::ArrayRef<Point> points) {
  const Box &box = staged_[operand];
  Type element = cast<RankedTensorType>(operand->get().getType()).getElementType();
  std::map<IndexExpr, Value> loaded;
  Values result;
  for (const Point &point : points) {
    IndexExpr address = inBox(box, point.index);
    auto [found, inserted] = loaded.try_emplace(address);
    if (inserted)
      found->second = loadFromPool(address, element);
    result.push_back(found->second);
  }
  return result;
}

bool KernelEvaluator::storeThroughPool(Value tensor, llvm::ArrayRef<Point> points,
                                       llvm::ArrayRef<Value> values) {
  constexpr int64_t kWidth = 4;
  auto type = cast<RankedTensorType>(tensor.getType());
  auto shape = shapeOf(tensor);
  if (!tile_.stageResult || staged_.empty() || !groupTypeOf(type.getElementType(), false) ||
      shape.empty() || !shape.back().isConstant() || shape.back().constant % kWidth != 0)
    return false;
  llvm::SmallVector<llvm::SmallVector<IndexExpr>> indices;
  for (const Point &point : points)
    indices.emplace_back(point.index.begin(), point.index.end());
  Box box;
  if (!boxOf(indices, box) || box.size.back() % kWidth != 0 ||
      space_.baseDivisor(box.start.back()) % kWidth != 0 || box.start.back().constant % kWidth != 0)
    return false;
  box.offset = takePool(product(box.size));
  barrier(); // the operands have been read
  for (auto [point, value] : llvm::zip(points, values))
    storeShared(inBox(box, point.index), value);
  barrier();
  forElements(box, kWidth, [&](llvm::ArrayRef<IndexExpr> at) {
    std::vector<Point> run;
    Values four;
    for (int64_t j = 0; j < kWidth; ++j) {
      Point point;
      llvm::SmallVector<IndexExpr> conditions;
      for (size_t e = 0; e < at.size(); ++e) {
        const bool last = e + 1 == at.size();
        IndexExpr first = space_.add(box.start[e], at[e]);
        point.index.push_back(last ? space_.add(first, IndexExpr(j)) : first);
        // A run lies inside or outside as a whole.
        conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), first));
      }
      bool never = false;
      point.guard = guardAnd(0, conditions, never);
      four.push_back(loadFromPool(inBox(box, point.index), type.getElementType()));
      run.push_back(std::move(point));
    }
    storeDirect(tensor, run, four);
  });
  return true;
}

} // namespace gantry::codegen
