// How the importer's own functions fail: they throw ImportError, which importOnnx and importMlir
// turn into one MLIR diagnostic at the node being imported. It never leaves this room, and nothing
// throws through a frame of MLIR (bodies of operations are built by direct calls, never by MLIR
// callbacks).
#pragma once

#include "codegen/import/import.h"

#include "llvm/ADT/Twine.h"

#include <string>

namespace gantry::importer {

struct ImportError {
  ImportKind kind;
  std::string message;
};

/// The model is damaged or impossible.
[[noreturn]] inline void failBadInput(const llvm::Twine &message) {
  throw ImportError{ImportKind::badInput, message.str()};
}

/// The model is valid as far as is known, but needs what is not built yet.
[[noreturn]] inline void failUnsupported(const llvm::Twine &message) {
  throw ImportError{ImportKind::unsupported, message.str()};
}

} // namespace gantry::importer
