// form-dispatches: see Passes.td.
//
// Operators are looked at from the last to the first, so that when an operator is decided, all its
// consumers are. Each is either a root (its result lives in memory) or inlined into the groups of
// its consumers.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"
#include "codegen/tiling/attention.h"
#include "codegen/tiling/structure.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_FORMDISPATCHES
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int kCheapOps = 4;
constexpr int64_t kMostValues = 256;   // elements of an attention's value
constexpr int64_t kTypicalExtent = 64; // of dynamic dimensions

bool isReduction(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0;
}

bool isCompute(Operation *op) {
  return isa<linalg::GenericOp, tensor::PadOp, tensor::ExtractSliceOp, tensor::ConcatOp>(op);
}

/// Cloned wherever it is needed: costs nothing.
bool isFree(Value value) {
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

/// Only moves elements: pads, slices, permutations and broadcasts.
bool isMovement(Operation *op) {
  if (isa<tensor::PadOp, tensor::ExtractSliceOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0 &&
         llvm::hasSingleElement(generic.getRegion().front());
}

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
  return count <= kCheapOps + 1; // and its yield
}

/// Makes more bytes out of a constant's: weights that are dequantised. Doing so at every load costs
/// less than keeping the result would.
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

/// Whether the op multiplies what `user`, a product without windows, reads by factors of the
/// dimension that it sums over (squeeze and excitation): done where it is read, once for all that a
/// tile computes of it, it saves a pass through memory.
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
      return false; // belongs to the kernel that makes the rest, a normalisation
    factors = map;
  }
  if (!factors || !gate.getIndexingMapsArray().back().isIdentity() ||
      !factors.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  bool summed = false;
  for (auto [position, expr] : llvm::enumerate(read.getResults())) {
    unsigned dims = 0; // that this index goes through
    bool reduces = false;
    expr.walk([&](AffineExpr inner) {
      auto dim = dyn_cast<AffineDimExpr>(inner);
      if (!dim || extents[dim.getPosition()] == 1)
        return;
      ++dims;
      reduces |= iterators[dim.getPosition()] == utils::IteratorType::reduction;
    });
    if (dims > 1)
      return false; // a window
    const bool varies = factors.isFunctionOfDim(static_cast<unsigned>(position));
    if (dims == 1 && varies && !reduces)
      return false;
    summed |= dims == 1 && varies && reduces;
  }
  return summed;
}

/// All values from outside that the op uses, in its operands and in its regions.
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

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// How an element of a producer is read by its consumers: once; several times in elementwise
/// context (broadcast); many times inside of a reduction.
enum Reuse { kOnce, kBroadcast, kMany };

/// Where an operator's elements lie relative to a root whose rows are its last dimension: at the
/// same place; one per row; or anywhere.
enum Place { kAnywhere, kSamePlace, kPerRow };

struct Group {
  Operation *root;
  llvm::SetVector<Value> leaves; // tensors read from memory
  bool hasReduction = false;
  bool rows = false; // its reductions are over the rows of the root
};

struct Decision {
  bool root = false;
  llvm::SmallVector<Group *, 2> groups;
  bool direct = false; // its points are the root's points, one to one
  Reuse reuse = kOnce;
  Place place = kAnywhere;
};

struct FormDispatchesPass : impl::FormDispatchesBase<FormDispatchesPass> {
  using FormDispatchesBase::FormDispatchesBase;

  std::map<Operation *, Decision> decisions;
  std::vector<std::shared_ptr<Group>> groups; // shared: a pass is copied for each thread

  llvm::DenseMap<Operation *, Attention> attentions; // by their products
  llvm::DenseSet<Operation *> members;               // of attentions

  /// The tensors that the op reads, or, of an attention's product, the whole attention.
  llvm::SetVector<Value> leavesOf(Operation *op) {
    llvm::SetVector<Value> leaves;
    auto add = [&](Operation *reader) {
      for (Value value : usedValues(reader))
        if (isTensor(value) && !isFree(value) && !members.contains(value.getDefiningOp()))
          leaves.insert(value);
    };
    add(op);
    if (auto attention = attentions.find(op); attention != attentions.end())
      for (linalg::GenericOp member : attention->second.members)
        add(member);
    return leaves;
  }

