// Implements FusionGroups, which decides which operators become one dispatch (kernel launch).
#include "codegen/passes/fusion_groups.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/linalg_patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

namespace gantry::codegen {

using namespace mlir;

bool isComputeOp(Operation *op) {
  return isa<linalg::GenericOp, tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp, ScatterOp>(
      op);
}

/// Returns whether the operator's result must lie in memory (gantry.stored). Such an operator is
/// never inlined.
static bool isStored(Operation *op) {
  return op->hasAttr(GantryDialect::StoredAttrHelper::getNameStr());
}

bool movesElements(Operation *op) {
  if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0 &&
         llvm::hasSingleElement(generic.getRegion().front());
}

bool isMovement(Operation *op) { return !isStored(op) && movesElements(op); }

bool isShuffle(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isMovement(op))
    return false;
  bool found = false;
  for (AffineMap map : generic.getIndexingMapsArray())
    map.walkExprs([&](AffineExpr expr) { found |= expr.getKind() == AffineExprKind::Mod; });
  return found;
}

bool isUnfolding(linalg::GenericOp op) {
  if (!isMovement(op) || op.getNumDpsInputs() != 1 ||
      !op.getIndexingMapsArray().back().isIdentity())
    return false;
  const AffineMap map = op.getIndexingMapsArray().front();
  const auto extents = cast<RankedTensorType>(op.getInputs().front().getType()).getShape();
  const auto parts = map.getResults();
  unsigned next = 0; // The next index must be this loop, or this loop divided by an extent.
  bool divides = false;
  for (size_t d = 0; d < parts.size(); ++d, ++next) {
    const AffineExpr loop = getAffineDimExpr(next, op.getContext());
    if (parts[d] == loop)
      continue;
    if (d + 1 == parts.size() || ShapedType::isDynamic(extents[d + 1]) || extents[d + 1] == 0 ||
        parts[d] != loop.floorDiv(extents[d + 1]) || parts[d + 1] != loop % extents[d + 1])
      return false;
    divides = true;
    ++d;
  }
  return divides && next == map.getNumDims();
}

bool isFreeValue(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !isa<RankedTensorType>(constant.getType()) ||
           isa<SplatElementsAttr>(constant.getValue());
  return false;
}

llvm::SetVector<Value> usedValues(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Region *region = operand.getParentRegion();
      if (region == op->getParentRegion() || region->isProperAncestor(op->getParentRegion()))
        values.insert(operand);
    }
  });
  return values;
}

namespace {

constexpr int kMaxCheapOps = 4;        // Limit on the operations of a cheap operator (isCheap()).
constexpr int64_t kMaxValues = 256;    // The longest row of an attention's values, in elements.
constexpr int64_t kTypicalExtent = 64; // The assumed size of a dynamic dimension.

// A prologue is an elementwise operator that a matmul's kernel evaluates while it reads an operand.
// The kernel evaluates an element once for every kUsesPerEvaluation results that use the element.
// Storing an element and loading it again costs as much as kOperationsPerStoredElement scalar
// operations (measured by benchmarks/kernels/prologues.py on a Vulkan driver that runs on the CPU).
constexpr int64_t kUsesPerEvaluation = 64, kOperationsPerStoredElement = 40;

bool isReduction(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0;
}

/// Returns whether an operator is cheap enough to be computed again each time that a broadcast
/// reads an element of its result.
bool isCheap(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return true;
  int count = 0;
  for (Operation &inner : generic.getRegion().front()) {
    if (isa<tensor::ExtractOp>(inner) ||
        (isa<math::MathDialect>(inner.getDialect()) &&
         !isa<math::AbsFOp, math::SqrtOp, math::RsqrtOp, math::FloorOp, math::CeilOp,
              math::RoundEvenOp, math::FmaOp>(inner)))
      return false;
    ++count;
  }
  return count <= kMaxCheapOps + 1; // The yield counts, too.
}

/// Returns whether the operator dequantizes a constant: it computes wider elements from a constant
/// by arithmetic. Repeating the arithmetic at every load costs less than loading the wider result.
bool isWidening(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() > 0 || generic.getNumResults() != 1)
    return false;
  auto bits = [](Value value) -> unsigned {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  };
  bool narrow = false;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    if (!operand->get().getDefiningOp<arith::ConstantOp>())
      return false;
    narrow |= generic.getMatchingIndexingMap(operand).isIdentity() && bits(operand->get()) > 0 &&
              bits(operand->get()) < bits(generic.getResult(0));
  }
  return narrow && llvm::all_of(generic.getRegion().front(), [](Operation &inner) {
           return isa<arith::ArithDialect>(inner.getDialect()) || isa<linalg::YieldOp>(inner);
         });
}

