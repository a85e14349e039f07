// Implements the pass place-concats (Passes.td). It replaces concatenations by views: the operators
// that compute the inputs then write into the result, and nothing is copied.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/image_reads.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/storage/placement.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/emitter/memory/memory_access.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace gantry::codegen {

#define GEN_PASS_DEF_PLACECONCATS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

// For the software device (a Vulkan driver that runs on the CPU), the pass choose-layouts stores
// images (image_reads.h) in blocks of this many channels.
constexpr int64_t kBlock = 4;

// The unit of the costs below is the time to copy one element. They were measured on the software
// device with benchmarks/kernels/concats.py. The first two are the additional costs of an access to
// an image that is not stored in blocks of channels because of the view.
// kUnblockedAccess is for images whose rows (or planes, for operators that read no windows) consist
// of whole vectors of four elements; kUnblockedOddAccess is for the others.
constexpr double kUnblockedAccess = 0.1, kUnblockedOddAccess = 0.6;
constexpr double kCopyDispatch = 7000; // The fixed cost of a copy's dispatch (kernel launch).
// A matmul or convolution loads an element of an operand once for each group of this many results
// that need the element.
constexpr double kColumnsPerAccess = 64;

bool isReshaped(Value tensor) { return llvm::any_of(tensor.getUsers(), isReshape); }

/// Returns whether the tensor is the result of an operator that computes its elements, or of a
/// shuffle (isShuffle()), whose result is always stored.
bool isComputed(Value tensor) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  return generic && (!isMovement(generic) || isShuffle(generic));
}

/// Returns whether an interleaving gantry.concat makes the tensor, `dim` is not one of its
/// interleaved dimensions (interleavedDims()), and the tensor does not lie in the storage of
/// another tensor yet.
bool isInterleaved(Value tensor, uint64_t dim) {
  const auto dims = interleavedDims(tensor);
  return !dims.empty() && !dims.contains(dim) && storageOf(tensor) == tensor;
}

/// Returns the product of the extents, where a dynamic extent counts as 1. All inputs of a
/// concatenation have the same dynamic extents.
int64_t staticElements(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    count *= ShapedType::isDynamic(extent) ? 1 : extent;
  return count;
}

/// Returns how many elements an operator loads from its operand.
double accessesOf(OpOperand &use) {
  auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!generic || generic.getNumReductionLoops() == 0)
    return assumedElements(typeOf(use.get()));
  const AffineMap map = generic.getMatchingIndexingMap(&use);
  double read = 1, columns = 1;
  for (auto [loop, extent] : llvm::enumerate(generic.getStaticLoopRanges()))
    (map.isFunctionOfDim(loop) ? read : columns) *= assumedExtent(extent);
  return read * std::ceil(columns / kColumnsPerAccess);
}

/// Returns the additional cost of an operator that reads an image if the image is not stored in
/// blocks of channels. `use` is the operator's operand, which is the image or is computed
/// from it (forEachImageRead()); `shape` is the image's shape.
double costWithoutBlocks(OpOperand &use, llvm::ArrayRef<int64_t> shape) {
  auto reader = cast<linalg::GenericOp>(use.getOwner());
  const bool hasWindows = !reader.getMatchingIndexingMap(&use).isProjectedPermutation();
  // The number of elements of a row, or of a plane if there are no windows, modulo 4 (a vector).
  int64_t run = shape.back() % kBlock;
  for (int64_t extent : shape.drop_front(2).drop_back())
    run = hasWindows ? run : run * (extent % kBlock) % kBlock;
  const bool isOdd = ShapedType::isDynamicShape(shape.drop_front(2)) || run != 0;
  return accessesOf(use) * (isOdd ? kUnblockedOddAccess : kUnblockedAccess);
}

/// Returns the additional cost of all accesses to a tensor if its rows do not begin at multiples of
/// four elements. `tensor` is an input or the result of `concat`.
double costOfOddRows(Value tensor, tensor::ConcatOp concat) {
  // An operator writes each input.
  double accesses = tensor == concat.getResult() ? 0 : assumedElements(typeOf(tensor));
  for (OpOperand &use : tensor.getUses())
    if (use.getOwner() != concat)
      accesses += accessesOf(use);
  return accesses * kOddRowAccess;
}

