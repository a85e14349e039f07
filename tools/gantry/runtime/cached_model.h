// Loads a model as a program: from the user's cache (cache/model_cache.h) if the cache has it, else
// by compiling it and keeping the artifact in the cache.
//
// Threads: one thread at a time. Errors: ToolError if the model cannot be compiled.
#pragma once

#include "tools/gantry/runtime/model.h"

namespace gantry::tool {

/// Loads the artifact (compiled model) that an earlier command compiled from the same content, with
/// the same options and the same compiler, or compiles the model. If the cache cannot be used,
/// prints the reason in one line and compiles into a file without a name, so that an interrupted
/// command leaves no file behind.
LoadedModel compileOrFind(const std::string &model, const CompileRequest &request);

/// Returns the maximum size of the cache in bytes: GANTRY_CACHE_SIZE, else 4 GiB. 0 disables the
/// cache.
uint64_t cacheLimit();

} // namespace gantry::tool
