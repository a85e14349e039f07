// Marks the roundings of floats that a model asks for.
//
// Kernels compute f16 tensors as f32, and a kernel that fuses two operations on f16 does not round
// the value between them. A Cast of an ONNX model, or an arith.truncf of an MLIR model, always
// rounds: the importer marks it with `gantry.rounds`.
//
// Thread safety: pure functions of the operation.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace gantry::codegen {

/// Marks a truncation that the model asks for.
inline void keepRounding(mlir::Operation *truncation) {
  truncation->setAttr(GantryDialect::RoundsAttrHelper::getNameStr(),
                      mlir::UnitAttr::get(truncation->getContext()));
}

/// Returns `op` if it is a truncation to a 16-bit float that only serves to store the value: where
/// the result is extended again in the same kernel, the operand may be used instead. Returns null
/// for every other operation, and where op is null.
inline mlir::arith::TruncFOp storedFloat(mlir::Operation *op) {
  auto truncation = mlir::dyn_cast_or_null<mlir::arith::TruncFOp>(op);
  if (!truncation || truncation->hasAttr(GantryDialect::RoundsAttrHelper::getNameStr()) ||
      mlir::getElementTypeOrSelf(truncation.getType()).getIntOrFloatBitWidth() != 16)
    return {};
  return truncation;
}

} // namespace gantry::codegen
