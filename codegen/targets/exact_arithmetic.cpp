// Implements exact_arithmetic.h, and knownFloat() of float_emitter.h.
#include "codegen/targets/exact_arithmetic.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/targets/float_emitter.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace gantry::codegen {

using namespace mlir;

std::optional<APFloat> knownFloat(Value value) {
  FloatAttr number;
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements.getSplatValue<APFloat>();
  if (!matchPattern(value, m_Constant(&number)))
    return std::nullopt;
  return number.getValue();
}

namespace {

Type bitsOf(OpBuilder &builder, Type floats) {
  Type bits = builder.getIntegerType(getElementTypeOrSelf(floats).getIntOrFloatBitWidth());
  if (auto vector = dyn_cast<VectorType>(floats))
    return vector.clone(bits);
  return bits;
}

Value constantOf(OpBuilder &builder, Location loc, Type type, const APInt &value) {
  TypedAttr attribute = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return builder.create<arith::ConstantOp>(loc, attribute);
}

Value constantOf(OpBuilder &builder, Location loc, Type type, const APFloat &value) {
  TypedAttr attribute = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return builder.create<arith::ConstantOp>(loc, attribute);
}

/// Returns the value if it is a constant zero, with its sign. Returns nothing for any other value.
std::optional<APFloat> knownZero(Value value) {
  const auto number = knownFloat(value);
  return number && number->isZero() ? number : std::nullopt;
}

/// Builds the results of operations that have a constant zero as an operand. Uses only comparisons,
/// selections and operations on bits, which drivers do not simplify.
class ZeroArithmetic {
public:
  ZeroArithmetic(PatternRewriter &rewriter, Operation *op)
      : rewriter_(rewriter), loc_(op->getLoc()), type_(op->getResult(0).getType()),
        semantics_(cast<FloatType>(getElementTypeOrSelf(type_)).getFloatSemantics()) {}

  Value zero(bool isNegative) const {
    return constantOf(rewriter_, loc_, type_, APFloat::getZero(semantics_, isNegative));
  }
  Value infinity() const { return constantOf(rewriter_, loc_, type_, APFloat::getInf(semantics_)); }
  Value nan() const { return constantOf(rewriter_, loc_, type_, APFloat::getQNaN(semantics_)); }
  Value select(Value condition, Value a, Value b) const {
    return rewriter_.create<arith::SelectOp>(loc_, condition, a, b);
  }
  Value compare(FloatPredicate predicate, Value a, Value b) const {
    return rewriter_.create<arith::CmpFOp>(loc_, predicate, a, b);
  }

  /// Returns x + 0, which is x except for -0 + 0 = 0.
  Value plusZero(Value x) const {
    return select(compare(FloatPredicate::OEQ, x, zero(false)), zero(false), x);
  }
  Value negated(Value x) const { return withBits<arith::XOrIOp>(x, signMask()); }
  /// Returns the constant `positive` with the sign of x, or with the opposite sign if isNegated.
  Value withSignOf(Value x, Value positive, bool isNegated) const {
    const Type bits = bitsOf(rewriter_, type_);
    Value sign =
        rewriter_.create<arith::AndIOp>(loc_, rewriter_.create<arith::BitcastOp>(loc_, bits, x),
                                        constantOf(rewriter_, loc_, bits, signMask()));
    Value other = rewriter_.create<arith::BitcastOp>(loc_, bits, positive);
    Value result = rewriter_.create<arith::BitcastOp>(
        loc_, type_, rewriter_.create<arith::OrIOp>(loc_, sign, other));
    return isNegated ? negated(result) : result;
  }
  /// Returns `result` where the comparison of x with `number` is true, otherwise NaN.
  Value onlyWhere(FloatPredicate predicate, Value x, Value number, Value result) const {
    return select(compare(predicate, x, number), result, nan());
  }
  Value magnitude(Value x) const { return withBits<arith::AndIOp>(x, ~signMask()); }

private:
  APInt signMask() const { return APInt::getSignMask(APFloat::semanticsSizeInBits(semantics_)); }
  template <typename Op> Value withBits(Value x, const APInt &mask) const {
    const Type bits = bitsOf(rewriter_, type_);
    Value changed = rewriter_.create<Op>(loc_, rewriter_.create<arith::BitcastOp>(loc_, bits, x),
                                         constantOf(rewriter_, loc_, bits, mask));
    return rewriter_.create<arith::BitcastOp>(loc_, type_, changed);
  }

