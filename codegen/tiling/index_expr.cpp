// Implements index_expr.h.
#include "codegen/tiling/index_expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <numeric>

namespace gantry::codegen {

namespace {

int64_t saturate(__int128 value) {
  if (value >= IndexSpace::kUnbounded)
    return IndexSpace::kUnbounded;
  if (value <= -IndexSpace::kUnbounded)
    return -IndexSpace::kUnbounded;
  return static_cast<int64_t>(value);
}

using Terms = llvm::SmallVector<IndexTerm, 8>;

/// Returns x and c if `expr` is x * c for a constant c, and otherwise `expr` and 1.
std::pair<mlir::AffineExpr, int64_t> withoutConstantFactor(mlir::AffineExpr expr) {
  if (expr.getKind() == mlir::AffineExprKind::Mul) {
    auto product = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
    if (auto factor = mlir::dyn_cast<mlir::AffineConstantExpr>(product.getRHS()))
      return {product.getLHS(), factor.getValue()};
  }
  return {expr, 1};
}

int64_t floorDivInt(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

} // namespace

IndexExpr IndexSpace::addVariable(mlir::Value value, int64_t low, int64_t high, bool perLane) {
  if (low == high)
    return IndexExpr(low);
  Variable variable;
  variable.value = value;
  variable.low = low;
  variable.high = high;
  variable.perLane = perLane;
  variable.weight = weight_;
  variables_.push_back(std::move(variable));
  return exprOfVariable(static_cast<int32_t>(variables_.size() - 1));
}

IndexExpr IndexSpace::addVariableBelow(mlir::Value value, const IndexExpr &limit, bool perLane) {
  const int64_t high = range(limit).high;
  const IndexExpr result = addVariable(value, 0, high < kUnbounded ? high - 1 : high, perLane);
  if (!limit.isConstant() && !result.isConstant())
    variables_.back().limit = limit;
  return result;
}

IndexExpr IndexSpace::exprOf(llvm::ArrayRef<IndexTerm> terms, int64_t constant) {
  IndexExpr result(constant);
  if (terms.empty())
    return result;
  auto found = lists_.find(terms);
  if (found == lists_.end())
    found = lists_.emplace(terms.begin(), terms.end()).first;
  result.terms = *found;
  return result;
}

IndexExpr IndexSpace::addScaled(const IndexExpr &a, const IndexExpr &b, int64_t factor) {
  const int64_t constant = a.constant + factor * b.constant;
  if (a.isConstant() || b.isConstant() || factor == 0) {
    IndexExpr result = b.isConstant() || factor == 0 ? a : scale(b, factor);
    result.constant = constant;
    return result;
  }
  Terms sum;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].first < b.terms[j].first)) {
      sum.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].first < a.terms[i].first) {
      sum.push_back({b.terms[j].first, factor * b.terms[j].second});
      ++j;
    } else {
      const int64_t coefficient = a.terms[i].second + factor * b.terms[j].second;
      if (coefficient != 0)
        sum.push_back({a.terms[i].first, coefficient});
      ++i, ++j;
    }
  }
  return exprOf(sum, constant);
}

double IndexSpace::weight(const IndexExpr &expr) const {
  double result = 1;
  for (auto term : expr.terms)
    result = std::max(result, variables_[term.first].weight);
  return result;
}

std::pair<IndexExpr, IndexExpr> IndexSpace::splitUniform(const IndexExpr &expr) {
  Terms uniform, varying;
  for (auto term : expr.terms)
    (variables_[term.first].perLane ? varying : uniform).push_back(term);
  return {exprOf(uniform, expr.constant), exprOf(varying, 0)};
}

bool IndexSpace::isUniform(const IndexExpr &expr) const {
  return llvm::none_of(expr.terms, [&](auto term) { return variables_[term.first].perLane; });
}

IndexExpr IndexSpace::scale(const IndexExpr &a, int64_t factor) {
  if (factor == 1)
    return a;
  if (factor == 0 || a.isConstant())
    return IndexExpr(a.constant * factor);
  Terms scaled(a.terms);
  for (IndexTerm &term : scaled)
    term.second *= factor;
  return exprOf(scaled, a.constant * factor);
}

IndexExpr IndexSpace::divideExactly(const IndexExpr &a, int64_t divisor) {
  Terms divided(a.terms);
  for (IndexTerm &term : divided)
    term.second /= divisor;
  return exprOf(divided, a.constant / divisor);
}

std::pair<IndexExpr, int64_t> IndexSpace::withoutVariable(const IndexExpr &a, int32_t variable) {
  const auto *found =
      llvm::find_if(a.terms, [&](const IndexTerm &term) { return term.first == variable; });
  if (found == a.terms.end())
    return {a, 0};
  Terms rest(a.terms);
  rest.erase(rest.begin() + (found - a.terms.begin()));
  return {exprOf(rest, a.constant), found->second};
}