  /// Why an attention does not become one kernel; empty if it does.
  std::string reasonAgainst(const Attention &attention) {
    linalg::GenericOp product = attention.product;
    const int64_t values = product.getStaticLoopRanges()[attention.valueLoop()];
    if (ShapedType::isDynamic(values) || values > kMostValues)
      return (ShapedType::isDynamic(values)
                  ? "values of unknown size"
                  : "values of " + std::to_string(values) + " elements, of which a row's sums") +
             " do not stay in registers (at most " + std::to_string(kMostValues) + ")";
    uint64_t bytes = 4;
    for (int64_t extent : cast<RankedTensorType>(attention.scores.getType()).getShape())
      bytes *= static_cast<uint64_t>(ShapedType::isDynamic(extent) ? kTypicalExtent : extent);
    if (bytes < scoreBytes)
      return "scores of " + std::to_string(bytes) + " bytes stay in a cache of " +
             std::to_string(scoreBytes);
    if (const size_t buffers = leavesOf(product).size() + 1; buffers > maxBuffers)
      return std::to_string(buffers) + " buffers, more than the limit of " +
             std::to_string(maxBuffers);
    return {};
  }

  void findAttentions(Block &block) {
    for (auto product : block.getOps<linalg::GenericOp>()) {
      auto attention = attentionOf(product);
      if (!attention)
        continue;
      auto before = members;
      members.insert(attention->members.begin(), attention->members.end());
      const auto found = attentions.try_emplace(product, *attention).first;
      const std::string reason = reasonAgainst(*attention);
      if (reason.empty())
        continue;
      attentions.erase(found);
      members = std::move(before);
      product->setDiscardableAttr(
          "gantry.why",
          StringAttr::get(&getContext(), "no kernel for the whole attention: " + reason));
    }
  }

  void addLeaves(Group &group, Operation *op) {
    for (Value value : leavesOf(op))
      group.leaves.insert(value);
  }

