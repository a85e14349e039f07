// The options of a compilation as `gantry compile` takes them.
//
// An artifact keeps them, so that the command that compiles the model anew can be told.
#pragma once

#include "codegen/pipeline.h"

#include <string>

namespace gantry::codegen {

/// "--dim batch=1 --memory-budget 1048576": all that differ from the defaults and change the
/// artifact, but for the model, the output and the profiles. Words are quoted for a shell where
/// they need it.
std::string commandOptions(const CompileOptions &options);

} // namespace gantry::codegen
