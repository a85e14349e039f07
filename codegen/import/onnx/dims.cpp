// Implements dims.h. Every result is in the normal form that build() makes: a sum of terms, each of
// which is a product of sorted factors and a coefficient.
#include "codegen/import/onnx/dims.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

namespace gantry::importer {

using mlir::AffineBinaryOpExpr;
using mlir::AffineConstantExpr;
using mlir::AffineExpr;
using mlir::AffineExprKind;
using mlir::AffineSymbolExpr;

std::optional<int64_t> staticDim(Dim dim) {
  if (auto constant = mlir::dyn_cast<AffineConstantExpr>(dim))
    return constant.getValue();
  return std::nullopt;
}

bool isStaticOne(Dim dim) { return staticDim(dim) == 1; }

bool allStatic(llvm::ArrayRef<Dim> dims) {
  return llvm::all_of(dims, [](Dim dim) { return staticDim(dim).has_value(); });
}

llvm::SmallVector<int64_t> staticDims(llvm::ArrayRef<Dim> dims, const llvm::Twine &what) {
  llvm::SmallVector<int64_t> result;
  for (Dim dim : dims) {
    auto value = staticDim(dim);
    if (!value)
      failUnsupported(what + " must be static, but it has the shape " + describeDims(dims));
    result.push_back(*value);
  }
  return result;
}

Dims constantDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims) {
  Dims result;
  for (int64_t dim : dims)
    result.push_back(mlir::getAffineConstantExpr(dim, context));
  return result;
}

namespace {

[[noreturn]] void overflow(int64_t a, const char *op, int64_t b) {
  failBadInput("shape arithmetic overflows: " + llvm::Twine(a) + " " + op + " " + llvm::Twine(b) +
               " does not fit 64 bits");
}

AffineExpr constantLike(Dim like, int64_t value) {
  return mlir::getAffineConstantExpr(value, like.getContext());
}

int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

// A dimension as the product of a coefficient and of factors, none of which is itself a product or
// a constant.
struct Product {
  int64_t coefficient = 1;
  llvm::SmallVector<AffineExpr> factors;
};

std::pair<int64_t, AffineExpr> withoutContent(AffineExpr sum);

void collectFactors(AffineExpr expr, Product &into) {
  auto scale = [&](int64_t value) {
    int64_t product = 0;
    if (__builtin_mul_overflow(into.coefficient, value, &product))
      overflow(into.coefficient, "*", value);
    into.coefficient = product;
  };
  if (auto value = staticDim(expr))
    return scale(*value);
  if (expr.getKind() == AffineExprKind::Mul) {
    auto binary = mlir::cast<AffineBinaryOpExpr>(expr);
    collectFactors(binary.getLHS(), into);
    collectFactors(binary.getRHS(), into);
    return;
  }
  if (expr.getKind() == AffineExprKind::Add) { // 3 a + 3 becomes 3 (a + 1).
    auto [content, primitive] = withoutContent(expr);
    scale(content);
    expr = primitive;
  }
  into.factors.push_back(expr);
}

// A total order that does not depend on addresses: symbols by position, then all others by text.
bool factorLess(AffineExpr a, AffineExpr b) {
  auto sa = mlir::dyn_cast<AffineSymbolExpr>(a), sb = mlir::dyn_cast<AffineSymbolExpr>(b);
  if (sa && sb)
    return sa.getPosition() < sb.getPosition();
  if (sa || sb)
    return static_cast<bool>(sa);
  return describeDims({a}) < describeDims({b});
}

AffineExpr build(Product product, AffineExpr like) {
  if (product.coefficient == 0 || product.factors.empty())
    return constantLike(like, product.factors.empty() ? product.coefficient : 0);
  llvm::sort(product.factors, factorLess);
  AffineExpr result = product.factors[0];
  for (size_t i = 1; i < product.factors.size(); ++i)
    result = result * product.factors[i];
  return product.coefficient == 1 ? result : result * product.coefficient;
}

// A dimension as constant + sum of terms. Terms with the same factors are merged.
struct Sum {
  int64_t constant = 0;
  /// The product of a term's factors, and its coefficient.
  llvm::SmallVector<std::pair<AffineExpr, int64_t>> terms;
};

void collectTerms(AffineExpr expr, int64_t scale, Sum &into) {
  if (expr.getKind() == AffineExprKind::Add) {
    auto binary = mlir::cast<AffineBinaryOpExpr>(expr);
    collectTerms(binary.getLHS(), scale, into);
    collectTerms(binary.getRHS(), scale, into);
    return;
  }
  Product product;
  collectFactors(expr, product);
  int64_t coefficient = 0;
  if (__builtin_mul_overflow(product.coefficient, scale, &coefficient))
    overflow(product.coefficient, "*", scale);
  // A multiple of a sum is distributed, so that equal sums become the same expression.
  if (product.factors.size() == 1 && product.factors[0].getKind() == AffineExprKind::Add)
    return collectTerms(product.factors[0], coefficient, into);
  if (product.factors.empty()) {
    int64_t sum = 0;
    if (__builtin_add_overflow(into.constant, coefficient, &sum))
      overflow(into.constant, "+", coefficient);
    into.constant = sum;
    return;
  }
  product.coefficient = 1;
  AffineExpr term = build(product, expr);
  for (auto &[known, count] : into.terms)
    if (known == term) {
      int64_t sum = 0;
      if (__builtin_add_overflow(count, coefficient, &sum))
        overflow(count, "+", coefficient);
      count = sum;
      return;
    }
  into.terms.push_back({term, coefficient});
}

AffineExpr build(Sum sum, AffineExpr like) {
  llvm::sort(sum.terms, [](auto &a, auto &b) { return factorLess(a.first, b.first); });
  AffineExpr result = nullptr;
  for (auto &[term, coefficient] : sum.terms) {
    if (coefficient == 0)
      continue;
    AffineExpr scaled = coefficient == 1 ? term : term * coefficient;
    result = result ? result + scaled : scaled;
  }
  if (!result)
    return constantLike(like, sum.constant);
  return sum.constant == 0 ? result : result + sum.constant;
}

// Divides a sum by the greatest common divisor of its coefficients. Returns the divisor and the
// quotient.
std::pair<int64_t, AffineExpr> withoutContent(AffineExpr expr) {
  Sum sum;
  collectTerms(expr, 1, sum);
  int64_t content = sum.constant == INT64_MIN ? 1 : std::abs(sum.constant);
  for (auto &[term, coefficient] : sum.terms)
    content = coefficient == INT64_MIN ? 1 : std::gcd(content, coefficient);
  if (content <= 1)
    return {1, expr};
  sum.constant /= content;
  for (auto &[term, coefficient] : sum.terms)
    coefficient /= content;
  return {content, build(sum, expr)};
}

Sum sumOf(Dim a, int64_t scaleA, Dim b, int64_t scaleB) {
  Sum sum;
  collectTerms(a, scaleA, sum);
  collectTerms(b, scaleB, sum);
  return sum;
}

} // namespace

