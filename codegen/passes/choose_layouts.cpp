// Implements the pass choose-layouts (Passes.td), which stores images [n, c, …] in blocks of four
// channels c, and left operands of large matmuls in panels of rows. A layout is the order of a
// tensor's elements in memory; codegen/tiling/layout.h describes blocks (channelsBlocked()) and
// panels (rowPanels()).
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/image_reads.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kBlock = 4;     // Channels of a block; columns of a group (rowPanels()).
constexpr int64_t kPanelRows = 8; // Rows of a panel.
// Rows whose distance in memory is a multiple of this compete for the same set of an L1 cache.
constexpr int64_t kSetStrideBytes = 4096;
// Panels are used for operands with at least this many rows, if a matmul reads each element of the
// operand at least this many times.
constexpr int64_t kMinPanelReuse = 64;

/// Returns whether the tensor is the result of a scatter (a dispatch that replaces rows of an
/// operand in place), or that operand. Such a tensor stays row-major.
bool isScattered(Value tensor) {
  auto dispatch = tensor.getDefiningOp<DispatchOp>();
  return (dispatch && dispatch.getScattered()) ||
         llvm::any_of(tensor.getUses(), [](OpOperand &use) {
           auto user = dyn_cast<DispatchOp>(use.getOwner());
           return user && user.getScattered() && user.getInPlace() == use.getOperandNumber();
         });
}

/// Returns whether a tensor may be stored in blocks of four channels: it has a suitable element
/// type (only bytes if `bytesOnly` is set), a multiple of four channels and several pixels, and
/// only dispatches and concatenations use it.
bool mayBlock(Value tensor, bool bytesOnly) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || type.getRank() < 3 || type.isDynamicDim(1) || type.getDimSize(1) % kBlock != 0 ||
      !(type.getElementType().isInteger(8) ||
        (!bytesOnly && (type.getElementType().isF32() || type.getElementType().isF16()))))
    return false;
  bool pixels = false;
  for (int64_t extent : type.getShape().drop_front(2))
    pixels |= extent != 1;
  return pixels && !isScattered(tensor) &&
         llvm::all_of(tensor.getUsers(), llvm::IsaPred<DispatchOp, ConcatOp>);
}

/// Returns whether a tensor's rows may be stored in panels: it is f32, only dispatches use it, it
/// has enough rows, and all rows begin in the same cache set.
bool mayPanel(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || type.getRank() < 2 || !type.hasStaticShape() || !type.getElementType().isF32() ||
      isScattered(tensor) || !llvm::all_of(tensor.getUsers(), llvm::IsaPred<DispatchOp>))
    return false;
  const int64_t rows = type.getDimSize(type.getRank() - 2), columns = type.getShape().back();
  return rows >= kMinPanelReuse && rows % kPanelRows == 0 && columns * 4 % kSetStrideBytes == 0;
}

/// Returns whether a use reads its tensor, directly or through elementwise operators, as the left
/// operand of a large matmul: the last dimension is reduced, the dimension before it is parallel,
/// and each element is read for many columns of the other operand.
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
         iterators[column.getPosition()] == utils::IteratorType::reduction &&
         reuse >= kMinPanelReuse;
}

/// Adds a dispatch at the block's start that copies `tensor`, an input of the program. `user` is a
/// dispatch that reads the input and gives the copy its location. `reason` tells users of the
/// compiler why the copy is made.
DispatchOp copyOf(Value tensor, Operation *user, llvm::StringRef reason) {
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(user->getBlock());
  Location loc = user->getLoc();
  auto dispatch = builder.create<DispatchOp>(loc, type, ValueRange(tensor), ValueRange(), Value(),
                                             llvm::ArrayRef<int64_t>(), llvm::ArrayRef<int64_t>());
  dispatch.setCopyReason(reason);
  Block &block = dispatch.getBody().front();
  Value source = block.getArgument(0);
  builder.setInsertionPointToStart(&block);
  builder.create<YieldOp>(loc, copyTensor(builder, loc, source));
  return dispatch;
}

/// Returns the argument of a dispatch's region that corresponds to an operand of the dispatch.
Value insideOf(OpOperand &use) {
  auto dispatch = cast<DispatchOp>(use.getOwner());
  return dispatch.getBody().front().getArgument(use.getOperandNumber());
}

/// Returns whether the channels (dimension 1) of a tensor in a dispatch's region are dimension 1 of
/// every tensor that is computed from it, up to the next reduction. An operator that divides an
/// image into windows, for example, moves the channels to another dimension.
bool keepsChannels(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (generic && generic.getNumReductionLoops() == 0) {
      const AffineMap map = generic.getMatchingIndexingMap(&use);
      if (map.getNumResults() > 1 && !isa<AffineConstantExpr>(map.getResult(1)) &&
          !map.getResult(1).isFunctionOfDim(1))
        return false;
    } else if (!isa<tensor::PadOp, tensor::ExtractSliceOp>(use.getOwner())) {
      return true;
    }
    return keepsChannels(use.getOwner()->getResult(0));
  });
}

/// The layouts of the tensors of one function.
class Layouts {
public:
  Layouts(func::FuncOp function, bool bytesOnly)
      : function_(function), bytesOnly_(bytesOnly),
        dispatches_(llvm::to_vector(function.getOps<DispatchOp>())) {}

