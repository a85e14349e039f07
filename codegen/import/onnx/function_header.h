// FunctionHeader: constants and dynamic sizes at the start of @main, which the rest of the function
// uses.
//
// The header has tensor constants, tensor.dim of arguments, and affine.apply of these. Each is
// built once, when it is first needed, after the header's previous operations and before the rest
// of the function. Therefore every other operation of the function may use it. Sizes that depend on
// dynamic dimensions are computed only here. Thread safety: one thread at a time.
#pragma once

#include "codegen/import/onnx/dims.h"

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace gantry::importer {

/// Returns a tensor's elements as an attribute. Splats, booleans and constants of at most 256 bytes
/// are copied. For other tensors the attribute refers to the tensor's own bytes, or to a copy if
/// they are not aligned to the element size, and the MLIR context keeps them alive.
mlir::ElementsAttr elementsOf(const HostTensor &constant, mlir::MLIRContext *context);

class FunctionHeader {
public:
  /// `entry` is the function's entry block and outlives this object.
  explicit FunctionHeader(mlir::Block &entry) : entry_(entry) {}

  /// Returns a new symbol, whose value is dimension `dim` of the function's argument `argument`.
  Dim addSymbol(mlir::Value argument, int64_t dim);
  /// Returns a dimension as a value of type index.
  mlir::Value dimValue(Dim dim, mlir::Location loc);
  /// Returns an arith.constant with the tensor's elements (elementsOf).
  mlir::Value constantValue(const Constant &constant, mlir::Location loc);

private:
  mlir::OpBuilder builderAtEnd();

  mlir::Block &entry_;
  mlir::Operation *last_ = nullptr; // The last operation of the header; null while it is empty.
  llvm::SmallVector<mlir::Value> symbols_; // The tensor.dim of each symbol.
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> dimValues_;
  // The constants are kept alive, so that no other constant can have the same address.
  std::map<const HostTensor *, std::pair<Constant, mlir::Value>> constants_;
};

} // namespace gantry::importer
