// BodyBuilder: scalar arithmetic inside the body of a linalg.generic.
//
// A Scalar is an SSA value with its element type. The type keeps the sign that MLIR's signless
// integers lack, and each operation chooses the arith or math operation by it. 16-bit floats are
// never computed with: operands and constants are widened to f32.
//
// Integers wrap, as they do on a device. In an `exact` body (one that is folded), additions,
// subtractions, multiplications and truncations to i32 and i64, and all divisions, carry
// `gantry.exact`: the evaluator then marks a tensor whose elements overflowed (evaluate.h).
// All functions fail by throwing ImportError. Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/dims.h"

#include "mlir/IR/Value.h"

namespace mlir {
class OpBuilder;
}

namespace gantry::importer {

struct Scalar {
  mlir::Value value;
  DType type = DType::kF32;
};

enum class Unary {
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kFloor,
  kCeil,
  kRoundEven,
  kErf,
  kTanh,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kExpm1,
  kLog1p
};

enum class Compare { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

class BodyBuilder {
public:
  /// Inserts at `builder`. `captured` are the tensors that extract() reads; dimValue gives the
  /// value of a dynamic dimension.
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<std::pair<mlir::Value, DType>> captured,
              std::function<mlir::Value(Dim)> dimValue, bool exact)
      : builder_(builder), loc_(loc), captured_(captured), dimValue_(std::move(dimValue)),
        exact_(exact) {}

  Scalar constant(DType type, double value);
  Scalar constantInt(DType type, int64_t value);
  Scalar add(Scalar a, Scalar b);
  Scalar sub(Scalar a, Scalar b);
  Scalar mul(Scalar a, Scalar b);
  /// Integers are rounded towards zero.
  Scalar div(Scalar a, Scalar b);
  /// The remainder with the dividend's sign (C's % and fmod).
  Scalar rem(Scalar a, Scalar b);
  /// The quotient rounded down, of integers or of the type index.
  Scalar floorDiv(Scalar a, Scalar b);
  /// The remainder with the divisor's sign (Python's %).
  Scalar floorMod(Scalar a, Scalar b);
  /// NaN where an operand is NaN; -0 is below +0.
  Scalar min(Scalar a, Scalar b);
  Scalar max(Scalar a, Scalar b);
  /// a^b of floats.
  Scalar power(Scalar a, Scalar b);
  /// a^b of integers; 1 / a^-b, rounded towards zero, for a negative b.
  Scalar integerPower(Scalar a, Scalar b);
  Scalar andBits(Scalar a, Scalar b);
  Scalar orBits(Scalar a, Scalar b);
  Scalar xorBits(Scalar a, Scalar b);
  /// Logical shifts. The result is 0 where b is the width of a or more.
  Scalar shiftLeft(Scalar a, Scalar b);
  Scalar shiftRight(Scalar a, Scalar b);
  Scalar notBool(Scalar a);
  /// Integers have kAbs and kNeg only; others fail (unsupported).
  Scalar unary(Unary op, Scalar a);
  Scalar compare(Compare op, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  /// Converts the type. A float outside of an integer type's range gives an undefined result.
  Scalar cast(Scalar a, DType to);
  /// Converts 16-bit floats to f32 and returns other types as they are.
  Scalar widen(Scalar a);
  Scalar isNaN(Scalar a);
  /// The same as cast, but a float outside of the integer's range saturates, and NaN gives 0.
  Scalar castSaturating(Scalar a, DType to);
  /// Returns two factors of e^-|a|. The first is a normal number wherever x * e^-|a| is one.
  std::pair<Scalar, Scalar> decay(Scalar a);
  /// 1 / (1 + e^-a), without overflow and exact to a few ulp everywhere.
  Scalar sigmoid(Scalar a);
  /// x * sigmoid(a), with the same properties.
  Scalar timesSigmoid(Scalar x, Scalar a);
  /// The same for the argument a + low, where low is a correction below half an ulp of a.
  Scalar timesSigmoid(Scalar x, Scalar a, Scalar low);
  /// The rounding error of `product`, which is a * b in floating point (T. J. Dekker, "A
  /// floating-point technique for extending the available precision", 1971).
  Scalar productError(Scalar a, Scalar b, Scalar product);

  /// The position of the iteration along a loop, of type kIndex.
  Scalar loopIndex(int64_t loop);
  /// A dimension, of type kIndex.
  Scalar dimension(Dim dim);
  /// An element of a tensor that the body captures (GenericSpec::captured), widened. The indices
  /// have the type kIndex and must be in bounds.
  Scalar extract(size_t captured, llvm::ArrayRef<Scalar> indices);
  /// min(max(a, low), high).
  Scalar clamp(Scalar a, Scalar low, Scalar high);

private:
  Scalar highPart(Scalar a);
  Scalar isShift(Scalar a, Scalar b);
  Scalar markExact(Scalar result);

  mlir::OpBuilder &builder_;
  mlir::Location loc_;
  llvm::ArrayRef<std::pair<mlir::Value, DType>> captured_;
  std::function<mlir::Value(Dim)> dimValue_;
  bool exact_;
};

} // namespace gantry::importer
