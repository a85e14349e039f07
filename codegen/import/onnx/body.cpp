#include "codegen/import/onnx/body.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

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
    type = DType::F32;
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
  unsigned bits = type == DType::Bool ? 1 : dtypeSize(type) * 8;
  if (type == DType::Index)
    return {builder_.create<arith::ConstantIndexOp>(loc_, value), type};
  auto attr = builder_.getIntegerAttr(t, llvm::APInt(64, n.i).sextOrTrunc(bits));
  return {builder_.create<arith::ConstantOp>(loc_, attr), type};
}

Scalar BodyBuilder::exactly(Scalar result) {
  if (exact_ && !isFloat(result.type))
    result.value.getDefiningOp()->setAttr(kExactAttribute, builder_.getUnitAttr());
  return result;
}

namespace {
bool wrapsByMistake(DType type) { return type == DType::I32 || type == DType::I64; }
} // namespace

Scalar BodyBuilder::add(Scalar a, Scalar b) {
  Scalar sum =
      binary<arith::AddFOp, arith::AddIOp, arith::AddIOp>(builder_, loc_, widen(a), widen(b));
  return wrapsByMistake(a.type) ? exactly(sum) : sum;
}

Scalar BodyBuilder::sub(Scalar a, Scalar b) {
  Scalar difference =
      binary<arith::SubFOp, arith::SubIOp, arith::SubIOp>(builder_, loc_, widen(a), widen(b));
  return wrapsByMistake(a.type) ? exactly(difference) : difference;
}

Scalar BodyBuilder::mul(Scalar a, Scalar b) {
  Scalar product =
      binary<arith::MulFOp, arith::MulIOp, arith::MulIOp>(builder_, loc_, widen(a), widen(b));
  return wrapsByMistake(a.type) ? exactly(product) : product;
}

Scalar BodyBuilder::div(Scalar a, Scalar b) {
  return exactly(
      binary<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(builder_, loc_, widen(a), widen(b)));
}

Scalar BodyBuilder::rem(Scalar a, Scalar b) {
  return exactly(
      binary<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(builder_, loc_, widen(a), widen(b)));
}

Scalar BodyBuilder::floorDiv(Scalar a, Scalar b) {
  // arith.floordivsi has no conversion everywhere: truncate, then step down where signs differ.
  Scalar quotient = div(a, b);
  if (isUnsigned(a.type))
    return quotient;
  Scalar zero = constantInt(a.type, 0), one = constantInt(a.type, 1);
  Scalar remainder = rem(a, b);
  Scalar inexact = compare(Compare::NotEqual, remainder, zero);
  Scalar signs = xorBits(compare(Compare::Less, remainder, zero), compare(Compare::Less, b, zero));
  return select(andBits(inexact, signs), sub(quotient, one), quotient);
}

Scalar BodyBuilder::floorMod(Scalar a, Scalar b) {
  Scalar remainder = rem(a, b);
  if (isUnsigned(a.type))
    return remainder;
  Scalar zero = constantInt(a.type, 0);
  Scalar inexact = compare(Compare::NotEqual, remainder, zero);
  Scalar signs = xorBits(compare(Compare::Less, remainder, zero), compare(Compare::Less, b, zero));
  return select(andBits(inexact, signs), add(remainder, b), remainder);
}

Scalar BodyBuilder::min(Scalar a, Scalar b) {
  return binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(builder_, loc_, widen(a),
                                                                   widen(b));
}

Scalar BodyBuilder::max(Scalar a, Scalar b) {
  return binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(builder_, loc_, widen(a),
                                                                   widen(b));
}

