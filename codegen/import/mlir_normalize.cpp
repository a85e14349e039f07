// Implements mlir_normalize.h: rewrites linalg operations into one form of linalg.generic.
#include "codegen/import/mlir_normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

namespace gantry::importer {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

namespace {

template <typename Op> llvm::SmallVector<Op> collect(mlir::func::FuncOp function) {
  llvm::SmallVector<Op> ops;
  function.walk([&](Op op) { ops.push_back(op); });
  return ops;
}

// Moves scalar operands, and constants that are defined outside of the body, into the body.
linalg::GenericOp moveScalarsIn(mlir::IRRewriter &rewriter, linalg::GenericOp op) {
  mlir::Block *body = op.getBody();
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<unsigned> dropped;
  auto oldMaps = op.getIndexingMapsArray();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (mlir::isa<mlir::RankedTensorType>(input.getType())) {
      inputs.push_back(input);
      maps.push_back(oldMaps[i]);
      continue;
    }
    body->getArgument(i).replaceAllUsesWith(input);
    dropped.push_back(i);
  }
  for (unsigned i : llvm::reverse(dropped))
    body->eraseArgument(i);
  maps.append(oldMaps.begin() + op.getNumDpsInputs(), oldMaps.end());
  // Each constant that is defined outside is cloned once.
  llvm::DenseMap<mlir::Operation *, mlir::Value> moved;
  rewriter.setInsertionPointToStart(body);
  for (mlir::Operation &inner : llvm::make_early_inc_range(*body))
    for (mlir::OpOperand &operand : inner.getOpOperands()) {
      auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
      if (!constant || constant->getBlock() == body ||
          mlir::isa<mlir::ShapedType>(constant.getType()))
        continue;
      mlir::Value &copy = moved[constant];
      if (!copy)
        copy = rewriter.clone(*constant)->getResult(0);
      operand.set(copy);
    }
  if (dropped.empty())
    return op;
  rewriter.setInsertionPoint(op);
  auto replacement = rewriter.create<linalg::GenericOp>(
      op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps, op.getIteratorTypesArray());
  replacement.getRegion().takeBody(op.getRegion());
  rewriter.replaceOp(op, replacement.getResults());
  return replacement;
}

// Gives an elementwise operation of static shape a tensor.empty as its output operand, if the body
// does not read the output operand.
void writeToEmpty(mlir::IRRewriter &rewriter, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0)
    return;
  mlir::Value init = op.getDpsInits()[0];
  auto type = mlir::cast<mlir::RankedTensorType>(init.getType());
  bool read = !op.getBody()->getArguments().back().use_empty();
  if (read || init.getDefiningOp<tensor::EmptyOp>() || !type.hasStaticShape())
    return;
  rewriter.setInsertionPoint(op);
  mlir::Value empty =
      rewriter.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
  op.getDpsInitsMutable()[0].set(empty);
}

// Returns the neutral element of the operation that combines an element with the accumulator, or
// null if the operation has none.
mlir::TypedAttr neutralOf(mlir::Builder &builder, mlir::Operation *combiner) {
  mlir::Type type = combiner->getResult(0).getType();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto number = [&](double value) -> mlir::TypedAttr { return builder.getFloatAttr(type, value); };
  auto integer = [&](llvm::APInt value) -> mlir::TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  if (mlir::isa<arith::AddFOp>(combiner))
    return number(0);
  if (mlir::isa<arith::MulFOp>(combiner))
    return number(1);
  if (mlir::isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner))
    return number(-kInfinity);
  if (mlir::isa<arith::MinimumFOp, arith::MinNumFOp>(combiner))
    return number(kInfinity);
  if (!type.isSignlessInteger())
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  if (mlir::isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(combiner))
    return integer(llvm::APInt::getZero(bits));
  if (mlir::isa<arith::MulIOp>(combiner))
    return integer(llvm::APInt(bits, 1));
  if (mlir::isa<arith::MaxSIOp>(combiner))
    return integer(llvm::APInt::getSignedMinValue(bits));
  if (mlir::isa<arith::MinSIOp>(combiner))
    return integer(llvm::APInt::getSignedMaxValue(bits));
  if (mlir::isa<arith::AndIOp, arith::MinUIOp>(combiner))
    return integer(llvm::APInt::getAllOnes(bits));
  return {};
}

