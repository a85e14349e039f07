// Implements spirv_remainder.h.
#include "codegen/targets/spirv_remainder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Builds arithmetic on 32-bit integers, scalars or vectors.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc, Type like) : builder_(builder), loc_(loc) {
    type_ = builder.getI32Type();
    if (auto vector = dyn_cast<VectorType>(like))
      type_ = vector.clone(type_);
  }

  Type type() const { return type_; }
  Value number(uint32_t value) {
    TypedAttr attribute = builder_.getI32IntegerAttr(static_cast<int32_t>(value));
    if (auto vector = dyn_cast<VectorType>(type_))
      attribute = DenseElementsAttr::get(vector, Attribute(attribute));
    return builder_.create<arith::ConstantOp>(loc_, attribute);
  }
  template <typename Op> Value make(Value a, Value b) { return builder_.create<Op>(loc_, a, b); }
  template <typename Op> Value make(Value a, uint32_t b) { return make<Op>(a, number(b)); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder_.create<arith::CmpIOp>(loc_, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return builder_.create<arith::SelectOp>(loc_, condition, a, b);
  }

private:
  OpBuilder &builder_;
  Location loc_;
  Type type_;
};

/// A float's magnitude is mantissa * 2^(exponent - 150). Denormal numbers have the exponent 1.
struct Parts {
  Value mantissa, exponent;
};

/// Returns the mantissa and the exponent of a float, given its bits without the sign.
Parts partsOf(Bits &b, Value magnitude) {
  Value field = b.make<arith::ShRUIOp>(magnitude, 23);
  Value fraction = b.make<arith::AndIOp>(magnitude, 0x7fffff);
  Value leading = b.make<arith::MinUIOp>(field, 1);
  Value mantissa = b.make<arith::OrIOp>(fraction, b.make<arith::ShLIOp>(leading, 23));
  return {mantissa, b.make<arith::MaxUIOp>(field, 1)};
}

/// Returns fmod(x, y) of f32 scalars or vectors.
Value exactRemainder(OpBuilder &builder, Location loc, Value x, Value y) {
  using P = arith::CmpIPredicate;
  constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000;
  // Mantissas have 24 bits, so a mantissa times 2^8 has at most 32 bits.
  constexpr int kMaxBits = 253, kStepBits = 8;
  Bits b(builder, loc, x.getType());
  Value bitsX = builder.create<arith::BitcastOp>(loc, b.type(), x);
  Value bitsY = builder.create<arith::BitcastOp>(loc, b.type(), y);
  Value sign = b.make<arith::AndIOp>(bitsX, 0x80000000);
  Value ax = b.make<arith::AndIOp>(bitsX, 0x7fffffff),
        ay = b.make<arith::AndIOp>(bitsY, 0x7fffffff);

  Parts px = partsOf(b, ax), py = partsOf(b, ay);
  // Results for y = 0 and for |x| < |y| are replaced at the end.
  Value divisor = b.make<arith::MaxUIOp>(py.mantissa, 1);
  Value left = b.make<arith::MaxSIOp>(b.make<arith::SubIOp>(px.exponent, py.exponent), 0);
  Value rest = b.make<arith::RemUIOp>(px.mantissa, divisor);
  // Divides further: `before` is a remainder, and `bits` the number of bits of the quotient that
  // are still to be computed. Computes at most kStepBits of them. Returns the new remainder, and
  // the number of bits that are left.
  const auto step = [&](Value before, Value bits) -> std::pair<Value, Value> {
    Value some = b.make<arith::MinUIOp>(bits, kStepBits);
    Value after = b.make<arith::RemUIOp>(b.make<arith::ShLIOp>(before, some), divisor);
    return {after, b.make<arith::SubIOp>(bits, some)};
  };
  if (isa<VectorType>(b.type())) {
    for (int done = 0; done < kMaxBits; done += kStepBits)
      std::tie(rest, left) = step(rest, left);
  } else { // Most quotients have few bits, so few rounds are needed.
    Value rounds = b.make<arith::DivUIOp>(b.make<arith::AddIOp>(left, kStepBits - 1), kStepBits);
    Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
    Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
    Value bound = builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), rounds);
    auto loop =
        builder.create<scf::ForOp>(loc, zero, bound, one, ValueRange{rest, left},
                                   [&](OpBuilder &, Location at, Value, ValueRange carried) {
                                     const auto [after, bits] = step(carried[0], carried[1]);
                                     builder.create<scf::YieldOp>(at, ValueRange{after, bits});
                                   });
    rest = loop.getResult(0);
  }

  // The result is rest * 2^(py.exponent - 150). rest is below 2^24, so its conversion to a float is
  // exact.
  Value asFloat = builder.create<arith::UIToFPOp>(loc, x.getType(), rest);
  Value floatBits = builder.create<arith::BitcastOp>(loc, b.type(), asFloat);
  Value shift = b.make<arith::SubIOp>(py.exponent, 150);
  Value exponent = b.make<arith::AddIOp>(b.make<arith::ShRUIOp>(floatBits, 23), shift);
  Value normal = b.make<arith::AddIOp>(floatBits, b.make<arith::ShLIOp>(shift, 23));
  Value denormalShift = b.make<arith::MinUIOp>(b.make<arith::SubIOp>(py.exponent, 1), 31);
  Value denormal = b.make<arith::ShLIOp>(rest, denormalShift);
  Value isNormal = b.compare(P::sge, exponent, b.number(1));
  Value magnitude = b.select(isNormal, normal, denormal);
  magnitude = b.select(b.compare(P::eq, rest, b.number(0)), b.number(0), magnitude);
  magnitude = b.select(b.compare(P::ult, ax, ay), ax, magnitude);

  Value none = b.compare(P::eq, ay, b.number(0));
  none = b.make<arith::OrIOp>(none, b.compare(P::uge, ax, b.number(kInfinity)));
  none = b.make<arith::OrIOp>(none, b.compare(P::ugt, ay, b.number(kInfinity)));
  Value result = b.select(none, b.number(kNaN), b.make<arith::OrIOp>(magnitude, sign));
  return builder.create<arith::BitcastOp>(loc, x.getType(), result);
}

struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    Value x = op.getLhs(), y = op.getRhs();
    if (element.isF32()) {
      rewriter.replaceOp(op, exactRemainder(rewriter, loc, x, y));
      return success();
    }
    if (!element.isF16())
      return failure();
    // The remainder of two f16 is an f16, so the truncation is exact.
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    x = rewriter.create<arith::ExtFOp>(loc, wide, x);
    y = rewriter.create<arith::ExtFOp>(loc, wide, y);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, exactRemainder(rewriter, loc, x, y));
    return success();
  }
};

} // namespace

void populateExactRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandRemainder>(patterns.getContext());
}

} // namespace gantry::codegen
