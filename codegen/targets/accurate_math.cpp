// Implements accurate_math.h. The methods come from these sources. Argument reductions: W. J. Cody
// and W. Waite, "Software Manual for the Elementary Functions" (1980). Most polynomials: S.
// Moshier's Cephes library. Arithmetic on pairs of floats: T. J. Dekker, "A floating-point
// technique for extending the available precision" (1971).
#include "codegen/targets/accurate_math.h"

#include "codegen/targets/float_emitter.h"
#include "codegen/targets/trigonometry.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallestNormal = 0x1p-126;
constexpr double kLn2 = 0.69314718055994531;
constexpr double kLog2E = 1.4426950408889634;
// ln 2 = kLn2High + kLn2Low. kLn2High has few bits, so its product with an exponent is exact.
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440054690583e-4;
constexpr double kPi = 3.1415926535897932;

// ---- Exponentials ------------------------------------------------------------------------------

/// Returns 2^n for n from -126 to 127.
Term powerOfTwo(Term n) {
  FloatEmitter &e = *n.emitter;
  return e.fromBits(shiftLeft(plus(n, 127), 23));
}

/// Returns x * 2^n for n from -252 to 254. Multiplies twice, because 2^n may exceed the range of
/// f32.
Term scaled(Term x, Term n) {
  Term half = shiftRightSigned(n, 1);
  return x * powerOfTwo(half) * powerOfTwo(minus(n, half));
}

/// Returns (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
Term exponentialTail(Term r) {
  return polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                        1.6666665459e-1, 5.0000001201e-1});
}

/// The parts of x = n * ln 2 + rest + low, where low is the rounding error of rest.
struct Reduced {
  Term n, rest, low;
};

Reduced reduceByLn2(Term x) {
  Term n = roundEven(x * kLog2E);
  Term high = x - n * kLn2High, product = n * kLn2Low, rest = high - product;
  return {n, rest, (high - rest) - product};
}

/// Returns e^(rest + low). The sum 1 + rest is kept as two floats, to add its rounding error later.
Term exponentialOfRest(const Reduced &reduced) {
  const Term r = reduced.rest, sum = r + 1;
  return sum + ((r - (sum - 1)) + reduced.low + exponentialTail(r) * (r * r));
}

/// Returns e^x * 2^scale for a scale of -1 or 0.
Term exponential(Term x, int scale = 0) {
  FloatEmitter &e = *x.emitter;
  x = e.select(x < -105, -105, x);
  x = e.select(x > 90, 90, x);
  const Reduced reduced = reduceByLn2(x);
  const Term n = e.toInteger(reduced.n);
  return scaled(exponentialOfRest(reduced), scale ? plus(n, scale) : n);
}

/// Returns e^x - 1, as 2 * (2^(n-1) * (e^r - 1) + (2^(n-1) - 1/2)), where x = n * ln 2 + r.
Term exponentialMinusOne(Term x) {
  FloatEmitter &e = *x.emitter;
  constexpr double kMaxExponent = 0x1.62e42ep6; // The largest float x whose e^x is finite.
  Term bounded = e.select(x < -40, -40, x);
  bounded = e.select(x > kMaxExponent, kMaxExponent, bounded);
  const auto [n, r, low] = reduceByLn2(bounded);
  Term rest = exponentialTail(r) * (r * r) + low + r;
  Term half = powerOfTwo(plus(e.toInteger(n), -1)); // n is from -58 to 128.
  Term result = (half * rest + (half - 0.5)) * 2;
  result = e.select(x > kMaxExponent, kInfinity, result);
  return e.select(x == 0, x, result);
}

// ---- Logarithms --------------------------------------------------------------------------------

/// The parts of a positive finite number 2^exponent * mantissa, with the mantissa in [sqrt(1/2),
/// sqrt(2)).
struct Split {
  Term mantissa, exponent;
};

Split split(Term x) {
  FloatEmitter &e = *x.emitter;
  constexpr uint32_t kSqrtHalf = 0x3f3504f3; // The bits of sqrt(1/2).
  Term isDenormal = x < kSmallestNormal;
  Term bits = e.bits(e.select(isDenormal, x * 0x1p23, x));
  Term exponent = shiftRightSigned(minus(bits, e.integer(kSqrtHalf)), 23);
  Term mantissa = e.fromBits(minus(bits, shiftLeft(exponent, 23)));
  return {mantissa, e.toFloat(exponent) + e.select(isDenormal, -23, 0)};
}

