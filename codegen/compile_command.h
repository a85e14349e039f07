// Writes the options of a compilation as arguments of `gantry compile`.
//
// The artifact (the compiled model) stores this text, so that `gantry inspect` can show the command
// that made the artifact. Thread safety: a pure function.
#pragma once

#include "codegen/pipeline.h"

#include <string>

namespace gantry::codegen {

/// Returns the options that differ from their defaults and may change the artifact, for example
/// "--dim batch=1 --memory-budget 1048576". The paths of the model and of the output, the device
/// profiles and CompileOptions::tileCandidate are left out. Arguments are quoted for a shell where
/// necessary.
std::string commandOptions(const CompileOptions &options);

} // namespace gantry::codegen
