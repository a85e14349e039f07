// Reads an ONNX file and checks that it contains a graph.
#include "codegen/import/onnx/load.h"

#include "codegen/import/onnx/import_error.h"

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
  google::protobuf::LogSilencer silence; // A damaged file is reported as one error, below.
  auto model = std::make_shared<onnx::ModelProto>();
  if (size == 0 || !model->ParseFromArray((*buffer)->getBufferStart(), int(size)))
    failBadInput("not an ONNX model: it is truncated or damaged (" + llvm::Twine(size) + " bytes)");
  if (!model->has_graph() || (model->graph().node_size() == 0 && model->graph().output_size() == 0))
    failBadInput("not an ONNX model: it has no graph");
  return model;
}

} // namespace gantry::importer