IndexExpr IndexSpace::mul(const IndexExpr &a, const IndexExpr &b) {
  if (a.isConstant())
    return scale(b, a.constant);
  if (b.isConstant())
    return scale(a, b.constant);
  // The product is distributed over the terms, so that the result is a sum again. The product of
  // two variables becomes a variable.
  IndexExpr result(a.constant * b.constant);
  auto single = [&](IndexTerm term) { return exprOfVariable(term.first); };
  for (auto term : a.terms)
    result = add(result, scale(single(term), term.second * b.constant));
  for (auto term : b.terms)
    result = add(result, scale(single(term), term.second * a.constant));
  for (auto left : a.terms) {
    for (auto right : b.terms) {
      auto x = left.first <= right.first ? left : right,
           y = left.first <= right.first ? right : left;
      IndexRange rx = range(single(x)), ry = range(single(y));
      __int128 products[] = {(__int128)rx.low * ry.low, (__int128)rx.low * ry.high,
                             (__int128)rx.high * ry.low, (__int128)rx.high * ry.high};
      IndexRange bounds{saturate(*std::min_element(products, products + 4)),
                        saturate(*std::max_element(products, products + 4))};
      IndexExpr product = opaque(Kind::kMul, single(x), single(y), bounds);
      result = add(result, scale(product, left.second * right.second));
    }
  }
  return result;
}

std::pair<IndexExpr, IndexExpr> IndexSpace::split(const IndexExpr &a, int64_t b) {
  const int64_t whole = floorDivInt(a.constant, b);
  Terms quotient, remainder;
  for (auto term : a.terms) {
    if (term.second % b == 0)
      quotient.push_back({term.first, term.second / b});
    else
      remainder.push_back(term);
  }
  return {exprOf(quotient, whole), exprOf(remainder, a.constant - whole * b)};
}

IndexExpr IndexSpace::floorDiv(const IndexExpr &a, const IndexExpr &b) {
  if (!b.isConstant()) {
    if (a == b)
      return IndexExpr(1);
    IndexRange ra = range(a), rb = range(b);
    if (ra.low >= 0 && ra.high < rb.low)
      return IndexExpr(0);
    const auto [reduced, divisor, factor] = withoutFactor(a, b);
    const int64_t high = ra.high >= kUnbounded ? kUnbounded
                         : ra.high >= 0        ? ra.high / std::max<int64_t>(rb.low, 1)
                                               : -1;
    return opaque(Kind::kDiv, reduced, divisor, {ra.low >= 0 ? 0 : -kUnbounded, high});
  }
  int64_t divisor = b.constant;
  if (divisor == 1)
    return a;
  auto [quotient, remainder] = split(a, divisor);
  IndexRange bounds = range(remainder);
  int64_t low = floorDivInt(bounds.low, divisor), high = floorDivInt(bounds.high, divisor);
  if (low == high)
    return add(quotient, IndexExpr(low));
  // floor((g·x + c) / (g·d)) = floor(x / d) for integers x and 0 <= c < g.
  int64_t g = std::gcd(baseDivisor(remainder), divisor);
  if (g > 1 && remainder.constant >= 0 && remainder.constant < g) {
    const IndexExpr reduced = divideExactly(remainder.base(), g);
    if (divisor / g == 1)
      return add(quotient, reduced);
    remainder = reduced;
    divisor /= g;
  }
  if (bounds.low <= -kUnbounded)
    low = -kUnbounded;
  return add(quotient, opaque(Kind::kDiv, remainder, IndexExpr(divisor), {low, high}));
}

IndexExpr IndexSpace::mod(const IndexExpr &a, const IndexExpr &b) {
  if (!b.isConstant()) {
    IndexRange ra = range(a), rb = range(b);
    if (ra.low >= 0 && ra.high < rb.low)
      return a;
    const auto [reduced, divisor, factor] = withoutFactor(a, b);
    IndexExpr result =
        scale(opaque(Kind::kMod, reduced, divisor, {0, rb.high / factor - 1}), factor);
    result.constant = a.constant - factor * reduced.constant;
    return result;
  }
  IndexExpr remainder = split(a, b.constant).second;
  IndexRange bounds = range(remainder);
  if (bounds.low >= 0 && bounds.high < b.constant)
    return remainder;
  return sub(remainder, scale(floorDiv(remainder, b), b.constant));
}