  PatternRewriter &rewriter_;
  Location loc_;
  Type type_;
  const llvm::fltSemantics &semantics_;
};

/// Replaces an operation that has a constant zero as an operand by its result from ZeroArithmetic.
template <typename Op> struct ExpandZero : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    const auto left = knownZero(op.getLhs()), right = knownZero(op.getRhs());
    if (!op->hasAttr(kNoContraction) || (!left && !right))
      return failure();
    const ZeroArithmetic zero(rewriter, op);
    const Value x = right ? op.getLhs() : op.getRhs();
    const bool isNegative = (right ? *right : *left).isNegative();
    Value result;
    if constexpr (std::is_same_v<Op, arith::AddFOp>)
      result = isNegative ? x : zero.plusZero(x);
    else if constexpr (std::is_same_v<Op, arith::SubFOp>)
      result = right ? (isNegative ? zero.plusZero(x) : x)
                     : (isNegative ? zero.negated(x) : zero.plusZero(zero.negated(x)));
    else if constexpr (std::is_same_v<Op, arith::MulFOp>)
      result = zero.onlyWhere(FloatPredicate::OLT, zero.magnitude(x), zero.infinity(),
                              zero.withSignOf(x, zero.zero(false), isNegative));
    else
      result = zero.onlyWhere(
          FloatPredicate::ONE, x, zero.zero(false),
          zero.withSignOf(x, right ? zero.infinity() : zero.zero(false), isNegative));
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Rounds a double to odd: truncates it to a float, and sets the float's last bit if bits were
/// lost. Rounding this float to f16 gives the same result as rounding the double (S. Boldo and
/// G. Melquiond, "When double rounding is odd", 2005).
Term roundedToOdd(FloatEmitter &e, Value wide) {
  OpBuilder &builder = e.builder();
  const Location loc = e.loc();
  const Value narrow = builder.create<arith::TruncFOp>(loc, e.floatType(), wide);
  const Value back = builder.create<arith::ExtFOp>(loc, wide.getType(), narrow);
  auto isTrue = [&](FloatPredicate predicate, Value a, Value b) {
    return e.term(builder.create<arith::CmpFOp>(loc, predicate, a, b));
  };
  auto magnitudeOf = [&](Value x) -> Value { return builder.create<math::AbsFOp>(loc, x); };
  const Term isLost = isTrue(FloatPredicate::ONE, back, wide);
  const Term isAbove = isTrue(FloatPredicate::OGT, magnitudeOf(back), magnitudeOf(wide));
  const Term bits = e.bits(e.term(narrow));
  const Term cut = e.select(isAbove, plus(bits, -1), bits);
  return e.fromBits(e.select(isLost, cut | e.integer(1), bits));
}

/// Returns the bits of the float 2^exponent.
constexpr uint32_t bitsOfPower(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; }

/// Rounds the operand of a truncation to f16 to a value that f16 can represent, so that the driver
/// does not round. The new truncation is marked with `gantry.rounded`.
struct RoundToHalf : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    constexpr llvm::StringLiteral kRounded = GantryDialect::RoundedAttrHelper::getNameStr();
    const Value in = op.getIn();
    if (op->hasAttr(kRounded) || !getElementTypeOrSelf(op.getType()).isF16() ||
        getElementTypeOrSelf(in.getType()).getIntOrFloatBitWidth() < 32)
      return failure();
    Type single = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(in.getType()))
      single = vector.clone(single);
    FloatEmitter e(rewriter, op.getLoc(), single);
    const Term x = in.getType() == single ? e.term(in) : roundedToOdd(e, in);
    // Let 2^p be the largest power of two that is at most |x|. Adding and subtracting 2^(p + 13)
    // rounds |x| to 11 bits, ties to even. p is clamped to [-14, 17]: -14 is the exponent of the
    // smallest normal f16, and numbers from 2^17 on become infinity in any case.
    const Term a = magnitude(x);
    Term power = e.bits(a) & 0x7f800000u;
    power = e.integers<arith::MaxUIOp>(power, e.integer(bitsOfPower(-14)));
    power = e.integers<arith::MinUIOp>(power, e.integer(bitsOfPower(17)));
    const Term shift = e.fromBits(plus(power, 13 << 23));
    Term result = (a + shift) - shift;
    result = e.select(result > 65504, std::numeric_limits<double>::infinity(), result);
    result = withSign(result, x);
    auto converted = rewriter.create<arith::TruncFOp>(op.getLoc(), op.getType(), result.value);
    converted->setAttr(kRounded, rewriter.getUnitAttr());
    rewriter.replaceOp(op, converted);
    return success();
  }
};

