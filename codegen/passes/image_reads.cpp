// Implements the search for operators that read a tensor as an image.
#include "codegen/passes/image_reads.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Returns whether the loop that is the index of operand `use` in dimension 0 also determines an
/// index of another operand, as the loop over the batch of a matmul does.
bool sharesBatch(linalg::GenericOp reduction, OpOperand &use) {
  auto batch = dyn_cast<AffineDimExpr>(reduction.getMatchingIndexingMap(&use).getResult(0));
  return batch && llvm::any_of(reduction.getDpsInputOperands(), [&](OpOperand *other) {
           return other != &use &&
                  reduction.getMatchingIndexingMap(other).isFunctionOfDim(batch.getPosition());
         });
}

/// Returns whether a reduction reads its operand `use` as an image.
bool reducesImage(linalg::GenericOp reduction, OpOperand &use) {
  AffineMap map = reduction.getMatchingIndexingMap(&use);
  auto iterators = reduction.getIteratorTypesArray();
  auto reduces = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && iterators[dim.getPosition()] == utils::IteratorType::reduction;
  };
  bool windows = false, lastReduced = true;
  for (AffineExpr expr : map.getResults().drop_front(2)) {
    windows |= !isa<AffineDimExpr, AffineConstantExpr>(expr);
    lastReduced &= reduces(expr);
  }
  // A mean over all pixels counts as the read of an image. A matmul that reduces the last dimension
  // does not, except at rank 3, where this is the only dimension after dimension 1.
  return windows ||
         (!sharesBatch(reduction, use) &&
          (lastReduced || (reduces(map.getResult(1)) && !reduces(map.getResults().back()))));
}

/// Returns whether the result of `user` has, at the same or at shifted indices, elements that
/// depend on those of the operand `use`: `user` is a pad or elementwise or, if `afterMoves` is set,
/// a slice or a concatenation.
bool passesOn(Operation *user, OpOperand &use, bool afterMoves) {
  if (isa<tensor::PadOp>(user) ||
      (afterMoves && isa<tensor::ExtractSliceOp, tensor::ConcatOp, ConcatOp>(user)))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(user);
  return generic && generic.getNumReductionLoops() == 0 &&
         generic.getMatchingIndexingMap(&use).isIdentity();
}

/// Calls `body` with each use by an operator that reads one of the tensors as an image, directly or
/// through operations for which passesOn() holds, until `body` returns false. Does not pass through
/// the operation `ignored`.
void walkImageReads(llvm::ArrayRef<Value> tensors, Operation *ignored, bool afterMoves,
                    llvm::function_ref<bool(OpOperand &)> body) {
  llvm::SmallVector<Value> open(tensors);
  llvm::DenseSet<Value> seen(tensors.begin(), tensors.end());
  while (!open.empty()) {
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (generic && generic.getMatchingIndexingMap(&use).getNumResults() < 3)
        continue;
      if (generic && generic.getNumReductionLoops() > 0 && reducesImage(generic, use) && !body(use))
        return;
      if (user != ignored && passesOn(user, use, afterMoves) &&
          seen.insert(user->getResult(0)).second)
        open.push_back(user->getResult(0));
    }
  }
}

} // namespace

bool readsAsImage(Value value) {
  bool found = false;
  walkImageReads(value, /*ignored=*/nullptr, /*afterMoves=*/false, [&](OpOperand &) {
    found = true;
    return false;
  });
  return found;
}

void forEachImageRead(llvm::ArrayRef<Value> tensors, Operation *ignored,
                      llvm::function_ref<void(OpOperand &)> body) {
  walkImageReads(tensors, ignored, /*afterMoves=*/true, [&](OpOperand &use) {
    body(use);
    return true;
  });
}

} // namespace gantry::codegen