/// Returns whether the operator is a gate: it computes an operand of the reduction `user` by
/// multiplying a tensor by a factor that varies only along the reduction, as in
/// squeeze-and-excitation. If the gate is inlined, the kernel of `user` multiplies each element
/// once per tile, and the product is not stored.
bool isGateOf(Operation *op, Operation *user) {
  auto gate = dyn_cast<linalg::GenericOp>(op);
  auto reduction = dyn_cast<linalg::GenericOp>(user);
  if (!gate || !reduction || gate.getNumReductionLoops() > 0 || gate.getNumResults() != 1 ||
      gate.getNumDpsInputs() != 2 || reduction.getNumReductionLoops() == 0)
    return false;
  auto yield = cast<linalg::YieldOp>(gate.getRegion().front().getTerminator());
  auto product = yield.getOperand(0).getDefiningOp<arith::MulFOp>();
  if (!product || &gate.getRegion().front().front() != product.getOperation())
    return false;
  auto use = llvm::find_if(reduction->getOpOperands(),
                           [&](OpOperand &operand) { return operand.get() == gate.getResult(0); });
  if (use == reduction->getOpOperands().end() || reduction.isDpsInit(&*use))
    return false;
  auto extents = reduction.getStaticLoopRanges();
  auto iterators = reduction.getIteratorTypesArray();
  AffineMap read = reduction.getMatchingIndexingMap(&*use), factors;
  for (OpOperand *operand : gate.getDpsInputOperands()) {
    AffineMap map = gate.getMatchingIndexingMap(operand);
    if (map.isIdentity())
      continue;
    if (operand->get().getDefiningOp<arith::ConstantOp>())
      return false; // For example the scale of a normalization, which joins its dispatch.
    factors = map;
  }
  if (!factors || !gate.getIndexingMapsArray().back().isIdentity() ||
      !factors.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  bool summed = false;
  for (auto [position, expr] : llvm::enumerate(read.getResults())) {
    unsigned dims = 0; // The number of loops in this index, without those of extent 1.
    bool reduces = false;
    expr.walk([&](AffineExpr inner) {
      auto dim = dyn_cast<AffineDimExpr>(inner);
      if (!dim || extents[dim.getPosition()] == 1)
        return;
      ++dims;
      reduces |= iterators[dim.getPosition()] == utils::IteratorType::reduction;
    });
    if (dims > 1)
      return false; // The user reads windows.
    const bool varies = factors.isFunctionOfDim(static_cast<unsigned>(position));
    if (dims == 1 && varies && !reduces)
      return false;
    summed |= dims == 1 && varies && reduces;
  }
  return summed;
}

/// Returns whether the elementwise operator is cheap, and reads each operand that is not a
/// constant only at the index of the result's element. The same must hold for each elementwise
/// operator before it that has no other reader; otherwise that operator's result would have to be
/// stored. A normalization, which broadcasts its mean, does not qualify: it becomes its own kernel.
bool isCheapChain(linalg::GenericOp op) {
  return isCheap(op) && llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
           if (!op.getMatchingIndexingMap(operand).isIdentity())
             return operand->get().getDefiningOp<arith::ConstantOp>() != nullptr;
           auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
           return !producer || !producer->hasOneUse() || !isElementwise(producer) ||
                  isCheapChain(producer);
         });
}

