// NumPy's .npy format, versions 1 to 3 (numpy/lib/format.py is its specification).
//
// The reader supports all element types of gantry.h in either byte order, and C and Fortran order;
// the result is row-major. It refuses structured and object types, strings, complex numbers, and
// more than GANTRY_MAX_RANK dimensions. The data must be exactly as long as the shape requires,
// which is checked before memory is allocated. NumPy has no bfloat16; it is written as "<V2", like
// in the package ml_dtypes, and only read in little-endian order.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/io/tensor.h"

#include <span>
#include <string>
#include <vector>

namespace gantry::tool {

/// Parses a file's content. Throws ToolError(kBadInput); `source` is the file's name for the
/// message.
Tensor parseNpy(std::span<const uint8_t> bytes, const std::string &source);

/// Returns the tensor as a .npy file: version 1.0, C order, header padded to a multiple of 64
/// bytes.
std::vector<uint8_t> formatNpy(const Tensor &tensor);

} // namespace gantry::tool
