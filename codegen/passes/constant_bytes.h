// The bytes behind a tensor constant, whether it is stored inline or as a resource blob.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace gantry::codegen {

/// Little-endian elements in row-major order; empty for splats (not stored), bit-packed booleans
/// and anything that is not a tensor constant.
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
