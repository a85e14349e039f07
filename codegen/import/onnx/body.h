// BodyBuilder: scalar arithmetic inside the body of a linalg.generic.
//
// A Scalar is an SSA value with its element type. MLIR's integers are signless, so the element type
// says whether an integer is signed, and determines the arith or math operation. Arithmetic on
// 16-bit floats is done in f32: operands and constants are widened.
//
// Integers wrap, as they do on a device. An `exact` body is the body of an operation that is
// folded, which means evaluated during the import because all of its operands are constants. In it,
// additions, subtractions and multiplications of i32 and i64, truncations of i64 to i32, and all
// integer divisions and remainders have the attribute `gantry.exact`. If such an operation
// overflows or divides by zero, the evaluator (evaluate.h) marks the result as inexact, so that the
// importer refuses to use it as a shape. All functions fail by throwing ImportError
// (import_error.h). Thread safety: one thread at a time per MLIRContext.
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
  /// Inserts operations with `builder`. `captured` are the tensors that extract() reads. dimValue
  /// returns the SSA value of a dynamic dimension. `exact` says whether the body is exact, as
  /// described above.
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<std::pair<mlir::Value, DType>> captured,
              std::function<mlir::Value(Dim)> dimValue, bool exact)
      : builder_(builder), loc_(loc), captured_(captured), dimValue_(std::move(dimValue)),
        exact_(exact) {}

  /// Returns a constant. For an integer type, the value is truncated to an integer, which must fit
  /// int64_t and is wrapped to the type's width.
  Scalar constant(DType type, double value);
  Scalar constantInt(DType type, int64_t value);
  Scalar add(Scalar a, Scalar b);
  Scalar sub(Scalar a, Scalar b);
  Scalar mul(Scalar a, Scalar b);
  /// Returns the quotient; quotients of integers are rounded towards zero.
  Scalar div(Scalar a, Scalar b);
  /// Returns the remainder with the dividend's sign (C's % and fmod).
  Scalar rem(Scalar a, Scalar b);
  /// Returns the quotient rounded down, of integers or of the type index.
  Scalar floorDiv(Scalar a, Scalar b);
  /// Returns the remainder with the divisor's sign (Python's %), of integers or of the type index.
  Scalar floorMod(Scalar a, Scalar b);
  /// min and max return NaN if an operand is NaN. They take -0 as less than +0.
  Scalar min(Scalar a, Scalar b);
  Scalar max(Scalar a, Scalar b);
  /// Returns a^b of floats.
  Scalar power(Scalar a, Scalar b);
  /// Returns a^b of integers; for a negative b this is 1 / a^-b, rounded towards zero.
  Scalar integerPower(Scalar a, Scalar b);
  Scalar andBits(Scalar a, Scalar b);
  Scalar orBits(Scalar a, Scalar b);
  Scalar xorBits(Scalar a, Scalar b);
  /// Logical shifts of a by b bits. The result is 0 if b is at least the number of bits of a.
  Scalar shiftLeft(Scalar a, Scalar b);
  Scalar shiftRight(Scalar a, Scalar b);
  Scalar notBool(Scalar a);
  /// Applies the function. For integers, functions other than kAbs and kNeg throw ImportError
  /// (unsupported).
  Scalar unary(Unary op, Scalar a);
  Scalar compare(Compare op, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  /// Converts the type. A float outside of an integer type's range gives an undefined result.
  Scalar cast(Scalar a, DType to);
  /// Converts 16-bit floats to f32 and returns other types as they are.
  Scalar widen(Scalar a);
  Scalar isNaN(Scalar a);
  /// Converts the type. A float outside of the integer's range saturates, and NaN gives 0.
  Scalar castSaturating(Scalar a, DType to);
  /// Returns two factors whose product is e^-|a|. Multiplying x by one after the other does not
  /// lose precision if e^-|a| itself is denormal but x * e^-|a| is a normal number.
  std::pair<Scalar, Scalar> decay(Scalar a);
  /// Returns 1 / (1 + e^-a), without overflow and with an error of a few ulp for every a.
  Scalar sigmoid(Scalar a);
  /// Returns x * sigmoid(a), with the same properties.
  Scalar timesSigmoid(Scalar x, Scalar a);
  /// Returns x * sigmoid(a + low), where low is a small correction of a, such as its rounding
  /// error.
  Scalar timesSigmoid(Scalar x, Scalar a, Scalar low);
  /// Returns the rounding error of `product`, which is a * b in floating point (T. J. Dekker, "A
  /// floating-point technique for extending the available precision", 1971).
  Scalar productError(Scalar a, Scalar b, Scalar product);

  /// Returns the current index of a loop, of type kIndex.
  Scalar loopIndex(int64_t loop);
  /// Returns the size of a dimension, of type kIndex.
  Scalar dimension(Dim dim);
  /// Returns an element of the tensor with the number `captured` in GenericSpec::captured
  /// (generic.h), widened. The indices have the type kIndex and must be in bounds.
  Scalar extract(size_t captured, llvm::ArrayRef<Scalar> indices);
  /// Returns min(max(a, low), high).
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
