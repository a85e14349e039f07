// Tensor: an ONNX value while its model is being imported.
//
// A Tensor has an element type, dimensions, and its contents in one of three forms:
//   - constant: the elements are known. The value becomes an arith.constant only where an
//     operation needs it.
//   - content:  at most 64 integers (or floats that hold integers), row-major, each known as an
//     expression over the dynamic dimensions. Shape produces this form, and shape arithmetic keeps
//     it. A small constant has this form as well.
//   - value:    an SSA value, computed when the model runs.
// A Tensor is a plain value; copies share the constant's bytes. Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/dims.h"

#include "mlir/IR/Value.h"

namespace gantry::importer {

/// Largest number of elements that a Tensor keeps as content.
inline constexpr int64_t kMaxContentElements = 64;

struct Tensor {
  DType type = DType::kF32;
  Dims dims;
  mlir::Value value;
  Constant constant;
  std::optional<llvm::SmallVector<Dim>> content;

  bool isConstant() const { return constant != nullptr; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

} // namespace gantry::importer
