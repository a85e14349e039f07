// The reports of a compilation: diagnostics for the caller, and dumps of the IR.
//
// Thread safety: MLIR calls the objects from the threads that run passes, also at the same time.
#pragma once

#include "codegen/pipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <mutex>
#include <string>

namespace gantry::codegen {

/// Writes the IR to a file in `folder` after each pass, or after the pass `only` if it is not
/// empty. The name of a file begins with a running number. Files that cannot be written are
/// skipped, and `status` receives the first such failure.
class IrDumper : public mlir::PassInstrumentation {
public:
  IrDumper(std::string folder, std::string only, Status &status)
      : folder_(std::move(folder)), only_(std::move(only)), status_(status) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  std::mutex mutex_;
  std::string folder_, only_;
  Status &status_; // Guarded by mutex_.
  unsigned count_ = 0;
};

/// Keeps the location of the operation that the current thread runs a pass on. DiagnosticForwarder
/// reports diagnostics without a location, which are common for operations that a pass has built,
/// at this location.
class PlaceKeeper : public mlir::PassInstrumentation {
public:
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override;
};

/// Sends diagnostics to the caller, each as one line with its location in the model. Only the first
/// error is reported, because later errors are usually its consequences.
class DiagnosticForwarder {
public:
  DiagnosticForwarder(mlir::MLIRContext &context, const CompileOptions &options)
      : handler_(&context, [this](mlir::Diagnostic &diagnostic) { return forward(diagnostic); }),
        options_(options) {}
  bool sawError() const { return sawError_; }

private:
  mlir::LogicalResult forward(mlir::Diagnostic &diagnostic);

  std::mutex mutex_;
  mlir::ScopedDiagnosticHandler handler_;
  const CompileOptions &options_;
  bool sawError_ = false;
};

} // namespace gantry::codegen
