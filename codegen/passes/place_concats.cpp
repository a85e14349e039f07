// place-concats: see Passes.td.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACECONCATS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kBlock = 4; // Channels of a block (choose-layouts).

bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

/// Returns whether the tensor is the result of an operator that computes its elements, and not only
/// moves them.
bool isComputed(Value tensor) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  return generic && (generic.getNumReductionLoops() > 0 ||
                     !llvm::hasSingleElement(generic.getRegion().front()));
}

int64_t bytesOf(Value tensor, unsigned elementBits) {
  return cast<RankedTensorType>(tensor.getType()).getNumElements() * (elementBits / 8);
}

struct PlaceConcatsPass : impl::PlaceConcatsBase<PlaceConcatsPass> {
  using PlaceConcatsBase::PlaceConcatsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // The last one first: the inputs of an earlier one may then lie in a later one already.
    llvm::SmallVector<tensor::ConcatOp> concats(function.getOps<tensor::ConcatOp>());
    for (tensor::ConcatOp concat : llvm::reverse(concats))
      if (fits(concat))
        place(concat);
  }

  /// Returns whether every input is one range of the result that begins at a multiple of the
  /// alignment, and none of the tensors loses a layout by it.
  bool fits(tensor::ConcatOp concat) const {
    auto type = cast<RankedTensorType>(concat.getType());
    const auto dim = static_cast<int64_t>(concat.getDim());
    if (!type.hasStaticShape() || type.getNumElements() == 0 || isReturned(concat.getResult()) ||
        llvm::any_of(type.getShape().take_front(dim), [](int64_t extent) { return extent != 1; }))
      return false;
    // Narrowed f32 elements take two bytes.
    const unsigned bits =
        type.getElementType().isF32() && narrow ? 16 : std::max(8u, type.getElementTypeBitWidth());
    int64_t start = 0;
    for (Value input : concat.getInputs()) {
      if (!cast<RankedTensorType>(input.getType()).hasStaticShape() ||
          start % int64_t(alignment) != 0)
        return false;
      start += bytesOf(input, bits);
    }
    return !blocks || keepsBlocks(concat);
  }

  /// Returns whether the tensors can be stored in blocks of four channels if the result's type
  /// allows it: all inputs consist of whole blocks, and no tensor is reshaped.
  static bool keepsBlocks(tensor::ConcatOp concat) {
    auto type = cast<RankedTensorType>(concat.getType());
    if (type.getRank() < 3 || type.getDimSize(1) % kBlock != 0 ||
        llvm::all_of(type.getShape().drop_front(2), [](int64_t extent) { return extent == 1; }))
      return true;
    const auto isReshaped = [](Value tensor) { return llvm::any_of(tensor.getUsers(), isReshape); };
    return !isReshaped(concat.getResult()) && llvm::all_of(concat.getInputs(), [&](Value input) {
      return cast<RankedTensorType>(input.getType()).getDimSize(1) % kBlock == 0 &&
             !isReshaped(input);
    });
  }

  /// Returns whether all inputs lie in one storage already, one after another.
  static bool isPlaced(tensor::ConcatOp concat) {
    Value storage;
    int64_t next = 0;
    for (Value input : concat.getInputs()) {
      if (!isInSharedStorage(input))
        return false;
      const Placement at = placementOf(input);
      if (storage && (at.storage != storage || at.start != next))
        return false;
      storage = at.storage;
      next = at.start + cast<RankedTensorType>(input.getType()).getNumElements();
    }
    return true;
  }

  /// Replaces the operation by a gantry.concat if at least half of its bytes are then written in
  /// place. The other inputs are copied into the result.
  void place(tensor::ConcatOp concat) {
    OpBuilder builder(concat);
    llvm::SmallVector<Value> inputs(concat.getInputs());
    // If all inputs lie in one storage already, the result is a view of it.
    const bool isPrefix = !isInSharedStorage(concat.getResult()) && isPlaced(concat);
    if (!isPrefix) {
      int64_t all = 0, direct = 0;
      llvm::SmallBitVector copied(inputs.size());
      llvm::DenseSet<Value> seen;
      for (auto [i, input] : llvm::enumerate(inputs)) {
        const int64_t elements = cast<RankedTensorType>(input.getType()).getNumElements();
        const bool writable = (isComputed(input) || input.getDefiningOp<tensor::ConcatOp>()) &&
                              seen.insert(input).second && !isInSharedStorage(input) &&
                              !isReturned(input);
        all += elements;
        direct += writable ? elements : 0;
        // The dispatch that moves the elements of a slice or permutation is itself the copy.
        Operation *producer = input.getDefiningOp();
        const bool moves = producer && isComputeOp(producer) && input.hasOneUse();
        copied[i] = !writable && !moves;
      }
      if (2 * direct < all)
        return;
      for (auto [i, input] : llvm::enumerate(inputs))
        if (copied[i])
          input = copyTensor(builder, concat.getLoc(), input);
    }
    auto view = builder.create<ConcatOp>(concat.getLoc(), concat.getType(), inputs,
                                         static_cast<int64_t>(concat.getDim()));
    copyTensorName(concat, view);
    concat.getResult().replaceAllUsesWith(view.getResult());
    concat.erase();
  }
};

} // namespace
} // namespace gantry::codegen
