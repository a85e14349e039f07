// The tensors of a run: where the caller's inputs and outputs lie, and checks of their memory.
//
// Threads: pure functions.
#pragma once

#include "engine/program/shapes.h"
#include "engine/program/storage.h"

namespace gantry::program {

/// One input or output: either host memory (data) or a range of a buffer (buffer, offset).
struct TensorArgument {
  TensorShape shape; // Used for inputs only.
  void *data = nullptr;
  Storage buffer; // A buffer of the session's heap.
  uint64_t offset = 0;
  uint64_t sizeBytes = 0; // Size of data, or of the range of the buffer.
};

struct OutputShape {
  TensorShape shape;
  uint64_t sizeBytes = 0;
};

/// Checks the memory of all arguments. Each argument needs either host memory or a buffer, and
/// enough bytes. In a buffer, an output must not overlap another output or an input; only the input
/// and the output of a state (states/state.h) may share their bytes. The shapes of the inputs must
/// have passed bindSymbols() (shapes.h). Returns kInvalidArgument; the message names the input or
/// output, unless the number of outputs is wrong.
Status checkArguments(const Program &program, std::span<const TensorArgument> inputs,
                      std::span<const TensorArgument> outputs,
                      std::span<const OutputShape> outputShapes);

} // namespace gantry::program