/// Returns ln x for a positive finite x.
Term logarithmOfFinite(Term x) {
  auto [mantissa, exponent] = split(x);
  Term f = mantissa - 1, z = f * f;
  Term tail = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                             1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                             3.3333331174e-1}) *
                  f * z +
              exponent * kLn2Low;
  return (f + (tail - z * 0.5)) + exponent * kLn2High;
}

Term logarithm(Term x) {
  FloatEmitter &e = *x.emitter;
  Term result = e.select(x == kInfinity, x, logarithmOfFinite(x));
  result = e.select(x == 0, -kInfinity, result);
  return e.select(e.compare(FloatPredicate::UGE, x, e.number(0)), e.select(isNaN(x), x, result),
                  kNaN);
}

/// Returns ln(1 + x). The rounding error of 1 + x is added to the logarithm.
Term logarithmOfOnePlus(Term x) {
  FloatEmitter &e = *x.emitter;
  Term sum = x + 1;
  Term result = logarithm(sum) + (x - (sum - 1)) / sum;
  result = e.select(sum == 1, x, result);
  result = e.select(sum == 0, -kInfinity, result);
  return e.select(sum == kInfinity, sum, result);
}

// ---- Powers ------------------------------------------------------------------------------------

/// Returns x truncated to 12 significant bits. The product of two such numbers is exact.
Term highPart(Term x) {
  FloatEmitter &e = *x.emitter;
  return e.fromBits(e.bits(x) & 0xfffff000u);
}

/// A number as the sum of two floats. `high` has 12 significant bits.
struct Pair {
  Term high, low;
};

/// Returns log2 x of a positive finite number, with a relative error of about 2^-34. The log2 of
/// the mantissa m is 2 / (3 ln 2) * (3 s + s^3 + 3/5 s^5 + ...), where s = (m - 1) / (m + 1).
Pair logarithmInBaseTwo(Term x) {
  auto [m, exponent] = split(x);
  Term f = m - 1, sum = m + 1;
  Term s = f / sum, sHigh = highPart(s);
  Term sumHigh = highPart(sum), sumLow = m - (sumHigh - 1);
  Term sLow = ((f - sHigh * sumHigh) - sHigh * sumLow) / sum;

  // seriesHigh + seriesLow is 3 + s^2 + 3/5 s^4 + ....
  Term square = s * s, squareHigh = sHigh * sHigh;
  Term rest =
      polynomial(square, {3 / 13.0, 3 / 11.0, 3 / 9.0, 3 / 7.0, 3 / 5.0}) * square * square +
      sLow * (sHigh + s);
  Term seriesHigh = highPart((squareHigh + 3) + rest);
  Term seriesLow = rest - ((seriesHigh - 3) - squareHigh);
  // Multiply by s.
  Term u = sHigh * seriesHigh, v = sLow * seriesHigh + seriesLow * s;
  Term productHigh = highPart(u + v), productLow = v - (productHigh - u);
  // Multiply by 2 / (3 ln 2), whose first part has 12 bits.
  constexpr double kFactor = 2 / (3 * kLn2), kFactorHigh = 0x1.ec6p-1,
                   kFactorLow = kFactor - kFactorHigh;
  Term high = productHigh * kFactorHigh;
  Term low = productHigh * kFactorLow + productLow * kFactor;
  Term total = highPart((high + low) + exponent);
  return {total, low - ((total - exponent) - high)};
}

/// Returns |x|^y for a positive finite |x|.
Term powerOfMagnitude(Term x, Term y) {
  FloatEmitter &e = *x.emitter;
  // Clamping y does not change the result, but keeps the following products finite.
  y = e.select(y > 0x1p40, 0x1p40, y);
  y = e.select(y < -0x1p40, -0x1p40, y);
  const Pair base = logarithmInBaseTwo(x);
  Term yHigh = highPart(y), yLow = y - yHigh;
  Term high = yHigh * base.high, low = yLow * base.high + y * base.low;
  Term exponent = high + low;
  Term isBelow = exponent<-160, isAbove = exponent> 140;
  Term n = roundEven(e.select(isBelow, -160, e.select(isAbove, 140, exponent)));
  Term isBeyond = e.term(e.builder().create<arith::OrIOp>(e.loc(), isBelow.value, isAbove.value));
  Term r = e.select(isBeyond, 0, ((high - n) + low) * kLn2);
  return scaled(exponentialTail(r) * (r * r) + r + 1, e.toInteger(n));
}

