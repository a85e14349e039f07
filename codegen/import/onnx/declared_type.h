// Compares the type that a model declares for a value with the computed one.
#pragma once

#include "codegen/import/onnx/tensor.h"

namespace onnx {
class ValueInfoProto;
}

namespace gantry::importer {

/// Fails (bad input) if the type or shape that the model declares differs from that of the tensor.
/// Undeclared parts and dynamic dimensions agree with everything.
void checkDeclared(const onnx::ValueInfoProto &info, const Tensor &tensor);

} // namespace gantry::importer
