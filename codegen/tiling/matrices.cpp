// Products of matrices in kernels: a workgroup stages a stretch of both operands in shared memory,
// as halves; each of its subgroups multiplies what its blocks of the result need of it, matrix by
// matrix, by the instructions that the device has for this; the sums, which only a whole subgroup
// can read, pass through shared memory to the invocations, which go on with them as with those of
// any other reduction: bias, activation, conversion, and masked stores at ragged edges.
//
// What is staged is the matrix, not the part of the tensor that its elements come from: of an
// image, the windows side by side (implicit GEMM), for a matrix in memory must begin at multiples
// of 16 bytes. Elements are evaluated, so that pads are part of it; those beyond the reduction's
// last step are zero in both operands, those beyond the result's edge may be anything.
#include "codegen/tiling/matrices.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kFour = 4;
// Rows are so many vectors further apart than they are long, to begin in different banks.
constexpr int64_t kPad = 1;
// Shared memory is vectors of 16 bytes: four words, or eight halves.
constexpr int64_t kHalves = 8, kHalvesPerWord = 2;

Type matrixType(Type element, int64_t rows, int64_t columns, spirv::CooperativeMatrixUseKHR use) {
  return spirv::CooperativeMatrixType::get(element, static_cast<uint32_t>(rows),
                                           static_cast<uint32_t>(columns), spirv::Scope::Subgroup,
                                           use);
}

/// Whether an index of an operand depends on one of the loops.
bool dependsOn(AffineExpr expr, llvm::ArrayRef<unsigned> loops) {
  return llvm::any_of(loops, [&](unsigned loop) { return expr.isFunctionOfDim(loop); });
}

bool dependsOn(AffineMap map, llvm::ArrayRef<unsigned> loops) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) { return dependsOn(expr, loops); });
}

} // namespace

void KernelEvaluator::placeMatrices(Value lane, Value subgroup) {
  const MatrixTile &matrix = tile_.matrix;
  const int64_t subgroups = matrix.down * matrix.across;
  const IndexExpr inSubgroup = space_.addVariable(lane, 0, matrix.lanes - 1, true);
  const IndexExpr which =
      subgroups == 1 ? IndexExpr(0) : space_.addVariable(subgroup, 0, subgroups - 1);
  invocation_ = space_.add(space_.scale(which, matrix.lanes), inSubgroup);
  auto place = takeApart(which, {matrix.down, matrix.across});
  places_.down = place[0];
  places_.across = place[1];
  place = takeApart(inSubgroup, {matrix.rowsAtOnce(), matrix.foursPerRow()});
  places_.row = place[0];
  places_.four = place[1];
}

/// Of the invocation's points along a tile dimension, the place of one in the workgroup's tile.
IndexExpr KernelEvaluator::placeInTile(unsigned dim, int64_t point) {
  const MatrixTile &matrix = tile_.matrix;
  if (dim != matrix.rows && dim != matrix.columns)
    return IndexExpr(point);
  const bool isRow = dim == matrix.rows;
  const int64_t perBlock = isRow ? matrix.fours() : kFour;
  const int64_t blocks = tile_.result[dim] / perBlock, inBlock = point % perBlock;
  const IndexExpr block = space_.add(space_.scale(isRow ? places_.down : places_.across, blocks),
                                     IndexExpr(point / perBlock));
  const IndexExpr inside = isRow
                               ? space_.add(IndexExpr(inBlock * matrix.rowsAtOnce()), places_.row)
                               : space_.add(space_.scale(places_.four, kFour), IndexExpr(inBlock));
  return space_.add(space_.scale(block, isRow ? matrix.m : matrix.n), inside);
}

/// The result's point at a row and a column of the workgroup's tile.
Point KernelEvaluator::pointInTile(const IndexExpr &row, const IndexExpr &column) {
  Point point;
  for (const IndexExpr &base : places_.base)
    point.index.push_back(base);
  point.index[tile_.matrix.rows] = space_.add(point.index[tile_.matrix.rows], row);
  point.index[tile_.matrix.columns] = space_.add(point.index[tile_.matrix.columns], column);
  splitMerged(point);
  return point;
}

