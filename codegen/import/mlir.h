// .mlir files: parsed, converted by MLIR's own passes, and checked to be what the passes accept.
#pragma once

#include "codegen/import/import.h"

namespace gantry::importer {

/// Parses the file; converts TOSA (tosa-to-linalg-named, tosa-to-linalg, tosa-to-arith,
/// tosa-to-tensor), arith and math on tensors, and named linalg operations to linalg.generic; names
/// arguments and results that have no name (arg0, result0). The entry is @main, or the only public
/// function. One diagnostic lists every operation that remains and is not supported.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportKind &failureKind);

} // namespace gantry::importer
