#include "codegen/import/import.h"

#include "codegen/import/device_types.h"
#include "codegen/import/mlir.h"
#include "codegen/import/onnx/graph.h"

#include "llvm/Support/Path.h"
#include "mlir/IR/Diagnostics.h"

namespace gantry::importer {

namespace {

mlir::OwningOpRef<mlir::ModuleOp> importByExtension(mlir::MLIRContext &context,
                                                    llvm::StringRef path,
                                                    const ImportOptions &options,
                                                    ImportKind &failureKind) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".onnx")
    return importOnnx(context, path, options, failureKind);
  if (extension == ".mlir")
    return importMlir(context, path, options, failureKind);
  failureKind = ImportKind::badInput;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << path << " is neither an .onnx nor an .mlir file";
  return nullptr;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              const ImportOptions &options,
                                              ImportKind &failureKind) {
  auto module = importByExtension(context, path, options, failureKind);
  if (module && mlir::failed(checkDeviceTypes(*module))) {
    failureKind = ImportKind::unsupported;
    return nullptr;
  }
  return module;
}

} // namespace gantry::importer
