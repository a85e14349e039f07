// Implements matmul.h.
#include "codegen/tiling/emitter/matmul.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/emitter/memory/memory_access.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"
#include "codegen/tiling/emitter/tile_points.h"
#include "codegen/tiling/matmul_tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// The array in shared memory (KernelSink::pool) has elements of 16 bytes, called vectors here: four
// words, or eight f16.
constexpr int64_t kWords = 4, kHalves = 8, kHalvesPerWord = 2;
constexpr int64_t kPad = 1; // Unused vectors after a row, so that rows use different banks.

Type matrixType(Type element, int64_t rows, int64_t columns, spirv::CooperativeMatrixUseKHR use) {
  return spirv::CooperativeMatrixType::get(element, static_cast<uint32_t>(rows),
                                           static_cast<uint32_t>(columns), spirv::Scope::Subgroup,
                                           use);
}

/// Returns whether an index of an operand depends on one of the loops.
bool dependsOn(AffineExpr expr, llvm::ArrayRef<unsigned> loops) {
  return llvm::any_of(loops, [&](unsigned loop) { return expr.isFunctionOfDim(loop); });
}

bool dependsOn(AffineMap map, llvm::ArrayRef<unsigned> loops) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) { return dependsOn(expr, loops); });
}

} // namespace

/// An operand of the matmul and its matrix in shared memory. One dimension of the matrix is the
/// steps of one stage: matrix_.depth consecutive steps of the reduction, between two barriers. The
/// other dimension is the rows (operand a) or the columns (operand b) of the workgroup's tile.
struct Matmul::Operand {
  OpOperand *operand = nullptr;
  bool isA = false;
  bool stepsInner = false;        // Whether steps are the inner dimension of the matrix.
  int64_t offset = 0, stride = 0; // Start and row stride of the matrix, in vectors of 16 bytes.
};

/// A reduction that is computed with cooperative matrices.
struct Matmul::Product {
  linalg::GenericOp op;
  Operand operands[2];                  // a, b.
  llvm::SmallVector<unsigned> looped{}; // Reduction loops around the loop over the stages.
  llvm::SmallVector<unsigned> staged{}; // Reduction loops that are divided into stages.
  IndexList extents{};                  // By loop.

  /// The number of steps of the loops `staged`: the product of their extents. The stages together
  /// may have more steps, because the last one may extend beyond the reduction.
  int64_t stagedSteps() const {
    int64_t steps = 1;
    for (unsigned dim : staged)
      steps *= extents[dim].constant;
    return steps;
  }
};

// ---- operands and loops -------------------------------------------------------------------------

/// Determines which operand depends on the tile's rows (a) and which on its columns (b), and takes
/// shared memory for them. Returns false if the operands cannot be assigned in this way.
bool Matmul::placeOperands(Product &product) {
  linalg::GenericOp op = product.op;
  const auto factors = halfFactorsOf(op);
  AffineMap output = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  if (!factors || !output.isProjectedPermutation())
    return false;
  const llvm::SmallVector<unsigned> rows{output.getDimPosition(matrix_.rows)};
  llvm::SmallVector<unsigned> columns;
  for (unsigned d = matrix_.columns; d < output.getNumResults(); ++d)
    columns.push_back(output.getDimPosition(d));
  auto [a, b] = *factors;
  auto mapOf = [&](OpOperand *operand) { return op.getMatchingIndexingMap(operand); };
  if (!dependsOn(mapOf(a), rows))
    std::swap(a, b);
  if (!dependsOn(mapOf(a), rows) || dependsOn(mapOf(a), columns) || !dependsOn(mapOf(b), columns) ||
      dependsOn(mapOf(b), rows))
    return false;
  for (const bool isA : {true, false}) {
    Operand &operand = product.operands[isA ? 0 : 1];
    operand.operand = isA ? a : b;
    operand.isA = isA;
    // Elements that are adjacent in global memory are adjacent in the matrix, so that neighbouring
    // invocations load neighbouring elements.
    operand.stepsInner =
        !dependsOn(mapOf(operand.operand).getResults().back(), isA ? rows : columns);
    const int64_t places = tile_.extent(isA ? matrix_.rows : matrix_.columns);
    const int64_t inner = operand.stepsInner ? matrix_.depth : places;
    const int64_t outer = operand.stepsInner ? places : matrix_.depth;
    operand.stride = inner / kHalves + kPad;
    operand.offset = shared_.take(outer * operand.stride * kWords) / kWords;
  }
  return true;
}

