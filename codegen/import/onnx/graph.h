// Imports an ONNX file: checks the graph, imports its nodes in order, and adds the results and the
// attributes of @main.
//
// Thread safety: one thread at a time per MLIRContext.
#pragma once

#include "codegen/import/import.h"
#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

/// Options of an import that only evaluateOnnx() uses: constant inputs, so that the whole model
/// folds to constants.
struct OnnxBindings {
  /// Whether to fold constants whatever the amount of work.
  bool foldEverything = false;
  /// The contents of inputs, by name.
  llvm::StringMap<Constant> inputs;
  /// Receives the folded outputs in the model's order. If it is not null, an output that does not
  /// fold makes the import fail.
  std::vector<Constant> *outputs = nullptr;
};

/// Imports the .onnx file at `path`. The result and the errors are those of importModel (import.h).
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure,
                                             const OnnxBindings *bindings = nullptr);

/// Evaluates a model on the host, operator by operator, and returns its outputs. This is slow but
/// simple; tests use the results as the reference for compiled programs. The inputs are given in
/// the model's order, without those that are initializers. Fails by throwing ImportError
/// (import_error.h).
std::vector<Constant> evaluateOnnx(llvm::StringRef path, llvm::ArrayRef<Constant> inputs);

} // namespace gantry::importer
