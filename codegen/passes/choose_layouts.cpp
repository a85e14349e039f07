// choose-layouts: see Passes.td.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kBlock = 4;
constexpr int64_t kPanelRows = 8;
constexpr int64_t kSetStrideBytes =
    4096; // rows this far apart, or a multiple, share their places in a cache
constexpr int64_t kPanelReuse = 64; // how often a product reads an element, at least

/// Whether a tensor may be in blocks: four channels, several pixels, seen by dispatches alone.
bool mayBlock(Value tensor, bool bytesOnly) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || type.getRank() < 3 || type.isDynamicDim(1) || type.getDimSize(1) % kBlock != 0 ||
      !(type.getElementType().isInteger(8) ||
        (!bytesOnly && (type.getElementType().isF32() || type.getElementType().isF16()))))
    return false;
  bool pixels = false;
  for (int64_t extent : type.getShape().drop_front(2))
    pixels |= extent != 1;
  return pixels && llvm::all_of(tensor.getUsers(), llvm::IsaPred<DispatchOp>);
}

/// Whether any use of `value` (through pads, slices and elementwise ops) reads it as an image:
/// reducing over dimension 1, or over windows of the dimensions after it.
bool readsAsImage(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::PadOp>(user)) {
      if (readsAsImage(user->getResult(0)))
        return true;
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic)
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&use);
    if (map.getNumResults() < 3)
      continue;
    if (generic.getNumReductionLoops() == 0) {
      if (map.isIdentity() && readsAsImage(generic.getResult(0)))
        return true;
      continue;
    }
    auto iterators = generic.getIteratorTypesArray();
    auto reduces = [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && iterators[dim.getPosition()] == utils::IteratorType::reduction;
    };
    bool windows = false, lastReduced = true;
    for (AffineExpr expr : map.getResults().drop_front(2)) {
      windows |= !isa<AffineDimExpr, AffineConstantExpr>(expr);
      lastReduced &= reduces(expr);
    }
    // A mean over all pixels is read as an image, too; a product over the last dimension is none.
    if (windows || lastReduced || (reduces(map.getResult(1)) && !reduces(map.getResults().back())))
      return true;
  }
  return false;
}

/// Whether a tensor's rows may lie in panels: all of them begin at the same place in a cache.
bool mayPanel(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || type.getRank() < 2 || !type.hasStaticShape() || !type.getElementType().isF32() ||
      !llvm::all_of(tensor.getUsers(), llvm::IsaPred<DispatchOp>))
    return false;
  const int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
  return rows >= kPanelReuse && rows % kPanelRows == 0 && columns * 4 % kSetStrideBytes == 0;
}

/// Whether a use (through elementwise ops) is a product's left operand: of its last two dimensions
/// the last is summed over, and each element is read for many columns of the other operand.
bool readsAsPanel(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!generic)
    return false;
  AffineMap map = generic.getMatchingIndexingMap(&use);
  if (generic.getNumReductionLoops() == 0)
    return map.isIdentity() && !generic.getResult(0).use_empty() &&
           llvm::all_of(generic.getResult(0).getUses(), readsAsPanel);
  const unsigned rank = map.getNumResults();
  auto row = dyn_cast<AffineDimExpr>(map.getResult(rank - 2));
  auto column = dyn_cast<AffineDimExpr>(map.getResult(rank - 1));
  if (!row || !column || generic.getNumReductionLoops() != 1 || generic.getNumDpsInputs() < 2)
    return false;
  auto iterators = generic.getIteratorTypesArray();
  int64_t reuse = 1;
  for (auto [dim, extent] : llvm::enumerate(generic.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(dim))
      reuse *= extent;
  return iterators[row.getPosition()] == utils::IteratorType::parallel &&
         iterators[column.getPosition()] == utils::IteratorType::reduction && reuse >= kPanelReuse;
}

