// Implements the pass place-scatters (Passes.td), which lets a state grow in place, and copies the
// tensors whose rows a gantry.scatter may not replace in place.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/storage/state_growth.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACESCATTERS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct PlaceScattersPass : impl::PlaceScattersBase<PlaceScattersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    hoistArgumentDims(function.getBody().front()); // Copies of arguments need their sizes.
    for (BlockArgument argument : function.getArguments())
      if (tensor::ConcatOp concat = growthOf(argument); concat && isContiguous(concat))
        grow(concat);
    llvm::SmallVector<ScatterOp> scatters(function.getOps<ScatterOp>());
    // The last scatter is handled first: a chain (lastOfChain()) ends before a scatter whose
    // operand is copied, and whyCopied() for the earlier scatters depends on the end of their
    // chain.
    for (ScatterOp scatter : llvm::reverse(scatters)) {
      const llvm::StringRef reason = whyCopied(scatter);
      if (reason.empty())
        continue;
      OpBuilder builder(scatter);
      Value copy = copyTensor(builder, scatter.getLoc(), scatter.getData());
      copy.getDefiningOp()->setDiscardableAttr(GantryDialect::WhyAttrHelper::getNameStr(),
                                               builder.getStringAttr(reason));
      scatter.getDataMutable().assign(copy);
    }
  }

  /// Returns whether the new rows of a state that grows follow the old ones in memory.
  static bool isContiguous(tensor::ConcatOp concat) {
    return llvm::all_of(concat.getType().getShape().take_front(concat.getDim()),
                        [](int64_t extent) { return extent == 1; });
  }

  /// Replaces the concatenation by a gantry.scatter that writes the new rows after those of the
  /// state.
  static void grow(tensor::ConcatOp concat) {
    OpBuilder builder(concat);
    const Location loc = concat.getLoc();
    const auto dim = static_cast<int64_t>(concat.getDim());
    Value state = concat.getInputs().front(), updates = concat.getInputs()[1];
    if (concat.getInputs().size() > 2)
      updates = builder.create<tensor::ConcatOp>(loc, dim, concat.getInputs().drop_front());
    // In the state, the dimensions up to the concatenated one become one, that of the rows.
    const int64_t rank = concat.getType().getRank();
    llvm::SmallVector<ReassociationIndices> groups(rank - dim);
    for (int64_t d = 0; d < rank; ++d)
      groups[std::max<int64_t>(0, d - dim)].push_back(d);
    Value data = state;
    if (dim > 0)
      data = builder.create<tensor::CollapseShapeOp>(loc, state, groups);
    const auto sizes = tensorDims(builder, concat.getResult());
    const auto sizeOf = [&](OpFoldResult size) {
      return getValueOrCreateConstantIndexOp(builder, loc, size);
    };
    auto extents = tensorDims(builder, updates);
    extents.truncate(dim + 1);
    Value ends = positions(builder, loc, sizeOf(tensorDims(builder, state)[dim]), extents);
    auto scatter =
        builder.create<ScatterOp>(loc, data.getType(), updates, data, ends, sizeOf(sizes[dim]));
    copyTensorName(concat, scatter);
    Value result = scatter.getResult();
    if (dim > 0)
      result = builder.create<tensor::ExpandShapeOp>(loc, concat.getType(), result, groups, sizes);
    concat.getResult().replaceAllUsesWith(result);
    concat.erase();
  }

  /// Returns the tensor of the positions from `first` on, which count along the last dimension.
  static Value positions(OpBuilder &builder, Location loc, Value first,
                         llvm::ArrayRef<OpFoldResult> extents) {
    Value empty = builder.create<tensor::EmptyOp>(loc, extents, builder.getI32Type());
    const auto rank = static_cast<unsigned>(extents.size());
    llvm::SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    return builder
        .create<linalg::GenericOp>(loc, TypeRange(empty.getType()), ValueRange(), empty,
                                   builder.getMultiDimIdentityMap(rank), loops,
                                   [&](OpBuilder &at, Location inside, ValueRange) {
                                     Value row = at.create<linalg::IndexOp>(inside, rank - 1);
                                     Value position = at.create<arith::AddIOp>(inside, first, row);
                                     Value narrow = at.create<arith::IndexCastOp>(
                                         inside, at.getI32Type(), position);
                                     at.create<linalg::YieldOp>(inside, narrow);
                                   })
        .getResult(0);
  }

  /// Returns the last scatter of the chain that begins with this one. Each scatter of a chain
  /// replaces rows of the result of the one before.
  static ScatterOp lastOfChain(ScatterOp scatter) {
    while (true) {
      auto next = dyn_cast_or_null<ScatterOp>(onlyUserOf(scatter.getResult()));
      if (!next || viewedTensor(next.getData()) != scatter.getResult())
        return scatter;
      scatter = next;
    }
  }

  /// Returns why the rows cannot be written into the scatter's operand `data`, so that it must be
  /// copied first; empty if they can.
  static llvm::StringRef whyCopied(ScatterOp scatter) {
    Value data = viewedTensor(scatter.getData());
    if (isReturned(data))
      return "the program returns the tensor before its rows are replaced";
    if (onlyUserOf(data) != scatter.getOperation())
      return "the tensor is used besides the replacement of its rows";
    if (isInSharedStorage(data))
      return "the tensor lies in the storage of a concatenation";
    if (auto argument = dyn_cast<BlockArgument>(data))
      return whyInputCopied(scatter, argument);
    if (!isComputeOp(data.getDefiningOp()) || isFreeValue(data))
      return "the tensor is a constant";
    return {};
  }

  /// Returns the result of whyCopied() for data that is an input of the program.
  static llvm::StringRef whyInputCopied(ScatterOp scatter, BlockArgument input) {
    auto function = cast<func::FuncOp>(scatter->getParentOp());
    ScatterOp last = lastOfChain(scatter);
    const bool returned = isReturned(last.getResult());
    if (auto state = argumentAttribute<StateAttr>(function, input.getArgNumber()))
      return isNextOf(state, function, last.getResult())
                 ? ""
                 : "the input is a state that keeps its value";
    auto port = argumentAttribute<PortAttr>(function, input.getArgNumber());
    if (!port || !port.getDonated())
      return "the caller keeps the input";
    return returned ? "the result lies in the caller's output" : "";
  }
};

} // namespace
} // namespace gantry::codegen
