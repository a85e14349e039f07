// Reads an ONNX file into a protobuf message, and combines the graphs of its training step.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace gantry::importer {

/// Returns the model in the file. Fails (ImportError, bad input) if the file cannot be read, is
/// larger than protobuf's limit of 2 GiB, or contains no model.
std::shared_ptr<onnx::ModelProto> loadModel(llvm::StringRef path);

/// Combines the model's graph with the graph of its training algorithm, as ONNX specifies, and
/// returns the update bindings: pairs of an initializer and the output that becomes its value after
/// a step. The graph and the bindings of the initialization are ignored, because the values of the
/// initializers are the state before the first step.
///
/// Fails (ImportError): bad input if the model has no training information, if a binding names no
/// initializer or no output, or if two bindings name the same initializer; unsupported if the model
/// has several training algorithms.
std::vector<std::pair<std::string, std::string>> combineTraining(onnx::ModelProto &model);

} // namespace gantry::importer
