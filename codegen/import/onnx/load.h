// Reads an ONNX file into a protobuf message.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace onnx {
class ModelProto;
}

namespace gantry::importer {

/// Returns the model in the file. Fails (ImportError, bad input) if the file cannot be read, is
/// larger than protobuf's limit of 2 GiB, or contains no model.
std::shared_ptr<onnx::ModelProto> loadModel(llvm::StringRef path);

} // namespace gantry::importer
