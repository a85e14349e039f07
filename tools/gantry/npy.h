// NumPy's .npy format, versions 1 to 3 (numpy/lib/format.py is its specification).
//
// Read: all element types of gantry.h in either byte order, C and Fortran order (turned into
// row-major). Not read: structured and object types, strings, complex numbers, more dimensions than
// GANTRY_MAX_RANK. The data must be exactly as long as the shape says; the parser trusts no number
// in the file and allocates nothing before it has compared it with the file's length.
// bfloat16, which NumPy does not have, is read and written as "<V2", as ml_dtypes does it.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/tensor.h"

#include <span>
#include <string>
#include <vector>

namespace gantry::tool {

/// Throws ToolError(kBadInput); `source` is the file's name for the message.
Tensor parseNpy(std::span<const uint8_t> bytes, const std::string &source);

/// Version 1.0, C order, header padded to 64 bytes.
std::vector<uint8_t> formatNpy(const Tensor &tensor);

} // namespace gantry::tool
