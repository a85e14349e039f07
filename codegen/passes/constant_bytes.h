// Gives access to the bytes of a tensor constant, which MLIR stores inline or as a resource blob.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace gantry::codegen {

/// Returns the elements in row-major order, each in the host's byte order. The result is empty for
/// splats (MLIR stores only one element), for booleans (MLIR packs them into bits), and for an
/// attribute that is not a tensor constant. The bytes are valid as long as the attribute's
/// MLIRContext exists.
inline llvm::ArrayRef<char> constantBytes(mlir::Attribute value) {
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value)) {
    if (dense.isSplat() || dense.getElementType().isInteger(1))
      return {};
    return dense.getRawData();
  }
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(value))
    if (mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

} // namespace gantry::codegen
