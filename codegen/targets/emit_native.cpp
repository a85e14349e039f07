// Implements the pass emit-native, which writes kernels as PTX or AMDGPU assembly
// (passes/Passes.td).
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/targets/native.h"
#include "engine/base/file.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_EMITNATIVE
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct EmitNativePass : impl::EmitNativeBase<EmitNativePass> {
  using EmitNativeBase::EmitNativeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitNativeBase::getDependentDialects(registry);
    registerNativeDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isKernelModule(module))
      return;
    for (const std::string &chip : chips) {
      const Result<NativeTarget> target = parseNativeTarget(chip);
      if (Status status = target.isOk() ? write(module, *target) : target.status();
          !status.isOk()) {
        if (!status.message().empty())
          module.emitError(status.message());
        return signalPassFailure();
      }
    }
    markAllAnalysesPreserved();
  }

  /// Writes the assembly for one target. If the returned error has no message, it has already been
  /// emitted as a diagnostic.
  Status write(ModuleOp module, const NativeTarget &target) const {
    const OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
    if (failed(convertToLlvmDialect(*copy, target)))
      return Status(StatusCode::kInternal, "");
    GANTRY_ASSIGN_OR_RETURN(const std::string text, assembleNative(*copy, target));
    return writeFileAtomically(folder + "/" + module.getName().value_or("kernel").str() + "." +
                                   target.chip + target.extension(),
                               text);
  }
};

} // namespace
} // namespace gantry::codegen
