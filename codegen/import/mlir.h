// Imports .mlir files: parses them, converts them with MLIR's own passes, and checks that the
// result has the form that the passes accept (import.h).
#pragma once

#include "codegen/import/import.h"

namespace gantry::importer {

/// Imports the file at `path`. The entry is @main, or the only public function; calls are inlined.
/// TOSA (tosa-to-linalg-named, tosa-to-linalg, tosa-to-arith, tosa-to-tensor), arith and math on
/// tensors, and named linalg operations become linalg.generic. Arguments and results without a name
/// get one (arg0, result0). The attributes iree.abi.output, iree.abi.consume and tf.aliasing_output
/// of arguments declare states and donated inputs. Errors are reported as by importModel; one
/// diagnostic lists all operations that are not supported.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure);

} // namespace gantry::importer