/// Returns whether the operator can be evaluated where a reduction stores its result: it is the
/// only reader of the reduction, directly or through elementwise operators.
bool isEpilogue(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    return producer && producer->hasOneUse() && op.getMatchingIndexingMap(operand).isIdentity() &&
           (producer.getNumReductionLoops() > 0 ||
            (isElementwise(producer) && isEpilogue(producer)));
  });
}

/// Returns the number of scalar operations that compute one element of the operator's result. This
/// includes those of the elementwise operators before it that have no other reader.
int64_t operationsOf(linalg::GenericOp op) {
  auto count = static_cast<int64_t>(op.getRegion().front().getOperations().size()) - 1;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    if (producer && producer->hasOneUse() && isElementwise(producer))
      count += operationsOf(producer);
  }
  return count;
}

/// Returns how many results of the reduction use one element of the operand. A dynamic extent
/// counts as kTypicalExtent.
int64_t usesOfElement(linalg::GenericOp reduction, AffineMap operand) {
  int64_t uses = 1;
  for (auto [d, extent] : llvm::enumerate(reduction.getStaticLoopRanges()))
    if (!operand.isFunctionOfDim(static_cast<unsigned>(d)))
      uses *= ShapedType::isDynamic(extent) ? kTypicalExtent : extent;
  return uses;
}

/// Returns whether the matmul `user`, or the matmul after the elementwise operator `user`, should
/// evaluate the elementwise operator while it reads the operator's result. The operator must be
/// cheap. `user` must read no windows, because it would evaluate an element once for each window
/// that contains the element. The operator must not be the epilogue of an earlier reduction
/// (isEpilogue()). Evaluating an element of the operator's result in each tile that uses the
/// element must not cost more than storing the element and loading it again.
bool isPrologueOf(Operation *op, Operation *user) {
  auto producer = dyn_cast<linalg::GenericOp>(op);
  auto reduction = dyn_cast<linalg::GenericOp>(user);
  if (!producer || !reduction || !isElementwise(producer) || !isCheapChain(producer) ||
      isEpilogue(producer))
    return false;
  if (isElementwise(reduction)) // The operator is evaluated where its reader is evaluated.
    return user->hasOneUse() && isPrologueOf(user, *user->user_begin());
  if (!factorsOf(reduction))
    return false;
  auto use = llvm::find_if(reduction->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() == producer.getResult(0);
  });
  if (use == reduction->getOpOperands().end() || reduction.isDpsInit(&*use))
    return false;
  const auto extents = reduction.getStaticLoopRanges();
  const AffineMap map = reduction.getMatchingIndexingMap(&*use);
  const int64_t evaluations =
      std::max<int64_t>(1, usesOfElement(reduction, map) / kUsesPerEvaluation);
  if (operationsOf(producer) * evaluations > kOperationsPerStoredElement)
    return false;
  return llvm::all_of(map.getResults(), [&](AffineExpr index) {
    int loops = 0;
    index.walk([&](AffineExpr inner) {
      if (auto dim = dyn_cast<AffineDimExpr>(inner))
        loops += extents[dim.getPosition()] != 1;
    });
    return loops <= 1;
  });
}

/// Returns whether the operation is a slice that begins at index 0 of each dimension and has step
/// 1. Such slices remove padding at the ends of dimensions.
bool isCornerSlice(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice && slice.getSourceType().getRank() == slice.getType().getRank() &&
         llvm::all_of(slice.getMixedOffsets(),
                      [](OpFoldResult at) { return isConstantIntValue(at, 0); }) &&
         slice.hasUnitStride();
}

} // namespace

FusionGroups::FusionGroups(Block &block, unsigned maxBuffers, uint64_t scoreBytes)
    : block_(block), maxBuffers_(maxBuffers), scoreBytes_(scoreBytes) {
  findAttentions();
  for (Operation &op : llvm::reverse(block)) {
    if (isComputeOp(&op)) {
      decide(&op);
      continue;
    }
    // Inside a dispatch, a fill needs no memory. It is stored in memory if an operation that does
    // not become part of a dispatch reads it.
    const bool isStored =
        isa<linalg::FillOp>(op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
          return !isComputeOp(block.findAncestorOpInBlock(*user));
        });
    if (isStored)
      addGroup(&op);
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const auto &a, const auto &b) { return a->root->isBeforeInBlock(b->root); });
}

