// C++ operators on Terms, which build f32 arithmetic in the arith dialect. accurate_math.cpp,
// trigonometry.cpp and exact_arithmetic.cpp write their formulas with them.
//
// Every addition, subtraction, multiplication and division of floats has the attribute
// kNoContraction, so that a driver computes it as written: error-free transformations and
// cancellations depend on every rounding. In a formula on vectors, a constant operand becomes a
// vector whose elements all have the constant's value.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace gantry::codegen {

/// The name of a unit attribute on float operations that a driver must not contract, reassociate or
/// simplify. MLIR serialises this attribute of SPIR-V operations as the decoration NoContraction.
inline constexpr llvm::StringLiteral kNoContraction = "no_contraction";

/// Returns the value of a constant float, or of all elements of a constant splat vector. Returns
/// nothing for any other value.
std::optional<llvm::APFloat> knownFloat(mlir::Value value);

class FloatEmitter;

/// An operand or a result in a formula. The value is an f32, an i32, or an i1 that a comparison
/// returns; in a formula on vectors, a vector of these. The emitter builds operations on the value
/// and must outlive the term.
struct Term {
  mlir::Value value;
  FloatEmitter *emitter;
};

/// Builds the operations of a formula at the insertion point of an OpBuilder.
class FloatEmitter {
public:
  /// `like` is the type of all floats of the formula: f32, or a vector of f32.
  FloatEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type like)
      : builder_(builder), loc_(loc), float_(like), integer_(builder.getI32Type()) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(like))
      integer_ = vector.clone(integer_);
  }

  Term term(mlir::Value value) { return {value, this}; }

  Term number(double value) {
    return splat(float_, builder_.getF32FloatAttr(static_cast<float>(value)));
  }
  Term integer(uint32_t value) {
    return splat(integer_, builder_.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  template <typename Op> Term floats(Term a, Term b) {
    auto op = builder_.create<Op>(loc_, a.value, b.value);
    op->setAttr(kNoContraction, builder_.getUnitAttr());
    return term(op);
  }
  template <typename Op> Term integers(Term a, Term b) {
    return term(builder_.create<Op>(loc_, a.value, b.value));
  }
  template <typename Op> Term unary(Term a) { return term(builder_.create<Op>(loc_, a.value)); }

  Term compare(mlir::arith::CmpFPredicate predicate, Term a, Term b) {
    return term(builder_.create<mlir::arith::CmpFOp>(loc_, predicate, a.value, b.value));
  }
  Term compare(mlir::arith::CmpIPredicate predicate, Term a, Term b) {
    return term(builder_.create<mlir::arith::CmpIOp>(loc_, predicate, a.value, b.value));
  }
  Term select(Term condition, Term a, Term b) {
    return term(builder_.create<mlir::arith::SelectOp>(loc_, condition.value, a.value, b.value));
  }
  Term select(Term condition, double a, Term b) { return select(condition, number(a), b); }
  Term select(Term condition, Term a, double b) { return select(condition, a, number(b)); }
  Term select(Term condition, double a, double b) {
    return select(condition, number(a), number(b));
  }

  /// bits() reinterprets the bits of an f32 as an i32, and fromBits() those of an i32 as an f32.
  Term bits(Term a) {
    return term(builder_.create<mlir::arith::BitcastOp>(loc_, integer_, a.value));
  }
  Term fromBits(Term a) {
    return term(builder_.create<mlir::arith::BitcastOp>(loc_, float_, a.value));
  }
  /// toInteger() converts the value of an f32 to an i32 and discards the fraction. Its result is
  /// undefined if the value is outside of the range of i32. toFloat() and unsignedToFloat() convert
  /// a signed or an unsigned i32 to an f32.
  Term toInteger(Term a) {
    return term(builder_.create<mlir::arith::FPToSIOp>(loc_, integer_, a.value));
  }
  Term toFloat(Term a) {
    return term(builder_.create<mlir::arith::SIToFPOp>(loc_, float_, a.value));
  }
  Term unsignedToFloat(Term a) {
    return term(builder_.create<mlir::arith::UIToFPOp>(loc_, float_, a.value));
  }

  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location loc() const { return loc_; }
  mlir::Type floatType() const { return float_; }

private:
  Term splat(mlir::Type type, mlir::TypedAttr attribute) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      attribute = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
    return term(builder_.create<mlir::arith::ConstantOp>(loc_, attribute));
  }

  mlir::OpBuilder &builder_;
  mlir::Location loc_;
  mlir::Type float_, integer_;
};