  /// How `user`, already decided, would read the elements of `value` if it were inlined.
  void readBy(Operation *user, Value value, const Decision &context, bool &direct, Reuse &reuse) {
    Reuse level = context.reuse;
    bool bijective = context.direct;
    if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
      unsigned loops = generic.getNumLoops();
      bool found = false;
      for (OpOperand &operand : generic->getOpOperands()) {
        if (operand.get() != value)
          continue;
        found = true;
        AffineMap map = generic.getMatchingIndexingMap(&operand);
        bool isInit = generic.isDpsInit(&operand);
        bool permutation = map.isPermutation() && map.getNumDims() == loops;
        if (isReduction(user)) {
          bijective &= isInit;
          if (!permutation && !isInit)
            level = kMany;
        } else {
          bijective &= permutation;
          if (map.getNumResults() < loops || !map.isProjectedPermutation())
            level = std::max(level, kBroadcast);
        }
      }
      if (!found) { // captured by the body: any element, any number of times
        bijective = false;
        level = kMany;
      }
    } else {
      bijective = false;
      if (isa<tensor::ConcatOp>(user))
        level = kMany;
    }
    direct &= bijective;
    reuse = std::max(reuse, level);
  }

  /// Where `user` reads `value`; kAnywhere where it reads it at several places.
  Place placeOf(Operation *user, Value value, const Decision &context) {
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || context.place == kAnywhere)
      return kAnywhere;
    std::optional<Place> place;
    for (OpOperand &operand : generic->getOpOperands()) {
      if (operand.get() != value)
        continue;
      AffineMap map = generic.getMatchingIndexingMap(&operand);
      Place here = kAnywhere;
      if (isRowReduction(generic))
        here = map.isIdentity() && !generic.isDpsInit(&operand) ? kSamePlace : kAnywhere;
      else if (isElementwise(generic) && map.isIdentity())
        here = context.place;
      else if (isElementwise(generic) && isRowMap(map) && context.place == kSamePlace)
        here = kPerRow;
      if (place.value_or(here) != here)
        return kAnywhere;
      place = here;
    }
    return place.value_or(kAnywhere);
  }

  /// Softmax and the like: a reduction over the rows of the root joins its kernel, and so does what
  /// is read by such reductions and by the root's chain at the same place.
  bool joinsRows(Operation *op, const Group &group, Place place) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || place == kAnywhere || (group.hasReduction && !group.rows))
      return false;
    if (isRowReduction(generic))
      return place == kPerRow;
    return group.rows && isElementwise(generic);
  }

  bool tryInline(Operation *op) {
    if (op->getNumResults() != 1 || isa<tensor::ConcatOp>(op))
      return false;
    Value value = op->getResult(0);
    llvm::SetVector<Operation *> users;
    Block *block = op->getBlock();
    for (Operation *user : value.getUsers())
      users.insert(block->findAncestorOpInBlock(*user));
    llvm::SetVector<Group *> into;
    bool direct = true;
    Reuse reuse = kOnce;
    std::optional<Place> place;
    for (Operation *user : users) {
      if (!isCompute(user))
        return false;
      const Decision &context = decisions[user];
      into.insert(context.groups.begin(), context.groups.end());
      readBy(user, value, context, direct, reuse);
      Place here = placeOf(user, value, context);
      place = place.value_or(here) == here ? here : kAnywhere;
    }
    const bool rows = into.size() == 1 && joinsRows(op, *into.front(), place.value_or(kAnywhere));
    const bool member = members.contains(op); // read by its attention alone
    bool movement = isMovement(op);
    if (!movement && !rows && !member && (users.size() > 1 || into.size() > 1))
      return false;
    if (rows || member) {
      // its place is all that it needs
    } else if (isReduction(op)) {
      if (!direct || into.front()->hasReduction)
        return false;
    } else if (!movement && !isWidening(op) && !isGateOf(op, users.front()) &&
               !(reuse == kOnce || (reuse == kBroadcast && isCheap(op)))) {
      return false;
    }
    const llvm::SetVector<Value> added = leavesOf(op);
    for (Group *group : into) {
      size_t count = group->leaves.size() - 1;
      for (Value leaf : added)
        count += !group->leaves.contains(leaf);
      if (count + 1 > maxBuffers && added.size() > 1 && !member)
        return false;
    }
    Decision &decision = decisions[op];
    decision.direct = direct;
    decision.reuse = member ? kOnce : reuse;
    decision.place = into.size() == 1 ? place.value_or(kAnywhere) : kAnywhere;
    for (Group *group : into) {
      group->rows |= rows && isReduction(op);
      decision.groups.push_back(group);
      group->leaves.remove(value);
      group->leaves.insert(added.begin(), added.end());
      group->hasReduction |= isReduction(op);
    }
    return true;
  }

  void decide(Operation *op) {
    if (op->use_empty() || tryInline(op))
      return;
    groups.push_back(std::make_shared<Group>());
    Group &group = *groups.back();
    group.root = op;
    group.hasReduction = isReduction(op);
    addLeaves(group, op);
    Decision &decision = decisions[op];
    decision.root = true;
    decision.direct = true;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && isElementwise(generic)) {
      auto type = cast<RankedTensorType>(generic.getResult(0).getType());
      if (type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) &&
          type.getShape().back() > 1)
        decision.place = kSamePlace;
    }
    decision.groups.push_back(&group);
  }

  // ---- building --------------------------------------------------------------------------------

  struct Builder {
    FormDispatchesPass &pass;
    Group &group;
    llvm::SetVector<Value> operands{}, dims{};
    llvm::SetVector<Operation *> members{};

    bool isInlined(Operation *op) {
      if (op == group.root)
        return true;
      auto found = pass.decisions.find(op);
      return found != pass.decisions.end() && !found->second.root &&
             llvm::is_contained(found->second.groups, &group);
    }

    void collect(Operation *op) {
      if (members.contains(op))
        return;
      for (Value value : usedValues(op)) {
        Operation *producer = value.getDefiningOp();
        if (value.getType().isIndex() && !matchPattern(value, m_Constant()))
          dims.insert(value);
        else if (isTensor(value) && !isFree(value) && !(producer && isInlined(producer)))
          operands.insert(value);
        else if (producer)
          collect(producer);
      }
      members.insert(op);
    }
  };

  /// Floating-point operations of all members: those of a body, times the extents of its loops.
  static OpFoldResult countFlops(OpBuilder &builder, llvm::ArrayRef<Operation *> members) {
    OpFoldResult total = builder.getIndexAttr(0);
    AffineExpr a = builder.getAffineSymbolExpr(0), b = builder.getAffineSymbolExpr(1);
    for (Operation *member : members) {
      auto generic = dyn_cast<linalg::GenericOp>(member);
      if (!generic)
        continue;
      int64_t perPoint = 0;
      for (Operation &op : generic.getRegion().front())
        perPoint += op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) &&
                    !isa<arith::ConstantOp, arith::SelectOp, tensor::ExtractOp>(op);
      if (perPoint == 0)
        continue;
      Location loc = generic.getLoc();
      OpFoldResult work = builder.getIndexAttr(perPoint);
      llvm::SmallBitVector known(generic.getNumLoops());
      for (OpOperand &operand : generic->getOpOperands()) {
        if (!isTensor(operand.get()))
          continue;
        auto dims = tensorDims(builder, operand.get());
        AffineMap map = generic.getMatchingIndexingMap(&operand);
        for (auto [i, expr] : llvm::enumerate(map.getResults())) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          if (!dim || known.test(dim.getPosition()))
            continue;
          known.set(dim.getPosition());
          work = affine::makeComposedFoldedAffineApply(builder, loc, a * b, {work, dims[i]});
        }
      }
      total = affine::makeComposedFoldedAffineApply(builder, loc, a + b, {total, work});
    }
    return total;
  }

  void build(Group &group, unsigned resultNumber) {
    Builder parts{*this, group};
    parts.collect(group.root);
    Operation *root = group.root;
    OpBuilder builder(root);
    auto dimsOf = [&](Value tensor, llvm::SmallVectorImpl<int64_t> &positions) {
      auto type = cast<RankedTensorType>(tensor.getType());
      if (type.hasStaticShape())
        return;
      auto extents = tensorDims(builder, tensor);
      for (auto [i, extent] : llvm::enumerate(extents)) {
        if (!type.isDynamicDim(i))
          continue;
        Value value = getValueOrCreateConstantIndexOp(builder, root->getLoc(), extent);
        parts.dims.insert(value);
        positions.push_back(std::distance(parts.dims.begin(), llvm::find(parts.dims, value)));
      }
    };
    llvm::SmallVector<int64_t> operandDims, resultDims;
    for (Value operand : parts.operands)
      dimsOf(operand, operandDims);
    Value result = root->getResult(resultNumber);
    dimsOf(result, resultDims);

    llvm::SmallVector<Location> locations;
    for (Operation *member : parts.members)
      if (isCompute(member))
        locations.push_back(member->getLoc());
    Location loc = FusedLoc::get(builder.getContext(), locations);
    Value flops = getValueOrCreateConstantIndexOp(builder, loc,
                                                  countFlops(builder, parts.members.getArrayRef()));
    auto dispatch = builder.create<DispatchOp>(
        loc, result.getType(), parts.operands.getArrayRef(), parts.dims.getArrayRef(), flops,
        builder.getDenseI64ArrayAttr(operandDims), builder.getDenseI64ArrayAttr(resultDims),
        SymbolRefAttr(), IntegerAttr());
    Block *block = new Block();
    dispatch.getBody().push_back(block);
    IRMapping mapping;
    for (Value value : parts.operands)
      mapping.map(value, block->addArgument(value.getType(), loc));
    for (Value value : parts.dims)
      mapping.map(value, block->addArgument(value.getType(), loc));
    builder.setInsertionPointToStart(block);
    for (Operation *member : parts.members)
      builder.clone(*member, mapping)->removeDiscardableAttr("gantry.tensor");
    if (group.rows)
      dispatch->setDiscardableAttr("gantry.rows", builder.getUnitAttr());
    if (Attribute name = root->getDiscardableAttr("gantry.tensor"))
      dispatch->setDiscardableAttr("gantry.tensor", name);
    builder.create<YieldOp>(loc, mapping.lookup(result));
    result.replaceAllUsesWith(dispatch.getResult());
  }

  void runOnOperation() override {
    decisions.clear();
    groups.clear();
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Block &block = function.getBody().front();
    hoistArgumentDims(block);
    attentions.clear();
    members.clear();
    findAttentions(block);
    for (Operation &op : llvm::reverse(block)) {
      bool kept = isa<linalg::FillOp>(op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
                    return !isCompute(block.findAncestorOpInBlock(*user));
                  });
      if (isCompute(&op))
        decide(&op);
      else if (kept)
        decideFill(&op);
    }
    // Producers first, so that operands are already the results of dispatches.
    std::sort(groups.begin(), groups.end(),
              [](const auto &a, const auto &b) { return a->root->isBeforeInBlock(b->root); });
    for (auto &group : groups)
      for (OpResult result : group->root->getResults())
        if (!result.use_empty())
          build(*group, result.getResultNumber());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && (isCompute(&op) || isMemoryEffectFree(&op)) &&
          !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
    for (auto dispatch : block.getOps<DispatchOp>())
      if (failed(checkSize(dispatch)))
        return;
  }

  /// Kernels compute addresses in 32 bits of elements: pipeline.cpp looks for the attribute.
  LogicalResult checkSize(DispatchOp dispatch) {
    auto type = cast<RankedTensorType>(dispatch.getResult().getType());
    if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
      return success();
    uint64_t elements = 1, bytes = 0;
    bool overflows = false;
    for (int64_t size : type.getShape())
      overflows |= __builtin_mul_overflow(elements, uint64_t(size), &elements);
    overflows |=
        __builtin_mul_overflow(elements, std::max(8u, type.getElementTypeBitWidth()) / 8u, &bytes);
    if (!overflows && elements <= INT32_MAX)
      return success();
    auto name = dyn_cast_or_null<StringAttr>(dispatch->getDiscardableAttr("gantry.tensor"));
    getOperation()->setAttr("gantry.unsupported", UnitAttr::get(&getContext()));
    signalPassFailure();
    return dispatch.emitError() << (name ? "tensor '" + name.getValue().str() + "'" : "a tensor")
                                << " has " << (overflows ? "2^64 or more" : std::to_string(bytes))
                                << " bytes; tensors above 2^31 - 1 elements are not supported";
  }

  void decideFill(Operation *op) {
    groups.push_back(std::make_shared<Group>());
    groups.back()->root = op;
  }
};

} // namespace
} // namespace gantry::codegen
