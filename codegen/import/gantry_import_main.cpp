// gantry-import: imports a model and prints the resulting MLIR module. A tool for developers and
// tests. The exit code is 1 if the model is bad, 2 if the model needs something that is not
// supported, and otherwise 0.
#include "codegen/import/import.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::opt<std::string> path(llvm::cl::Positional, llvm::cl::desc("<model>"),
                                  llvm::cl::Required);
  llvm::cl::opt<bool> locations("locations", llvm::cl::desc("print locations"));
  llvm::cl::opt<bool> elide("elide", llvm::cl::desc("leave large constants out"));
  llvm::cl::opt<bool> keep("keep-all-outputs", llvm::cl::desc("make every node's results outputs"));
  llvm::cl::opt<bool> list("operators",
                           llvm::cl::desc("list the supported operators after the module"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "Imports a model and prints its MLIR module\n");

  mlir::DialectRegistry registry;
  gantry::importer::registerImportDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [](mlir::Diagnostic &diagnostic) {
    llvm::errs() << diagnostic.getLocation() << ": error: " << diagnostic << "\n";
    return mlir::success();
  });
  gantry::importer::ImportOptions options;
  options.keepAllOutputs = keep;
  gantry::importer::ImportFailure kind;
  auto module = gantry::importer::importModel(context, path, options, kind);
  if (!module)
    return kind == gantry::importer::ImportFailure::kUnsupported ? 2 : 1;
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations, false);
  if (elide)
    flags.elideLargeElementsAttrs(16), flags.elideLargeResourceString(0);
  module->print(llvm::outs(), flags);
  if (list)
    for (const std::string &name : gantry::importer::supportedOnnxOperators())
      llvm::outs() << "// " << name << "\n";
  return 0;
}