Dim addDims(Dim a, Dim b) { return build(sumOf(a, 1, b, 1), a); }

Dim subDims(Dim a, Dim b) { return build(sumOf(a, 1, b, -1), a); }

Dim mulDims(Dim a, Dim b) {
  Product product;
  collectFactors(a, product);
  collectFactors(b, product);
  AffineExpr result = build(product, a);
  Sum sum;
  collectTerms(result, 1, sum);
  return build(sum, a);
}

Dim floorDivDims(Dim a, Dim b) {
  if (staticDim(b) == 0)
    failBadInput("shape arithmetic divides by zero");
  auto sa = staticDim(a), sb = staticDim(b);
  if (sa && sb) {
    if (*sa == INT64_MIN && *sb == -1)
      overflow(*sa, "/", *sb);
    return constantLike(a, floorDiv(*sa, *sb));
  }
  Product top, bottom;
  collectFactors(a, top);
  collectFactors(b, bottom);
  llvm::SmallVector<AffineExpr> rest;
  for (AffineExpr factor : bottom.factors) {
    auto *found = llvm::find(top.factors, factor);
    if (found != top.factors.end())
      top.factors.erase(found);
    else
      rest.push_back(factor);
  }
  bottom.factors = rest;
  if (bottom.coefficient != 0 && top.coefficient % bottom.coefficient == 0) {
    top.coefficient /= bottom.coefficient;
    bottom.coefficient = 1;
  }
  AffineExpr numerator = build(top, a), denominator = build(bottom, a);
  if (staticDim(denominator) == 1)
    return numerator;
  // If the divisor divides the coefficients of all terms, the sum is divided term by term.
  if (auto divisor = staticDim(denominator); divisor && *divisor > 0) {
    Sum sum;
    collectTerms(numerator, 1, sum);
    bool exact = llvm::all_of(sum.terms, [&](auto &t) { return t.second % *divisor == 0; });
    if (exact) {
      for (auto &term : sum.terms)
        term.second /= *divisor;
      sum.constant = floorDiv(sum.constant, *divisor);
      return build(sum, a);
    }
  }
  return numerator.floorDiv(denominator);
}

Dim ceilDivDims(Dim a, Dim b) {
  return floorDivDims(addDims(a, subDims(b, constantLike(a, 1))), b);
}

Dim modDims(Dim a, Dim b) {
  auto sa = staticDim(a), sb = staticDim(b);
  if (sb && *sb <= 0)
    failBadInput("shape arithmetic takes a remainder by " + llvm::Twine(*sb) +
                 "; the divisor must be positive");
  if (sa && sb)
    return constantLike(a, *sa - floorDiv(*sa, *sb) * *sb);
  Dim quotient = floorDivDims(a, b);
  Dim exact = subDims(a, mulDims(quotient, b));
  return staticDim(exact) ? exact : a % b;
}