std::tuple<IndexExpr, IndexExpr, int64_t> IndexSpace::withoutFactor(const IndexExpr &a,
                                                                    const IndexExpr &b) {
  const int64_t factor = std::gcd(baseDivisor(a), divisor(b));
  IndexExpr reduced = divideExactly(a.base(), factor);
  reduced.constant = floorDivInt(a.constant, factor);
  return {reduced, divideExactly(b, factor), factor};
}

std::optional<IndexExpr> IndexSpace::joined(const IndexExpr &quotient, const IndexExpr &remainder,
                                            const IndexExpr &divisor) {
  if (divisor.isConstant() || quotient.terms.size() != 1 || remainder.terms.size() != 1)
    return std::nullopt;
  const auto [divided, one] = quotient.terms.front();
  const auto [reduced, factor] = remainder.terms.front();
  const Variable &div = variables_[divided], &mod = variables_[reduced];
  if (quotient.constant != 0 || one != 1 || remainder.constant < 0 ||
      remainder.constant >= factor || div.kind != Kind::kDiv || mod.kind != Kind::kMod ||
      !(div.lhs == mod.lhs) || !(div.rhs == mod.rhs) || !(scale(div.rhs, factor) == divisor))
    return std::nullopt;
  IndexExpr whole = scale(div.lhs, factor);
  whole.constant += remainder.constant;
  return whole;
}

IndexExpr IndexSpace::opaque(Kind kind, const IndexExpr &lhs, const IndexExpr &rhs,
                             IndexRange bounds) {
  auto [found, inserted] =
      opaque_.try_emplace({kind, {lhs, rhs}}, static_cast<int32_t>(variables_.size()));
  if (inserted) {
    Variable variable;
    variable.kind = kind;
    variable.lhs = lhs;
    variable.rhs = rhs;
    variable.low = bounds.low;
    variable.high = bounds.high;
    variable.perLane = !isUniform(lhs) || !isUniform(rhs);
    variable.weight = std::max(weight(lhs), weight(rhs));
    if (kind == Kind::kMod && !rhs.isConstant())
      variable.limit = rhs;
    variables_.push_back(std::move(variable));
  }
  return exprOfVariable(found->second);
}

IndexExpr IndexSpace::evaluate(mlir::AffineExpr expr, llvm::ArrayRef<IndexExpr> dims,
                               llvm::ArrayRef<IndexExpr> symbols) {
  using mlir::AffineExprKind;
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return IndexExpr(mlir::cast<mlir::AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return dims[mlir::cast<mlir::AffineDimExpr>(expr).getPosition()];
  case AffineExprKind::SymbolId:
    return symbols[mlir::cast<mlir::AffineSymbolExpr>(expr).getPosition()];
  default:
    break;
  }
  auto binary = mlir::cast<mlir::AffineBinaryOpExpr>(expr);
  const auto [left, factor] = expr.getKind() == AffineExprKind::Add
                                  ? withoutConstantFactor(binary.getLHS())
                                  : std::pair(binary.getLHS(), int64_t(1));
  IndexExpr lhs = evaluate(left, dims, symbols);
  IndexExpr rhs = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return addScaled(rhs, lhs, factor);
  case AffineExprKind::Mul:
    return mul(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return floorDiv(add(lhs, sub(rhs, IndexExpr(1))), rhs);
  default:
    return mod(lhs, rhs);
  }
}

IndexRange IndexSpace::range(const IndexExpr &expr) const {
  __int128 low = expr.constant, high = expr.constant;
  for (auto [index, coefficient] : expr.terms) {
    const Variable &variable = variables_[index];
    __int128 a = (__int128)variable.low * coefficient, b = (__int128)variable.high * coefficient;
    bool lowOpen = variable.low <= -kUnbounded, highOpen = variable.high >= kUnbounded;
    if (coefficient < 0) {
      std::swap(a, b);
      std::swap(lowOpen, highOpen);
    }
    low = lowOpen ? -(__int128)kUnbounded * 4 : low + a;
    high = highOpen ? (__int128)kUnbounded * 4 : high + b;
    // An unbounded side stays unbounded: later terms cannot bring it back into range.
    if (lowOpen || low <= -(__int128)kUnbounded * 2)
      low = -(__int128)kUnbounded * 1024;
    if (highOpen || high >= (__int128)kUnbounded * 2)
      high = (__int128)kUnbounded * 1024;
  }
  return {saturate(low), saturate(high)};
}

bool IndexSpace::isNeverNegative(const IndexExpr &expr) {
  constexpr int kMaxSteps = 4;
  IndexExpr lowest = expr;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (range(lowest).low >= 0)
      return true;
    // Replaces a variable with a negative coefficient by its largest value.
    const auto *replaced = llvm::find_if(lowest.terms, [&](const IndexTerm &term) {
      return term.second < 0 && variables_[term.first].limit.has_value();
    });
    if (replaced == lowest.terms.end())
      return false;
    const auto [index, coefficient] = *replaced;
    const IndexExpr largest = sub(*variables_[index].limit, IndexExpr(1));
    lowest = add(withoutVariable(lowest, index).first, scale(largest, coefficient));
  }
  return range(lowest).low >= 0;
}

