// Translates a caller's tensors (gantry_tensor_t) to and from the engine's descriptions of tensors.
//
// Threads: pure functions.
#pragma once

#include "engine/capi/handles.h"

namespace gantry::capi {

/// Returns the type and the dims of a tensor. Returns kInvalidArgument if the type does not exist
/// or the rank is too large. `kind` and `index` name the tensor in messages ("input 3").
Result<program::TensorShape> readShape(const gantry_tensor_t &tensor, const char *kind,
                                       size_t index);

/// Stores in `argument` where a tensor's bytes lie: data, or a range of a buffer. Returns
/// kInvalidArgument if the heap has no such live buffer, or if the range is not inside of it.
Status readMemory(const gantry_tensor_t &tensor, heap::Heap &heap, const char *kind, size_t index,
                  program::TensorArgument &argument);

/// Stores a shape in the fields type, rank, dims and size_bytes of a tensor.
void fillShape(const program::TensorShape &shape, uint64_t sizeBytes, gantry_tensor_t *tensor);

/// Puts "prefix: " before a message.
Status prefixed(const std::string &prefix, const Status &status);

} // namespace gantry::capi
