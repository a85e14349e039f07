// ImportContext's dynamic dimensions: their values at run time, and what the model assumes of them.
#include "codegen/import/onnx/context.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::importer {

Dim ImportContext::addSymbol(mlir::Value argument, int64_t dim) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastHeader_)
    builder_.setInsertionPointAfter(lastHeader_);
  else
    builder_.setInsertionPointToStart(entry_);
  auto op = builder_.create<mlir::tensor::DimOp>(argument.getLoc(), argument, dim);
  lastHeader_ = op;
  Dim symbol = mlir::getAffineSymbolExpr(symbols_.size(), context_);
  symbols_.push_back(op);
  dimValues_[symbol] = op;
  return symbol;
}

mlir::Value ImportContext::dimValue(Dim dim) {
  if (mlir::Value known = dimValues_.lookup(dim))
    return known;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastHeader_)
    builder_.setInsertionPointAfter(lastHeader_);
  else
    builder_.setInsertionPointToStart(entry_);
  mlir::Operation *op = nullptr;
  if (auto value = staticDim(dim)) {
    op = builder_.create<mlir::arith::ConstantIndexOp>(loc_, *value);
  } else {
    // The map's symbols are the ones that the expression uses, in their order.
    llvm::SmallVector<mlir::AffineExpr> replacements(symbols_.size());
    llvm::SmallVector<mlir::Value> operands;
    dim.walk([&](mlir::AffineExpr inner) {
      auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(inner);
      if (!symbol || replacements[symbol.getPosition()])
        return;
      replacements[symbol.getPosition()] = mlir::getAffineSymbolExpr(operands.size(), context_);
      operands.push_back(symbols_[symbol.getPosition()]);
    });
    for (auto &replacement : replacements)
      if (!replacement)
        replacement = number(0);
    auto map = mlir::AffineMap::get(0, operands.size(), dim.replaceSymbols(replacements), context_);
    op = builder_.create<mlir::affine::AffineApplyOp>(loc_, map, operands);
  }
  lastHeader_ = op;
  return dimValues_[dim] = op->getResult(0);
}

void ImportContext::requireNonNegative(Dim dim) {
  if (auto value = staticDim(dim)) {
    if (*value < 0)
      failBadInput("impossible shape: a size of " + llvm::Twine(*value));
    return;
  }
  llvm::SmallVector<unsigned> symbols = symbolsOf(dim);
  if (symbols.size() != 1 || !directionOf(dim)) {
    if (!llvm::is_contained(requirements_, dim))
      requirements_.push_back(dim);
    return;
  }
  // The size moves one way with its symbol: the border is found by halving.
  constexpr int64_t kMost = int64_t(1) << 31;
  const bool small = evaluateAt(dim, 1) >= 0, large = evaluateAt(dim, kMost) >= 0;
  if (small && large)
    return;
  Bounds &bounds = bounds_[symbols[0]];
  int64_t in = small ? 1 : kMost, out = small ? kMost : 1;
  while (std::abs(in - out) > 1 && small != large) {
    int64_t middle = in + (out - in) / 2;
    (evaluateAt(dim, middle) >= 0 ? in : out) = middle;
  }
  if (small)
    bounds.most = bounds.most == 0 ? in : std::min(bounds.most, in);
  else
    bounds.least = std::max(bounds.least, in);
  if ((!small && !large) || (bounds.most != 0 && bounds.most < bounds.least))
    failBadInput("no size of the dynamic dimension s" + llvm::Twine(symbols[0]) +
                 " meets what the model needs of it");
}

unsigned ImportContext::representative(unsigned symbol) const {
  for (auto it = sameAs_.find(symbol); it != sameAs_.end(); it = sameAs_.find(symbol))
    symbol = it->second;
  return symbol;
}

Dim ImportContext::requireEqual(Dim a, Dim b) {
  if (a == b)
    return a;
  auto sa = mlir::dyn_cast<mlir::AffineSymbolExpr>(a),
       sb = mlir::dyn_cast<mlir::AffineSymbolExpr>(b);
  if (sa && sb) {
    unsigned first = representative(sa.getPosition()), second = representative(sb.getPosition());
    if (first != second)
      sameAs_[std::max(first, second)] = std::min(first, second);
    return a;
  }
  requireNonNegative(subDims(a, b));
  requireNonNegative(subDims(b, a));
  return staticDim(b) ? b : a;
}

} // namespace gantry::importer