/// Expands the rounding of f64 to the nearest integer, ties to even. Neighbouring numbers in [2^52,
/// 2^53) have the distance 1. Adding 2^52 to a magnitude below 2^52 therefore rounds it to an
/// integer, and subtracting 2^52 again gives this integer. Larger numbers, zeros and NaN stay.
struct ExpandRoundEven : OpRewritePattern<math::RoundEvenOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RoundEvenOp op, PatternRewriter &rewriter) const override {
    const Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF64())
      return failure();
    const Location loc = op.getLoc();
    const Value x = op.getOperand();
    const Value limit = constantOf(rewriter, loc, type, APFloat(0x1p52));
    const Value zero = constantOf(rewriter, loc, type, APFloat(0.0));
    auto kept = [&](Operation *arithmetic) {
      arithmetic->setAttr(kNoContraction, rewriter.getUnitAttr());
      return arithmetic->getResult(0);
    };
    auto test = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
      return rewriter.create<arith::CmpFOp>(loc, predicate, a, b);
    };
    const Value magnitude = rewriter.create<math::AbsFOp>(loc, x);
    const Value sum = kept(rewriter.create<arith::AddFOp>(loc, magnitude, limit));
    const Value rounded = kept(rewriter.create<arith::SubFOp>(loc, sum, limit));
    const Value negated = rewriter.create<arith::NegFOp>(loc, rounded);
    const Value changes =
        rewriter.create<arith::AndIOp>(loc, test(arith::CmpFPredicate::OLT, magnitude, limit),
                                       test(arith::CmpFPredicate::ONE, x, zero));
    const Value withSign = rewriter.create<arith::SelectOp>(
        loc, test(arith::CmpFPredicate::OLT, x, zero), negated, rounded);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, changes, withSign, x);
    return success();
  }
};

/// Expands a signed remainder to the remainder of the magnitudes, with the sign of the dividend.
struct ExpandSignedRemainder : OpRewritePattern<arith::RemSIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemSIOp op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    const Type type = op.getType();
    const auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    if (!integer)
      return failure();
    Value zero = constantOf(rewriter, loc, type, APInt(integer.getWidth(), 0));
    auto isNegative = [&](Value x) -> Value {
      return rewriter.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, zero);
    };
    auto negatedWhere = [&](Value condition, Value x) -> Value {
      Value negated = rewriter.create<arith::SubIOp>(loc, zero, x);
      return rewriter.create<arith::SelectOp>(loc, condition, negated, x);
    };
    const Value x = op.getLhs(), y = op.getRhs(), sign = isNegative(x);
    Value rest =
        rewriter.create<arith::RemUIOp>(loc, negatedWhere(sign, x), negatedWhere(isNegative(y), y));
    rewriter.replaceOp(op, negatedWhere(sign, rest));
    return success();
  }
};

} // namespace

void populateExactArithmeticPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandZero<arith::AddFOp>, ExpandZero<arith::SubFOp>, ExpandZero<arith::MulFOp>,
               ExpandZero<arith::DivFOp>, RoundToHalf, ExpandRoundEven, ExpandSignedRemainder>(
      patterns.getContext());
}

} // namespace gantry::codegen
