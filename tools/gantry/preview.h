// A short look at a tensor: its best classes if it is a vector of scores, else its first values and
// their range.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::tool {

/// Whether all dimensions but one are 1, and that one holds at least three floating-point values.
bool isClassVector(const Tensor &tensor);

/// The indices of the `count` largest elements, largest first; NaN last; equal ones by index.
std::vector<uint64_t> topIndices(const Tensor &tensor, size_t count);

/// "top 5: 258 (15.2), 259 (14.9) ..." or "0.12, 0.5, ... (min -1, max 2, mean 0.3, 2 NaN)".
std::string previewText(const Tensor &tensor);

} // namespace gantry::tool