/// Which operand has the rows and which the columns, and how their stages lie in shared memory.
bool KernelEvaluator::layOperands(linalg::GenericOp op,
                                  llvm::MutableArrayRef<MatrixOperand> operands) {
  const auto factors = halfFactorsOf(op);
  AffineMap output = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  if (!factors || !output.isProjectedPermutation())
    return false;
  const unsigned rank = output.getNumResults();
  const llvm::SmallVector<unsigned> rows{output.getDimPosition(tile_.matrix.rows)};
  llvm::SmallVector<unsigned> columns;
  for (unsigned d = tile_.matrix.columns; d < rank; ++d)
    columns.push_back(output.getDimPosition(d));
  auto [a, b] = *factors;
  auto mapOf = [&](OpOperand *operand) { return op.getMatchingIndexingMap(operand); };
  if (!dependsOn(mapOf(a), rows))
    std::swap(a, b);
  if (!dependsOn(mapOf(a), rows) || dependsOn(mapOf(a), columns) || !dependsOn(mapOf(b), columns) ||
      dependsOn(mapOf(b), rows))
    return false;
  for (const bool isA : {true, false}) {
    MatrixOperand &operand = operands[isA ? 0 : 1];
    operand.operand = isA ? a : b;
    operand.isA = isA;
    // What is adjacent in memory stays adjacent, so that neighbouring invocations load neighbours.
    operand.stepsInner =
        !dependsOn(mapOf(operand.operand).getResults().back(), isA ? rows : columns);
    const int64_t places = tile_.extent(isA ? tile_.matrix.rows : tile_.matrix.columns);
    const int64_t inner = operand.stepsInner ? tile_.matrix.depth : places;
    const int64_t outer = operand.stepsInner ? places : tile_.matrix.depth;
    operand.stride = inner / kHalves + kPad;
    operand.offset = takeVectors(outer * operand.stride);
  }
  return true;
}

/// So many vectors of the pool.
int64_t KernelEvaluator::takeVectors(int64_t count) { return takePool(count * kFour) / kFour; }

/// Eight values as halves in a vector of the pool.
void KernelEvaluator::storeHalves(const IndexExpr &at, llvm::ArrayRef<Value> values) {
  counts_.shared += weight_ * kFour;
  if (!builder_)
    return;
  const auto pair = VectorType::get({kHalvesPerWord}, builder_->getF16Type());
  llvm::SmallVector<Value> words;
  for (size_t i = 0; i < values.size(); i += kHalvesPerWord) {
    llvm::SmallVector<Value, 2> halves;
    for (Value value : values.slice(i, kHalvesPerWord)) {
      if (auto extended = value.getDefiningOp<arith::ExtFOp>())
        value = extended.getIn();
      if (!value.getType().isF16())
        value = builder_->create<arith::TruncFOp>(loc(), builder_->getF16Type(), value);
      halves.push_back(value);
    }
    words.push_back(
        builder_->create<spirv::BitcastOp>(loc(), builder_->getI32Type(), groupOf(halves, pair)));
  }
  const Value vector = groupOf(words, VectorType::get({kFour}, builder_->getI32Type()));
  builder_->create<memref::StoreOp>(loc(), vector, pool_, valueOf(at));
}

/// Four sums of a vector of the pool.
Values KernelEvaluator::loadSums(const IndexExpr &at, Type type) {
  counts_.shared += weight_ * kFour;
  Values sums(kFour);
  if (!builder_)
    return sums;
  const Value words = builder_->create<memref::LoadOp>(loc(), pool_, valueOf(at));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    sum = builder_->create<vector::ExtractOp>(loc(), words, static_cast<int64_t>(i));
    sum = builder_->create<arith::BitcastOp>(loc(), builder_->getF32Type(), sum);
    if (type.isF16())
      sum = builder_->create<arith::TruncFOp>(loc(), type, sum);
  }
  return sums;
}

