// An ONNX file as a module: loading, checks, and the walk over its nodes.
#pragma once

#include "codegen/import/import.h"
#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

/// What tests add to an import: known inputs, so that the whole model folds to constants.
struct OnnxBindings {
  bool foldEverything = false;
  llvm::StringMap<Constant> inputs;         // by name
  std::vector<Constant> *outputs = nullptr; // the folded results, in the model's order
};

/// As importModel. Reports through the context's diagnostics.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportKind &failureKind,
                                             const OnnxBindings *bindings = nullptr);

/// Evaluates a model on the host, operator by operator: a slow and obvious judge for tests. The
/// inputs are given by position. Throws ImportError.
std::vector<Constant> evaluateOnnx(llvm::StringRef path, llvm::ArrayRef<Constant> inputs);

} // namespace gantry::importer
