// Kernels as PTX and as AMDGPU assembly, by LLVM's back ends.
//
// The assembly is made from the functions on buffers that also become SPIR-V (emit-kernels), so no
// pass before the targets may depend on SPIR-V. A kernel takes one pointer to global memory per
// buffer, then one i32 per dynamic dimension, each in the order of its index in `gantry.binding`.
// The grid has artifact::kWorkgroupsAlongX workgroups along x, and as many rows along y as needed.
//
// Thread safety: the functions are pure; several kernels may be lowered at once.
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
  enum class Backend : uint8_t { kNvptx, kAmdgpu };
  Backend backend = Backend::kNvptx;
  std::string chip;          // For example "sm_80" or "gfx1100".
  uint32_t subgroupSize = 0; // In lanes.
  const char *extension() const { return backend == Backend::kNvptx ? ".ptx" : ".s"; }
};

/// Returns the target of a chip's name. Fails with kInvalidArgument for a chip that LLVM does not
/// know, and with kUnsupported where LLVM was built without the back end.
Result<NativeTarget> parseNativeTarget(std::string_view chip);

/// Registers the dialects that the translation to LLVM IR needs.
void registerNativeDialects(mlir::DialectRegistry &registry);

/// Converts a kernel's module from the form that emit-kernels leaves to the LLVM dialect with the
/// target's own operations. Functions that only Vulkan can run, because they load texels or
/// multiply cooperative matrices, are erased. Errors are emitted as diagnostics.
llvm::LogicalResult convertToLlvmDialect(mlir::ModuleOp module, const NativeTarget &target);

/// Optimises a module that convertToLlvmDialect has converted, and returns its assembly.
Result<std::string> assembleNative(mlir::ModuleOp module, const NativeTarget &target);

} // namespace gantry::codegen