Term either(Term a, Term b) { return a.emitter->integers<arith::OrIOp>(a, b); }
Term both(Term a, Term b) { return a.emitter->integers<arith::AndIOp>(a, b); }

Term power(Term x, Term y) {
  FloatEmitter &e = *x.emitter;
  Term base = magnitude(x);
  Term isWhole = e.compare(FloatPredicate::OEQ, floor(y), y);
  Term half = y * 0.5;
  Term isOdd = both(isWhole, e.compare(FloatPredicate::UNE, floor(half), half));
  Term isZero = base == 0;
  Term isExtreme = either(isZero, base == kInfinity);
  Term extreme = e.select(e.compare(arith::CmpIPredicate::eq, isZero, y < 0), kInfinity, 0.0);
  Term result = e.select(isExtreme, extreme, powerOfMagnitude(base, y));
  // If y is odd, the result has the sign of x. If y is no integer, the result is NaN for a negative
  // finite x.
  result = e.select(isOdd, withSign(result, x), result);
  Term isNegative = both(x < 0, e.compare(FloatPredicate::UNE, x, e.number(-kInfinity)));
  Term isFraction = e.compare(FloatPredicate::ONE, floor(y), y);
  result = e.select(both(isNegative, isFraction), kNaN, result);
  result = e.select(either(isNaN(x), isNaN(y)), kNaN, result);
  return e.select(either(y == 0, x == 1), 1, result);
}

// ---- The error function ------------------------------------------------------------------------

/// Returns e^(t^2) * erfc(t) for t from 0 to 40, as a polynomial in (t - 4) / (t + 4) over 1 + 2 t.
/// The polynomial is a Chebyshev fit with a relative error of 2e-8.
Term scaledComplement(Term t) {
  Term y = (t - 4) / (t + 4);
  return polynomial(y, {-3.75695441037e-4, -4.91651487297e-4, 5.32452619326e-3, -1.63868858876e-2,
                        3.69723594243e-2, -6.62659885625e-2, 9.37912988947e-2, -1.01049445778e-1,
                        6.80898418208e-2, 1.53803059157e-2, -1.39620867662e-1, 1.23299511137}) /
         (t * 2 + 1);
}

Term errorFunction(Term x) {
  FloatEmitter &e = *x.emitter;
  Term a = magnitude(x), z = x * x;
  Term small = polynomial(z, {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3,
                              -2.685381193529856e-2, 1.128358514861418e-1, -3.761262582423300e-1,
                              1.128379165726710});
  Term bounded = e.select(a > 9, 9, a);
  Term large = 1.0 - exponential(0.0 - bounded * bounded) * scaledComplement(bounded);
  return e.select(a < 1, x * small, withSign(large, x));
}

// ---- Hyperbolic functions ----------------------------------------------------------------------

Term hyperbolicTangent(Term x) {
  FloatEmitter &e = *x.emitter;
  Term a = magnitude(x), z = a * a;
  Term small = polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                              1.33314422036e-1, -3.33332819422e-1}) *
                   z * a +
               a;
  Term large = 1.0 - 2.0 / (exponential(a * 2) + 1);
  return withSign(e.select(a < 0.625, small, large), x);
}

Term hyperbolicSine(Term x) {
  FloatEmitter &e = *x.emitter;
  Term a = magnitude(x), z = x * x;
  Term small = polynomial(z, {2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1}) * z * x + x;
  Term half = exponential(a, -1);
  return e.select(a < 1, small, withSign(half - 0.25 / half, x));
}

Term hyperbolicCosine(Term x) {
  Term half = exponential(magnitude(x), -1);
  return half + 0.25 / half;
}

