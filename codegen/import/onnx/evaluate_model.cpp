// Implements evaluateOnnx, which evaluates a whole ONNX model on the host (graph.h).
#include "codegen/import/onnx/graph.h"
#include "codegen/import/onnx/import_error.h"
#include "codegen/import/onnx/load.h"

#include "llvm/ADT/StringSet.h"
#include "mlir/IR/MLIRContext.h"

#include <onnx/onnx_pb.h>

namespace gantry::importer {

std::vector<Constant> evaluateOnnx(llvm::StringRef path, llvm::ArrayRef<Constant> inputs) {
  std::shared_ptr<onnx::ModelProto> model = loadModel(path);
  OnnxBindings bindings;
  bindings.foldEverything = true;
  std::vector<Constant> outputs;
  bindings.outputs = &outputs;
  llvm::StringSet<> initializers;
  for (const auto &tensor : model->graph().initializer())
    initializers.insert(tensor.name());
  size_t next = 0;
  for (const auto &info : model->graph().input())
    if (!initializers.contains(info.name()) && next < inputs.size())
      bindings.inputs[info.name()] = inputs[next++];
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return mlir::success();
  });
  ImportFailure kind = ImportFailure::kBadInput;
  if (!importOnnx(context, path, {}, kind, &bindings))
    throw ImportError{kind, message};
  return outputs;
}

} // namespace gantry::importer