/// Divides the reduction's loops into those that are divided into stages and those around the loop
/// over the stages. With matrix_.flat all loops are divided into stages, otherwise the longest one.
void Matmul::divideLoops(Product &product) {
  product.op.getReductionDims(product.staged);
  product.extents = shapes_.loopExtents(product.op);
  if (matrix_.flat)
    return;
  auto longest = llvm::max_element(product.staged, [&](unsigned x, unsigned y) {
    return product.extents[x].constant < product.extents[y].constant;
  });
  const unsigned dim = *longest;
  product.staged.erase(longest);
  product.looped = std::exchange(product.staged, {dim});
}

Values Matmul::zeroSums() {
  const Value zero = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    const Type type = matrixType(builder.getF32Type(), matrix_.m, matrix_.n,
                                 spirv::CooperativeMatrixUseKHR::MatrixAcc);
    Value element = builder.create<arith::ConstantOp>(loc, builder.getF32FloatAttr(0));
    return builder.create<spirv::CompositeConstructOp>(loc, type, ValueRange{element});
  });
  return Values(blockRows() * blockColumns(), zero);
}

Values Matmul::evaluate(linalg::GenericOp op, llvm::ArrayRef<Point> points, const PointGrid &) {
  Product product{op, {}};
  const bool hasOwnPoints = points.size() == places_.points.size() &&
                            llvm::all_of(llvm::zip(points, places_.points), [](const auto &pair) {
                              return std::get<0>(pair).index == std::get<1>(pair).index;
                            });
  if (!hasOwnPoints || !placeOperands(product)) {
    sink_.fail(op);
    return Values(points.size());
  }
  divideLoops(product);
  Values sums = zeroSums();
  emitLoops(product, product.looped, LoopIndex(op.getNumLoops(), IndexExpr(0)), sums);
  return readSums(product, sums);
}

void Matmul::emitLoops(const Product &product, llvm::ArrayRef<unsigned> looped,
                       const LoopIndex &coordinates, Values &sums) {
  if (!looped.empty()) {
    const unsigned dim = looped.front();
    loops_.forTrips(product.extents[dim], sums, [&](const IndexExpr &trip, Values &carried) {
      LoopIndex inner = coordinates;
      inner[dim] = trip;
      emitLoops(product, looped.drop_front(), inner, carried);
    });
    return;
  }
  const int64_t stages = (product.stagedSteps() + matrix_.depth - 1) / matrix_.depth;
  loops_.forTrips(IndexExpr(stages), sums, [&](const IndexExpr &stage, Values &carried) {
    shared_.barrier(); // Waits until all invocations have read the previous stage.
    for (const Operand &operand : product.operands)
      stageOperand(product, operand, coordinates, space_.scale(stage, matrix_.depth));
    shared_.barrier();
    multiplyStage(product, carried);
  });
}

// ---- staging ------------------------------------------------------------------------------------

/// Returns the result's point at a row and a column of the workgroup's tile.
Point Matmul::pointInTile(const IndexExpr &row, const IndexExpr &column) {
  Point point;
  for (const IndexExpr &base : places_.base)
    point.index.push_back(base);
  point.index[matrix_.rows] = space_.add(point.index[matrix_.rows], row);
  point.index[matrix_.columns] = space_.add(point.index[matrix_.columns], column);
  splitMerged(tile_, space_, shapes_, point);
  return point;
}

