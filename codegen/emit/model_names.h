// The names that operations and tensors have in the model, and their places in its file.
//
// Thread safety: pure functions.
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace gantry::codegen {

/// Returns the names of the operators in a location, in order and without duplicates ("Conv_0 +
/// Relu_1"). Returns locationSource() if the location has no names.
std::string locationName(mlir::Location loc);
/// Returns the first file and line in a location, as "model.onnx:12", or an empty string.
std::string locationSource(mlir::Location loc);
/// Returns the model's name of the operation's result, or the operators' names if it has none.
std::string modelName(mlir::Operation *op);

} // namespace gantry::codegen