Scalar BodyBuilder::power(Scalar a, Scalar b) {
  a = widen(a), b = widen(b);
  return {builder_.create<math::PowFOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::integerPower(Scalar a, Scalar b) {
  // Square and multiply over six bits of the exponent. Outside 0 ... 63 only 0 and +-1 have powers
  // that fit: the others give 0, as a quotient that is cut off does. Where a result that does not
  // fit is an error, every bit is read.
  const int width = int(dtypeSize(b.type)) * 8 - (isUnsigned(b.type) ? 0 : 1);
  const int bits = exact_ ? width : std::min(width, 6);
  const Scalar zero = constantInt(b.type, 0), one = constantInt(b.type, 1);
  Scalar result = constantInt(a.type, 1), base = a;
  for (int bit = 0; bit < bits; ++bit) {
    Scalar set = andBits(shiftRight(b, constantInt(b.type, bit)), one);
    Scalar isSet = compare(Compare::NotEqual, set, zero);
    result = select(isSet, mul(result, base), result);
    base = mul(base, base);
  }
  if (exact_)
    return result;
  const Scalar isOdd = compare(Compare::NotEqual, andBits(b, one), zero);
  Scalar isUnit = compare(Compare::Equal, a, constantInt(a.type, 1));
  if (!isUnsigned(a.type))
    isUnit = orBits(isUnit, compare(Compare::Equal, a, constantInt(a.type, -1)));
  const Scalar far =
      select(isUnit, select(isOdd, a, constantInt(a.type, 1)), constantInt(a.type, 0));
  Scalar isFar = compare(Compare::Greater, b, constantInt(b.type, 63));
  if (!isUnsigned(b.type))
    isFar = orBits(isFar, compare(Compare::Less, b, zero));
  return select(isFar, far, result);
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

Scalar BodyBuilder::shiftLeft(Scalar a, Scalar b) {
  return {builder_.create<arith::ShLIOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::shiftRight(Scalar a, Scalar b) {
  return {builder_.create<arith::ShRUIOp>(loc_, a.value, b.value), a.type};
}

Scalar BodyBuilder::notBool(Scalar a) { return xorBits(a, constantInt(DType::Bool, 1)); }

Scalar BodyBuilder::unary(Unary op, Scalar a) {
  auto &b = builder_;
  a = widen(a);
  if (!isFloat(a.type)) {
    Scalar negated = sub(constantInt(a.type, 0), a);
    if (op == Unary::Neg || isUnsigned(a.type))
      return op == Unary::Neg ? negated : a;
    return select(compare(Compare::Less, a, constantInt(a.type, 0)), negated, a);
  }
  auto make = [&](auto created) -> Scalar { return {created, a.type}; };
  switch (op) {
  case Unary::Abs:
    return make(b.create<math::AbsFOp>(loc_, a.value));
  case Unary::Neg:
    return make(b.create<arith::NegFOp>(loc_, a.value));
  case Unary::Exp:
    return make(b.create<math::ExpOp>(loc_, a.value));
  case Unary::Log:
    return make(b.create<math::LogOp>(loc_, a.value));
  case Unary::Sqrt:
    return make(b.create<math::SqrtOp>(loc_, a.value));
  case Unary::Floor:
    return make(b.create<math::FloorOp>(loc_, a.value));
  case Unary::Ceil:
    return make(b.create<math::CeilOp>(loc_, a.value));
  case Unary::RoundEven:
    return make(b.create<math::RoundEvenOp>(loc_, a.value));
  case Unary::Erf:
    return make(b.create<math::ErfOp>(loc_, a.value));
  case Unary::Tanh:
    return make(b.create<math::TanhOp>(loc_, a.value));
  case Unary::Sin:
    return make(b.create<math::SinOp>(loc_, a.value));
  case Unary::Cos:
    return make(b.create<math::CosOp>(loc_, a.value));
  default:
    return trigonometric(op, a);
  }
  return a;
}

// What devices have no instruction for, in terms of what they have. In f32 the error is some 1e-7
// absolute.
Scalar BodyBuilder::trigonometric(Unary op, Scalar x) {
  auto number = [&](double value) { return constant(x.type, value); };
  Scalar one = number(1), half = number(0.5), square = mul(x, x);
  auto magnitude = [&] { return unary(Unary::Abs, x); };
  auto withSign = [&](Scalar positive) {
    return select(compare(Compare::Less, x, number(0)), unary(Unary::Neg, positive), positive);
  };
  auto exponentials = [&](bool minus) {
    Scalar up = unary(Unary::Exp, x), down = unary(Unary::Exp, unary(Unary::Neg, x));
    return mul(half, minus ? sub(up, down) : add(up, down));
  };
  switch (op) {
  case Unary::Tan:
    return div(unary(Unary::Sin, x), unary(Unary::Cos, x));
  case Unary::Cosh:
    return exponentials(false);
  case Unary::Sinh: {
    // Near 0 the exponentials cancel: the series, to x^7.
    Scalar series = add(mul(square, number(1.0 / 5040)), number(1.0 / 120));
    series = add(mul(square, series), number(1.0 / 6));
    series = mul(x, add(mul(square, series), one));
    return select(compare(Compare::Less, square, one), series, exponentials(true));
  }
  case Unary::Asinh:
    return withSign(unary(Unary::Log, add(magnitude(), unary(Unary::Sqrt, add(square, one)))));
  case Unary::Acosh:
    return unary(Unary::Log, add(x, unary(Unary::Sqrt, sub(square, one))));
  case Unary::Atanh:
    return mul(half, unary(Unary::Log, div(add(one, x), sub(one, x))));
  case Unary::Asin: {
    Scalar cosine = unary(Unary::Sqrt, sub(one, square));
    return mul(number(2), trigonometric(Unary::Atan, div(x, add(one, cosine))));
  }
  case Unary::Acos: {
    Scalar ratio = unary(Unary::Sqrt, div(sub(one, x), add(one, x)));
    return mul(number(2), trigonometric(Unary::Atan, ratio));
  }
  default: {
    if (x.type == DType::F64) // the polynomial is good for f32
      return {builder_.create<math::AtanOp>(loc_, x.value), x.type};
    // Atan as in Cephes (S. Moshier, atanf): to |t| <= tan(pi/8), then a polynomial.
    Scalar a = magnitude();
    Scalar steep = compare(Compare::Greater, a, number(2.414213562373095));
    Scalar middle = compare(Compare::Greater, a, number(0.4142135623730950));
    Scalar t = select(steep, div(number(-1), a), select(middle, div(sub(a, one), add(a, one)), a));
    Scalar offset = select(steep, number(1.5707963267948966),
                           select(middle, number(0.7853981633974483), number(0)));
    Scalar z = mul(t, t), p = number(8.05374449538e-2);
    for (double coefficient : {-1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1})
      p = add(mul(p, z), number(coefficient));
    return withSign(add(offset, add(mul(mul(p, z), t), t)));
  }
  }
}

Scalar BodyBuilder::compare(Compare op, Scalar a, Scalar b) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  a = widen(a), b = widen(b);
  if (isFloat(a.type)) {
    static constexpr F kPredicates[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
    return {builder_.create<arith::CmpFOp>(loc_, kPredicates[int(op)], a.value, b.value),
            DType::Bool};
  }
  static constexpr I kSigned[] = {I::eq, I::ne, I::slt, I::sle, I::sgt, I::sge};
  static constexpr I kUnsigned[] = {I::eq, I::ne, I::ult, I::ule, I::ugt, I::uge};
  I predicate = isUnsigned(a.type) ? kUnsigned[int(op)] : kSigned[int(op)];
  return {builder_.create<arith::CmpIOp>(loc_, predicate, a.value, b.value), DType::Bool};
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
  if (a.type == DType::Index || to == DType::Index) {
    if (isFloat(a.type) || isFloat(to)) // through i64
      return cast(cast(a, DType::I64), to);
    if (isUnsigned(a.type))
      return {b.create<arith::IndexCastUIOp>(loc_, t, a.value), to};
    return {b.create<arith::IndexCastOp>(loc_, t, a.value), to};
  }
  if (to == DType::Bool)
    return compare(Compare::NotEqual, a, constant(a.type, 0));
  if (isFloat(a.type) && isFloat(to)) {
    if (dtypeSize(a.type) == dtypeSize(to)) // f16 and bf16: neither holds the other
      return cast(cast(a, DType::F32), to);
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
  uint64_t from = a.type == DType::Bool ? 0 : dtypeSize(a.type);
  if (from == dtypeSize(to))
    return {a.value, to};
  if (from > dtypeSize(to)) {
    Scalar narrow{b.create<arith::TruncIOp>(loc_, t, a.value), to};
    return to == DType::I32 && a.type == DType::I64 ? exactly(narrow) : narrow;
  }
  return isUnsigned(a.type) ? Scalar{b.create<arith::ExtUIOp>(loc_, t, a.value), to}
                            : Scalar{b.create<arith::ExtSIOp>(loc_, t, a.value), to};
}

Scalar BodyBuilder::widen(Scalar a) { return isHalf(a.type) ? cast(a, DType::F32) : a; }

Scalar BodyBuilder::isNaN(Scalar a) {
  a = widen(a);
  return {builder_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::UNO, a.value, a.value),
          DType::Bool};
}

Scalar BodyBuilder::sigmoid(Scalar a) {
  Scalar one = constant(a.type, 1);
  return div(one, add(one, unary(Unary::Exp, unary(Unary::Neg, a))));
}

Scalar BodyBuilder::loopIndex(int64_t loop) {
  return {builder_.create<mlir::linalg::IndexOp>(loc_, loop), DType::Index};
}

Scalar BodyBuilder::dimension(Dim dim) {
  if (auto value = staticDim(dim))
    return constantInt(DType::Index, *value);
  return {dimValue_(dim), DType::Index};
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