/// Returns the operand's point at a row or column (`place`) of the tile and a step. The step is one
/// number: the position in the iteration space of the loops product.staged, in row-major order.
/// coordinates: those of the loops around the stages. A guard is the number of a set of conditions
/// (guards.h). Sets stepGuard to the guard whose condition is that the step lies within the
/// reduction.
Point Matmul::stagedPoint(const Product &product, const Operand &operand,
                          const LoopIndex &coordinates, const IndexExpr &place,
                          const IndexExpr &step, int32_t &stepGuard) {
  linalg::GenericOp op = product.op;
  AffineMap map = op.getMatchingIndexingMap(operand.operand);
  AffineMap outputMap = op.getIndexingMapsArray()[op.getNumDpsInputs()];
  const Point inTile =
      operand.isA ? pointInTile(place, IndexExpr(0)) : pointInTile(IndexExpr(0), place);
  LoopIndex loops = shapes_.loopCoordinates(op, outputMap, inTile);
  for (unsigned dim = 0; dim < loops.size(); ++dim)
    loops[dim] = space_.add(loops[dim], coordinates[dim]);
  IndexExpr rest = step;
  for (size_t q = product.staged.size(); q-- > 0;) {
    const unsigned dim = product.staged[q];
    loops[dim] = q == 0 ? rest : space_.mod(rest, product.extents[dim]);
    rest = space_.floorDiv(rest, product.extents[dim]);
  }
  auto shape = shapes_.shapeOf(operand.operand->get());
  Point point;
  IndexList conditions;
  for (auto [e, expr] : llvm::enumerate(map.getResults())) {
    point.index.push_back(space_.evaluate(expr, loops, {}));
    const IndexExpr tested = guards_.testedIndex(point.index.back(), shape[e]);
    conditions.push_back(tested);
    conditions.push_back(space_.sub(space_.sub(shape[e], IndexExpr(1)), tested));
  }
  const int64_t steps = product.stagedSteps();
  const IndexExpr last =
      space_.sub(IndexExpr(steps - 1), guards_.testedIndex(step, IndexExpr(steps)));
  bool never = false;
  stepGuard = guards_.with(0, {last}, never);
  conditions.push_back(last);
  point.guard = guards_.with(0, conditions, never);
  return point;
}

/// Returns, for each value, the value if its guard holds and zero otherwise.
Values Matmul::zeroedOutside(Values values, llvm::ArrayRef<int32_t> guards) {
  for (auto [value, guard] : llvm::zip(values, guards)) {
    if (guard == 0)
      continue;
    sink_.count(Cost::kArithmetic);
    Value test = guards_.test(guard);
    value = sink_.build([&, value = value](OpBuilder &builder, Location loc) -> Value {
      Value zero = builder.create<arith::ConstantOp>(loc, value.getType(),
                                                     builder.getZeroAttr(value.getType()));
      return builder.create<arith::SelectOp>(loc, test, value, zero);
    });
  }
  return values;
}

/// Stages the elements of an operand for one stage, whose first step is `firstStep`.
void Matmul::stageOperand(const Product &product, const Operand &operand,
                          const LoopIndex &coordinates, const IndexExpr &firstStep) {
  const int64_t places = tile_.extent(operand.isA ? matrix_.rows : matrix_.columns);
  const llvm::SmallVector<int64_t, 2> size{operand.stepsInner ? places : matrix_.depth,
                                           operand.stepsInner ? matrix_.depth : places};
  shared_.forElements(size, kHalves, [&](llvm::ArrayRef<IndexExpr> at) {
    std::vector<Point> points;
    llvm::SmallVector<int32_t> stepGuards;
    for (int64_t j = 0; j < kHalves; ++j) {
      const IndexExpr &outer = at[0];
      const IndexExpr inner = space_.add(at[1], IndexExpr(j));
      const IndexExpr place = operand.stepsInner ? outer : inner;
      const IndexExpr step = space_.add(firstStep, operand.stepsInner ? inner : outer);
      points.push_back(
          stagedPoint(product, operand, coordinates, place, step, stepGuards.emplace_back()));
    }
    Values values = evaluator_.evaluate(operand.operand->get(), points, {});
    if (sink_.unsupported())
      return;
    values = zeroedOutside(std::move(values), stepGuards);
    storeHalves(
        space_.add(space_.add(IndexExpr(operand.offset), space_.scale(at[0], operand.stride)),
                   space_.floorDiv(at[1], IndexExpr(kHalves))),
        values);
  });
}