/// The elements of an operand for the steps of the dimensions together from `first` on.
/// coordinates: of the loops around.
void KernelEvaluator::stageMatrix(linalg::GenericOp op, const MatrixOperand &staged,
                                  llvm::ArrayRef<unsigned> dims,
                                  llvm::ArrayRef<IndexExpr> coordinates, const IndexExpr &first) {
  const MatrixTile &matrix = tile_.matrix;
  const int64_t places = tile_.extent(staged.isA ? matrix.rows : matrix.columns);
  Box box;
  box.size = {staged.stepsInner ? places : matrix.depth, staged.stepsInner ? matrix.depth : places};
  AffineMap map = op.getMatchingIndexingMap(staged.operand);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  auto shape = shapeOf(staged.operand->get());
  auto extents = loopExtents(op);
  int64_t steps = 1;
  for (unsigned dim : dims)
    steps *= extents[dim].constant;
  forElements(box, kHalves, [&](llvm::ArrayRef<IndexExpr> at) {
    std::vector<Point> points;
    llvm::SmallVector<int32_t> within; // the reduction's steps
    for (int64_t j = 0; j < kHalves; ++j) {
      const IndexExpr &outer = at[0];
      const IndexExpr inner = space_.add(at[1], IndexExpr(j));
      const IndexExpr place = staged.stepsInner ? outer : inner;
      const IndexExpr step = space_.add(first, staged.stepsInner ? inner : outer);
      const Point inTile =
          staged.isA ? pointInTile(place, IndexExpr(0)) : pointInTile(IndexExpr(0), place);
      auto loops = loopCoordinates(op, outputMap, inTile);
      for (unsigned dim = 0; dim < loops.size(); ++dim)
        loops[dim] = space_.add(loops[dim], coordinates[dim]);
      IndexExpr rest = step;
      for (size_t q = dims.size(); q-- > 0;) {
        loops[dims[q]] = q == 0 ? rest : space_.mod(rest, extents[dims[q]]);
        rest = space_.floorDiv(rest, extents[dims[q]]);
      }
      Point point;
      llvm::SmallVector<IndexExpr> conditions;
      for (auto [e, expr] : llvm::enumerate(map.getResults())) {
        point.index.push_back(space_.evaluate(expr, loops, {}));
        const IndexExpr tested = groupStart(point.index.back(), shape[e]);
        conditions.push_back(tested);
        conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), tested));
      }
      bool never = false;
      const IndexExpr last = space_.sub(IndexExpr(steps - 1), groupStart(step, IndexExpr(steps)));
      within.push_back(guardAnd(0, {last}, never));
      conditions.push_back(last);
      point.guard = guardAnd(0, conditions, never);
      points.push_back(std::move(point));
    }
    Values values = evaluate(staged.operand->get(), points);
    if (unsupported_)
      return;
    for (auto [value, guard] : llvm::zip(values, within)) {
      if (guard == 0)
        continue;
      counts_.arithmetic += weight_;
      Value test = guardValue(guard);
      if (builder_)
        value = builder_->create<arith::SelectOp>(
            loc(), test, value,
            constantLike(builder_->getZeroAttr(value.getType()), value.getType()));
    }
    storeHalves(space_.add(space_.add(IndexExpr(staged.offset), space_.scale(at[0], staged.stride)),
                           space_.floorDiv(at[1], IndexExpr(kHalves))),
                values);
  });
}

/// One matrix of a staged operand: of a block of rows, or columns, and of steps.
Value KernelEvaluator::loadMatrix(const MatrixOperand &staged, const IndexExpr &place,
                                  int64_t step) {
  const MatrixTile &matrix = tile_.matrix;
  const int64_t rows = staged.isA ? matrix.m : matrix.k, columns = staged.isA ? matrix.k : matrix.n;
  counts_.shared += weight_ * rows * columns / (kHalvesPerWord * matrix.lanes);
  if (!builder_)
    return {};
  const IndexExpr outer = staged.stepsInner ? place : IndexExpr(step);
  const IndexExpr inner = staged.stepsInner ? IndexExpr(step) : place;
  const IndexExpr at =
      space_.add(IndexExpr(staged.offset), space_.add(space_.scale(outer, staged.stride),
                                                      space_.floorDiv(inner, IndexExpr(kHalves))));
  const Type type = matrixType(builder_->getF16Type(), rows, columns,
                               staged.isA ? spirv::CooperativeMatrixUseKHR::MatrixA
                                          : spirv::CooperativeMatrixUseKHR::MatrixB);
  return builder_->create<LoadMatrixOp>(loc(), type, pool_, valueOf(at), staged.stride,
                                        staged.isA != staged.stepsInner);
}

void KernelEvaluator::multiplyStage(llvm::ArrayRef<MatrixOperand> operands, Values &sums) {
  const MatrixTile &matrix = tile_.matrix;
  const int64_t tall = tile_.result[matrix.rows] / matrix.fours();
  const int64_t wide = tile_.result[matrix.columns] / kFour;
  auto block = [&](const IndexExpr &subgroup, int64_t blocks, int64_t i, int64_t size) {
    return space_.scale(space_.add(space_.scale(subgroup, blocks), IndexExpr(i)), size);
  };
  for (int64_t step = 0; step < matrix.depth; step += matrix.k) {
    Values a, b;
    for (int64_t i = 0; i < tall; ++i)
      a.push_back(loadMatrix(operands[0], block(places_.down, tall, i, matrix.m), step));
    for (int64_t j = 0; j < wide; ++j)
      b.push_back(loadMatrix(operands[1], block(places_.across, wide, j, matrix.n), step));
    counts_.matrices += weight_ * tall * wide;
    if (builder_)
      for (int64_t i = 0; i < tall; ++i)
        for (int64_t j = 0; j < wide; ++j)
          sums[i * wide + j] = builder_->create<spirv::KHRCooperativeMatrixMulAddOp>(
              loc(), a[i], b[j], sums[i * wide + j]);
  }
}

