// Compares the type that a model declares for a value with the type that the importer computed.
#pragma once

#include "codegen/import/onnx/tensor.h"

namespace onnx {
class ValueInfoProto;
}

namespace gantry::importer {

/// Throws ImportError (import_error.h) with the kind kBadInput if the element type or the shape in
/// `info` differs from that of `tensor`. Parts that the model does not declare, and dynamic
/// dimensions, agree with everything.
void checkDeclared(const onnx::ValueInfoProto &info, const Tensor &tensor);

} // namespace gantry::importer
