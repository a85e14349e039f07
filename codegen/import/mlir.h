// Imports .mlir files: parses them, converts them with MLIR's own passes, and checks that the
// result has the form that import.h describes.
#pragma once

#include "codegen/import/import.h"

namespace gantry::importer {

/// Imports the file at `path`. @main, or else the only public function, becomes @main of the
/// result. Calls of other functions are inlined. TOSA (by MLIR's passes tosa-to-linalg-named,
/// tosa-to-linalg, tosa-to-arith and tosa-to-tensor), arith and math on tensors, and named linalg
/// operations become linalg.generic and operations of the tensor dialect. Arguments and results
/// without a name get one (arg0, result0). The attributes iree.abi.output and tf.aliasing_output of
/// an argument declare a state (an input whose buffer keeps its contents from run to run), and
/// iree.abi.consume a donated input (its buffer may be overwritten by a run). The result and the
/// errors are those of importModel (import.h); one diagnostic lists all operations that are not
/// supported.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure);

} // namespace gantry::importer