/// Each block's sums pass through the subgroup's own part of shared memory to its lanes.
Values KernelEvaluator::readProduct(linalg::GenericOp op, llvm::ArrayRef<Value> sums) {
  const MatrixTile &matrix = tile_.matrix;
  const int64_t fours = matrix.fours(), wide = tile_.result[matrix.columns] / kFour;
  const int64_t stride = matrix.n / kFour + kPad, vectors = matrix.m * stride;
  const IndexExpr subgroup = space_.add(space_.scale(places_.down, matrix.across), places_.across);
  const IndexExpr base = space_.add(IndexExpr(takeVectors(matrix.down * matrix.across * vectors)),
                                    space_.scale(subgroup, vectors));
  resultInPool_ = true;
  const Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  Values result(sums.size() * fours * kFour);
  barrier(); // the operands have been read
  for (auto [index, sum] : llvm::enumerate(sums)) {
    const auto i = static_cast<int64_t>(index) / wide, j = static_cast<int64_t>(index) % wide;
    if (index > 0)
      barrier(spirv::Scope::Subgroup); // the block before has been read
    counts_.shared += weight_ * matrix.m * matrix.n / matrix.lanes;
    if (builder_)
      builder_->create<StoreMatrixOp>(loc(), sum, pool_, valueOf(base), stride);
    barrier(spirv::Scope::Subgroup);
    for (int64_t f = 0; f < fours; ++f) {
      const IndexExpr row = space_.add(IndexExpr(f * matrix.rowsAtOnce()), places_.row);
      const IndexExpr at = space_.add(base, space_.add(space_.scale(row, stride), places_.four));
      llvm::copy(loadSums(at, element), result.begin() + ((i * fours + f) * wide + j) * kFour);
    }
  }
  return result;
}

/// All steps of the loops, the outer ones of which are `looped`.
void KernelEvaluator::multiplySteps(linalg::GenericOp op, llvm::ArrayRef<MatrixOperand> operands,
                                    llvm::ArrayRef<unsigned> looped,
                                    llvm::ArrayRef<unsigned> staged,
                                    llvm::SmallVector<IndexExpr, 6> coordinates, Values &sums) {
  auto extents = loopExtents(op);
  if (!looped.empty()) {
    forTrips(extents[looped.front()], sums, [&](const IndexExpr &trip, Values &carried) {
      coordinates[looped.front()] = trip;
      multiplySteps(op, operands, looped.drop_front(), staged, coordinates, carried);
    });
    return;
  }
  int64_t steps = 1;
  for (unsigned dim : staged)
    steps *= extents[dim].constant;
  const int64_t depth = tile_.matrix.depth;
  forTrips(IndexExpr((steps + depth - 1) / depth), sums,
           [&](const IndexExpr &stage, Values &carried) {
             barrier(); // the last stage has been read
             for (const MatrixOperand &operand : operands)
               stageMatrix(op, operand, staged, coordinates, space_.scale(stage, depth));
             barrier();
             multiplyStage(operands, carried);
           });
}

Values KernelEvaluator::evaluateProduct(linalg::GenericOp op, llvm::ArrayRef<Point> points) {
  MatrixOperand operands[2];
  const bool ownPoints = points.size() == places_.points.size() &&
                         llvm::all_of(llvm::zip(points, places_.points), [](const auto &pair) {
                           return std::get<0>(pair).index == std::get<1>(pair).index;
                         });
  if (!ownPoints || !layOperands(op, operands)) {
    fail(op);
    return Values(points.size());
  }
  const MatrixTile &matrix = tile_.matrix;
  llvm::SmallVector<unsigned> staged, looped;
  op.getReductionDims(staged);
  auto extents = loopExtents(op);
  if (!matrix.flat) {
    auto longest = llvm::max_element(
        staged, [&](unsigned x, unsigned y) { return extents[x].constant < extents[y].constant; });
    const unsigned dim = *longest;
    staged.erase(longest);
    looped = std::exchange(staged, {dim});
  }
  Values sums(tile_.result[matrix.rows] / matrix.fours() * (tile_.result[matrix.columns] / kFour));
  if (builder_) {
    const Type type = matrixType(builder_->getF32Type(), matrix.m, matrix.n,
                                 spirv::CooperativeMatrixUseKHR::MatrixAcc);
    Value zero = constantLike(builder_->getF32FloatAttr(0), builder_->getF32Type());
    const Value none = builder_->create<spirv::CompositeConstructOp>(loc(), type, ValueRange{zero});
    sums.assign(sums.size(), none);
  }
  llvm::SmallVector<IndexExpr, 6> none(op.getNumLoops(), IndexExpr(0));
  multiplySteps(op, operands, looped, staged, none, sums);
  return readProduct(op, sums);
}

} // namespace gantry::codegen
