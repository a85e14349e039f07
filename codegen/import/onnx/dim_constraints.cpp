// Implements DimConstraints: turns conditions on dynamic dimensions into bounds, equal symbols and
// requirements.
#include "codegen/import/onnx/dim_constraints.h"

namespace gantry::importer {

namespace {

[[noreturn]] void failNoSize(unsigned symbol) {
  failBadInput("no size of the dynamic dimension s" + llvm::Twine(symbol) +
               " meets all conditions of the model (dynamic dimensions are numbered s0, s1, ... in "
               "the order of the inputs)");
}

bool isEmpty(const DimConstraints::Bounds &bounds) {
  return bounds.max != 0 && bounds.max < bounds.min;
}

} // namespace

void DimConstraints::requireNonNegative(Dim dim) {
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
  // The expression is monotonic in its only symbol, so a binary search finds where it changes sign.
  // Only sizes from 1 to kMaxSize are considered.
  constexpr int64_t kMaxSize = int64_t(1) << 31;
  const bool holdsAtOne = evaluateAt(dim, 1) >= 0, holdsAtMax = evaluateAt(dim, kMaxSize) >= 0;
  if (holdsAtOne && holdsAtMax)
    return;
  Bounds &bounds = bounds_[symbols[0]];
  int64_t inside = holdsAtOne ? 1 : kMaxSize, outside = holdsAtOne ? kMaxSize : 1;
  while (std::abs(inside - outside) > 1 && holdsAtOne != holdsAtMax) {
    int64_t middle = inside + (outside - inside) / 2;
    (evaluateAt(dim, middle) >= 0 ? inside : outside) = middle;
  }
  if (holdsAtOne)
    bounds.max = bounds.max == 0 ? inside : std::min(bounds.max, inside);
  else
    bounds.min = std::max(bounds.min, inside);
  if ((!holdsAtOne && !holdsAtMax) || isEmpty(bounds))
    failNoSize(symbols[0]);
}

void DimConstraints::checkEqualDims() const {
  // By the representative of symbols that must be equal: the intersection of their bounds.
  std::map<unsigned, Bounds> common;
  for (const auto &[symbol, bounds] : bounds_) {
    Bounds &all = common[representative(symbol)];
    all.min = std::max(all.min, bounds.min);
    if (bounds.max != 0)
      all.max = all.max == 0 ? bounds.max : std::min(all.max, bounds.max);
    if (isEmpty(all))
      failNoSize(symbol);
  }
}

unsigned DimConstraints::representative(unsigned symbol) const {
  for (auto it = sameAs_.find(symbol); it != sameAs_.end(); it = sameAs_.find(symbol))
    symbol = it->second;
  return symbol;
}

Dim DimConstraints::requireEqual(Dim a, Dim b) {
  if (a == b)
    return a;
  auto symbolA = mlir::dyn_cast<mlir::AffineSymbolExpr>(a),
       symbolB = mlir::dyn_cast<mlir::AffineSymbolExpr>(b);
  if (symbolA && symbolB) {
    unsigned first = representative(symbolA.getPosition());
    unsigned second = representative(symbolB.getPosition());
    if (first != second)
      sameAs_[std::max(first, second)] = std::min(first, second);
    return a;
  }
  requireNonNegative(subDims(a, b));
  requireNonNegative(subDims(b, a));
  return staticDim(b) ? b : a;
}

} // namespace gantry::importer
