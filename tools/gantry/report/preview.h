// Summarises a tensor in one line: for a vector of class scores, the classes with the highest
// scores; for other tensors, the first values, and the min, max and mean of all.
//
// Threads: pure functions.
#pragma once

#include "tools/gantry/io/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::tool {

/// Returns whether the tensor is a vector of scores: floating-point, one dimension of at least
/// three elements, all others 1.
bool isClassVector(const Tensor &tensor);

/// Returns the indices of the `count` largest elements, the largest first. Equal elements are
/// ordered by index; NaN counts as negative infinity.
std::vector<uint64_t> topIndices(const Tensor &tensor, size_t count);

/// Returns "top 5: 258 (15.2), 259 (14.9) ..." or "0.12, 0.5, ... (min -1, max 2, mean 0.3, 2
/// NaN)".
std::string previewText(const Tensor &tensor);

} // namespace gantry::tool
