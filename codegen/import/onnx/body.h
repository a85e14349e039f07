// Scalar arithmetic inside the body of a linalg.generic.
//
// A Scalar is an SSA value with its element type, which knows what MLIR's signless types forget;
// each operation picks the arith or math op for it. Nothing here touches tensors but extract().
// There is no arithmetic in 16-bit floats: operands, constants and elements are widened to f32, and
// who needs 16 bits casts.
//
// Integers wrap, as they do on a device, unless the body is `exact`: then what makes signed 32-bit
// and 64-bit ones (sums, products, narrowing) and every division is marked with kExactAttribute.
// The evaluator marks a tensor whose value is not the true one.
#pragma once

#include "codegen/import/onnx/dims.h"

#include "mlir/IR/Value.h"

namespace mlir {
class OpBuilder;
}

namespace gantry::importer {

struct Scalar {
  mlir::Value value;
  DType type = DType::F32;
};

enum class Unary {
  Abs,
  Neg,
  Exp,
  Log,
  Sqrt,
  Floor,
  Ceil,
  RoundEven,
  Erf,
  Tanh,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Expm1,
  Log1p
};

/// A unit attribute on integer arithmetic whose result must be what the numbers say (evaluate.h).
inline constexpr llvm::StringLiteral kExactAttribute = "gantry.exact";

enum class Compare { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

class BodyBuilder {
public:
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
  Scalar div(Scalar a, Scalar b);      // integers: towards zero
  Scalar rem(Scalar a, Scalar b);      // sign of the dividend (C's % and fmod)
  Scalar floorDiv(Scalar a, Scalar b); // index and signed integers
  Scalar floorMod(Scalar a, Scalar b); // sign of the divisor (Python's %)
  Scalar min(Scalar a, Scalar b);      // floats: NaN wins, and -0 is below +0
  Scalar max(Scalar a, Scalar b);
  Scalar power(Scalar a, Scalar b);        // floats
  Scalar integerPower(Scalar a, Scalar b); // 1 / a^-b, cut off, for negative b
  Scalar andBits(Scalar a, Scalar b);
  Scalar orBits(Scalar a, Scalar b);
  Scalar xorBits(Scalar a, Scalar b);
  Scalar shiftLeft(Scalar a, Scalar b);  // 0 where b is the width or more
  Scalar shiftRight(Scalar a, Scalar b); // logical; 0 where b is the width or more
  Scalar notBool(Scalar a);
  Scalar unary(Unary op, Scalar a); // on integers: Abs and Neg alone
  Scalar compare(Compare op, Scalar a, Scalar b);
  Scalar select(Scalar condition, Scalar a, Scalar b);
  Scalar cast(Scalar a, DType to);
  Scalar widen(Scalar a); // 16-bit floats to f32, others as they are
  Scalar isNaN(Scalar a);
  /// A float to an integer, which saturates; NaN gives 0. cast leaves both undefined.
  Scalar castSaturating(Scalar a, DType to);
  /// Returns two factors of e^-|a|. The first is a normal number wherever x * e^-|a| is one.
  std::pair<Scalar, Scalar> decay(Scalar a);
  /// 1 / (1 + e^-a) and a factor of it: without overflow, and exact to a few ulp everywhere.
  Scalar sigmoid(Scalar a);
  Scalar timesSigmoid(Scalar x, Scalar a);
  /// The same for the argument a + low, where low is a correction below half an ulp of a.
  Scalar timesSigmoid(Scalar x, Scalar a, Scalar low);
  /// What rounding took from the product a * b (T. J. Dekker, 1971).
  Scalar productError(Scalar a, Scalar b, Scalar product);

  /// The position of the iteration along a loop, an Index.
  Scalar loopIndex(int64_t loop);
  /// A dimension known only at run time, an Index.
  Scalar dimension(Dim dim);
  /// An element of a tensor that the body captures (GenericSpec::captured). Indices are Index
  /// scalars and must be in bounds.
  Scalar extract(size_t captured, llvm::ArrayRef<Scalar> indices);
  /// min(max(a, low), high) on index or integers.
  Scalar clamp(Scalar a, Scalar low, Scalar high);

private:
  Scalar highPart(Scalar a);
  Scalar isShift(Scalar a, Scalar b);
  Scalar exactly(Scalar result);

  mlir::OpBuilder &builder_;
  mlir::Location loc_;
  llvm::ArrayRef<std::pair<mlir::Value, DType>> captured_;
  std::function<mlir::Value(Dim)> dimValue_;
  bool exact_;
};

} // namespace gantry::importer