struct PlaceConcatsPass : impl::PlaceConcatsBase<PlaceConcatsPass> {
  using PlaceConcatsBase::PlaceConcatsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // The copies that the pass adds need the sizes of arguments at the start of the function.
    hoistArgumentDims(function.getBody().front());
    for (ConcatOp interleaved : function.getOps<ConcatOp>())
      copyInputs(interleaved);
    // The last concatenation is placed first. When an earlier one is placed, its inputs may then
    // lie in the storage of a later one already.
    llvm::SmallVector<tensor::ConcatOp> concats(function.getOps<tensor::ConcatOp>());
    for (tensor::ConcatOp concat : llvm::reverse(concats)) {
      const std::string reason = place(concat);
      if (!reason.empty())
        noteReason(concat, reason);
    }
  }

  /// Makes an input of an interleaving gantry.concat a copy if no operator can write it into the
  /// result: if no operator computes it, or if it is an input several times, because a tensor
  /// cannot lie at several places.
  static void copyInputs(ConcatOp interleaved) {
    llvm::DenseSet<Value> seen;
    OpBuilder builder(interleaved);
    for (OpOperand &use : interleaved->getOpOperands()) {
      Value input = use.get();
      const bool isFirst = seen.insert(input).second;
      const bool isWritten =
          input.getDefiningOp<linalg::GenericOp>() || input.getDefiningOp<ConcatOp>();
      if (isFirst && isWritten)
        continue;
      use.set(copyTensor(builder, interleaved.getLoc(), input));
      noteReason(use.get().getDefiningOp(), isFirst ? "no operator computes the tensor"
                                                    : "the tensor is interleaved several times");
    }
  }

  /// Returns why a concatenation cannot be a view, for reasons that do not depend on the operators
  /// that compute its inputs; empty if there is none.
  std::string reasonAgainst(tensor::ConcatOp concat) const {
    auto type = cast<RankedTensorType>(concat.getType());
    const auto dim = static_cast<int64_t>(concat.getDim());
    if (type.hasStaticShape() && type.getNumElements() == 0)
      return "it is empty";
    if (concat->hasOneUse() && isShuffle(*concat->user_begin()))
      return "a shuffle reads the inputs themselves";
    for (Value tensor : llvm::concat<Value>(llvm::SmallVector<Value>(concat.getInputs()),
                                            llvm::SmallVector<Value>{concat.getResult()}))
      if (ShapedType::isDynamicShape(typeOf(tensor).getShape().drop_front(dim)))
        return "the places of the inputs depend on a dynamic dimension";
    return {};
  }

  /// Returns the reason if a view would make the operators that access the tensors slower, by more
  /// than a copy costs; otherwise empty. `boxes` has the places (placement.h) of the tensors that
  /// the view would place in a storage: first the result, then the inputs. If the inputs lie in one
  /// storage already, there is only the result.
  std::string compareCosts(tensor::ConcatOp concat, llvm::ArrayRef<Placement> boxes) const {
    if (!blocks)
      return {};
    RankedTensorType type = typeOf(concat.getResult());
    const double copy = assumedElements(type) + kCopyDispatch;
    Value storage = boxes.front().storage;
    const bool inBlocks = mayBeBlocked(typeOf(storage)) && keepsBlocks(concat);
    double ofImages = 0, ofRows = 0;
    if (mayBeBlocked(type) && (!inBlocks || isReturned(storage))) {
      // If the program returns the result, the result has no blocks even without the view, so its
      // readers cost the same.
      llvm::SmallVector<Value> tensors(concat.getInputs());
      if (!isReturned(concat.getResult()))
        tensors.push_back(concat.getResult());
      forEachImageRead(tensors, concat, [&](OpOperand &use) {
        ofImages += costWithoutBlocks(use, type.getShape());
      });
    }
    for (const Placement &place : boxes)
      if (!inBlocks && losesVectors(place))
        ofRows += costOfOddRows(place.box, concat);
    if (ofImages + ofRows <= copy)
      return {};
    if (ofRows > ofImages)
      return "the rows of an input would not begin at multiples of four elements";
    return inBlocks
               ? "operators read the tensors as images, and an output is not stored in blocks of "
                 "four channels"
               : "operators read the tensors as images, which could not be stored in blocks of "
                 "four channels";
  }

  /// Returns whether a tensor of this type may be stored in blocks of four channels.
  static bool mayBeBlocked(RankedTensorType type) {
    return type.getRank() >= 3 && !type.isDynamicDim(1) && type.getDimSize(1) % kBlock == 0 &&
           llvm::any_of(type.getShape().drop_front(2), [](int64_t extent) { return extent != 1; });
  }

  /// Returns whether the inputs and the result can be stored in blocks of four channels if the
  /// concatenation is a view: all inputs consist of whole blocks, and no tensor is reshaped.
  static bool keepsBlocks(tensor::ConcatOp concat) {
    return !isReshaped(concat.getResult()) && llvm::all_of(concat.getInputs(), [](Value input) {
      return typeOf(input).getDimSize(1) % kBlock == 0 && !isReshaped(input);
    });
  }

  /// Returns whether place.box could be accessed as vectors of four elements of a row if it had a
  /// storage of its own, but not at this place in a larger storage.
  static bool losesVectors(const Placement &place) {
    auto type = typeOf(place.box);
    MLIRContext *context = type.getContext();
    return hasVectorView(type, LayoutAttr::get(context, {})) &&
           !hasVectorView(type, boxedLayout(place, {}, startOf(place, {})));
  }

  /// Returns whether all inputs lie in one storage already, one after another along the dimension
  /// of the concatenation.
  static bool isPlaced(tensor::ConcatOp concat) {
    std::optional<Placement> first;
    int64_t next = 0;
    for (Value input : concat.getInputs()) {
      if (isReshape(input.getDefiningOp()) || !isInSharedStorage(input))
        return false;
      Placement at = placementOf(input);
      if (typeOf(at.storage).getRank() != typeOf(input).getRank())
        return false;
      if (!first)
        first = at;
      Placement expected = *first;
      expected.offsets[concat.getDim()] += next;
      if (at.storage != expected.storage || at.offsets != expected.offsets)
        return false;
      next += typeOf(input).getDimSize(concat.getDim());
    }
    return true;
  }

  /// Replaces the operation by a gantry.concat if operators can write at least half of its bytes
  /// directly into the result. The other inputs are copied into the result. Returns the reason if
  /// the operation was not replaced; otherwise empty.
  std::string place(tensor::ConcatOp concat) {
    if (std::string reason = reasonAgainst(concat); !reason.empty())
      return reason;
    OpBuilder builder(concat);
    // If all inputs lie in one storage already, the result can be a view of a range of this
    // storage. This is not possible if the program returns the result, whose storage is then the
    // output's.
    const bool isPrefix = !isReturned(concat.getResult()) &&
                          !isInSharedStorage(concat.getResult()) && isPlaced(concat);
    llvm::SmallVector<Value> inputs(concat.getInputs());
    llvm::SmallBitVector copied(inputs.size());
    if (!isPrefix)
      if (std::string reason = chooseCopies(concat, copied); !reason.empty())
        return reason;
    if (std::string reason = checkBoxes(concat, isPrefix); !reason.empty())
      return reason;
    for (auto [i, input] : llvm::enumerate(inputs))
      if (copied.test(i)) {
        input = copyTensor(builder, concat.getLoc(), input);
        noteReason(input.getDefiningOp(), reasonForCopy(concat.getInputs()[i]));
      }
    auto view = builder.create<ConcatOp>(concat.getLoc(), concat.getType(), inputs,
                                         static_cast<int64_t>(concat.getDim()));
    copyTensorName(concat, view);
    concat.getResult().replaceAllUsesWith(view.getResult());
    concat.erase();
    return {};
  }

  /// Sets in `copied` the inputs that must be copied into the result. Returns the reason if the
  /// operation should stay a copy as a whole; otherwise empty.
  static std::string chooseCopies(tensor::ConcatOp concat, llvm::SmallBitVector &copied) {
    int64_t all = 0, direct = 0;
    llvm::DenseSet<Value> seen;
    for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
      const int64_t elements = staticElements(typeOf(input));
      const bool mayBeBox = ((isComputed(input) || input.getDefiningOp<tensor::ConcatOp>()) &&
                             !isInSharedStorage(input)) ||
                            isInterleaved(input, concat.getDim());
      const bool writable = mayBeBox && seen.insert(input).second && !isReturned(input);
      all += elements;
      direct += writable ? elements : 0;
      // An input that is a slice or permutation needs no further copy: the dispatch that moves its
      // elements writes them into the result.
      Operation *producer = input.getDefiningOp();
      const bool moves =
          producer && isComputeOp(producer) && !isa<ScatterOp>(producer) && input.hasOneUse();
      copied[i] = !writable && !moves;
    }
    return 2 * direct < all ? "no operator computes most of its inputs" : "";
  }

  /// Returns why an input that no operator writes into the result is copied.
  static std::string reasonForCopy(Value input) {
    if (isInSharedStorage(input))
      return "the tensor lies in another concatenation already";
    if (isReturned(input))
      return "the program returns the tensor";
    if (isa<BlockArgument>(input))
      return "the tensor is an input of the program";
    if (input.getDefiningOp<ScatterOp>())
      return "rows of the tensor are replaced where it lies";
    return "no operator computes the tensor";
  }

  /// Returns the reason if one of the tensors cannot be a box in the storage (placement.h), or if
  /// the view costs more than a copy; otherwise empty. isPrefix: the inputs lie in one storage
  /// already. For an input that is copied into the result, the box is the place of its copy.
  std::string checkBoxes(tensor::ConcatOp concat, bool isPrefix) const {
    Placement at = placementOf(isPrefix ? concat.getInputs().front() : concat.getResult());
    at.box = concat.getResult();
    llvm::SmallVector<Placement> boxes{at};
    for (Value input : concat.getInputs()) {
      if (isPrefix)
        break;
      at.box = input;
      boxes.push_back(at);
      at.offsets[concat.getDim()] += typeOf(input).getDimSize(concat.getDim());
    }
    for (const Placement &place : boxes)
      if (!isOneRange(place) && isReshaped(place.box))
        return "a reshape of an input needs its elements in one range";
    return compareCosts(concat, boxes);
  }

  static void noteReason(Operation *op, const std::string &reason) {
    op->setDiscardableAttr(GantryDialect::WhyAttrHelper::getNameStr(),
                           StringAttr::get(op->getContext(), reason));
  }
};

} // namespace
} // namespace gantry::codegen
