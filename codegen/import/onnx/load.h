// loadModel reads an ONNX file into a protobuf message. A model may describe its training
// (training_info). combineTraining then merges the graph of the training algorithm into the model's
// graph, so that the result computes one training step.
//
// Functions fail by throwing ImportError (import_error.h), whose kind is bad input or unsupported.
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

/// Returns the model in the file. Throws ImportError (bad input) if the file cannot be read, is
/// larger than protobuf's limit of 2 GiB, or contains no model.
std::shared_ptr<onnx::ModelProto> loadModel(llvm::StringRef path);

/// Combines the model's graph with the graph of its training algorithm, as ONNX specifies, and
/// returns the update bindings: pairs of the name of an initializer and the name of the output that
/// becomes the initializer's value after a step. The model's initialization graph and its bindings
/// are ignored, because the values of the initializers are the state before the first step.
///
/// Throws ImportError (bad input) if the model has no training information or no binding, if the
/// first name of a binding is not the name of an initializer, if the second is not the name of an
/// output, or if two bindings have the same first name. Throws ImportError (unsupported) if the
/// model has several training algorithms.
std::vector<std::pair<std::string, std::string>> combineTraining(onnx::ModelProto &model);

} // namespace gantry::importer