Dim productOf(mlir::MLIRContext *context, llvm::ArrayRef<Dim> dims) {
  Dim product = mlir::getAffineConstantExpr(1, context);
  for (Dim dim : dims)
    product = mulDims(product, dim);
  return product;
}

// Returns a lower bound of a dimension over all values of its symbols, and nothing if none is
// known.
static std::optional<int64_t> minOf(Dim dim) {
  if (auto value = staticDim(dim))
    return value;
  if (mlir::isa<AffineSymbolExpr>(dim))
    return 1;
  auto binary = mlir::cast<AffineBinaryOpExpr>(dim);
  const auto a = minOf(binary.getLHS()), b = minOf(binary.getRHS());
  if (dim.getKind() == AffineExprKind::Mod)
    return 0;
  if (!a || !b)
    return std::nullopt;
  int64_t result = 0;
  switch (dim.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul: // The product of the bounds, if none is negative.
    return *a < 0 || *b < 0 || llvm::MulOverflow(*a, *b, result) ? std::nullopt
                                                                 : std::optional(result);
  default: {
    // A quotient: the dividend's bound divided by a positive constant, or 0 if the dividend is not
    // negative and the divisor is positive.
    const auto divisor = staticDim(binary.getRHS());
    if (divisor && *divisor > 0)
      return dim.getKind() == AffineExprKind::FloorDiv ? floorDiv(*a, *divisor)
                                                       : -floorDiv(-*a, *divisor);
    return *a >= 0 && *b > 0 ? std::optional<int64_t>(0) : std::nullopt;
  }
  }
}

std::optional<int> compareDims(Dim a, Dim b) {
  Sum difference = sumOf(a, 1, b, -1);
  int64_t minimum = difference.constant;
  bool positive = true, negative = true, none = true;
  for (auto &[term, coefficient] : difference.terms) {
    if (coefficient == 0)
      continue;
    none = false;
    const auto minTerm = minOf(term);
    int64_t share = 0;
    if (!minTerm || llvm::MulOverflow(coefficient, *minTerm, share) ||
        llvm::AddOverflow(minimum, share, minimum))
      return std::nullopt;
    (coefficient > 0 ? negative : positive) = false;
  }
  if (none)
    return difference.constant < 0 ? -1 : difference.constant > 0;
  if (positive && minimum > 0)
    return 1;
  if (negative && minimum < 0)
    return -1;
  return std::nullopt;
}

llvm::SmallVector<unsigned> symbolsOf(Dim dim) {
  llvm::SmallVector<unsigned> symbols;
  dim.walk([&](AffineExpr inner) {
    if (auto symbol = mlir::dyn_cast<AffineSymbolExpr>(inner))
      symbols.push_back(symbol.getPosition());
  });
  llvm::sort(symbols);
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

int64_t evaluateAt(Dim dim, int64_t symbol) {
  if (auto value = staticDim(dim))
    return *value;
  if (mlir::isa<AffineSymbolExpr>(dim))
    return symbol;
  auto binary = mlir::cast<AffineBinaryOpExpr>(dim);
  const int64_t a = evaluateAt(binary.getLHS(), symbol), b = evaluateAt(binary.getRHS(), symbol);
  switch (dim.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(a, b, symbol) ? (a < 0 ? INT64_MIN : INT64_MAX) : symbol;
  case AffineExprKind::Mul:
    return llvm::MulOverflow(a, b, symbol) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : symbol;
  case AffineExprKind::FloorDiv:
    return b == 0 ? 0 : floorDiv(a, b);
  case AffineExprKind::CeilDiv:
    return b == 0 ? 0 : -floorDiv(-a, b);
  default:
    return b == 0 ? 0 : a - floorDiv(a, b) * b;
  }
}

std::optional<int> directionOf(Dim dim) {
  if (staticDim(dim))
    return 0;
  if (mlir::isa<AffineSymbolExpr>(dim))
    return 1;
  auto binary = mlir::cast<AffineBinaryOpExpr>(dim);
  auto left = directionOf(binary.getLHS()), right = directionOf(binary.getRHS());
  auto factor = staticDim(binary.getRHS());
  if (!left || !right)
    return std::nullopt;
  switch (dim.getKind()) {
  case AffineExprKind::Add:
    return *left == 0 || *right == 0 || left == right ? std::optional<int>(*left ? *left : *right)
                                                      : std::nullopt;
  case AffineExprKind::Mul:
    if (factor)
      return *factor < 0 ? -*left : *left;
    return left == 1 && right == 1 ? std::optional<int>(1) : std::nullopt;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return factor && *factor > 0 ? left : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::string describeDims(llvm::ArrayRef<Dim> dims) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  for (size_t i = 0; i < dims.size(); ++i)
    stream << (i ? ", " : "") << dims[i];
  stream << "]";
  return text;
}

} // namespace gantry::importer