bool FusionGroups::isMember(Operation *op, const FusionGroup &group) const {
  if (op == group.root)
    return true;
  auto found = decisions_.find(op);
  return found != decisions_.end() && !found->second.isRoot &&
         llvm::is_contained(found->second.groups, &group);
}

// ---- Attentions --------------------------------------------------------------------------------

/// Returns the tensors that the operator reads from memory. For the last matmul of an attention,
/// returns the tensors that the whole attention reads.
llvm::SetVector<Value> FusionGroups::leavesOf(Operation *op) const {
  llvm::SetVector<Value> leaves;
  auto add = [&](Operation *reader) {
    for (Value value : usedValues(reader))
      if (isTensor(value) && !isFreeValue(value) &&
          !attentionMembers_.contains(value.getDefiningOp()))
        leaves.insert(value);
  };
  add(op);
  if (auto attention = attentions_.find(op); attention != attentions_.end())
    for (linalg::GenericOp member : attention->second.members)
      add(member);
  return leaves;
}

/// Returns the reason why an attention does not become one kernel; empty if it does.
std::string FusionGroups::reasonAgainst(const Attention &attention) const {
  linalg::GenericOp product = attention.product;
  const int64_t values = product.getStaticLoopRanges()[attention.valueLoop()];
  if (ShapedType::isDynamic(values) || values > kMaxValues)
    return "rows of " +
           (ShapedType::isDynamic(values) ? "an unknown number of" : std::to_string(values)) +
           " values do not fit into registers (at most " + std::to_string(kMaxValues) + ")";
  uint64_t bytes = 4;
  for (int64_t extent : cast<RankedTensorType>(attention.scores.getType()).getShape())
    bytes *= static_cast<uint64_t>(ShapedType::isDynamic(extent) ? kTypicalExtent : extent);
  if (bytes < scoreBytes_)
    return "scores of " + std::to_string(bytes) + " bytes fit into a cache of " +
           std::to_string(scoreBytes_) + " bytes";
  if (const size_t buffers = leavesOf(product).size() + 1; buffers > maxBuffers_)
    return std::to_string(buffers) + " buffers, more than the limit of " +
           std::to_string(maxBuffers_);
  return {};
}

void FusionGroups::findAttentions() {
  for (auto product : block_.getOps<linalg::GenericOp>()) {
    auto attention = attentionOf(product);
    if (!attention)
      continue;
    auto before = attentionMembers_;
    attentionMembers_.insert(attention->members.begin(), attention->members.end());
    const auto found = attentions_.try_emplace(product, *attention).first;
    const std::string reason = reasonAgainst(*attention);
    if (reason.empty())
      continue;
    attentions_.erase(found);
    attentionMembers_ = std::move(before);
    product->setDiscardableAttr(
        GantryDialect::WhyAttrHelper::getNameStr(),
        StringAttr::get(product.getContext(), "no kernel for the whole attention: " + reason));
  }
}

// ---- How a value is read -----------------------------------------------------------------------