bool IndexSpace::dependsOn(const IndexExpr &expr, int32_t variable) const {
  return llvm::any_of(expr.terms, [&](auto term) {
    return term.first == variable || dependsOn(variables_[term.first].lhs, variable) ||
           dependsOn(variables_[term.first].rhs, variable);
  });
}

bool IndexSpace::shareVariables(const IndexExpr &a, const IndexExpr &b) const {
  return llvm::any_of(a.terms, [&](auto term) {
    const Variable &variable = variables_[term.first];
    return dependsOn(b, term.first) || shareVariables(variable.lhs, b) ||
           shareVariables(variable.rhs, b);
  });
}

int64_t IndexSpace::baseDivisor(const IndexExpr &expr) const {
  int64_t result = 0;
  for (auto term : expr.terms)
    result = std::gcd(result, term.second);
  return result;
}

int64_t IndexSpace::divisor(const IndexExpr &expr) const {
  return std::gcd(baseDivisor(expr), expr.constant);
}

mlir::Value IndexSpace::materialize(const IndexExpr &expr, mlir::OpBuilder &builder,
                                    mlir::Location loc) {
  using namespace mlir::arith;
  mlir::Value sum;
  for (auto [index, coefficient] : expr.terms) {
    mlir::Value value = materializeVariable(variables_[index], builder, loc);
    if (coefficient != 1)
      value = builder.create<MulIOp>(loc, value, builder.create<ConstantIndexOp>(loc, coefficient));
    sum = sum ? builder.create<AddIOp>(loc, sum, value).getResult() : value;
  }
  if (!sum)
    return builder.create<ConstantIndexOp>(loc, expr.constant);
  if (expr.constant != 0)
    sum = builder.create<AddIOp>(loc, sum, builder.create<ConstantIndexOp>(loc, expr.constant));
  return sum;
}

mlir::Value IndexSpace::materializeVariable(const Variable &variable, mlir::OpBuilder &builder,
                                            mlir::Location loc) {
  using namespace mlir::arith;
  if (variable.kind == Kind::kLeaf)
    return variable.value;
  mlir::Value rhs = materialize(variable.rhs, builder, loc);
  if (variable.kind == Kind::kMul)
    return builder.create<MulIOp>(loc, materialize(variable.lhs, builder, loc), rhs);
  // Unsigned division is cheaper than floor division. If the dividend has a known negative lower
  // bound, a multiple of the divisor is added to it, which makes it non-negative. The multiple must
  // fit the 32 bits of an index.
  IndexRange bounds = range(variable.lhs);
  int64_t lift = 0;
  if (bounds.low < 0 && variable.rhs.isConstant() && bounds.low > variable.rhs.constant - INT32_MAX)
    lift = -floorDivInt(bounds.low, variable.rhs.constant);
  mlir::Value lhs =
      materialize(lift ? add(variable.lhs, IndexExpr(lift * variable.rhs.constant)) : variable.lhs,
                  builder, loc);
  mlir::Value quotient;
  if (bounds.low >= 0 || lift) {
    if (variable.kind == Kind::kMod)
      return builder.create<RemUIOp>(loc, lhs, rhs);
    quotient = builder.create<DivUIOp>(loc, lhs, rhs);
    if (lift)
      quotient = builder.create<SubIOp>(loc, quotient, builder.create<ConstantIndexOp>(loc, lift));
    return quotient;
  }
  // Computes floor(a / b) for any sign of a, as -1 - ((-1 - a) / b) if a is negative.
  mlir::Value zero = builder.create<ConstantIndexOp>(loc, 0);
  mlir::Value minusOne = builder.create<ConstantIndexOp>(loc, -1);
  mlir::Value negative = builder.create<CmpIOp>(loc, CmpIPredicate::slt, lhs, zero);
  mlir::Value flipped = builder.create<SubIOp>(loc, minusOne, lhs);
  mlir::Value magnitude = builder.create<SelectOp>(loc, negative, flipped, lhs);
  quotient = builder.create<DivUIOp>(loc, magnitude, rhs);
  quotient = builder.create<SelectOp>(
      loc, negative, builder.create<SubIOp>(loc, minusOne, quotient).getResult(), quotient);
  if (variable.kind == Kind::kDiv)
    return quotient;
  return builder.create<SubIOp>(loc, lhs, builder.create<MulIOp>(loc, quotient, rhs));
}

} // namespace gantry::codegen