/// A dispatch at the block's start that copies a tensor.
DispatchOp copyOf(Value tensor, Operation *user) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(user->getBlock());
  Location loc = user->getLoc();
  auto dispatch = builder.create<DispatchOp>(
      loc, type, ValueRange(tensor), ValueRange(), Value(), builder.getDenseI64ArrayAttr({}),
      builder.getDenseI64ArrayAttr({}), SymbolRefAttr(), IntegerAttr());
  Block *block = new Block();
  dispatch.getBody().push_back(block);
  Value source = block->addArgument(type, loc);
  builder.setInsertionPointToStart(block);
  Value empty = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  llvm::SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto moved = builder.create<linalg::GenericOp>(
      loc, type, source, empty, llvm::ArrayRef<AffineMap>{identity, identity}, loops,
      [](OpBuilder &at, Location inner, ValueRange values) {
        at.create<linalg::YieldOp>(inner, values.front());
      });
  builder.create<YieldOp>(loc, moved.getResult(0));
  return dispatch;
}

struct ChooseLayoutsPass : impl::ChooseLayoutsBase<ChooseLayoutsPass> {
  using ChooseLayoutsBase::ChooseLayoutsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    llvm::DenseSet<Value> blocked, panels;
    auto dispatches = llvm::to_vector(function.getOps<DispatchOp>());
    auto seed = [&](Value tensor) {
      for (OpOperand &use : tensor.getUses()) {
        auto dispatch = dyn_cast<DispatchOp>(use.getOwner());
        if (dispatch &&
            readsAsImage(dispatch.getBody().front().getArgument(use.getOperandNumber())))
          return true;
      }
      return false;
    };
    // Inputs of the program are in rows: what reads one as an image reads a copy.
    for (BlockArgument input : function.getArguments()) {
      if (!mayBlock(input, bytesOnly) ||
          !cast<RankedTensorType>(input.getType()).hasStaticShape() || !seed(input))
        continue;
      DispatchOp copy = copyOf(input, *input.getUsers().begin());
      input.replaceAllUsesExcept(copy.getResult(), copy);
      blocked.insert(copy.getResult());
      dispatches.insert(dispatches.begin(), copy);
    }
    for (DispatchOp dispatch : dispatches) {
      Value result = dispatch.getResult();
      if (!mayBlock(result, bytesOnly))
        continue;
      // What comes from blocks of the same rank stays in blocks, so that copies are vectors.
      bool fromBlocks = llvm::any_of(dispatch.getInputs(), [&](Value operand) {
        return blocked.contains(operand) && cast<RankedTensorType>(operand.getType()).getRank() ==
                                                cast<RankedTensorType>(result.getType()).getRank();
      });
      if (fromBlocks || seed(result))
        blocked.insert(result);
    }
    // Left operands of products: where nothing else reads them.
    auto isPanel = [&](Value tensor) {
      return !bytesOnly && !blocked.contains(tensor) && mayPanel(tensor) && !tensor.use_empty() &&
             llvm::all_of(tensor.getUses(), [](OpOperand &use) {
               auto dispatch = cast<DispatchOp>(use.getOwner());
               Value inside = dispatch.getBody().front().getArgument(use.getOperandNumber());
               return !inside.use_empty() && llvm::all_of(inside.getUses(), readsAsPanel);
             });
    };
    for (DispatchOp dispatch : dispatches)
      if (isPanel(dispatch.getResult()))
        panels.insert(dispatch.getResult());
    for (BlockArgument input : function.getArguments()) {
      if (!isPanel(input))
        continue;
      DispatchOp copy = copyOf(input, *input.getUsers().begin());
      input.replaceAllUsesExcept(copy.getResult(), copy);
      panels.insert(copy.getResult());
      dispatches.insert(dispatches.begin(), copy);
    }
    if (blocked.empty() && panels.empty())
      return;
    Builder builder(&getContext());
    auto layoutOf = [&](Value tensor) -> Attribute {
      const int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
      if (panels.contains(tensor))
        return builder.getDenseI64ArrayAttr(rowPanels(rank, kPanelRows, kBlock));
      if (!blocked.contains(tensor))
        return builder.getDenseI64ArrayAttr({});
      return builder.getDenseI64ArrayAttr(channelsBlocked(rank, kBlock));
    };
    for (DispatchOp dispatch : dispatches) {
      llvm::SmallVector<Attribute> layouts;
      for (Value operand : dispatch.getInputs())
        layouts.push_back(layoutOf(operand));
      layouts.push_back(layoutOf(dispatch.getResult()));
      dispatch->setDiscardableAttr("gantry.layouts", builder.getArrayAttr(layouts));
    }
  }
};

} // namespace
} // namespace gantry::codegen