/// Adds to `use` how `user` would read the elements of `value` if the producer of `value` were
/// inlined. context: the decision on `user`.
void FusionGroups::readBy(Operation *user, Value value, const Decision &context, Use &use) const {
  Reuse level = context.reuse;
  bool bijective = context.isDirect;
  if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
    const unsigned loops = generic.getNumLoops();
    bool found = false;
    for (OpOperand &operand : generic->getOpOperands()) {
      if (operand.get() != value)
        continue;
      found = true;
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      const bool isInit = generic.isDpsInit(&operand);
      const bool permutation =
          (map.isPermutation() && map.getNumDims() == loops) || isUnfolding(generic);
      if (isReduction(user)) {
        bijective &= isInit;
        if (!permutation && !isInit)
          level = Reuse::kMany;
      } else {
        bijective &= permutation;
        if (!permutation && (map.getNumResults() < loops || !map.isProjectedPermutation()))
          level = std::max(level, Reuse::kBroadcast);
      }
    }
    if (!found) { // The body captures `value` and may read any element, any number of times.
      bijective = false;
      level = Reuse::kMany;
    }
  } else if (auto scatter = dyn_cast<ScatterOp>(user)) {
    if (scatter.getUpdates() != value) // Each element of the updates (new rows) is written once.
      bijective = false;
  } else if (!isCornerSlice(user)) { // An element of a corner is read once, at the same index.
    bijective = false;
    if (isa<tensor::ConcatOp>(user))
      level = Reuse::kMany;
  }
  use.isDirect &= bijective;
  use.reuse = std::max(use.reuse, level);
}

/// Returns the elements of `value` that the user needs for a row of the root. context: the decision
/// on `user`.
FusionGroups::Place FusionGroups::placeOf(Operation *user, Value value,
                                          const Decision &context) const {
  auto generic = dyn_cast<linalg::GenericOp>(user);
  if (!generic || context.place == Place::kAnywhere)
    return Place::kAnywhere;
  std::optional<Place> place;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (operand.get() != value)
      continue;
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    Place here = Place::kAnywhere;
    if (isRowReduction(generic))
      here =
          map.isIdentity() && !generic.isDpsInit(&operand) ? Place::kSamePlace : Place::kAnywhere;
    else if (isElementwise(generic) && map.isIdentity())
      here = context.place;
    else if (isElementwise(generic) && isRowMap(map) && context.place == Place::kSamePlace)
      here = Place::kPerRow;
    if (place.value_or(here) != here)
      return Place::kAnywhere;
    place = here;
  }
  return place.value_or(Place::kAnywhere);
}

/// Returns how all users together would read a value. None if a user is not an operator of a
/// dispatch, or if a user is a scatter that overwrites the value.
std::optional<FusionGroups::Use> FusionGroups::useOf(Value value) {
  llvm::SetVector<Operation *> users;
  for (Operation *user : value.getUsers())
    users.insert(block_.findAncestorOpInBlock(*user));
  Use use;
  use.userCount = users.size();
  use.firstUser = users.front();
  std::optional<Place> place;
  for (Operation *user : users) {
    auto scatter = dyn_cast<ScatterOp>(user);
    if (!isComputeOp(user) || (scatter && scatter.getData() == value))
      return std::nullopt;
    const Decision &context = decisions_[user];
    use.groups.insert(context.groups.begin(), context.groups.end());
    readBy(user, value, context, use);
    const Place here = placeOf(user, value, context);
    place = place.value_or(here) == here ? here : Place::kAnywhere;
  }
  use.place = place.value_or(Place::kAnywhere);
  return use;
}

// ---- Decisions ---------------------------------------------------------------------------------

/// Returns whether an operator joins a group as a part of a softmax or a normalization. `place`
/// says which elements of its result a row needs. It joins if it is a reduction over the last
/// dimension, which is as long as a row of the root, and `place` is kPerRow; or if the group has
/// `rows`, the operator is elementwise and `place` is not kAnywhere. A group with a reduction of
/// another kind has no such parts.
bool FusionGroups::joinsRows(Operation *op, const FusionGroup &group, Place place) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || place == Place::kAnywhere || (group.hasReduction && !group.rows))
    return false;
  if (!isRowReduction(generic))
    return group.rows && isElementwise(generic);
  // The kernel has one loop over the row of the root, which all reductions share.
  const auto type = cast<RankedTensorType>(group.root->getResult(0).getType());
  return place == Place::kPerRow && generic.getStaticLoopRanges().back() == type.getShape().back();
}

