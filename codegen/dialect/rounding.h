// Which roundings of floats a model asks for.
//
// f16 tensors are computed with as f32, and a kernel that fuses two operations on them does not
// round what is between them. A Cast of the model, or an arith.truncf of an MLIR model, is another
// matter: it rounds, whatever it is fused with.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace gantry::codegen {

/// A unit attribute of an arith.truncf that the model asks for.
inline constexpr llvm::StringLiteral kRounds = "gantry.rounds";

/// A truncation that only stores a 16-bit float: where its result is widened in the same kernel,
/// what was truncated may be used. Null for every other operation.
inline mlir::arith::TruncFOp storedFloat(mlir::Operation *op) {
  auto truncation = mlir::dyn_cast_or_null<mlir::arith::TruncFOp>(op);
  if (!truncation || truncation->hasAttr(kRounds) ||
      mlir::getElementTypeOrSelf(truncation.getType()).getIntOrFloatBitWidth() != 16)
    return {};
  return truncation;
}

} // namespace gantry::codegen
