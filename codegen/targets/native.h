// LLVM's own back ends as targets: kernels as PTX and as AMDGPU assembly.
//
// They come from the same functions on buffers that become SPIR-V (emit-kernels), so that nothing
// before the targets may lean on SPIR-V. A kernel's arguments: one pointer to global memory per
// buffer, then one i32 per dynamic dimension, both in the order of `gantry.binding` and
// `gantry.dim`. Its workgroups run as artifact::kWorkgroupsAlongX along x.
//
// Threads: functions are pure; several kernels may be lowered at once.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir
namespace llvm {
struct LogicalResult;
}

namespace gantry::codegen {

struct NativeTarget {
  enum class Backend : uint8_t { nvptx, amdgpu };
  Backend backend = Backend::nvptx;
  std::string chip;          // "sm_80", "gfx1100"
  uint32_t subgroupSize = 0; // lanes that can exchange values
  const char *extension() const { return backend == Backend::nvptx ? ".ptx" : ".s"; }
};

/// "sm_80" or "gfx1100": kInvalidArgument for what LLVM has no processor for.
Result<NativeTarget> parseNativeTarget(std::string_view chip);

/// What translation to LLVM IR needs to find in the context.
void registerNativeDialects(mlir::DialectRegistry &registry);

/// A kernel's module, as emit-kernels left it, in the LLVM dialect with the target's own
/// operations. Functions that only Vulkan can run (texel loads, cooperative matrices) are left out.
/// Errors are emitted.
llvm::LogicalResult convertToLlvmDialect(mlir::ModuleOp module, const NativeTarget &target);

/// The module of convertToLlvmDialect, optimised, as assembly text.
Result<std::string> assembleNative(mlir::ModuleOp module, const NativeTarget &target);

} // namespace gantry::codegen