/// Returns whether the user belongs to one group only, and it or a later operator of this group is
/// an unfolding. The last matmul of an attention is then not inlined: its tiles need the dimensions
/// of its own result, some of which an unfolding joins.
bool FusionGroups::isUnfoldedLater(Operation *user) const {
  while (true) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (generic && isUnfolding(generic))
      return true;
    if (decisions_.at(user).isRoot || !user->hasOneUse())
      return false;
    user = block_.findAncestorOpInBlock(**user->user_begin());
  }
}

/// Returns whether evaluating the operator in its users' groups costs no more than storing its
/// result and loading it again. joinsRows: the result of joinsRows() for the operator.
bool FusionGroups::pays(Operation *op, const Use &use, bool joinsRows) const {
  const bool movement = isMovement(op);
  const bool ofAttention = attentionMembers_.contains(op); // Only the attention reads its result.
  if (joinsRows || ofAttention)
    return true;
  if (!movement && (use.userCount > 1 || use.groups.size() > 1))
    return false;
  if (attentions_.contains(op) && isUnfoldedLater(use.firstUser))
    return false;
  if (isReduction(op))
    return use.isDirect && !use.groups.empty() && !use.groups.front()->hasReduction;
  return movement || isWidening(op) || isGateOf(op, use.firstUser) ||
         isPrologueOf(op, use.firstUser) || use.reuse == Reuse::kOnce ||
         (use.reuse == Reuse::kBroadcast && isCheap(op));
}

/// Returns whether no group of `use` exceeds the limit on buffers if it reads the tensors `added`
/// instead of the result of the operator that is inlined. A single tensor always fits, because it
/// replaces this result.
bool FusionGroups::fitsBuffers(const Use &use, const llvm::SetVector<Value> &added) const {
  return llvm::all_of(use.groups, [&](const FusionGroup *group) {
    size_t count = group->leaves.size() - 1;
    for (Value leaf : added)
      count += !group->leaves.contains(leaf);
    return count + 1 <= maxBuffers_ || added.size() <= 1;
  });
}

/// Makes the operator a member of the groups of all its users if that is possible and pays off.
/// Returns whether it did.
bool FusionGroups::tryInline(Operation *op) {
  if (op->getNumResults() != 1 || isShuffle(op) || isStored(op) || isa<ScatterOp>(op))
    return false;
  Value value = op->getResult(0);
  const std::optional<Use> use = useOf(value);
  if (!use || (isa<tensor::ConcatOp>(op) && !(use->userCount == 1 && isShuffle(use->firstUser))))
    return false;
  const bool rows = use->groups.size() == 1 && joinsRows(op, *use->groups.front(), use->place);
  const bool ofAttention = attentionMembers_.contains(op);
  const llvm::SetVector<Value> added = leavesOf(op);
  if (!pays(op, *use, rows) || (!ofAttention && !fitsBuffers(*use, added)))
    return false;
  Decision &decision = decisions_[op];
  decision.isDirect = use->isDirect;
  decision.reuse = ofAttention ? Reuse::kOnce : use->reuse;
  decision.place = use->groups.size() == 1 ? use->place : Place::kAnywhere;
  for (FusionGroup *group : use->groups) {
    group->rows |= rows && isReduction(op);
    decision.groups.push_back(group);
    group->leaves.remove(value);
    group->leaves.insert(added.begin(), added.end());
    group->hasReduction |= isReduction(op);
  }
  return true;
}

FusionGroup &FusionGroups::addGroup(Operation *root) {
  groups_.push_back(std::make_unique<FusionGroup>());
  groups_.back()->root = root;
  return *groups_.back();
}

/// Inlines the operator, or makes it the root of a new group. Ignores an operator without users.
void FusionGroups::decide(Operation *op) {
  if (op->use_empty() || tryInline(op))
    return;
  FusionGroup &group = addGroup(op);
  group.hasReduction = isReduction(op);
  group.leaves = leavesOf(op);
  Decision &decision = decisions_[op];
  decision.isRoot = true;
  decision.isDirect = true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (generic && isElementwise(generic)) {
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    if (type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) && type.getShape().back() > 1)
      decision.place = Place::kSamePlace;
  }
  decision.groups.push_back(&group);
}

} // namespace gantry::codegen
