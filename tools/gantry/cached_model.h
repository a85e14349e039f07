// A model as a loaded program: from the user's cache, else compiled and kept there.
//
// One thread.
#pragma once

#include "tools/gantry/model.h"

namespace gantry::tool {

/// Compiles the model, or takes what an earlier command compiled from the same content with the
/// same options by the same compiler. Where the cache cannot be used, one line says why, and the
/// model is compiled into a file without a name: an interrupted command leaves nothing behind.
LoadedModel compileOrFind(const std::string &model, const CompileRequest &request);

/// The bound of the cache: GANTRY_CACHE_SIZE, else 4 GiB; 0: no cache.
uint64_t cacheLimit();

} // namespace gantry::tool