// Lets a reduction start from its neutral element, and combines the result with the original
// initial tensor afterwards.
void startFromFill(mlir::IRRewriter &rewriter, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return;
  mlir::Value init = op.getDpsInits()[0];
  if (init.getDefiningOp<linalg::FillOp>())
    return;
  auto type = mlir::cast<mlir::RankedTensorType>(init.getType());
  mlir::Operation *combiner = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  mlir::BlockArgument accumulator = op.getBody()->getArguments().back();
  if (!type.hasStaticShape() || !combiner || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner)
    return; // The caller reports the operation.
  mlir::TypedAttr neutral = neutralOf(rewriter, combiner);
  if (!neutral)
    return;
  mlir::Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  mlir::Value empty = rewriter.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  mlir::Value scalar = rewriter.create<arith::ConstantOp>(loc, neutral);
  mlir::Value fill = rewriter.create<linalg::FillOp>(loc, scalar, empty).getResult(0);
  op.getDpsInitsMutable()[0].set(fill);
  rewriter.setInsertionPointAfter(op);
  auto identity = rewriter.getMultiDimIdentityMap(type.getRank());
  mlir::Value target =
      rewriter.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  llvm::SmallVector<mlir::utils::IteratorType> parallel(type.getRank(),
                                                        mlir::utils::IteratorType::parallel);
  llvm::SmallVector<mlir::AffineMap> maps(3, identity);
  auto combine = rewriter.create<linalg::GenericOp>(loc, mlir::TypeRange{type},
                                                    mlir::ValueRange{op.getResult(0), init},
                                                    mlir::ValueRange{target}, maps, parallel);
  mlir::Block *body = rewriter.createBlock(&combine.getRegion());
  for (int i = 0; i < 3; ++i)
    body->addArgument(type.getElementType(), loc);
  mlir::Operation *inner = rewriter.clone(*combiner);
  inner->setOperands({body->getArgument(0), body->getArgument(1)});
  rewriter.create<linalg::YieldOp>(loc, inner->getResult(0));
  rewriter.replaceAllUsesExcept(op.getResult(0), combine.getResult(0), combine);
}

} // namespace

void prepareFunction(mlir::func::FuncOp function) {
  mlir::IRRewriter rewriter(function.getContext());
  for (auto op : collect<mlir::tosa::ConcatOp>(function)) {
    if (!mlir::isa<mlir::RankedTensorType>(op.getType()))
      continue;
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(
        op, mlir::cast<mlir::RankedTensorType>(op.getType()), op.getAxis(), op.getInput1());
  }
}

void normalizeFunction(mlir::func::FuncOp function) {
  mlir::IRRewriter rewriter(function.getContext());
  for (auto op : collect<linalg::LinalgOp>(function)) {
    if (mlir::isa<linalg::FillOp>(op))
      continue;
    auto generic = mlir::dyn_cast<linalg::GenericOp>(*op);
    if (!generic) {
      rewriter.setInsertionPoint(op);
      auto generalized = linalg::generalizeNamedOp(rewriter, op);
      if (mlir::failed(generalized))
        continue; // The caller reports the operation.
      generic = *generalized;
    }
    generic = moveScalarsIn(rewriter, generic);
    writeToEmpty(rewriter, generic);
    startFromFill(rewriter, generic);
  }
  // Erases operations that have no users any more. The canonicalizer is not used, because it would
  // move the constants out of the bodies again.
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

} // namespace gantry::importer
