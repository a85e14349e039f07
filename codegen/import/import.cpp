// Implements importModel, which chooses the importer by the file's extension, and textOfStar.
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
                                                    ImportFailure &failure) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".onnx")
    return importOnnx(context, path, options, failure);
  if (extension == ".mlir")
    return importMlir(context, path, options, failure);
  failure = ImportFailure::kBadInput;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << path << " is neither an .onnx nor an .mlir file";
  return nullptr;
}

} // namespace

std::optional<llvm::StringRef> textOfStar(llvm::StringRef pattern, llvm::StringRef name) {
  const auto [before, after] = pattern.split('*');
  if (!pattern.contains('*') || name.size() < before.size() + after.size() ||
      !name.consume_front(before) || !name.consume_back(after))
    return std::nullopt;
  return name;
}

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              const ImportOptions &options,
                                              ImportFailure &failure) {
  auto module = importByExtension(context, path, options, failure);
  if (module && mlir::failed(checkDeviceTypes(*module))) {
    failure = ImportFailure::kUnsupported;
    return nullptr;
  }
  return module;
}

} // namespace gantry::importer
