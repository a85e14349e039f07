// Implements the pass collapse-dims (Passes.td). If the first loops of all operations of a kernel
// are, in order, the indices along the first dimensions of its tensors, the pass makes one loop and
// one dimension of them.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_COLLAPSEDIMS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// Returns whether all arguments of the function are static tensors, and all its operations are
/// scalar constants, initial values, or linalg.generic operations that do not use linalg.index.
bool isSimple(func::FuncOp function) {
  const auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  if (!llvm::all_of(function.getArgumentTypes(), isStatic) || function.getNumResults() != 1)
    return false;
  return llvm::all_of(function.getBody().front(), [](Operation &op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return op.getNumResults() == 1 && generic.getBody()->getOps<linalg::IndexOp>().empty();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return !isa<ShapedType>(constant.getType());
    return isa<linalg::FillOp, tensor::EmptyOp, func::ReturnOp>(op);
  });
}

/// Returns whether tensors of this shape with these layouts (codegen/tiling/layout.h) have equal
/// orders of their elements and no gaps. Elementwise operators may then visit the elements in the
/// order of memory.
bool isFlat(llvm::ArrayRef<LayoutAttr> layouts, llvm::ArrayRef<int64_t> shape) {
  if (layouts.empty())
    return true;
  const auto parts = layouts.front().getParts();
  if (!llvm::all_equal(layouts) || !layouts.front().getWithin().empty() ||
      layouts.front().getStart() != 0)
    return false;
  for (size_t i = 0; i + 1 < parts.size(); i += 2)
    if (shape[static_cast<size_t>(parts[i])] % parts[i + 1] != 0)
      return false;
  return true;
}

/// The dimensions and loops of a kernel that become one: the first `count` loops of all operations,
/// which are the indices along the first `count` dimensions of some tensors. The indices of other
/// tensors do not depend on these loops.
class Prefix {
public:
  /// Returns the longest prefix that the kernel may have, or none.
  static std::optional<Prefix> longest(func::FuncOp function) {
    const auto result = cast<RankedTensorType>(function.getResultTypes().front());
    const auto signature = attributeOf<SignatureAttr>(function);
    const auto layouts = signature ? signature.getLayouts() : llvm::ArrayRef<LayoutAttr>();
    const bool isPlain = llvm::all_of(layouts, [](LayoutAttr layout) {
      return layout.getParts().empty() && layout.getWithin().empty() && layout.getStart() == 0;
    });
    for (auto count = static_cast<unsigned>(result.getRank()); count >= 2; --count) {
      Prefix prefix(count);
      if (!prefix.fits(function))
        continue;
      const bool isWhole = llvm::all_of(function.getArguments(), [&](Value argument) {
        return prefix.hasTensor(argument) && typeOf(argument).getShape() == result.getShape();
      });
      const bool isElementwise = isWhole && count == result.getRank();
      if (isPlain || (isElementwise && isFlat(layouts, result.getShape())))
        return prefix;
    }
    return std::nullopt;
  }

  /// Makes one dimension, and one loop, of the prefix.
  void collapse(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        collapse(generic);
      else if (auto empty = dyn_cast<tensor::EmptyOp>(op); empty && hasTensor(empty))
        replace(empty);
    for (Value argument : function.getArguments())
      collapseType(argument);
    function.walk([&](linalg::FillOp fill) {
      if (hasTensor(fill.getResult(0)))
        collapseType(fill.getResult(0));
    });
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    function.setFunctionType(FunctionType::get(function.getContext(),
                                               function.getBody().front().getArgumentTypes(),
                                               end.getOperandTypes()));
    if (const auto signature = attributeOf<SignatureAttr>(function))
      setAttribute(function,
                   SignatureAttr::get(function.getContext(), {}, {}, {}, signature.getRows(), {}));
  }

  unsigned count() const { return count_; }

private:
  explicit Prefix(unsigned count) : count_(count) {}

  bool hasTensor(Value tensor) const { return tensors_.lookup(tensor); }