  /// Chooses the tensors that are stored in blocks of four channels.
  void chooseBlocks() {
    for (BlockArgument input : function_.getArguments())
      if (mayBlock(input, bytesOnly_) && cast<RankedTensorType>(input.getType()).hasStaticShape() &&
          isImage(input))
        blocked_.insert(copyInput(input, "the input is stored in blocks of four channels"));
    findSharedStorages();
    for (DispatchOp dispatch : dispatches_) {
      Value result = dispatch.getResult(), storage = storageOf(result);
      if (blocked_.contains(storage) || !mayBlockAll(storage))
        continue;
      // A tensor that is computed from a blocked tensor of the same rank is blocked too, so that
      // loads and stores are both vectors.
      const bool isFromBlocks = llvm::any_of(dispatch->getOpOperands(), [&](OpOperand &use) {
        auto operand = dyn_cast<RankedTensorType>(use.get().getType());
        return operand && blocked_.contains(storageOf(use.get())) &&
               operand.getRank() == cast<RankedTensorType>(result.getType()).getRank() &&
               keepsChannels(insideOf(use));
      });
      if (isFromBlocks || llvm::any_of(tensorsIn(storage), isImage))
        blocked_.insert(storage);
    }
  }

  /// Chooses the left operands of matmuls that are stored in panels.
  void choosePanels() {
    for (DispatchOp dispatch : dispatches_)
      if (isPanel(dispatch.getResult()))
        panels_.insert(dispatch.getResult());
    for (BlockArgument input : function_.getArguments())
      if (isPanel(input))
        panels_.insert(copyInput(input, "the input is stored in panels of rows"));
  }

  /// Sets the layouts of all dispatches. Does nothing if every tensor is row-major.
  void apply() {
    if (blocked_.empty() && panels_.empty())
      return;
    Builder builder(function_.getContext());
    for (DispatchOp dispatch : dispatches_) {
      llvm::SmallVector<Attribute> layouts;
      for (Value operand : dispatch.getInputs())
        layouts.push_back(layoutOf(operand));
      layouts.push_back(layoutOf(dispatch.getResult()));
      dispatch.setLayoutsAttr(builder.getArrayAttr(layouts));
    }
  }

private:
  /// Finds the tensors of each storage that several tensors share, as in a concatenation
  /// (storage/placement.h). All tensors of a storage have the same layout.
  void findSharedStorages() {
    for (Operation &op : function_.getBody().front())
      if (isa<DispatchOp, ConcatOp>(op) && isInSharedStorage(op.getResult(0)))
        shared_[storageOf(op.getResult(0))].push_back(op.getResult(0));
  }
  llvm::SmallVector<Value> tensorsIn(Value storage) const {
    auto found = shared_.find(storage);
    return found == shared_.end() ? llvm::SmallVector<Value>{storage} : found->second;
  }
  /// Returns whether all tensors of a storage may be stored in blocks. Each of them then begins at
  /// the start of a block, because each has a multiple of four channels.
  bool mayBlockAll(Value storage) const {
    return llvm::all_of(tensorsIn(storage),
                        [&](Value tensor) { return mayBlock(tensor, bytesOnly_); });
  }

  /// Returns whether a dispatch reads the tensor as an image.
  static bool isImage(Value tensor) {
    return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
      return isa<DispatchOp>(use.getOwner()) && readsAsImage(insideOf(use));
    });
  }

  /// Returns whether the tensor may be stored in panels and every use of it reads it as the left
  /// operand of a large matmul.
  bool isPanel(Value tensor) const {
    return !bytesOnly_ && !blocked_.contains(storageOf(tensor)) && mayPanel(tensor) &&
           !tensor.use_empty() && llvm::all_of(tensor.getUses(), [](OpOperand &use) {
             Value inside = insideOf(use);
             return !inside.use_empty() && llvm::all_of(inside.getUses(), readsAsPanel);
           });
  }

  /// Adds a dispatch that copies an input of the program, because an input is row-major and only
  /// the copy can have another layout. All other dispatches then read the copy. Returns the copy.
  Value copyInput(BlockArgument input, llvm::StringRef reason) {
    DispatchOp copy = copyOf(input, *input.getUsers().begin(), reason);
    input.replaceAllUsesExcept(copy.getResult(), copy);
    dispatches_.insert(dispatches_.begin(), copy);
    return copy.getResult();
  }

  LayoutAttr layoutOf(Value tensor) const {
    const int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    llvm::SmallVector<int64_t> parts;
    if (panels_.contains(tensor))
      parts = rowPanels(rank, kPanelRows, kBlock);
    else if (blocked_.contains(storageOf(tensor)))
      parts = channelsBlocked(rank, kBlock);
    return LayoutAttr::get(tensor.getContext(), parts);
  }

  func::FuncOp function_;
  const bool bytesOnly_;
  llvm::SmallVector<DispatchOp> dispatches_;
  // The storages (storageOf() in placement.h) whose tensors are stored in blocks of four channels.
  llvm::DenseSet<Value> blocked_;
  llvm::DenseSet<Value> panels_; // The tensors that are stored in panels of rows.
  llvm::DenseMap<Value, llvm::SmallVector<Value>> shared_; // The tensors of each shared storage.
};

struct ChooseLayoutsPass : impl::ChooseLayoutsBase<ChooseLayoutsPass> {
  using ChooseLayoutsBase::ChooseLayoutsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Layouts layouts(function, bytesOnly);
    layouts.chooseBlocks();
    layouts.choosePanels();
    layouts.apply();
  }
};

} // namespace
} // namespace gantry::codegen
