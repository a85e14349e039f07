// ImportError: the exception with which the importer's own functions fail.
//
// importOnnx, importMlir and readTensorProto catch it. The importers report one MLIR diagnostic at
// the node that is being imported. The exception is never thrown through a frame of MLIR, which may
// be built without exceptions: bodies of operations are built by direct calls, not by MLIR
// callbacks.
#pragma once

#include "codegen/import/import.h"

#include "llvm/ADT/Twine.h"

#include <string>

namespace gantry::importer {

struct ImportError {
  ImportFailure kind;
  std::string message; // Empty if a diagnostic was already reported.
};

/// Fails because the model is damaged or impossible.
[[noreturn]] inline void failBadInput(const llvm::Twine &message) {
  throw ImportError{ImportFailure::kBadInput, message.str()};
}

/// Fails because the model, which may be valid, needs something that is not supported.
[[noreturn]] inline void failUnsupported(const llvm::Twine &message) {
  throw ImportError{ImportFailure::kUnsupported, message.str()};
}

} // namespace gantry::importer