Term inverseHyperbolicSine(Term x) {
  FloatEmitter &e = *x.emitter;
  constexpr double kLarge = 1500; // For larger x, asinh x is ln(2x) within half an ulp.
  Term a = magnitude(x), z = a * a;
  Term small =
      polynomial(z, {2.0122003309e-2, -4.2699340972e-2, 7.4847586088e-2, -1.6666288134e-1}) * z *
          a +
      a;
  Term middle = logarithmOfOnePlus(a + z / (sqrt(z + 1) + 1));
  Term large = logarithm(a) + kLn2;
  Term result = e.select(a < 0.5, small, e.select(a > kLarge, large, middle));
  return withSign(result, x);
}

Term inverseHyperbolicCosine(Term x) {
  FloatEmitter &e = *x.emitter;
  constexpr double kLarge = 1500;
  Term z = x - 1;
  Term small = polynomial(z, {1.7596881071e-3, -7.5272886713e-3, 2.6454905019e-2, -1.1784741703e-1,
                              1.4142135263}) *
               sqrt(z);
  Term middle = logarithm(x + sqrt(z * (x + 1)));
  Term result = e.select(x > kLarge, logarithm(x) + kLn2, middle);
  return e.select(x < 1, kNaN, e.select(z < 0.5, small, result));
}

Term inverseHyperbolicTangent(Term x) {
  FloatEmitter &e = *x.emitter;
  Term z = x * x;
  Term small = polynomial(z, {1.81740078349e-1, 8.24370301058e-2, 1.46691431730e-1,
                              1.99782164500e-1, 3.33337300303e-1}) *
                   z * x +
               x;
  Term large = logarithm((x + 1) / (1.0 - x)) * 0.5;
  return e.select(magnitude(x) < 0.5, small, large);
}

// ---- Inverse trigonometric functions -----------------------------------------------------------

/// Returns asin x for |x| <= 1/2.
Term arcSineOfSmall(Term x) {
  Term z = x * x;
  return polynomial(z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2,
                        1.6666752422e-1}) *
             z * x +
         x;
}

Term arcSine(Term x) {
  FloatEmitter &e = *x.emitter;
  Term a = magnitude(x);
  Term large = kPi / 2 - arcSineOfSmall(sqrt((1.0 - a) * 0.5)) * 2;
  return e.select(a < 0.5, arcSineOfSmall(x), withSign(large, x));
}

Term arcCosine(Term x) {
  FloatEmitter &e = *x.emitter;
  Term half = arcSineOfSmall(sqrt((1.0 - magnitude(x)) * 0.5)) * 2;
  Term outer = e.select(x < 0, kPi - half, half);
  return e.select(magnitude(x) < 0.5, kPi / 2 - arcSineOfSmall(x), outer);
}

Term arcTangent(Term x) {
  FloatEmitter &e = *x.emitter;
  Term a = magnitude(x);
  Term isSteep = a > 2.414213562373095, isMiddle = a > 0.4142135623730950;
  Term t = e.select(isSteep, -1.0 / a, e.select(isMiddle, (a - 1) / (a + 1), a));
  Term offset = e.select(isSteep, e.number(kPi / 2), e.select(isMiddle, kPi / 4, 0.0));
  Term z = t * t;
  Term tail =
      polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return withSign(offset + (tail * z * t + t), x);
}

// ---- Patterns ----------------------------------------------------------------------------------

/// Replaces an operation on f16 or f32, scalar or vector, by the arithmetic that `function` builds.
/// The arithmetic is in f32.
template <typename Op, size_t operands> struct Expand : OpRewritePattern<Op> {
  using Function = Term (*)(std::array<Term, operands>);
  Expand(MLIRContext *context, Function function)
      : OpRewritePattern<Op>(context, kBenefit), function_(function) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    const Type type = op.getType(), element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF16())
      return failure();
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    FloatEmitter emitter(rewriter, op.getLoc(), wide);
    auto operand = [&](size_t i) {
      Value value = op->getOperand(static_cast<unsigned>(i));
      if (element.isF16())
        value = rewriter.create<arith::ExtFOp>(op.getLoc(), wide, value);
      return emitter.term(value);
    };
    Value result;
    if constexpr (operands == 1)
      result = function_({operand(0)}).value;
    else
      result = function_({operand(0), operand(1)}).value;
    if (element.isF16())
      result = rewriter.create<arith::TruncFOp>(op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static constexpr unsigned kBenefit = 2; // Higher than that of MLIR's own approximations.
  Function function_;
};

