// Implements load.h: reads an ONNX file, checks that it contains a graph, and combines the graphs
// of a training step.
#include "codegen/import/onnx/load.h"

#include "codegen/import/onnx/import_error.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <onnx/onnx_pb.h>

namespace gantry::importer {

std::shared_ptr<onnx::ModelProto> loadModel(llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    failBadInput("it is a folder, not a model");
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    failBadInput("cannot read it: " + buffer.getError().message());
  const size_t size = (*buffer)->getBufferSize();
  if (size > INT32_MAX)
    failBadInput("it has " + llvm::Twine(size) +
                 " bytes; protobuf's limit is 2 GiB, so larger weights must be external data");
  google::protobuf::LogSilencer silence; // Keeps protobuf from logging damaged files.
  auto model = std::make_shared<onnx::ModelProto>();
  if (size == 0 || !model->ParseFromArray((*buffer)->getBufferStart(), int(size)))
    failBadInput("not an ONNX model: it is truncated or damaged (" + llvm::Twine(size) + " bytes)");
  if (!model->has_graph() || (model->graph().node_size() == 0 && model->graph().output_size() == 0))
    failBadInput("not an ONNX model: it has no graph");
  return model;
}

namespace {

/// Appends the lists of the training algorithm's graph (TrainingInfoProto.algorithm) to those of
/// the inference graph. An input or output that both graphs have is listed once.
void appendGraph(onnx::GraphProto &graph, const onnx::GraphProto &algorithm) {
  const auto appendPorts = [](auto *ports, const auto &others) {
    llvm::StringSet<> known;
    for (const auto &info : *ports)
      known.insert(info.name());
    for (const auto &info : others)
      if (known.insert(info.name()).second)
        *ports->Add() = info;
  };
  appendPorts(graph.mutable_input(), algorithm.input());
  appendPorts(graph.mutable_output(), algorithm.output());
  graph.mutable_node()->MergeFrom(algorithm.node());
  graph.mutable_initializer()->MergeFrom(algorithm.initializer());
  graph.mutable_sparse_initializer()->MergeFrom(algorithm.sparse_initializer());
  graph.mutable_value_info()->MergeFrom(algorithm.value_info());
}

} // namespace

std::vector<std::pair<std::string, std::string>> combineTraining(onnx::ModelProto &model) {
  if (model.training_info_size() == 0)
    failBadInput("the model has no training information (training_info), so it has no training "
                 "step");
  if (model.training_info_size() > 1)
    failUnsupported("the model has " + llvm::Twine(model.training_info_size()) +
                    " training algorithms; only one is supported");
  const onnx::TrainingInfoProto &training = model.training_info(0);
  if (training.update_binding_size() == 0)
    failBadInput("the model's training algorithm updates nothing (update_binding is empty)");
  onnx::GraphProto &graph = *model.mutable_graph();
  appendGraph(graph, training.algorithm());
  llvm::StringSet<> initializers, outputs, bound;
  for (const auto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const auto &info : graph.output())
    outputs.insert(info.name());
  std::vector<std::pair<std::string, std::string>> updates;
  for (const auto &binding : training.update_binding()) {
    const std::string place =
        "the update binding of \"" + binding.key() + "\" to \"" + binding.value() + "\"";
    if (!initializers.contains(binding.key()))
      failBadInput(place + ": \"" + binding.key() + "\" is not an initializer");
    if (!outputs.contains(binding.value()))
      failBadInput(place + ": \"" + binding.value() + "\" is not an output");
    if (!bound.insert(binding.key()).second)
      failBadInput(place + ": the initializer is bound twice");
    updates.push_back({binding.key(), binding.value()});
  }
  return updates;
}

} // namespace gantry::importer
