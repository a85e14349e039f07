// Implements trigonometry.h. The argument x = k * pi/2 + r is reduced to r with |r| <= pi/4 in one
// of two ways. For x below 1024, k times pi/2 is subtracted in four parts. The first three parts of
// pi/2 have 11 bits, so that their products with k are exact (W. J. Cody, W. Waite, "Software
// Manual for the Elementary Functions", 1980). For larger x, the significand is multiplied, in
// integers, by those bits of 2/pi that affect the result (M. Payne, R. Hanek, "Radian reduction for
// trigonometric functions", 1983). The second way is in a branch, which an invocation takes only if
// an element of its vector needs it.
#include "codegen/targets/trigonometry.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr double kLargeArgument = 1024;
constexpr double kHalfPi = 1.5707963267948966;

struct Reduced {
  Term rest;     // In [-pi/4, pi/4], up to rounding.
  Term quadrant; // k; only its two lowest bits are used.
};

Reduced reduceSmall(Term x) {
  FloatEmitter &e = *x.emitter;
  // pi/2 = 1.5703125 + 4.8375129e-4 + ...; each of the first three parts has 11 bits.
  constexpr double kFirst = 0x1.92p0, kSecond = 0x1.fb4p-12, kThird = 0x1.444p-24,
                   kFourth = 0x1.68c234c4c6629p-39;
  Term k = roundEven(x * (1 / kHalfPi));
  Term rest = ((x - k * kFirst) - k * kSecond) - k * kThird;
  return {rest - k * kFourth, e.toInteger(k)};
}

/// Returns the low and the high word of a product of 32-bit integers.
std::pair<Term, Term> multiply(Term a, Term b) {
  auto product =
      a.emitter->builder().create<arith::MulUIExtendedOp>(a.emitter->loc(), a.value, b.value);
  return {a.emitter->term(product.getLow()), a.emitter->term(product.getHigh())};
}

/// Returns 1 where a sum of two words has overflowed, otherwise 0. `part` is one of the operands; a
/// sum that has overflowed is less than it.
Term carryOf(Term sum, Term part) {
  FloatEmitter &e = *sum.emitter;
  Term wrapped = e.compare(arith::CmpIPredicate::ult, sum, part);
  return e.select(wrapped, e.integer(1), e.integer(0));
}

Reduced reduceLarge(Term x) {
  FloatEmitter &e = *x.emitter;
  // The table has a word of zeros, then the bits of 2/pi.
  constexpr std::array<uint32_t, 9> kTwoOverPi = {0,          0xA2F9836E, 0x4E441529,
                                                  0xFC2757D1, 0xF534DDC0, 0xDB629599,
                                                  0x3C439041, 0xFE5163AB, 0xDEBBC561};
  constexpr int kMaxSkippedWords = 4;
  Term bits = e.bits(x);
  // x is significand * 2^(exponent - 150). The first (exponent - 120) bits of the table are
  // skipped, because they only contribute multiples of 4 quadrants to the product.
  Term exponent = shiftRight(bits, 23);
  Term significand = (bits & 0x7fffffu) | e.integer(0x800000);
  Term skipped = plus(exponent, -120);
  Term skippedWords = shiftRight(skipped, 5), skippedBits = skipped & 31u;
  Term otherBits = minus(e.integer(31), skippedBits);
  auto word = [&](int index) {
    Term chosen = e.integer(kTwoOverPi[index]);
    for (int skip = 1; skip <= kMaxSkippedWords; ++skip)
      chosen = e.select(e.compare(arith::CmpIPredicate::eq, skippedWords, e.integer(skip)),
                        e.integer(kTwoOverPi[index + skip]), chosen);
    return chosen;
  };
  std::array<Term, 4> words = {word(0), word(1), word(2), word(3)};
  auto window = [&](int index) {
    return shiftLeft(words[index], skippedBits) |
           shiftRight(shiftRight(words[index + 1], 1), otherBits);
  };
  // Only the low 96 bits of the product are needed. The first two of them count quadrants, and the
  // others are a fraction of a quadrant. Rounded to the nearest integer, they are the quadrant.
  auto [low, lowCarry] = multiply(significand, window(2));
  auto [middle, middleCarry] = multiply(significand, window(1));
  middle = plus(middle, lowCarry);
  Term high = e.integers<arith::MulIOp>(significand, window(0));
  high = plus(plus(high, middleCarry), carryOf(middle, lowCarry));

  Term quadrant = shiftRight(plus(high, 0x20000000), 30);
  // Because of the rounding, the other bits are a signed fraction of a quadrant, from -1/2 to 1/2.
  Term top = shiftLeft(high, 2) | shiftRight(middle, 30);
  Term bottom = shiftLeft(middle, 2) | shiftRight(low, 30);
  Term isNegative = e.compare(arith::CmpIPredicate::slt, top, e.integer(0));
  Term bottomIsZero = e.compare(arith::CmpIPredicate::eq, bottom, e.integer(0));
  Term ones = e.integer(0xffffffff);
  Term negatedTop = plus(top ^ ones, e.select(bottomIsZero, e.integer(1), e.integer(0)));
  Term negatedBottom = minus(e.integer(0), bottom);
  top = e.select(isNegative, negatedTop, top);
  bottom = e.select(isNegative, negatedBottom, bottom);
  Term fraction = e.unsignedToFloat(top) * 0x1p-32 + e.unsignedToFloat(bottom) * 0x1p-64;
  Term rest = fraction * kHalfPi;
  return {e.select(isNegative, 0.0 - rest, rest), quadrant};
}

