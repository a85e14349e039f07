// Lowers kernels to PTX and to AMDGPU assembly with LLVM's back ends.
//
// The input is the functions on buffers that the pass emit-kernels makes, which also become SPIR-V.
// A kernel takes one pointer to global memory per buffer, then one i32 per dynamic dimension, both
// in the order of their indices in #gantry.binding, the attribute of the kernel's arguments. To
// launch n workgroups, the caller launches min(n, k) along x and ceil(n / k) along y, where k is
// artifact::kWorkgroupsAlongX.
//
// Thread safety: there is no shared state, so different modules may be lowered at the same time.
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

/// Returns the target for a chip's name. Fails with kInvalidArgument for a chip that LLVM does not
/// know, and with kUnsupported if LLVM was built without the back end.
Result<NativeTarget> parseNativeTarget(std::string_view chip);

/// Registers the dialects that the translation to LLVM IR needs.
void registerNativeDialects(mlir::DialectRegistry &registry);

/// Converts a kernel's module, in the form that emit-kernels makes, to the LLVM dialect with the
/// target's own operations. Functions that load texels or multiply cooperative matrices are erased,
/// because only Vulkan can run them. Errors are emitted as diagnostics.
llvm::LogicalResult convertToLlvmDialect(mlir::ModuleOp module, const NativeTarget &target);

/// Translates a module to LLVM IR, optimises the IR, and returns the assembly. The module must be
/// in the form that convertToLlvmDialect() makes.
Result<std::string> assembleNative(mlir::ModuleOp module, const NativeTarget &target);

} // namespace gantry::codegen
