// Distinguishes the roundings to 16-bit floats that a model contains from those that the compiler
// adds to store a value.
//
// Kernels compute f16 tensors in f32 and round a result when they store it. A kernel that fuses two
// operations on f16 does not round the value between them. A Cast of an ONNX model, or an
// arith.truncf of an MLIR model, must always round: the importer marks it with the attribute
// `gantry.rounds`.
//
// Thread safety: an operation must not be changed by another thread at the same time.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace gantry::codegen {

/// Marks a truncation that the model contains, so that no kernel leaves it out.
inline void keepRounding(mlir::Operation *truncation) {
  truncation->setAttr(GantryDialect::RoundsAttrHelper::getNameStr(),
                      mlir::UnitAttr::get(truncation->getContext()));
}

/// Returns `op` if it is a truncation to a 16-bit float that is not marked by keepRounding(). If
/// the result of such a truncation is extended again in the same kernel, the kernel may use the
/// truncation's operand instead. Returns null for every other operation, and if op is null.
inline mlir::arith::TruncFOp storedFloat(mlir::Operation *op) {
  auto truncation = mlir::dyn_cast_or_null<mlir::arith::TruncFOp>(op);
  if (!truncation || truncation->hasAttr(GantryDialect::RoundsAttrHelper::getNameStr()) ||
      mlir::getElementTypeOrSelf(truncation.getType()).getIntOrFloatBitWidth() != 16)
    return {};
  return truncation;
}

} // namespace gantry::codegen
