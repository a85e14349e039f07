// The names that operations and tensors have in the model, and their places in its file.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace gantry::codegen {

/// Returns the names of the model's operators that a location contains, in order and without
/// duplicates ("Conv_0 + Relu_1"). Returns locationSource() if the location has no names.
std::string locationName(mlir::Location loc);
/// Returns the first file and line in a location, as "model.onnx:12", or an empty string.
std::string locationSource(mlir::Location loc);
/// Returns the name that the model gives to the operation's result, or, if there is none, the names
/// of the operators as locationName() does.
std::string modelName(mlir::Operation *op);

} // namespace gantry::codegen
