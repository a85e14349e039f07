// Implements BodyBuilder. The element type determines the operations.
#include "codegen/import/onnx/body.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/import/onnx/import_error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

#include <cmath>

namespace gantry::importer {

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace {

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
Scalar binary(mlir::OpBuilder &b, mlir::Location loc, Scalar x, Scalar y) {
  if (isFloat(x.type))
    return {b.create<FloatOp>(loc, x.value, y.value), x.type};
  if (isUnsigned(x.type))
    return {b.create<UnsignedOp>(loc, x.value, y.value), x.type};
  return {b.create<SignedOp>(loc, x.value, y.value), x.type};
}

} // namespace

Scalar BodyBuilder::constant(DType type, double value) {
  if (!isFloat(type))
    return constantInt(type, static_cast<int64_t>(value));
  if (isHalf(type))
    type = DType::kF32;
  mlir::Type t = mlirType(builder_.getContext(), type);
  return {builder_.create<arith::ConstantOp>(loc_, builder_.getFloatAttr(t, value)), type};
}

Scalar BodyBuilder::constantInt(DType type, int64_t value) {
  if (isFloat(type))
    return constant(type, static_cast<double>(value));
  mlir::Type t = mlirType(builder_.getContext(), type);
  Number n;
  n.i = value;
  n = roundTo(type, n);
  unsigned bits = type == DType::kBool ? 1 : dtypeSize(type) * 8;
  if (type == DType::kIndex)
    return {builder_.create<arith::ConstantIndexOp>(loc_, value), type};
  auto attr = builder_.getIntegerAttr(t, llvm::APInt(64, n.i).sextOrTrunc(bits));
  return {builder_.create<arith::ConstantOp>(loc_, attr), type};
}

Scalar BodyBuilder::markExact(Scalar result) {
  if (exact_ && !isFloat(result.type))
    codegen::GantryDialect::ExactAttrHelper(builder_.getContext())
        .setAttr(result.value.getDefiningOp(), builder_.getUnitAttr());
  return result;
}

namespace {
// Returns whether models compute shapes in this type. Sums, differences and products in such a type
// are marked as exact (markExact), because a shape that overflows is an error in the model.
bool holdsSizes(DType type) { return type == DType::kI32 || type == DType::kI64; }
} // namespace

Scalar BodyBuilder::add(Scalar a, Scalar b) {
  Scalar sum =
      binary<arith::AddFOp, arith::AddIOp, arith::AddIOp>(builder_, loc_, widen(a), widen(b));
  return holdsSizes(a.type) ? markExact(sum) : sum;
}

Scalar BodyBuilder::sub(Scalar a, Scalar b) {
  Scalar difference =
      binary<arith::SubFOp, arith::SubIOp, arith::SubIOp>(builder_, loc_, widen(a), widen(b));
  return holdsSizes(a.type) ? markExact(difference) : difference;
}

Scalar BodyBuilder::mul(Scalar a, Scalar b) {
  Scalar product =
      binary<arith::MulFOp, arith::MulIOp, arith::MulIOp>(builder_, loc_, widen(a), widen(b));
  return holdsSizes(a.type) ? markExact(product) : product;
}

Scalar BodyBuilder::div(Scalar a, Scalar b) {
  return markExact(
      binary<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(builder_, loc_, widen(a), widen(b)));
}

Scalar BodyBuilder::rem(Scalar a, Scalar b) {
  return markExact(
      binary<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(builder_, loc_, widen(a), widen(b)));
}

Scalar BodyBuilder::floorDiv(Scalar a, Scalar b) {
  // Not every target converts arith.floordivsi. Therefore the truncated quotient is decremented if
  // the remainder is not 0 and has another sign than the divisor.
  Scalar quotient = div(a, b);
  if (isUnsigned(a.type))
    return quotient;
  Scalar zero = constantInt(a.type, 0), one = constantInt(a.type, 1);
  Scalar remainder = rem(a, b);
  Scalar inexact = compare(Compare::kNotEqual, remainder, zero);
  Scalar signs =
      xorBits(compare(Compare::kLess, remainder, zero), compare(Compare::kLess, b, zero));
  return select(andBits(inexact, signs), sub(quotient, one), quotient);
}

Scalar BodyBuilder::floorMod(Scalar a, Scalar b) {
  Scalar remainder = rem(a, b);
  if (isUnsigned(a.type))
    return remainder;
  Scalar zero = constantInt(a.type, 0);
  Scalar inexact = compare(Compare::kNotEqual, remainder, zero);
  Scalar signs =
      xorBits(compare(Compare::kLess, remainder, zero), compare(Compare::kLess, b, zero));
  return select(andBits(inexact, signs), add(remainder, b), remainder);
}

Scalar BodyBuilder::min(Scalar a, Scalar b) {
  if (a.type == DType::kBool)
    return andBits(a, b);
  return binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(builder_, loc_, widen(a),
                                                                   widen(b));
}

Scalar BodyBuilder::max(Scalar a, Scalar b) {
  if (a.type == DType::kBool)
    return orBits(a, b);
  return binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(builder_, loc_, widen(a),
                                                                   widen(b));
}

Scalar BodyBuilder::power(Scalar a, Scalar b) {
  a = widen(a), b = widen(b);
  return {builder_.create<math::PowFOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::integerPower(Scalar a, Scalar b) {
  // Squares and multiplies for every bit of the exponent. Products wrap. For a negative exponent
  // the truncated quotient 1 / a^-b is 0 unless a is 1 or -1.
  const int bits = int(dtypeSize(b.type)) * 8 - (isUnsigned(b.type) ? 0 : 1);
  const Scalar zero = constantInt(b.type, 0), one = constantInt(b.type, 1);
  Scalar result = constantInt(a.type, 1), base = a;
  for (int bit = 0; bit < bits; ++bit) {
    Scalar shifted{builder_.create<arith::ShRUIOp>(loc_, b.value, constantInt(b.type, bit).value),
                   b.type};
    Scalar set = andBits(shifted, one);
    Scalar isSet = compare(Compare::kNotEqual, set, zero);
    result = select(isSet, mul(result, base), result);
    base = mul(base, base);
  }
  if (isUnsigned(b.type))
    return result;
  const Scalar isOdd = compare(Compare::kNotEqual, andBits(b, one), zero);
  Scalar isUnit = compare(Compare::kEqual, a, constantInt(a.type, 1));
  if (!isUnsigned(a.type))
    isUnit = orBits(isUnit, compare(Compare::kEqual, a, constantInt(a.type, -1)));
  const Scalar quotient =
      select(isUnit, select(isOdd, a, constantInt(a.type, 1)), constantInt(a.type, 0));
  return select(compare(Compare::kLess, b, zero), quotient, result);
}

Scalar BodyBuilder::andBits(Scalar a, Scalar b) {
  return {builder_.create<arith::AndIOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::orBits(Scalar a, Scalar b) {
  return {builder_.create<arith::OrIOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::xorBits(Scalar a, Scalar b) {
  return {builder_.create<arith::XOrIOp>(loc_, a.value, b.value), a.type};
}

// Shifts by the width or more are undefined in arith and on devices, so 0 is selected instead.
Scalar BodyBuilder::shiftLeft(Scalar a, Scalar b) {
  const Scalar shifted{builder_.create<arith::ShLIOp>(loc_, a.value, b.value), a.type};
  return select(isShift(a, b), shifted, constantInt(a.type, 0));
}

Scalar BodyBuilder::shiftRight(Scalar a, Scalar b) {
  const Scalar shifted{builder_.create<arith::ShRUIOp>(loc_, a.value, b.value), a.type};
  return select(isShift(a, b), shifted, constantInt(a.type, 0));
}

Scalar BodyBuilder::isShift(Scalar a, Scalar b) {
  const auto bits = static_cast<int64_t>(dtypeSize(a.type)) * 8;
  mlir::Value width = constantInt(b.type, bits).value;
  return {builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ult, b.value, width),
          DType::kBool};
}

Scalar BodyBuilder::notBool(Scalar a) { return xorBits(a, constantInt(DType::kBool, 1)); }

Scalar BodyBuilder::unary(Unary op, Scalar a) {
  auto &b = builder_;
  a = widen(a);
  if (!isFloat(a.type)) {
    if (op != Unary::kAbs && op != Unary::kNeg)
      failUnsupported("a function of floats is not supported for elements of type " +
                      llvm::Twine(dtypeName(a.type)));
    Scalar negated = sub(constantInt(a.type, 0), a);
    if (op == Unary::kNeg || isUnsigned(a.type))
      return op == Unary::kNeg ? negated : a;
    return select(compare(Compare::kLess, a, constantInt(a.type, 0)), negated, a);
  }
  auto make = [&](auto created) -> Scalar { return {created, a.type}; };
  switch (op) {
  case Unary::kAbs:
    return make(b.create<math::AbsFOp>(loc_, a.value));
  case Unary::kNeg:
    return make(b.create<arith::NegFOp>(loc_, a.value));
  case Unary::kExp:
    return make(b.create<math::ExpOp>(loc_, a.value));
  case Unary::kLog:
    return make(b.create<math::LogOp>(loc_, a.value));
  case Unary::kSqrt:
    return make(b.create<math::SqrtOp>(loc_, a.value));
  case Unary::kFloor:
    return make(b.create<math::FloorOp>(loc_, a.value));
  case Unary::kCeil:
    return make(b.create<math::CeilOp>(loc_, a.value));
  case Unary::kRoundEven:
    return make(b.create<math::RoundEvenOp>(loc_, a.value));
  case Unary::kErf:
    return make(b.create<math::ErfOp>(loc_, a.value));
  case Unary::kTanh:
    return make(b.create<math::TanhOp>(loc_, a.value));
  case Unary::kSin:
    return make(b.create<math::SinOp>(loc_, a.value));
  case Unary::kCos:
    return make(b.create<math::CosOp>(loc_, a.value));
  case Unary::kTan:
    return make(b.create<math::TanOp>(loc_, a.value));
  case Unary::kAsin:
    return make(b.create<math::AsinOp>(loc_, a.value));
  case Unary::kAcos:
    return make(b.create<math::AcosOp>(loc_, a.value));
  case Unary::kAtan:
    return make(b.create<math::AtanOp>(loc_, a.value));
  case Unary::kSinh:
    return make(b.create<math::SinhOp>(loc_, a.value));
  case Unary::kCosh:
    return make(b.create<math::CoshOp>(loc_, a.value));
  case Unary::kAsinh:
    return make(b.create<math::AsinhOp>(loc_, a.value));
  case Unary::kAcosh:
    return make(b.create<math::AcoshOp>(loc_, a.value));
  case Unary::kAtanh:
    return make(b.create<math::AtanhOp>(loc_, a.value));
  case Unary::kExpm1:
    return make(b.create<math::ExpM1Op>(loc_, a.value));
  case Unary::kLog1p:
    return make(b.create<math::Log1pOp>(loc_, a.value));
  }
  return a;
}

Scalar BodyBuilder::compare(Compare op, Scalar a, Scalar b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  a = widen(a), b = widen(b);
  if (isFloat(a.type)) {
    static constexpr F kPredicates[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
    return {builder_.create<arith::CmpFOp>(loc_, kPredicates[int(op)], a.value, b.value),
            DType::kBool};
  }
  static constexpr I kSigned[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I kUnsigned[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  I predicate = isUnsigned(a.type) ? kUnsigned[int(op)] : kSigned[int(op)];
  return {builder_.create<arith::CmpIOp>(loc_, predicate, a.value, b.value), DType::kBool};
}

Scalar BodyBuilder::select(Scalar condition, Scalar a, Scalar b) {
  a = widen(a), b = widen(b);
  return {builder_.create<arith::SelectOp>(loc_, condition.value, a.value, b.value), a.type};
}

Scalar BodyBuilder::cast(Scalar a, DType to) {
  if (a.type == to)
    return a;
  mlir::Type t = mlirType(builder_.getContext(), to);
  auto &b = builder_;
  if (a.type == DType::kIndex || to == DType::kIndex) {
    if (isFloat(a.type) || isFloat(to)) // There is no direct conversion.
      return cast(cast(a, DType::kI64), to);
    if (isUnsigned(a.type))
      return {b.create<arith::IndexCastUIOp>(loc_, t, a.value), to};
    return {b.create<arith::IndexCastOp>(loc_, t, a.value), to};
  }
  if (to == DType::kBool)
    return compare(Compare::kNotEqual, a, constant(a.type, 0));
  if (isFloat(a.type) && isFloat(to)) {
    if (dtypeSize(a.type) == dtypeSize(to)) // Neither f16 nor bf16 contains the other.
      return cast(cast(a, DType::kF32), to);
    if (dtypeSize(to) > dtypeSize(a.type))
      return {b.create<arith::ExtFOp>(loc_, t, a.value), to};
    return {b.create<arith::TruncFOp>(loc_, t, a.value), to};
  }
  if (isFloat(a.type))
    return isUnsigned(to) ? Scalar{b.create<arith::FPToUIOp>(loc_, t, a.value), to}
                          : Scalar{b.create<arith::FPToSIOp>(loc_, t, a.value), to};
  if (isFloat(to))
    return isUnsigned(a.type) ? Scalar{b.create<arith::UIToFPOp>(loc_, t, a.value), to}
                              : Scalar{b.create<arith::SIToFPOp>(loc_, t, a.value), to};
  uint64_t from = a.type == DType::kBool ? 0 : dtypeSize(a.type);
  if (from == dtypeSize(to))
    return {a.value, to};
  if (from > dtypeSize(to)) {
    Scalar narrow{b.create<arith::TruncIOp>(loc_, t, a.value), to};
    return to == DType::kI32 && a.type == DType::kI64 ? markExact(narrow) : narrow;
  }
  return isUnsigned(a.type) ? Scalar{b.create<arith::ExtUIOp>(loc_, t, a.value), to}
                            : Scalar{b.create<arith::ExtSIOp>(loc_, t, a.value), to};
}

Scalar BodyBuilder::widen(Scalar a) { return isHalf(a.type) ? cast(a, DType::kF32) : a; }

Scalar BodyBuilder::isNaN(Scalar a) {
  a = widen(a);
  return {builder_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::UNO, a.value, a.value),
          DType::kBool};
}

Scalar BodyBuilder::castSaturating(Scalar a, DType to) {
  a = widen(a);
  if (!isFloat(a.type) || isFloat(to) || to == DType::kBool || to == DType::kIndex)
    return cast(a, to);
  const int bits = static_cast<int>(dtypeSize(to)) * 8;
  const double above = std::exp2(isUnsigned(to) ? bits : bits - 1); // Lowest value above the range.
  const double below = isUnsigned(to) ? 0 : -above;
  const int64_t highest =
      static_cast<int64_t>(isUnsigned(to) ? ~uint64_t(0) >> (64 - bits) : INT64_MAX >> (64 - bits));
  const int64_t lowest = isUnsigned(to) ? 0 : INT64_MIN >> (64 - bits);
  // The conversion gets 0 in place of a value outside of the range. The limits are selected
  // afterwards.
  const Scalar isAbove = compare(Compare::kGreaterEqual, a, constant(a.type, above));
  const Scalar isBelow = compare(Compare::kLessEqual, a, constant(a.type, below));
  const Scalar isOutside = orBits(orBits(isAbove, isBelow), isNaN(a));
  Scalar result = cast(select(isOutside, constant(a.type, 0), a), to);
  result = select(isBelow, constantInt(to, lowest), result);
  return select(isAbove, constantInt(to, highest), result);
}

std::pair<Scalar, Scalar> BodyBuilder::decay(Scalar a) {
  // The product of two factors e^(-|a| / 2) has twice the error of one e^-|a|. Therefore the
  // argument is halved only if e^-|a| may be denormal.
  const Scalar magnitude = unary(Unary::kAbs, a), one = constant(a.type, 1);
  const Scalar isNormal =
      compare(Compare::kLess, magnitude, constant(a.type, a.type == DType::kF64 ? 700 : 80));
  const Scalar factor = select(isNormal, constant(a.type, -1), constant(a.type, -0.5));
  const Scalar power = unary(Unary::kExp, mul(magnitude, factor));
  return {power, select(isNormal, one, power)};
}

Scalar BodyBuilder::sigmoid(Scalar a) { return timesSigmoid(constant(a.type, 1), a); }

Scalar BodyBuilder::timesSigmoid(Scalar x, Scalar a) {
  return timesSigmoid(x, a, constant(a.type, 0));
}

Scalar BodyBuilder::timesSigmoid(Scalar x, Scalar a, Scalar low) {
  // With w = e^-|a|, the result is x / (1 + w), or x * w / (1 + w) for negative a.
  const Scalar one = constant(a.type, 1), zero = constant(a.type, 0);
  const auto [first, second] = decay(a);
  const Scalar w = mul(first, second);
  const Scalar isNegative = compare(Compare::kLess, a, zero);
  const Scalar scaled = select(isNegative, mul(mul(x, first), second), x);
  const Scalar result = div(scaled, add(one, w));
  if (low.value.getDefiningOp<arith::ConstantOp>()) // The overload without `low` passes 0.
    return result;
  // A first-order correction: the derivative of ln(sigmoid(a)) is sigmoid(-a).
  const Scalar slope = div(select(isNegative, one, w), add(one, w));
  return mul(result, add(one, mul(low, slope)));
}

Scalar BodyBuilder::highPart(Scalar a) {
  // Keeps the upper half of the significand, so that the product of two such parts is exact.
  const DType bitsType = a.type == DType::kF64 ? DType::kI64 : DType::kI32;
  const int64_t mask = a.type == DType::kF64 ? ~((int64_t(1) << 27) - 1) : ~int64_t(0xfff);
  mlir::Type integer = mlirType(builder_.getContext(), bitsType);
  const Scalar bits{builder_.create<arith::BitcastOp>(loc_, integer, a.value), bitsType};
  const Scalar kept = andBits(bits, constantInt(bitsType, mask));
  return {builder_.create<arith::BitcastOp>(loc_, a.value.getType(), kept.value), a.type};
}

Scalar BodyBuilder::productError(Scalar a, Scalar b, Scalar product) {
  const Scalar aHigh = highPart(a), aLow = sub(a, aHigh);
  const Scalar bHigh = highPart(b), bLow = sub(b, bHigh);
  const Scalar rest = sub(mul(aHigh, bHigh), product);
  return add(add(rest, add(mul(aHigh, bLow), mul(aLow, bHigh))), mul(aLow, bLow));
}

Scalar BodyBuilder::loopIndex(int64_t loop) {
  return {builder_.create<mlir::linalg::IndexOp>(loc_, loop), DType::kIndex};
}

Scalar BodyBuilder::dimension(Dim dim) {
  if (auto value = staticDim(dim))
    return constantInt(DType::kIndex, *value);
  return {dimValue_(dim), DType::kIndex};
}

Scalar BodyBuilder::extract(size_t captured, llvm::ArrayRef<Scalar> indices) {
  llvm::SmallVector<mlir::Value> values;
  for (Scalar index : indices)
    values.push_back(index.value);
  auto [tensor, type] = captured_[captured];
  return widen({builder_.create<mlir::tensor::ExtractOp>(loc_, tensor, values), type});
}

Scalar BodyBuilder::clamp(Scalar a, Scalar low, Scalar high) { return min(max(a, low), high); }

} // namespace gantry::importer