// ---- Floats ------------------------------------------------------------------------------------

inline Term operator+(Term a, Term b) { return a.emitter->floats<mlir::arith::AddFOp>(a, b); }
inline Term operator-(Term a, Term b) { return a.emitter->floats<mlir::arith::SubFOp>(a, b); }
inline Term operator*(Term a, Term b) { return a.emitter->floats<mlir::arith::MulFOp>(a, b); }
inline Term operator/(Term a, Term b) { return a.emitter->floats<mlir::arith::DivFOp>(a, b); }
inline Term operator+(Term a, double b) { return a + a.emitter->number(b); }
inline Term operator-(Term a, double b) { return a - a.emitter->number(b); }
inline Term operator*(Term a, double b) { return a * a.emitter->number(b); }
inline Term operator+(double a, Term b) { return b.emitter->number(a) + b; }
inline Term operator-(double a, Term b) { return b.emitter->number(a) - b; }
inline Term operator/(double a, Term b) { return b.emitter->number(a) / b; }

using FloatPredicate = mlir::arith::CmpFPredicate;
inline Term operator<(Term a, double b) {
  return a.emitter->compare(FloatPredicate::OLT, a, a.emitter->number(b));
}
inline Term operator>(Term a, double b) {
  return a.emitter->compare(FloatPredicate::OGT, a, a.emitter->number(b));
}
inline Term operator==(Term a, double b) {
  return a.emitter->compare(FloatPredicate::OEQ, a, a.emitter->number(b));
}
inline Term isNaN(Term a) { return a.emitter->compare(FloatPredicate::UNO, a, a); }

inline Term sqrt(Term a) { return a.emitter->unary<mlir::math::SqrtOp>(a); }
inline Term floor(Term a) { return a.emitter->unary<mlir::math::FloorOp>(a); }
inline Term roundEven(Term a) { return a.emitter->unary<mlir::math::RoundEvenOp>(a); }

// ---- Integers and bits -------------------------------------------------------------------------

inline Term operator&(Term a, Term b) { return a.emitter->integers<mlir::arith::AndIOp>(a, b); }
inline Term operator|(Term a, Term b) { return a.emitter->integers<mlir::arith::OrIOp>(a, b); }
inline Term operator^(Term a, Term b) { return a.emitter->integers<mlir::arith::XOrIOp>(a, b); }
inline Term plus(Term a, Term b) { return a.emitter->integers<mlir::arith::AddIOp>(a, b); }
inline Term minus(Term a, Term b) { return a.emitter->integers<mlir::arith::SubIOp>(a, b); }
inline Term plus(Term a, int32_t b) {
  return plus(a, a.emitter->integer(static_cast<uint32_t>(b)));
}
inline Term shiftLeft(Term a, Term b) { return a.emitter->integers<mlir::arith::ShLIOp>(a, b); }
inline Term shiftRight(Term a, Term b) { return a.emitter->integers<mlir::arith::ShRUIOp>(a, b); }
inline Term shiftLeft(Term a, uint32_t b) { return shiftLeft(a, a.emitter->integer(b)); }
inline Term shiftRight(Term a, uint32_t b) { return shiftRight(a, a.emitter->integer(b)); }
inline Term shiftRightSigned(Term a, uint32_t b) {
  return a.emitter->integers<mlir::arith::ShRSIOp>(a, a.emitter->integer(b));
}
inline Term operator&(Term a, uint32_t b) { return a & a.emitter->integer(b); }

inline Term magnitude(Term a) { return a.emitter->fromBits(a.emitter->bits(a) & 0x7fffffffu); }
/// Returns `value` with its sign bit flipped where the sign bit of `sign` is set.
inline Term withSign(Term value, Term sign) {
  FloatEmitter &e = *value.emitter;
  return e.fromBits(e.bits(value) ^ (e.bits(sign) & 0x80000000u));
}

/// Returns coefficients[0] * x^n + ... + coefficients[n] by Horner's rule, for n + 1 coefficients.
inline Term polynomial(Term x, std::initializer_list<double> coefficients) {
  const double *next = coefficients.begin();
  Term sum = x.emitter->number(*next++);
  for (; next != coefficients.end(); ++next)
    sum = sum * x + *next;
  return sum;
}

} // namespace gantry::codegen
