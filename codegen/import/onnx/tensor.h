// Tensor: an ONNX value while its model is being imported.
//
// A Tensor has an element type, dimensions, and its contents in at least one of three forms:
//   - constant: the elements are known. An arith.constant is built only if an operation needs it.
//   - content ("shape contents"): at most 64 integers (or floats with integer values) in row-major
//     order, each as an expression over the dynamic dimensions. The operator Shape produces this
//     form, and arithmetic on shapes keeps it. A small constant of whole numbers has this form as
//     well.
//   - value: an SSA value, computed when the model runs.
// A Tensor may be copied freely; copies share the constant's bytes. Threads: one at a time per
// MLIRContext.
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
