// Helpers for tests that import small models and check the module or the diagnostics.
#pragma once

#include "codegen/import/import.h"
#include "codegen/import/onnx/graph.h"
#include "tests/support/onnx_model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gantry::importer::test {

/// A temporary folder that is deleted at the end of the scope.
class Scratch {
public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "gantry_import_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch &) = delete;
  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

private:
  std::filesystem::path folder_;
};

using ModelBuilder = gantry::test::OnnxModel;

/// The result of an import: the module and its context, or null and the errors.
struct Imported {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportFailure failure = ImportFailure::kBadInput;
  std::vector<std::string> errors;
  std::vector<std::string> places; // The location of each error, as text.

  explicit operator bool() const { return module.get() != nullptr; }
  std::string text() {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return stream.str();
  }
  size_t count(const std::string &word) {
    size_t found = 0;
    std::string all = text();
    for (size_t at = all.find(word); at != std::string::npos; at = all.find(word, at + 1))
      ++found;
    return found;
  }
};

/// Imports a model file without threads.
inline Imported import(const std::string &path, const ImportOptions &options = {}) {
  Imported result;
  mlir::DialectRegistry registry;
  registerImportDialects(registry);
  result.context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(result.context.get(), [&](mlir::Diagnostic &diagnostic) {
    result.errors.push_back(diagnostic.str());
    std::string place;
    llvm::raw_string_ostream(place) << diagnostic.getLocation();
    result.places.push_back(place);
    return mlir::success();
  });
  result.module = importModel(*result.context, path, options, result.failure);
  return result;
}

} // namespace gantry::importer::test
