// Element types as NumPy and DLPack name them.
#pragma once

#include "python/src/dlpack.h"

#include <gantry/gantry.h>

#include <optional>
#include <string>

namespace gantry::python {

/// Returns NumPy's name of an element type ("float32"). Returns "bfloat16" for bfloat16, which
/// NumPy lacks.
const char *numpyName(gantry_type_t type);

/// Returns DLPack's description of an element type.
DLDataType dlpackType(gantry_type_t type);

/// Returns the element type that has this description. None for types that Gantry lacks.
std::optional<gantry_type_t> typeOf(DLDataType type);

/// Returns a description for messages, such as "float32" or "complex64".
std::string nameOf(DLDataType type);

} // namespace gantry::python