/// Returns whether the condition is true for any element.
Value anyElement(FloatEmitter &e, Term condition) {
  auto vector = dyn_cast<VectorType>(condition.value.getType());
  if (!vector)
    return condition.value;
  Value any;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    Value here = e.builder().create<vector::ExtractOp>(e.loc(), condition.value, lane);
    any = any ? e.builder().create<arith::OrIOp>(e.loc(), any, here).getResult() : here;
  }
  return any;
}

/// Reduces a positive number. The result for infinity and NaN is undefined.
Reduced reduce(Term x) {
  FloatEmitter &e = *x.emitter;
  const Reduced small = reduceSmall(x);
  Term isLarge = e.compare(FloatPredicate::OGE, x, e.number(kLargeArgument));
  OpBuilder &builder = e.builder();
  auto branch = builder.create<scf::IfOp>(
      e.loc(), anyElement(e, isLarge),
      [&](OpBuilder &then, Location loc) {
        FloatEmitter inner(then, loc, e.floatType());
        const Reduced large = reduceLarge(inner.term(x.value));
        Term isLargeHere = inner.term(isLarge.value);
        Term rest = inner.select(isLargeHere, large.rest, inner.term(small.rest.value));
        Term quadrant = inner.select(isLargeHere, large.quadrant, inner.term(small.quadrant.value));
        then.create<scf::YieldOp>(loc, ValueRange{rest.value, quadrant.value});
      },
      [&](OpBuilder &otherwise, Location loc) {
        otherwise.create<scf::YieldOp>(loc, ValueRange{small.rest.value, small.quadrant.value});
      });
  return {e.term(branch.getResult(0)), e.term(branch.getResult(1))};
}

// These polynomials are for |r| <= pi/4 and have relative errors below 2^-25. They come from
// S. Moshier's Cephes library.
Term sineOf(Term r) {
  Term z = r * r;
  return polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}) * z * r + r;
}
Term cosineOf(Term r) {
  Term z = r * r;
  Term tail = polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  return (tail * z * z - z * 0.5) + 1;
}
Term tangentOf(Term r) {
  Term z = r * r;
  return polynomial(z, {9.38540185543e-3, 3.11992232697e-3, 2.44301354525e-2, 5.34112807005e-2,
                        1.33387994085e-1, 3.33331568548e-1}) *
             z * r +
         r;
}

Term isOdd(Term quadrant) {
  FloatEmitter &e = *quadrant.emitter;
  return e.compare(arith::CmpIPredicate::ne, quadrant & 1u, e.integer(0));
}

/// Returns -value in the quadrants whose bit 1 is set, otherwise value.
Term negated(Term value, Term quadrant) {
  FloatEmitter &e = *value.emitter;
  return e.fromBits(e.bits(value) ^ shiftLeft(quadrant & 2u, 30));
}

/// Returns `result` where x is finite, otherwise NaN.
Term ofFinite(Term x, Term result) {
  Term difference = x - x; // 0, or NaN
  return x.emitter->select(isNaN(difference), difference, result);
}

} // namespace

Term sine(Term x) {
  FloatEmitter &e = *x.emitter;
  const Reduced r = reduce(magnitude(x));
  Term value = e.select(isOdd(r.quadrant), cosineOf(r.rest), sineOf(r.rest));
  return ofFinite(x, withSign(negated(value, r.quadrant), x));
}

Term cosine(Term x) {
  FloatEmitter &e = *x.emitter;
  const Reduced r = reduce(magnitude(x));
  Term value = e.select(isOdd(r.quadrant), sineOf(r.rest), cosineOf(r.rest));
  return ofFinite(x, negated(value, plus(r.quadrant, 1)));
}

Term tangent(Term x) {
  FloatEmitter &e = *x.emitter;
  const Reduced r = reduce(magnitude(x));
  Term value = tangentOf(r.rest);
  value = e.select(isOdd(r.quadrant), -1.0 / value, value);
  return ofFinite(x, withSign(value, x));
}

} // namespace gantry::codegen