  /// Returns whether the kernel can have this prefix: each indexing map begins with the loops of
  /// the prefix in order and does not use them again, or does not use them at all. Notes which
  /// tensors have the prefix.
  bool fits(func::FuncOp function) {
    for (auto generic : function.getBody().front().getOps<linalg::GenericOp>()) {
      const auto iterators = generic.getIteratorTypesArray();
      if (iterators.size() < count_ ||
          !std::all_of(iterators.begin(), iterators.begin() + count_, [](utils::IteratorType type) {
            return type == utils::IteratorType::parallel;
          }))
        return false;
      for (OpOperand &use : generic->getOpOperands()) {
        const std::optional<bool> has = hasPrefix(generic.getMatchingIndexingMap(&use));
        if (!has || !note(use.get(), *has))
          return false;
      }
      if (!note(generic.getResult(0), true) || !hasTensor(generic.getOutputs().front()))
        return false;
    }
    for (auto fill : function.getBody().front().getOps<linalg::FillOp>())
      if (!note(fill.getOutputs().front(), hasTensor(fill.getResult(0))))
        return false;
    auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    return hasTensor(end.getOperand(0));
  }

  /// Returns whether an indexing map begins with the loops of the prefix. None if the map uses some
  /// of these loops in another way.
  std::optional<bool> hasPrefix(AffineMap map) const {
    unsigned first = 0;
    while (first < count_ && first < map.getNumResults() &&
           map.getResult(first) == getAffineDimExpr(first, map.getContext()))
      ++first;
    const auto rest = map.getResults().drop_front(first == count_ ? count_ : 0);
    for (AffineExpr expr : rest)
      for (unsigned loop = 0; loop < count_; ++loop)
        if (expr.isFunctionOfDim(loop))
          return std::nullopt;
    return first == count_;
  }

  /// Notes whether a tensor has the prefix. Returns false if the opposite has been noted.
  bool note(Value tensor, bool has) {
    return tensors_.try_emplace(tensor, has).first->second == has;
  }

  RankedTensorType collapsed(RankedTensorType type) const {
    llvm::SmallVector<int64_t> shape(type.getShape().drop_front(count_));
    int64_t product = 1;
    for (int64_t extent : type.getShape().take_front(count_))
      product *= extent;
    shape.insert(shape.begin(), product);
    return RankedTensorType::get(shape, type.getElementType());
  }

  void collapseType(Value tensor) {
    if (hasTensor(tensor))
      tensor.setType(collapsed(typeOf(tensor)));
  }

  void collapse(linalg::GenericOp op) {
    MLIRContext *context = op.getContext();
    llvm::SmallVector<AffineExpr> loops; // The new expression of each old loop.
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(getAffineDimExpr(loop < count_ ? 0 : loop - count_ + 1, context));
    const unsigned newLoops = op.getNumLoops() - count_ + 1;
    llvm::SmallVector<Attribute> maps;
    for (AffineMap map : op.getIndexingMapsArray()) {
      const bool has = *hasPrefix(map);
      llvm::SmallVector<AffineExpr> results;
      for (AffineExpr expr : map.getResults().drop_front(has ? count_ - 1 : 0))
        results.push_back(expr.replaceDims(loops));
      maps.push_back(AffineMapAttr::get(AffineMap::get(newLoops, 0, results, context)));
    }
    op.setIndexingMapsAttr(ArrayAttr::get(context, maps));
    op.setIteratorTypesAttr(
        ArrayAttr::get(context, op.getIteratorTypes().getValue().drop_front(count_ - 1)));
    collapseType(op.getResult(0));
  }

  void replace(tensor::EmptyOp empty) {
    OpBuilder builder(empty);
    Value made = builder.create<tensor::EmptyOp>(
        empty.getLoc(), collapsed(empty.getType()).getShape(), empty.getType().getElementType());
    empty.replaceAllUsesWith(made);
    empty.erase();
  }

  unsigned count_;
  llvm::DenseMap<Value, bool> tensors_; // Whether a tensor has the prefix.
};

struct CollapseDimsPass : impl::CollapseDimsBase<CollapseDimsPass> {
  void runOnOperation() override {
    llvm::StringMap<unsigned> counts; // By kernel: how many dimensions became one.
    for (ModuleOp kernel : getOperation().getOps<ModuleOp>())
      for (func::FuncOp function : kernel.getOps<func::FuncOp>())
        if (isSimple(function))
          if (std::optional<Prefix> prefix = Prefix::longest(function)) {
            prefix->collapse(function);
            counts[*kernel.getName()] = prefix->count();
          }
    getOperation().walk([&](DispatchOp dispatch) {
      const auto kernel = dispatch.getKernel();
      if (const unsigned count = kernel ? counts.lookup(kernel->getRootReference()) : 0)
        dispatch.setCollapsed(count);
    });
  }
};

} // namespace
} // namespace gantry::codegen
