// The options of a compilation in the form of `gantry compile`'s command line.
//
// The artifact stores this text, from which `gantry inspect` shows the command that made it.
#pragma once

#include "codegen/pipeline.h"

#include <string>

namespace gantry::codegen {

/// Returns the options that differ from their defaults and change the artifact, for example
/// "--dim batch=1 --memory-budget 1048576". The model, the output and the profiles are left out.
/// Words are quoted for a shell where necessary.
std::string commandOptions(const CompileOptions &options);

} // namespace gantry::codegen