/// Expands the IEEE 754-2019 maximum or minimum of floats of any size to comparisons, because
/// SPIR-V leaves the results for NaN and for zeros of different signs to the driver.
template <typename Op, bool isMax> struct ExpandExtreme : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    const Location loc = op.getLoc();
    Value x = op.getLhs(), y = op.getRhs();
    auto compare = [&](FloatPredicate predicate, Value a, Value b) -> Value {
      return rewriter.create<arith::CmpFOp>(loc, predicate, a, b);
    };
    auto select = [&](Value condition, Value a, Value b) -> Value {
      return rewriter.create<arith::SelectOp>(loc, condition, a, b);
    };
    if (knownNumber(x))
      std::swap(x, y);
    if (const auto known = knownNumber(y)) {
      // The result is the constant if x is less (for a minimum: greater) than the constant. A NaN
      // operand compares false and is kept. The constant +0 of a maximum and the constant -0 of a
      // minimum are also the result if x is a zero.
      const bool winsTie = known->isZero() && known->isNegative() != isMax;
      const auto predicate = isMax ? (winsTie ? FloatPredicate::OLE : FloatPredicate::OLT)
                                   : (winsTie ? FloatPredicate::OGE : FloatPredicate::OGT);
      rewriter.replaceOp(op, select(compare(predicate, x, y), y, x));
      return success();
    }
    const Type type = op.getType();
    Type bits = rewriter.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
    if (auto vector = dyn_cast<VectorType>(type))
      bits = vector.clone(bits);
    // Equal numbers have equal bits, except +0 and -0, whose sign bits are combined.
    using Combine = std::conditional_t<isMax, arith::AndIOp, arith::OrIOp>;
    Value combined = rewriter.create<Combine>(loc, rewriter.create<arith::BitcastOp>(loc, bits, x),
                                              rewriter.create<arith::BitcastOp>(loc, bits, y));
    combined = rewriter.create<arith::BitcastOp>(loc, type, combined);
    const auto wins = isMax ? FloatPredicate::OGT : FloatPredicate::OLT;
    Value result = select(compare(FloatPredicate::OEQ, x, y), combined, y); // y may be NaN.
    result = select(compare(wins, x, y), x, result);
    rewriter.replaceOp(op, select(compare(FloatPredicate::UNO, x, x), x, result));
    return success();
  }

private:
  static std::optional<APFloat> knownNumber(Value value) {
    const auto number = knownFloat(value);
    return number && !number->isNaN() ? number : std::nullopt;
  }
};

} // namespace

void populateAccurateMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
#define GANTRY_EXPAND(OP, FUNCTION)                                                                \
  patterns.add<Expand<math::OP, 1>>(context,                                                       \
                                    [](std::array<Term, 1> x) -> Term { return FUNCTION(x[0]); });
  GANTRY_EXPAND(ExpOp, exponential)
  GANTRY_EXPAND(ExpM1Op, exponentialMinusOne)
  GANTRY_EXPAND(LogOp, logarithm)
  GANTRY_EXPAND(Log1pOp, logarithmOfOnePlus)
  GANTRY_EXPAND(ErfOp, errorFunction)
  GANTRY_EXPAND(TanhOp, hyperbolicTangent)
  GANTRY_EXPAND(SinhOp, hyperbolicSine)
  GANTRY_EXPAND(CoshOp, hyperbolicCosine)
  GANTRY_EXPAND(AsinhOp, inverseHyperbolicSine)
  GANTRY_EXPAND(AcoshOp, inverseHyperbolicCosine)
  GANTRY_EXPAND(AtanhOp, inverseHyperbolicTangent)
  GANTRY_EXPAND(SinOp, sine)
  GANTRY_EXPAND(CosOp, cosine)
  GANTRY_EXPAND(TanOp, tangent)
  GANTRY_EXPAND(AsinOp, arcSine)
  GANTRY_EXPAND(AcosOp, arcCosine)
  GANTRY_EXPAND(AtanOp, arcTangent)
#undef GANTRY_EXPAND
  patterns.add<Expand<math::PowFOp, 2>>(
      context, [](std::array<Term, 2> x) -> Term { return power(x[0], x[1]); });
  patterns.add<ExpandExtreme<arith::MaximumFOp, true>, ExpandExtreme<arith::MinimumFOp, false>>(
      context);
}

} // namespace gantry::codegen
