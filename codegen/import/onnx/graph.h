// Imports an ONNX file: checks the graph, walks over its nodes, and finishes the module.
//
// Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/import.h"
#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

/// Additions of tests to an import: constant inputs, so that the whole model folds.
struct OnnxBindings {
  /// Folds constants without a limit on the work.
  bool foldEverything = false;
  /// The contents of inputs, by name.
  llvm::StringMap<Constant> inputs;
  /// Receives the folded results in the model's order; null where they are not wanted. An output
  /// that does not fold fails the import.
  std::vector<Constant> *outputs = nullptr;
};

/// Imports the .onnx file at `path`. The result and the errors are those of importModel (import.h).
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure,
                                             const OnnxBindings *bindings = nullptr);

/// Evaluates a model on the host, operator by operator. It is slow and obvious, and judges the
/// compiled programs in tests. The inputs are given in the model's order, without those that are
/// initializers. Fails by throwing ImportError.
std::vector<Constant> evaluateOnnx(llvm::StringRef path, llvm::ArrayRef<Constant> inputs);

} // namespace gantry::importer
