// An ONNX file as a protobuf message.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace onnx {
class ModelProto;
}

namespace gantry::importer {

/// Throws ImportError (bad input) where the file cannot be read, or is no model.
std::shared_ptr<onnx::ModelProto> loadModel(llvm::StringRef path);

} // namespace gantry::importer