/// Stores eight values as f16 in one vector of shared memory, whose number is `address`.
void Matmul::storeHalves(const IndexExpr &address, llvm::ArrayRef<Value> values) {
  sink_.count(Cost::kShared, kWords);
  sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    const auto pair = VectorType::get({kHalvesPerWord}, builder.getF16Type());
    llvm::SmallVector<Value> words;
    for (size_t i = 0; i < values.size(); i += kHalvesPerWord) {
      llvm::SmallVector<Value, 2> halves;
      for (Value value : values.slice(i, kHalvesPerWord)) {
        if (auto extended = value.getDefiningOp<arith::ExtFOp>())
          value = extended.getIn();
        if (!value.getType().isF16())
          value = builder.create<arith::TruncFOp>(loc, builder.getF16Type(), value);
        halves.push_back(value);
      }
      words.push_back(builder.create<spirv::BitcastOp>(loc, builder.getI32Type(),
                                                       packVector(builder, loc, halves, pair)));
    }
    const Value vector =
        packVector(builder, loc, words, VectorType::get({kWords}, builder.getI32Type()));
    builder.create<memref::StoreOp>(loc, vector, sink_.pool(), sink_.index(address));
    return {};
  });
}

// ---- multiplication -----------------------------------------------------------------------------

/// Loads the matrix that one multiplication takes from a staged operand. Its first row (operand A)
/// or column (operand B) is `place`, counted in the tile; its first reduction step is `step`,
/// counted in the stage.
Value Matmul::loadMatrix(const Operand &operand, const IndexExpr &place, int64_t step) {
  const int64_t rows = operand.isA ? matrix_.m : matrix_.k;
  const int64_t columns = operand.isA ? matrix_.k : matrix_.n;
  sink_.count(Cost::kShared, static_cast<double>(rows * columns) /
                                 static_cast<double>(kHalvesPerWord * matrix_.lanes));
  return sink_.build([&](OpBuilder &builder, Location loc) {
    const IndexExpr outer = operand.stepsInner ? place : IndexExpr(step);
    const IndexExpr inner = operand.stepsInner ? IndexExpr(step) : place;
    const IndexExpr at = space_.add(IndexExpr(operand.offset),
                                    space_.add(space_.scale(outer, operand.stride),
                                               space_.floorDiv(inner, IndexExpr(kHalves))));
    const Type type = matrixType(builder.getF16Type(), rows, columns,
                                 operand.isA ? spirv::CooperativeMatrixUseKHR::MatrixA
                                             : spirv::CooperativeMatrixUseKHR::MatrixB);
    return builder.create<LoadMatrixOp>(loc, type, sink_.pool(), sink_.index(at), operand.stride,
                                        operand.isA != operand.stepsInner);
  });
}

void Matmul::multiplyStage(const Product &product, Values &sums) {
  const int64_t tall = blockRows(), wide = blockColumns();
  auto block = [&](const IndexExpr &subgroup, int64_t blocks, int64_t i, int64_t size) {
    return space_.scale(space_.add(space_.scale(subgroup, blocks), IndexExpr(i)), size);
  };
  for (int64_t step = 0; step < matrix_.depth; step += matrix_.k) {
    Values a, b;
    for (int64_t i = 0; i < tall; ++i)
      a.push_back(loadMatrix(product.operands[0], block(places_.down, tall, i, matrix_.m), step));
    for (int64_t j = 0; j < wide; ++j)
      b.push_back(loadMatrix(product.operands[1], block(places_.across, wide, j, matrix_.n), step));
    for (int64_t i = 0; i < tall; ++i)
      for (int64_t j = 0; j < wide; ++j) {
        Value &sum = sums[i * wide + j];
        sink_.count(Cost::kMatrix);
        sum = sink_.create<spirv::KHRCooperativeMatrixMulAddOp>(a[i], b[j], sum);
      }
  }
}

// ---- sums ---------------------------------------------------------------------------------------

/// Loads four sums from one vector of shared memory, whose number is `address`.
Values Matmul::loadSums(const IndexExpr &address, Type type) {
  sink_.count(Cost::kShared, kWords);
  const Value words = sink_.build([&](OpBuilder &builder, Location loc) {
    return builder.create<memref::LoadOp>(loc, sink_.pool(), sink_.index(address));
  });
  Values sums;
  for (int64_t i = 0; i < kWords; ++i)
    sums.push_back(sink_.build([&](OpBuilder &builder, Location loc) -> Value {
      Value sum = builder.create<vector::ExtractOp>(loc, words, i);
      sum = builder.create<arith::BitcastOp>(loc, builder.getF32Type(), sum);
      return type.isF16() ? builder.create<arith::TruncFOp>(loc, type, sum).getResult() : sum;
    }));
  return sums;
}

/// Returns the sums at the points of this lane (invocation of the subgroup). The subgroup has a
/// part of shared memory for one block. For each of its blocks in turn it writes the sums there,
/// and each lane reads back those of its own points.
Values Matmul::readSums(const Product &product, llvm::ArrayRef<Value> sums) {
  const int64_t vectors = matrix_.vectorsPerLane(), wide = blockColumns();
  const int64_t stride = matrix_.n / kWords + kPad, perSubgroup = matrix_.m * stride;
  const IndexExpr subgroup = space_.add(space_.scale(places_.down, matrix_.across), places_.across);
  const int64_t words = matrix_.down * matrix_.across * perSubgroup * kWords;
  const IndexExpr base = space_.add(IndexExpr(shared_.takeForResult(words) / kWords),
                                    space_.scale(subgroup, perSubgroup));
  const Type element =
      cast<RankedTensorType>(linalg::GenericOp(product.op).getResult(0).getType()).getElementType();
  Values result(sums.size() * vectors * kWords);
  shared_.barrier(); // Waits until the operands, which may use the same bytes, have been read.
  for (auto [index, sum] : llvm::enumerate(sums)) {
    const auto i = static_cast<int64_t>(index) / wide, j = static_cast<int64_t>(index) % wide;
    if (index > 0)
      sink_.barrier(spirv::Scope::Subgroup); // Waits until the previous block has been read.
    sink_.count(Cost::kShared,
                static_cast<double>(matrix_.m * matrix_.n) / static_cast<double>(matrix_.lanes));
    sink_.build([&, sum = sum](OpBuilder &builder, Location loc) -> Value {
      builder.create<StoreMatrixOp>(loc, sum, sink_.pool(), sink_.index(base), stride);
      return {};
    });
    sink_.barrier(spirv::Scope::Subgroup);
    for (int64_t v = 0; v < vectors; ++v) {
      const IndexExpr row = space_.add(IndexExpr(v * matrix_.rowsPerPass()), places_.row);
      const IndexExpr at = space_.add(base, space_.add(space_.scale(row, stride), places_.vector));
      llvm::copy(loadSums(at, element), result.begin() + ((i * vectors + v) * wide + j) * kWords);
    }
  }
  return result;
}

} // namespace gantry::codegen
